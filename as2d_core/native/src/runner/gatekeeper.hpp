// Waits until the device is in the condition that a measured episode asks for, and records every look at it.
//
// Nothing on the device is changed to meet it: an episode waits until it holds, or fails with what was missing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engines/interface.hpp"
#include "runner/conditions.hpp"
#include "runner/waiting.hpp"

namespace as2d {

/// Throws RequestError when gates could never open, or would be taken for a runner that hangs.
void check_gates(const Gates& gates);

/// Stands before every episode of one run.
class Gatekeeper {
public:
    /// Looks at the device; what is asked from commands is asked anew.
    using Look = std::function<DeviceState()>;

    /// No gates let everything pass at once and record nothing. Everything given must outlive the keeper.
    Gatekeeper(std::optional<Gates> gates, Look look, Waiting& waiting, Recorder& recorder)
        : gates_(gates), look_(std::move(look)), waiting_(waiting), recorder_(recorder) {}

    /// Returns once `what` may begin; nothing works in the meantime.
    ///
    /// Throws ConditionsError: the conditions did not come about within the patience; CancelledError.
    void wait(const std::string& what);

private:
    std::vector<std::string> look(double rested_s);
    void sleep(double seconds);

    std::optional<Gates> gates_;
    Look look_;
    Waiting& waiting_;
    Recorder& recorder_;
};

}  // namespace as2d
