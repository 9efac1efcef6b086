#include "engines/scripted_operations.hpp"

#include <cmath>

#include "errors.hpp"
#include "json/writer.hpp"

namespace as2d {
namespace {

constexpr double most_forwards = 1e6;

}  // namespace

std::vector<Nanoseconds> ScriptedOperations::stop_busy() {
    const double forward_ms = model_.forward_ms(1);
    const double fitting = forward_ms > 0.0 ? std::floor((clock_.now_ms() - busy_from_ms_) / forward_ms) : 0.0;
    if (fitting > most_forwards) {
        throw EngineError("A scripted drafter would make " + json::to_string(fitting) +
                          " forwards beside the target, more than a million; give a forward a higher cost.");
    }
    return std::vector<Nanoseconds>(static_cast<std::size_t>(fitting), VirtualClock::nanoseconds(forward_ms));
}

}  // namespace as2d
