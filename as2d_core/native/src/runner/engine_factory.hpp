// What this build of the runner can run models with: MNN, or nothing but scripts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "runner/session.hpp"
#include "runner/width_trial.hpp"

namespace as2d {

/// A session over models; stays resident between requests.
///
/// Throws ModelError in a build without models.
std::unique_ptr<Session> open_model_session();

/// Loads the target of a request in a process that tries widths.
///
/// Throws ModelError: it cannot be loaded, or this build has no models.
RunWidth open_width_trial(const Request& request);

/// Versions of what runs models, for `--describe`.
json::Members engine_versions();

/// Backends that this build has: `cpu`, `opencl`, or none.
std::vector<std::string> engine_backends();

}  // namespace as2d
