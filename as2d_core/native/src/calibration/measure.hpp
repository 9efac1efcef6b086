// Times every operation a replay charges (Appendix B.2, D.2).
//
// Idle and concurrent sweeps alternate within a turn, and the widths of a sweep come in random order, so that drift of
// the clock or the load spreads over all cells. Only the first sweep goes up in width: it finds the widest verification
// that works.
#pragma once

#include <functional>
#include <string>

#include "engines/operations.hpp"
#include "engines/padded_target.hpp"
#include "methods/methods.hpp"

namespace as2d {

/// What an operation works with.
struct OperationParts {
    VerifyingModel& model;
    WidthPolicy policy;
    OperationDrafter& drafter;
    /// Prefills the instruction in both models again.
    std::function<void()> prepare;
};

/// Measures all cells of the request's plan that are not there yet, and leaves a `Sample` for every call.
///
/// gate: returns once the named episode may begin.
///
/// Throws EngineError: a model failed at something else than a width that was tried for the first time; and what `gate`
/// throws.
Outcome calibrate(const OperationParts& parts, const Request& request, Recorder& recorder,
                  const std::function<void(const std::string&)>& gate);

}  // namespace as2d
