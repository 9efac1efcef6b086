#include "runner/virtual_run.hpp"

#include <algorithm>
#include <exception>

#include "collection/observe.hpp"
#include "engines/drafting.hpp"
#include "engines/scripted_operations.hpp"
#include "errors.hpp"
#include "runner/check.hpp"
#include "runner/gatekeeper.hpp"
#include "version.hpp"

namespace as2d {
namespace {

/// Keeps every event in memory, in the order it was recorded.
class ListRecorder : public Recorder {
public:
    ListRecorder(const VirtualClock& clock, std::optional<Count> cancel_after)
        : clock_(clock), cancel_after_(cancel_after) {}

    Nanoseconds now_ns() const override { return clock_.now_ns(); }
    void add(Event event) override { events_.push_back(std::move(event)); }

    bool cancelled() override {
        ++asked_;
        return cancel_after_ && asked_ > *cancel_after_;
    }

    std::vector<Event>& events() { return events_; }

private:
    const VirtualClock& clock_;
    std::optional<Count> cancel_after_;
    Count asked_ = 0;
    std::vector<Event> events_;
};

/// When an event became known: spans and rounds at their end.
struct KnownAt {
    Nanoseconds operator()(const Span& span) const { return span.end_ns; }
    Nanoseconds operator()(const Round& round) const { return round.end_ns; }
    Nanoseconds operator()(const Publication& batch) const { return batch.time_ns; }
    template <typename Other>
    Nanoseconds operator()(const Other&) const {
        return 0;
    }
};

Nanoseconds known_at(const Event& event) {
    return std::visit(KnownAt{}, event);
}

Outcome decode_scripted(const Request& request, Script script, VirtualClock& clock, Recorder& recorder) {
    ScriptedTarget target(clock, std::move(script.target), script.eos, std::move(script.costs));
    if (request.method == "as2d" && script.source) {
        ScriptedSource source(clock, std::move(*script.source));
        return decode(target, &source, request, recorder);
    }
    ScriptedModel model(clock, script.eos, std::move(script.drafter));
    BranchDrafter drafter(model);
    return decode(target, &drafter, request, recorder);
}

/// An operation with its gates; it leaves its events in the order in which it made them.
Outcome operate_scripted(const Request& request, Script script, VirtualClock& clock, ListRecorder& recorder) {
    ScriptedModel model(clock, script.eos, std::move(*script.model));
    ScriptedModel drafter(clock, script.eos, std::move(script.drafter));
    ScriptedOperations operations(clock, drafter, script.source.value_or(ScriptedSource::Script{}));
    VirtualWaiting waiting(clock);
    const ScriptedSensors sensors(
        script.sensors.value_or(SensorScript{}), [&] { return waiting.now_s(); }, [&] { return clock.now_ns(); });
    Gatekeeper gate(
        request.gates, [&] { return DeviceState{sensors.read(), sensors.possible(), std::nullopt}; }, waiting,
        recorder);
    const auto prepare = [&] {
        model.keep(0);
        drafter.keep(0);
    };
    const OperationParts parts{model, WidthPolicy(script.widths), operations, prepare};
    if (request.method == "collect") return collect(parts, request, recorder, waiting);
    return calibrate(parts, request, recorder, [&](const std::string& what) { gate.wait(what); });
}

Ending run_operation(const Request& request, Script script, StreamWriter& writer) {
    VirtualClock clock;
    ListRecorder recorder(clock, script.cancel_after);
    const auto first = script.model->predictions.find({});
    Ending ending{"failed"};
    writer.add(Mark{"request", 0});
    try {
        if (first == script.model->predictions.end()) throw EngineError("The scripted model has no first token.");
        recorder.add(Mark{"decode_start", 0, first->second.token});
        check_request(request);
        const Outcome outcome = operate_scripted(request, std::move(script), clock, recorder);
        recorder.add(Mark{"eos", outcome.eos_ns});
        recorder.add(Mark{"drained", outcome.end_ns});
        ending.status = outcome.status;
        ending.tokens = static_cast<Count>(outcome.tokens.size());
    } catch (const CancelledError&) {
        ending.status = "cancelled";
    } catch (const std::exception& error) {
        ending.error = error.what();
    }
    for (const Event& event : recorder.events()) writer.add(event);
    writer.end(ending);
    return ending;
}

}  // namespace

Ending run_virtually(const Request& request, Script script, StreamWriter& writer) {
    VirtualClock clock;
    ListRecorder recorder(clock, script.cancel_after);
    const std::optional<Token> first = script.target.empty() ? std::nullopt : std::optional(script.target.front());
    json::Object versions;
    versions.members.emplace_back("as2d", version);
    writer.add(RunHeader{request.run_id, request.document, {}, versions, "virtual", "", "synthetic", {}});
    if (script.model) return run_operation(request, std::move(script), writer);
    Ending ending{"failed"};
    std::vector<Event>& events = recorder.events();
    try {
        const Outcome outcome = decode_scripted(request, std::move(script), clock, recorder);
        std::stable_sort(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return known_at(a) < known_at(b); });
        events.insert(events.begin(), {Mark{"request", 0, std::nullopt, {{"prefill_included", false}}},
                                       Mark{"decode_start", 0, first}});
        events.push_back(Mark{"eos", outcome.eos_ns});
        events.push_back(Mark{"drained", outcome.end_ns});
        ending = {outcome.status, static_cast<Count>(outcome.tokens.size()), std::nullopt, outcome.error};
    } catch (const std::exception& error) {
        events.clear();  // a run that broke off has no rounds
        ending.error = error.what();
    }
    for (const Event& event : events) writer.add(event);
    writer.end(ending);
    return ending;
}

}  // namespace as2d
