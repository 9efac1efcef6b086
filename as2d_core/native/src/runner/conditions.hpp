// In which condition is the device: may a measured episode begin, has it lost a core?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/events.hpp"
#include "records/request.hpp"

namespace as2d {

/// What is seen of a device at one moment; what it does not show is none, and holds nothing up.
struct DeviceState {
    Telemetry reading;
    /// Cores that the device has; empty when that is not known.
    std::vector<Count> possible;
    std::optional<bool> screen_on;
};

/// What keeps an episode from beginning, as clauses; empty when it may begin.
std::vector<std::string> missing(const Gates& gates, const DeviceState& state);

/// Highest clock that each core may take, MHz, as a reading has it; empty when it was not read.
std::vector<std::optional<double>> ceilings_of(const Telemetry& reading);

/// Cores that were on-line and are not any more.
std::vector<Count> lost_cores(std::int64_t first_mask, std::int64_t now_mask);

/// Numbers as a list in a sentence: `3, 5`.
std::string listed(const std::vector<Count>& numbers);

/// A number as a sentence shows it: six digits at most, no zeros behind them.
std::string shown(double value);

}  // namespace as2d
