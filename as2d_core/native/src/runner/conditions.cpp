#include "runner/conditions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace as2d {
namespace {

constexpr std::array<const char*, 7> thermal_words{"none",     "light",     "moderate", "severe",
                                                   "critical", "emergency", "shutdown"};
constexpr Count widest_mask = 63;

std::string printed(const char* format, double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

bool is_in(std::int64_t mask, Count core) {
    return core < widest_mask && (mask >> core & 1) != 0;
}

/// None when the ceiling is high enough, or not known.
std::optional<std::string> low_ceiling(const Gates& gates, const std::vector<std::optional<double>>& ceilings) {
    const double least = *gates.ceiling_mhz;
    if (gates.ceiling_core) {
        const Count core = *gates.ceiling_core;
        if (core < 0 || core >= static_cast<Count>(ceilings.size())) return std::nullopt;
        const auto now = ceilings[static_cast<std::size_t>(core)];
        if (!now || *now >= least) return std::nullopt;
        return "core " + std::to_string(core) + " may run at " + printed("%.0f", *now) + " MHz at most, less than " +
               shown(least);
    }
    const auto highest = std::max_element(ceilings.begin(), ceilings.end());  // none is the least
    if (highest == ceilings.end() || !*highest || **highest >= least) return std::nullopt;
    return "no core may run faster than " + printed("%.0f", **highest) + " MHz, less than " + shown(least);
}

}  // namespace

std::vector<std::string> missing(const Gates& gates, const DeviceState& state) {
    std::vector<std::string> out;
    const Telemetry& reading = state.reading;
    if (gates.all_cores && reading.online_mask) {
        std::vector<Count> off;
        for (const Count core : state.possible) {
            if (core < widest_mask && !is_in(*reading.online_mask, core)) off.push_back(core);
        }
        if (!off.empty()) out.push_back("core " + listed(off) + " is off-line");
    }
    if (gates.ceiling_mhz) {
        if (auto low = low_ceiling(gates, ceilings_of(reading))) out.push_back(std::move(*low));
    }
    const auto celsius = reading.battery_temperature_c;
    if (gates.max_battery_c && celsius && *celsius > *gates.max_battery_c) {
        out.push_back("the battery has " + printed("%.1f", *celsius) + " °C, more than " + shown(*gates.max_battery_c));
    }
    const auto status = reading.thermal_status;
    if (gates.max_thermal_status && status && *status > *gates.max_thermal_status) {
        const bool is_named = *status >= 0 && *status < static_cast<Count>(thermal_words.size());
        const std::string number = std::to_string(*status);
        const std::string word = is_named ? thermal_words[static_cast<std::size_t>(*status)] : number;
        out.push_back("the thermal status is " + word + " (" + number + "), above " +
                      std::to_string(*gates.max_thermal_status));
    }
    return out;
}

std::vector<std::optional<double>> ceilings_of(const Telemetry& reading) {
    std::vector<std::optional<double>> out;
    bool any = false;
    for (const auto& [name, value] : reading.extra) {
        const auto* items = name == "ceiling_mhz" ? value.get<json::Array>() : nullptr;
        if (items == nullptr) continue;
        for (const json::Value& item : *items) {
            const auto* mhz = item.get<double>();
            out.push_back(mhz == nullptr ? std::nullopt : std::optional(*mhz));
            any = any || mhz != nullptr;
        }
    }
    return any ? out : std::vector<std::optional<double>>();
}

std::vector<Count> lost_cores(std::int64_t first_mask, std::int64_t now_mask) {
    std::vector<Count> out;
    for (Count core = 0; core < widest_mask; ++core) {
        if (is_in(first_mask, core) && !is_in(now_mask, core)) out.push_back(core);
    }
    return out;
}

std::string listed(const std::vector<Count>& numbers) {
    std::string out;
    for (const Count number : numbers) out += (out.empty() ? "" : ", ") + std::to_string(number);
    return out;
}

std::string shown(double value) {
    return printed("%g", value);
}

}  // namespace as2d
