#include "methods/methods.hpp"

#include "errors.hpp"

namespace as2d {
namespace {

template <typename Wanted>
Wanted& needed(const Proposer& proposer, const Request& request) {
    auto* const* held = std::get_if<Wanted*>(&proposer);
    if (held == nullptr || *held == nullptr) {
        throw RequestError("The method " + request.method + " needs a drafter model; name one in the request.");
    }
    return **held;
}

}  // namespace

const std::vector<std::string>& method_names() {
    static const std::vector<std::string> names{"target-only", "sd", "specasr", "as2d"};
    return names;
}

Outcome decode(Target& target, Proposer proposer, const Request& request, Recorder& recorder) {
    if (request.method == "target-only") return decode_target_only(target, request, recorder);
    if (request.method == "sd") {
        return decode_standard_sd(target, needed<SerialDrafter>(proposer, request), request, recorder);
    }
    if (request.method == "specasr") {
        return decode_specasr(target, needed<SerialDrafter>(proposer, request), request, recorder);
    }
    if (request.method == "as2d") return decode_as2d(target, needed<Source>(proposer, request), request, recorder);
    throw RequestError("There is no method named '" + request.method + "' in this runner.");
}

bool is_operation(const std::string& name) {
    return name == "calibrate" || name == "collect";
}

const char* finished(const Tokens& tokens, Token eos, Count cap, Recorder& recorder) {
    if (tokens.back() == eos) return "eos";
    if (static_cast<Count>(tokens.size()) >= cap) return "capped";
    return recorder.cancelled() ? "cancelled" : nullptr;
}

}  // namespace as2d
