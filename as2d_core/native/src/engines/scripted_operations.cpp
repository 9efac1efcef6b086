#include "engines/scripted_operations.hpp"

#include <cmath>

namespace as2d {

std::vector<Nanoseconds> ScriptedOperations::stop_busy() {
    const double forward_ms = model_.forward_ms(1);
    const double fitting = forward_ms > 0.0 ? std::floor((clock_.now_ms() - busy_from_ms_) / forward_ms) : 0.0;
    return std::vector<Nanoseconds>(static_cast<std::size_t>(fitting), VirtualClock::nanoseconds(forward_ms));
}

}  // namespace as2d
