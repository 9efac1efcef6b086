#include "runner/virtual_run.hpp"

#include <algorithm>

#include "engines/drafting.hpp"
#include "errors.hpp"
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
    ScriptedModel model(clock, std::move(script.predictions), script.eos, std::move(script.forward_cost));
    BranchDrafter drafter(model);
    return decode(target, &drafter, request, recorder);
}

}  // namespace

Ending run_virtually(const Request& request, Script script, StreamWriter& writer) {
    VirtualClock clock;
    ListRecorder recorder(clock, script.cancel_after);
    const std::optional<Token> first = script.target.empty() ? std::nullopt : std::optional(script.target.front());
    json::Object versions;
    versions.members.emplace_back("as2d", version);
    writer.add(RunHeader{request.run_id, request.document, {}, versions, "virtual", "", "synthetic", {}});
    try {
        const Outcome outcome = decode_scripted(request, std::move(script), clock, recorder);
        std::vector<Event>& events = recorder.events();
        std::stable_sort(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return known_at(a) < known_at(b); });
        writer.add(Mark{"request", 0, std::nullopt, {{"prefill_included", false}}});
        writer.add(Mark{"decode_start", 0, first});
        for (const Event& event : events) writer.add(event);
        writer.add(Mark{"eos", outcome.eos_ns});
        writer.add(Mark{"drained", outcome.end_ns});
        const Ending ending{outcome.status, static_cast<Count>(outcome.tokens.size()), std::nullopt, outcome.error};
        writer.end(ending);
        return ending;
    } catch (const Error& error) {
        const Ending ending{"failed", 0, std::nullopt, error.what()};
        writer.end(ending);
        return ending;
    }
}

}  // namespace as2d
