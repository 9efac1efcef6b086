// What does each model say about one window? Times do not matter here.
#pragma once

#include "calibration/measure.hpp"
#include "runner/waiting.hpp"

namespace as2d {

/// Records the target's output, the free-running source, and the drafter on the true prefix, as a `Trajectory`.
///
/// With a draft cap in the request, the drafter is also followed off the true path, as far as SpecASR's drafts of up to
/// this cap can lead it.
///
/// Throws EngineError: a model failed, or the source does not end.
Outcome collect(const OperationParts& parts, const Request& request, Recorder& recorder, Waiting& waiting);

}  // namespace as2d
