// Sensors of a scripted run: what they say is known, by the time since it began.
#pragma once

#include <functional>

#include "runner/sensors.hpp"

namespace as2d {

/// What sensors say, from instant to instant.
struct SensorScript {
    struct Reading {
        double from_s = 0.0;
        Telemetry values;
    };

    /// In time order, the first from 0 on.
    std::vector<Reading> readings;
    std::vector<Count> possible;
};

class ScriptedSensors : public Sensors {
public:
    /// elapsed_s: seconds since the run began; now_ns: the clock of its record.
    ScriptedSensors(SensorScript script, std::function<double()> elapsed_s, std::function<Nanoseconds()> now_ns)
        : Sensors("", ""), script_(std::move(script)), elapsed_s_(std::move(elapsed_s)), now_ns_(std::move(now_ns)) {}

    bool any() const override { return true; }
    std::vector<Count> possible() const override { return script_.possible; }

    Telemetry read() const override {
        const double elapsed_s = elapsed_s_();
        Telemetry now{};
        for (const SensorScript::Reading& reading : script_.readings) {
            if (reading.from_s <= elapsed_s) now = reading.values;
        }
        now.time_ns = now_ns_();
        return now;
    }

private:
    SensorScript script_;
    std::function<double()> elapsed_s_;
    std::function<Nanoseconds()> now_ns_;
};

}  // namespace as2d
