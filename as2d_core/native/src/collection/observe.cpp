#include "collection/observe.hpp"

#include <string_view>

#include "collection/branches.hpp"
#include "errors.hpp"

namespace as2d {
namespace {

constexpr double source_deadline_s = 120.0;
constexpr double look_s = 0.001;

/// Keeps nothing: the rounds of a collection are no measurement.
class Quiet : public Recorder {
public:
    explicit Quiet(Recorder& behind) : behind_(behind) {}

    Nanoseconds now_ns() const override { return behind_.now_ns(); }
    void add(Event) override {}
    bool cancelled() override { return behind_.cancelled(); }

private:
    Recorder& behind_;
};

/// Everything that the source says on its own.
void listen(Source& source, Waiting& waiting, Trajectory& trajectory) {
    const double until_s = waiting.now_s() + source_deadline_s;
    while (source.running()) {
        if (waiting.now_s() > until_s) throw EngineError("The source did not end within 120 s and was stopped.");
        for (const Publication& batch : source.poll()) {
            trajectory.candidates.insert(trajectory.candidates.end(), batch.tokens.begin(), batch.tokens.end());
            if (!batch.confidences) continue;
            for (const auto& confidence : *batch.confidences) {
                if (confidence) trajectory.confidences.push_back(*confidence);
            }
        }
        waiting.sleep_s(look_s);
    }
}

/// Asks a serial drafter for continuations; EOS is the drafter's last word where it comes.
Ask asking(SerialDrafter& drafter, Token eos, Recorder& recorder) {
    return [&drafter, &recorder, eos](const Tokens& read, Count count) {
        if (recorder.cancelled()) throw CancelledError();
        const Draft draft = drafter.draft_adaptive(read, count, std::nullopt, {}, {});
        std::vector<Prediction> said;
        for (std::size_t i = 0; i < draft.tokens.size(); ++i) said.push_back({draft.tokens[i], draft.confidences[i]});
        if (std::string_view(draft.reason) != "drafter end") return said;
        Tokens whole = read;
        whole.insert(whole.end(), draft.tokens.begin(), draft.tokens.end());
        said.push_back({eos, drafter.draft_fixed(whole, 1).confidences.front()});
        return said;
    };
}

}  // namespace

Outcome collect(const OperationParts& parts, const Request& request, Recorder& recorder, Waiting& waiting) {
    Quiet quiet(recorder);
    PaddedTarget target(parts.model, parts.policy, request.plain_step);
    Outcome outcome = decode_target_only(target, request, quiet);
    const std::string_view status = outcome.status;
    if (status == "cancelled") return outcome;

    Trajectory trajectory;
    trajectory.target_tokens = outcome.tokens;
    trajectory.target_capped = status == "capped";
    trajectory.source = parts.drafter.name();
    trajectory.eos = target.eos();
    trajectory.batch_tokens = request.batch_tokens;
    Source& source = parts.drafter.source(quiet, request.batch_tokens, request.max_tokens);
    source.start(recorder.now_ns());
    listen(source, waiting, trajectory);
    trajectory.source_capped = static_cast<Count>(trajectory.candidates.size()) >= request.max_tokens;
    const std::vector<Prediction> said = parts.drafter.forced(outcome.tokens);
    for (const Prediction& word : said) {
        trajectory.forced.push_back(word.token);
        trajectory.forced_confidences.push_back(word.confidence);
    }
    if (request.draft_cap.value_or(0) > 0) {
        const DraftLimits limits{*request.draft_cap, request.threshold, request.max_tokens};
        const Ask ask = asking(parts.drafter.serial(), trajectory.eos, recorder);
        try {
            trajectory.branches = collect_branches(outcome.tokens, said, trajectory.eos, limits, ask);
        } catch (const CancelledError&) {
            outcome.status = "cancelled";
            return outcome;
        }
        trajectory.branch_draft_cap = limits.draft_cap;
        trajectory.branch_threshold = limits.threshold;
    }
    recorder.add(std::move(trajectory));
    return outcome;
}

}  // namespace as2d
