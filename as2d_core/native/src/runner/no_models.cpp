// The engine factory of a build without MNN.
#include "errors.hpp"
#include "runner/engine_factory.hpp"

namespace as2d {
namespace {

[[noreturn]] void refuse() {
    throw ModelError(
        "This runner was built without MNN and runs scripted requests only; build it again with an MNN that has its "
        "LLM part.");
}

}  // namespace

std::unique_ptr<Session> open_model_session() {
    refuse();
}

RunWidth open_width_trial(const Request&) {
    refuse();
}

json::Members engine_versions() {
    return {};
}

std::vector<std::string> engine_backends() {
    return {};
}

}  // namespace as2d
