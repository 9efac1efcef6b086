#include "runner/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "clock.hpp"
#include "runner/cores.hpp"
#include "runner/files.hpp"

namespace as2d {
namespace {

namespace fs = std::filesystem;

/// Above it a current is in microamperes: no phone draws 20 A. An idle one draws more than 20 mA.
constexpr double highest_raw_ma = 20'000;
/// Above it a voltage is in microvolts, below the other one in volts.
constexpr double low_raw_uv = 100'000;
constexpr double high_raw_v = 20;
/// What lies outside is an error code of the sensor.
constexpr double coldest_c = -60.0;
constexpr double hottest_c = 150.0;
constexpr Count most_clocks = 256;

std::vector<std::string> entries_of(const std::string& folder) {
    std::vector<std::string> out;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        out.push_back(at->path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string battery_below(const std::string& folder) {
    std::string found;
    for (const std::string& path : entries_of(folder)) {
        const std::string name = fs::path(path).filename().string();
        const bool named = name == "battery" || name.rfind("BAT", 0) == 0 || name.rfind("bat", 0) == 0;
        const bool typed = read_small_file(path + "/type") == "Battery";
        if ((named || typed) && (found.empty() || name == "battery")) found = path;
    }
    return found;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
}

std::optional<double> plausible_temperature(std::optional<double> celsius) {
    return celsius && *celsius > coldest_c && *celsius < hottest_c ? celsius : std::nullopt;
}

std::optional<double> voltage_mv(std::optional<double> raw) {
    if (!raw || *raw <= 0) return std::nullopt;
    if (*raw > low_raw_uv) return *raw / 1e3;
    return *raw < high_raw_v ? *raw * 1e3 : *raw;
}

}  // namespace

Sensors::Sensors(std::string sysfs) : cpu_(sysfs + "/devices/system/cpu") {
    for (Count core = 0; core < most_clocks; ++core) {
        const std::string folder = cpu_ + "/cpu" + std::to_string(core);
        std::error_code error;
        if (!fs::exists(folder, error)) break;
        if (fs::exists(folder + "/cpufreq/scaling_cur_freq", error)) clocks_.push_back(folder + "/cpufreq");
    }
    battery_ = battery_below(sysfs + "/class/power_supply");
}

std::vector<Count> Sensors::possible() const {
    const auto text = read_small_file(cpu_ + "/possible");
    return text ? parse_cores(*text) : std::vector<Count>();
}

Telemetry Sensors::read() const {
    Telemetry reading{};
    reading.time_ns = DeviceClock::now();
    json::Array ceilings;
    for (const std::string& clock : clocks_) {
        reading.core_mhz.push_back(scaled(read_number(clock + "/scaling_cur_freq"), 1e-3));
        const auto ceiling = scaled(read_number(clock + "/scaling_max_freq"), 1e-3);
        ceilings.push_back(ceiling ? json::Value(*ceiling) : json::Value());
    }
    if (!ceilings.empty()) reading.extra.emplace_back("ceiling_mhz", std::move(ceilings));
    if (const auto online = read_small_file(cpu_ + "/online")) {
        std::int64_t mask = 0;
        for (const Count core : parse_cores(*online)) {
            if (core < 63) mask |= std::int64_t{1} << core;
        }
        if (mask != 0) reading.online_mask = mask;
    }
    if (battery_.empty()) return reading;
    const auto status = read_small_file(battery_ + "/status");
    if (status && *status != "Unknown") reading.charging = *status == "Charging" || *status == "Full";
    reading.battery_temperature_c = plausible_temperature(scaled(read_number(battery_ + "/temp"), 0.1));
    reading.battery_voltage_mv = voltage_mv(read_number(battery_ + "/voltage_now"));
    if (const auto raw = read_number(battery_ + "/current_now")) {
        const BatteryCurrent current = battery_current(*raw, reading.charging);
        reading.battery_current_ma = current.milliamperes;
        reading.extra.emplace_back("current_raw", *raw);
        reading.extra.emplace_back("current_unit", current.unit);
    }
    return reading;
}

BatteryCurrent battery_current(double raw, std::optional<bool> charging) {
    const bool micro = std::abs(raw) > highest_raw_ma;
    double value = micro ? raw / 1e3 : raw;
    if (charging) value = *charging ? std::abs(value) : -std::abs(value);
    return {value, micro ? "uA" : "mA"};
}

}  // namespace as2d
