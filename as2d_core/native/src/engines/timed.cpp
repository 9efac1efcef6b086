#include "engines/timed.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "clock.hpp"

namespace as2d {
namespace {

/// A sleeping thread comes back late by about this much.
constexpr Nanoseconds oversleep_ns = 200'000;

/// Does what a scripted engine does, and takes as long as that charges.
template <typename Work>
auto on_device_clock(const Work& work) {
    const Nanoseconds start_ns = DeviceClock::now();
    auto done = work();
    wait_until(start_ns + done.end_ns - done.start_ns);
    done.start_ns = start_ns;
    done.end_ns = DeviceClock::now();
    return done;
}

}  // namespace

void wait_until(Nanoseconds instant_ns) {
    const Nanoseconds ahead_ns = instant_ns - DeviceClock::now() - oversleep_ns;
    if (ahead_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(ahead_ns));
    while (DeviceClock::now() < instant_ns) {
    }
}

Call TimedTarget::step(Token root) {
    return on_device_clock([&] { return target_.step(root); });
}

Call TimedTarget::verify(Token root, const Tokens& candidates, bool source_running) {
    return on_device_clock([&] { return target_.verify(root, candidates, source_running); });
}

void TimedTarget::keep(Count generated) {
    const Nanoseconds start_ns = DeviceClock::now();
    const Nanoseconds charged_from_ns = virtual_clock_.now_ns();
    target_.keep(generated);
    wait_until(start_ns + virtual_clock_.now_ns() - charged_from_ns);
}

Rows TimedModel::forward(const Tokens& tokens) {
    return on_device_clock([&] { return model_.forward(tokens); });
}

Call TimedModel::greedy(const Tokens& tokens) {
    return on_device_clock([&] { return model_.greedy(tokens); });
}

Rows PacedModel::forward(const Tokens& tokens) {
    Rows rows = model_.forward(tokens);
    if (pace_ns_ == 0) return rows;
    const Nanoseconds until_ns = rows.start_ns + pace_ns_;
    Nanoseconds now_ns = DeviceClock::now();
    while (now_ns < until_ns) now_ns = DeviceClock::now();
    rows.end_ns = std::max(rows.end_ns, now_ns);
    return rows;
}

}  // namespace as2d
