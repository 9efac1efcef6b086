// What do this device's sensors say now? Files of the kernel, read where they lie; what it hides is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/events.hpp"

namespace as2d {

class Sensors {
public:
    /// Finds out what there is below `sysfs`.
    explicit Sensors(std::string sysfs = "/sys");
    virtual ~Sensors() = default;

    /// Whether this device shows any sensor at all.
    virtual bool any() const { return !clocks_.empty() || !battery_.empty(); }

    /// Cores that the device has; empty when it does not say.
    virtual std::vector<Count> possible() const;

    /// One reading of everything.
    virtual Telemetry read() const;

private:
    std::string cpu_;
    /// Folder of each core's clock, by the number of the core.
    std::vector<std::string> clocks_;
    /// Folder of the device's battery; empty when there is none.
    std::string battery_;
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
