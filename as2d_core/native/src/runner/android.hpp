// What do Android's own commands say? Their printed text as values; what they do not say is none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "types.hpp"

namespace as2d {

/// `dumpsys battery`. Vendors add lines and leave lines out: every value is looked for by itself.
struct BatteryState {
    std::optional<bool> charging;
    /// Whether a supply is connected; none when no supply is listed.
    std::optional<bool> plugged;
    std::optional<double> temperature_c;
    std::optional<double> voltage_mv;
    /// As the vendor prints it, where it does; unit and sign are the vendor's own.
    std::optional<std::int64_t> current_raw;
    std::optional<std::int64_t> charge_counter_uah;
    /// Updates are stopped (`dumpsys battery set`): the values are made up.
    bool frozen = false;
};

BatteryState parse_battery(const std::string& text);
/// Thermal status in `dumpsys thermalservice`: 0 none to 6 shutdown.
std::optional<Count> parse_thermal_status(const std::string& text);
/// Whether the screen is on, in `dumpsys power`.
std::optional<bool> parse_screen(const std::string& text);

/// A battery voltage in mV, whether it is given in V, mV or uV.
std::optional<double> normal_voltage_mv(std::optional<double> raw);
/// The temperature, or none for what can only be the error code of a sensor.
std::optional<double> plausible_temperature(std::optional<double> celsius);

/// What the commands said last.
struct ServiceAnswers {
    BatteryState battery;
    std::optional<Count> thermal_status;
    std::optional<bool> screen_on;
};

/// Asks `dumpsys` in a thread of its own and at most once a second: such a call takes tens of milliseconds.
class AndroidServices {
public:
    /// `program`: what is asked; where there is none on the path, nothing is ever known. The asking thread may run on
    /// the cores that the constructing thread may use.
    explicit AndroidServices(const std::string& program = "dumpsys");
    ~AndroidServices();
    AndroidServices(const AndroidServices&) = delete;
    AndroidServices& operator=(const AndroidServices&) = delete;

    bool any() const { return shared_ != nullptr; }
    /// The latest answers, while they are fresh; never waits. Old ones are asked for again.
    ServiceAnswers latest() const;
    /// Waits until there are answers of now, or some seconds in vain.
    void refresh() const;

private:
    /// What both threads touch; shared, because nobody waits for a command at the end of the process.
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        ServiceAnswers answers;
        std::optional<std::chrono::steady_clock::time_point> answered_at;
        bool wanted = false;
        bool ended = false;

        bool is_old() const;
    };

    static void answer(const std::shared_ptr<Shared>& shared, const std::string& program);

    std::shared_ptr<Shared> shared_;
};

}  // namespace as2d
