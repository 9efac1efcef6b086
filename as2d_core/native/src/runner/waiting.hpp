// Time as somebody sees it who waits: it passes on the device, or is added up in a scripted run.
#pragma once

#include <chrono>
#include <thread>

#include "engines/scripted.hpp"

namespace as2d {

class Waiting {
public:
    virtual ~Waiting() = default;

    /// Seconds since some instant; never goes back.
    virtual double now_s() const = 0;
    virtual void sleep_s(double seconds) = 0;
};

class DeviceWaiting : public Waiting {
public:
    double now_s() const override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    void sleep_s(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
};

class VirtualWaiting : public Waiting {
public:
    explicit VirtualWaiting(VirtualClock& clock) : clock_(clock) {}

    double now_s() const override { return clock_.now_ms() / 1e3; }
    void sleep_s(double seconds) override { clock_.advance_to(clock_.now_ms() + seconds * 1e3); }

private:
    VirtualClock& clock_;
};

}  // namespace as2d
