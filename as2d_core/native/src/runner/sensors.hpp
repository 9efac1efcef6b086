// What do this device's sensors say now? Files of the kernel, read where they lie; what it hides from the shell is asked
// from Android's own services; what nobody tells is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/events.hpp"
#include "runner/android.hpp"

namespace as2d {

class Sensors {
public:
    /// Finds out what there is below `sysfs`, and whether the program `services` can be asked ("": none).
    explicit Sensors(std::string sysfs = "/sys", const std::string& services = "dumpsys");
    virtual ~Sensors() = default;

    /// Whether this device shows any sensor at all.
    virtual bool any() const { return !clocks_.empty() || !battery_.empty() || services_.any(); }

    /// Cores that the device has; empty when it does not say.
    virtual std::vector<Count> possible() const;

    /// One reading of everything; never waits for a service: what was asked answers for the next ones.
    virtual Telemetry read() const;

    /// Waits until the services have said what is so now. Not between two forwards.
    void refresh() const { services_.refresh(); }
    /// Whether the screen is on, as far as a service said.
    std::optional<bool> screen_on() const { return services_.latest().screen_on; }

private:
    void read_battery(const BatteryState& asked, Telemetry& reading) const;
    std::optional<bool> plugged(const BatteryState& asked) const;

    std::string cpu_;
    /// Folder of each core's clock, by the number of the core.
    std::vector<std::string> clocks_;
    /// Folder of the device's battery; empty when there is none.
    std::string battery_;
    /// Folders of everything else that supplies power.
    std::vector<std::string> supplies_;
    AndroidServices services_;
};

/// A vendor's battery current in mA, negative while the battery gives, and the unit it was taken for.
struct BatteryCurrent {
    double milliamperes;
    const char* unit;
};

/// Vendors report uA or mA, and either sign for discharge. The unit follows from the size, the sign from the battery's
/// own status; where that is not known it is left as the vendor gives it.
BatteryCurrent battery_current(double raw, std::optional<bool> charging);

}  // namespace as2d
