// The device clock that everything in a measured run is stamped with.
#pragma once

#include <time.h>

#include "types.hpp"

namespace as2d {

/// CLOCK_BOOTTIME where there is one: it goes on during suspend, and a phone's telemetry uses it.
class DeviceClock {
public:
    static const char* name() { return boot_time_works() ? "CLOCK_BOOTTIME" : "monotonic"; }

    static Nanoseconds now() {
#ifdef CLOCK_BOOTTIME
        if (boot_time_works()) return read(CLOCK_BOOTTIME);
#endif
        return read(CLOCK_MONOTONIC);
    }

private:
    static Nanoseconds read(clockid_t clock) {
        timespec time{};
        clock_gettime(clock, &time);
        return static_cast<Nanoseconds>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    }

    static bool boot_time_works() {
#ifdef CLOCK_BOOTTIME
        static const bool works = [] {
            timespec time{};
            return clock_gettime(CLOCK_BOOTTIME, &time) == 0;
        }();
        return works;
#else
        return false;
#endif
    }
};

}  // namespace as2d
