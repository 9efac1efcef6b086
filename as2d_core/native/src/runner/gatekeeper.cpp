#include "runner/gatekeeper.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "errors.hpp"

namespace as2d {
namespace {

/// A runner that rests longer would be taken for one that hangs.
constexpr double longest_rest_s = 90.0;
constexpr double longest_gap_s = 60.0;
constexpr double longest_patience_s = 3600.0;
constexpr Count most_checks = 10;
constexpr double tick_s = 0.2;

/// Rounded to milliseconds, to the decimal nearest to the value itself.
double to_milliseconds(double seconds) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.3f", seconds);
    return std::strtod(text.data(), nullptr);
}

std::optional<bool> plugged_of(const Telemetry& reading) {
    for (const auto& [name, value] : reading.extra) {
        if (const auto* plugged = name == "plugged" ? value.get<bool>() : nullptr) return *plugged;
    }
    return std::nullopt;
}

}  // namespace

void check_gates(const Gates& gates) {
    if (!(gates.rest_s >= 0 && gates.rest_s <= longest_rest_s)) {
        throw RequestError("The rest before an episode is " + shown(gates.rest_s) + " s; choose 0 to " +
                           shown(longest_rest_s) + ".");
    }
    if (gates.checks < 1 || gates.checks > most_checks) {
        throw RequestError(std::to_string(gates.checks) + " checks before an episode cannot be; choose 1 to 10.");
    }
    if (!(gates.check_gap_s >= 0 && gates.check_gap_s <= longest_gap_s)) {
        throw RequestError("Checks " + shown(gates.check_gap_s) + " s apart cannot be; choose 0 to 60.");
    }
    if (!(gates.patience_s >= 0 && gates.patience_s <= longest_patience_s)) {
        throw RequestError("An episode waits for its conditions 0 to " + shown(longest_patience_s) + " s, not " +
                           shown(gates.patience_s) + ".");
    }
}

void Gatekeeper::wait(const std::string& what) {
    if (!gates_) return;
    const double began_s = waiting_.now_s();
    sleep(gates_->rest_s);
    Count in_a_row = 0;
    while (true) {
        const std::vector<std::string> gaps = look(waiting_.now_s() - began_s);
        in_a_row = gaps.empty() ? in_a_row + 1 : 0;
        if (in_a_row >= gates_->checks) return;
        if (!gaps.empty() && waiting_.now_s() - began_s > gates_->rest_s + gates_->patience_s) {
            std::string clauses;
            for (const std::string& gap : gaps) clauses += (clauses.empty() ? "" : "; ") + gap;
            std::string begin = what;
            begin.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(begin.front())));
            throw ConditionsError(begin + " did not begin: " + clauses + ", and that did not change within " +
                                  shown(gates_->patience_s) +
                                  " s. Let the device cool down and close what runs on it, then go on.");
        }
        sleep(std::max(gates_->check_gap_s, tick_s));
    }
}

std::vector<std::string> Gatekeeper::look(double rested_s) {
    const DeviceState state = look_();
    const Telemetry& reading = state.reading;
    std::vector<std::string> gaps = missing(*gates_, state);
    recorder_.add(Conditions{recorder_.now_ns(), gaps, to_milliseconds(rested_s), reading.online_mask,
                             ceilings_of(reading), reading.battery_temperature_c, reading.thermal_status,
                             reading.charging, plugged_of(reading), state.screen_on});
    return gaps;
}

void Gatekeeper::sleep(double seconds) {
    const double until_s = waiting_.now_s() + seconds;
    while (true) {
        const double left_s = until_s - waiting_.now_s();
        if (!(left_s > 0)) return;
        if (recorder_.cancelled()) throw CancelledError();
        waiting_.sleep_s(std::min(tick_s, left_s));
    }
}

}  // namespace as2d
