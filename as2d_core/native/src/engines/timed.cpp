#include "engines/timed.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "clock.hpp"

namespace as2d {
namespace {

/// A sleeping thread comes back late by about this much.
constexpr Nanoseconds oversleep_ns = 200'000;

}  // namespace

void wait_until(Nanoseconds instant_ns) {
    const Nanoseconds ahead_ns = instant_ns - DeviceClock::now() - oversleep_ns;
    if (ahead_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(ahead_ns));
    while (DeviceClock::now() < instant_ns) {
    }
}

Call TimedTarget::step(Token root) {
    const Nanoseconds start_ns = DeviceClock::now();
    return timed(start_ns, target_.step(root));
}

Call TimedTarget::verify(Token root, const Tokens& candidates, bool source_running) {
    const Nanoseconds start_ns = DeviceClock::now();
    return timed(start_ns, target_.verify(root, candidates, source_running));
}

void TimedTarget::keep(Count generated) {
    const Nanoseconds start_ns = DeviceClock::now();
    const Nanoseconds charged_from_ns = virtual_clock_.now_ns();
    target_.keep(generated);
    wait_until(start_ns + virtual_clock_.now_ns() - charged_from_ns);
}

Call TimedTarget::timed(Nanoseconds start_ns, Call call) const {
    wait_until(start_ns + call.end_ns - call.start_ns);
    call.start_ns = start_ns;
    call.end_ns = DeviceClock::now();
    return call;
}

Rows TimedModel::forward(const Tokens& tokens) {
    const Nanoseconds start_ns = DeviceClock::now();
    Rows rows = model_.forward(tokens);
    wait_until(start_ns + rows.end_ns - rows.start_ns);
    rows.start_ns = start_ns;
    rows.end_ns = DeviceClock::now();
    return rows;
}

Call TimedModel::greedy(const Tokens& tokens) {
    const Nanoseconds start_ns = DeviceClock::now();
    Call call = model_.greedy(tokens);
    wait_until(start_ns + call.end_ns - call.start_ns);
    call.start_ns = start_ns;
    call.end_ns = DeviceClock::now();
    return call;
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
