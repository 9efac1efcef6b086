#include "runner/scripted_session.hpp"

#include "errors.hpp"
#include "runner/cores.hpp"
#include "runner/width_trial.hpp"

namespace as2d {

ScriptedSession::ScriptedSession(Script script)
    : target_(std::move(script.target), script.eos, std::move(script.costs)),
      model_(script.eos, std::move(script.drafter)),
      widths_(std::move(script.widths)),
      tries_widths_(script.deadly_width.has_value()) {
    if (script.model) verifier_.emplace(script.eos, std::move(*script.model));
}

void ScriptedSession::complete(Request& request) {
    const Placement& placement = request.placement;
    cores_ = choose_cores({placement.target_cores, placement.drafter_cores}, placement.target_threads,
                          placement.drafter_threads);
    set_field(request.document, "placement.target_cores", as_json(cores_.target));
    set_field(request.document, "placement.drafter_cores", as_json(cores_.drafter));
}

void ScriptedSession::prepare(const Request& request, StreamRecorder& recorder) {
    if (tries_widths_) {
        const auto go_on = [&] {
            if (recorder.cancelled()) throw CancelledError();
        };
        WidthTrials().widest(request, "scripted", std::chrono::seconds(120), marks_of(recorder), go_on);
    }
    bind_cores(cores_.target);
    thread_.emplace();
    thread_->call([cores = cores_.drafter] { return bind_cores(cores); }, std::chrono::seconds(10));
    paced_.emplace(model_, request.drafter_pace_ms);
}

Proposer ScriptedSession::proposer(const Request& request, Recorder& recorder) {
    if (request.method == "target-only") return {};
    if (request.method == "as2d") {
        source_ = std::make_unique<ThreadedSource>(*thread_, *paced_, recorder, "drafter",
                                                   ProducerSettings{request.batch_tokens, request.max_tokens});
        return source_.get();
    }
    serial_ = std::make_unique<ThreadedDrafter>(*thread_, *paced_);
    return serial_.get();
}

OperationParts ScriptedSession::parts(const Request&) {
    if (!verifier_) throw RequestError("The script has no model; an operation needs one for its target.");
    operations_ = std::make_unique<ThreadedOperations>(*thread_, model_, *paced_, "drafter");
    const auto prepare = [this] {
        verifier_->keep(0);
        thread_->call([this] { model_.keep(0); }, std::chrono::seconds(10));
    };
    return {*verifier_, WidthPolicy(widths_), *operations_, prepare};
}

void ScriptedSession::release() {
    operations_.reset();
    source_.reset();
    serial_.reset();
    if (thread_ && !stuck_) stuck_ = !thread_->stands_still(drain_deadline);
}

}  // namespace as2d
