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

}  // namespace

Sensors::Sensors(std::string sysfs, const std::string& services)
    : cpu_(sysfs + "/devices/system/cpu"), services_(services) {
    for (Count core = 0; core < most_clocks; ++core) {
        const std::string folder = cpu_ + "/cpu" + std::to_string(core);
        std::error_code error;
        if (!fs::exists(folder, error)) break;
        if (fs::exists(folder + "/cpufreq/scaling_cur_freq", error)) clocks_.push_back(folder + "/cpufreq");
    }
    battery_ = battery_below(sysfs + "/class/power_supply");
    for (std::string& path : entries_of(sysfs + "/class/power_supply")) {
        if (path != battery_) supplies_.push_back(std::move(path));
    }
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
    const ServiceAnswers said = services_.latest();
    reading.thermal_status = said.thermal_status;
    read_battery(said.battery, reading);
    return reading;
}

void Sensors::read_battery(const BatteryState& asked, Telemetry& reading) const {
    const auto file = [this](const char* name) {
        return battery_.empty() ? std::nullopt : read_number(battery_ + name);
    };
    const auto or_asked = [](std::optional<double> read, const auto& said) {
        if (!read && said) read = static_cast<double>(*said);
        return read;
    };
    reading.charging = asked.charging;
    if (const auto status = battery_.empty() ? std::nullopt : read_small_file(battery_ + "/status")) {
        reading.charging.reset();
        if (*status != "Unknown") reading.charging = *status == "Charging" || *status == "Full";
    }
    const auto tenths = file("/temp");
    reading.battery_temperature_c = tenths ? plausible_temperature(*tenths / 10) : asked.temperature_c;
    reading.battery_voltage_mv = or_asked(normal_voltage_mv(file("/voltage_now")), asked.voltage_mv);
    if (const auto raw = or_asked(file("/current_now"), asked.current_raw)) {
        const BatteryCurrent current = battery_current(*raw, reading.charging);
        reading.battery_current_ma = current.milliamperes;
        reading.extra.emplace_back("current_raw", *raw);
        reading.extra.emplace_back("current_unit", current.unit);
    }
    if (const auto counter = or_asked(file("/charge_counter"), asked.charge_counter_uah)) {
        reading.extra.emplace_back("charge_counter_uah", *counter);
    }
    if (const auto supplied = plugged(asked)) reading.extra.emplace_back("plugged", *supplied);
    if (asked.frozen) reading.extra.emplace_back("battery_frozen", true);
}

std::optional<bool> Sensors::plugged(const BatteryState& asked) const {
    std::optional<bool> supplied;
    for (const std::string& path : supplies_) {
        if (const auto online = read_number(path + "/online")) supplied = supplied.value_or(false) || *online != 0;
    }
    return supplied ? supplied : asked.plugged;
}

BatteryCurrent battery_current(double raw, std::optional<bool> charging) {
    const bool micro = std::abs(raw) > highest_raw_ma;
    double value = micro ? raw / 1e3 : raw;
    if (charging) value = *charging ? std::abs(value) : -std::abs(value);
    return {value, micro ? "uA" : "mA"};
}

}  // namespace as2d
