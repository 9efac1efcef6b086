// What this build of the runner can run models with: MNN, or nothing but scripts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "runner/session.hpp"

namespace as2d {

/// A session over models; stays resident between requests.
///
/// Throws ModelError in a build without models.
std::unique_ptr<Session> open_model_session();

/// Versions of what runs models, for `--describe`.
json::Members engine_versions();

/// Backends that this build has: `cpu`, `opencl`, or none.
std::vector<std::string> engine_backends();

}  // namespace as2d
