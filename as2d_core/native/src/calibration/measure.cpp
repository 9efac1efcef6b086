#include "calibration/measure.hpp"

#include <algorithm>
#include <set>

#include "calibration/episode.hpp"
#include "calibration/plan.hpp"
#include "calibration/python_random.hpp"
#include "errors.hpp"

namespace as2d {
namespace {

/// Tokens that the drafter drafts at a time while the target is measured beside it.
constexpr Count busy_tokens = 96;
/// Calls of one turn of a drafter's single step; wider operations take fewer.
constexpr Count drafter_calls = 16;
constexpr Count refresh_calls = 2;
constexpr Count widest_episode = 8;

/// A cell of a sweep: a width at an offset; no width = a target-only step.
struct SweepCell {
    std::optional<Count> width;
    Count offset_tokens;
};

class Calibration {
public:
    Calibration(const OperationParts& parts, const Request& request, Recorder& recorder,
                const std::function<void(const std::string&)>& gate)
        : parts_(parts),
          request_(request),
          recorder_(recorder),
          gate_(gate),
          plan_(plan_from(*request.document.find("options")->get<json::Object>())),
          target_(parts.model, parts.policy, false),
          random_(plan_.seed),
          widest_(plan_.max_width) {}

    Outcome run() {
        for (Count turn = -1; turn < plan_.repetitions; ++turn) {
            const bool running_first = turn % 2 == 0;
            for (const bool running : {running_first, !running_first}) {
                if (recorder_.cancelled()) return ended("cancelled");
                if (open_cells(turn, running).empty()) continue;
                gate_(running ? "the sweep beside the drafter" : "the sweep of widths");
                if (fed_.empty()) read_reference();
                sweep(turn, running);
            }
            if (!open_operations(turn).empty()) {
                gate_("the drafter's sweep");
                measure_drafter(turn);
            }
        }
        for (Count turn = -1; plan_.episodes > 0 && turn < plan_.episodes; ++turn) {
            std::vector<std::string> names(episode_methods.begin(), episode_methods.end());
            if (turn % 2 == 0) std::reverse(names.begin(), names.end());
            for (const std::string& name : names) {
                if (recorder_.cancelled()) return ended("cancelled");
                if (!plan_.wants(episode_cell(name), turn)) continue;
                parts_.prepare();
                gate_("the episode of " + name);
                measure_episode(name, turn);
            }
        }
        return ended("eos");
    }

private:
    Outcome ended(const char* status) const {
        const Nanoseconds now_ns = recorder_.now_ns();
        return {status, {target_.first_token()}, now_ns, now_ns};
    }

    // -- target

    /// True continuation for the sweeps: target-reference token blocks (B.2), long enough for all offsets and widths.
    /// Past EOS the text starts over: a cost does not depend on what tokens mean.
    void read_reference() {
        const Count need = plan_.offsets_tokens.back() + plan_.max_width + 1;
        fed_ = {target_.first_token()};
        parts_.model.keep(0);
        while (static_cast<Count>(greedy_.size()) < need) {
            const Token token = target_.step(fed_.back()).greedy.front();
            target_.keep(static_cast<Count>(fed_.size()));
            greedy_.push_back(token);
            fed_.push_back(token == parts_.model.eos() ? fed_[fed_.size() / 2] : token);
        }
    }

    std::vector<SweepCell> open_cells(Count turn, bool running) const {
        std::vector<SweepCell> out;
        for (const Count offset : plan_.offsets_tokens) {
            for (Count width = 0; width <= widest_; ++width) {
                const auto cell = width == 0 ? std::nullopt : std::optional(width);
                if (plan_.wants(sweep_cell(cell, offset, running), turn)) out.push_back({cell, offset});
            }
        }
        return out;
    }

    void sweep(Count turn, bool running) {
        const std::vector<SweepCell> open = open_cells(turn, running);
        try_new_widths(open);
        if (running) parts_.drafter.start_busy(busy_tokens);
        for (const Count offset : plan_.offsets_tokens) {
            move_to(offset);
            std::vector<std::optional<Count>> widths;
            for (const SweepCell& cell : open) {
                // A width that was found to fail a moment ago is among the open cells still.
                if (cell.offset_tokens == offset && cell.width.value_or(0) <= widest_) widths.push_back(cell.width);
            }
            random_.shuffle(widths);
            for (const auto& width : widths) {
                Sample sample{width ? "verify" : "step", call(offset, width), running};
                sample.width = width;
                sample.offset_tokens = offset;
                sample.extra = extra_;
                add(std::move(sample), turn);
            }
        }
        if (!running) return;
        for (const Nanoseconds value_ns : parts_.drafter.stop_busy()) add({"draft", value_ns, true}, turn);
    }

    /// The first time, from the narrowest to the widest: one that fails is kept, and ends it.
    void try_new_widths(const std::vector<SweepCell>& open) {
        std::set<Count> widths;
        for (const SweepCell& cell : open) {
            if (cell.width && tried_.count(*cell.width) == 0) widths.insert(*cell.width);
        }
        for (const Count width : widths) {
            recorder_.add(Mark{"trying width " + std::to_string(width), recorder_.now_ns()});
            recorder_.flush();  // a width that takes this process with it has been named before
            const Nanoseconds began_ns = recorder_.now_ns();
            try {
                move_to(0);
                call(0, width);
            } catch (const EngineError& error) {
                if (width == 1) throw;
                Sample sample{"verify", recorder_.now_ns() - began_ns, false};
                sample.width = width;
                sample.offset_tokens = 0;
                sample.extra = {{"failed", error.what()}};
                add(std::move(sample), -1);
                widest_ = width - 1;
                parts_.prepare();
                return;
            }
            tried_.insert(width);
        }
    }

    /// The cache holds the first `offset` tokens of the reference, each from a step.
    void move_to(Count offset) {
        VerifyingModel& model = parts_.model;
        model.keep(std::min(offset, model.generated()));
        for (Count at = model.generated(); at < offset; at = model.generated()) {
            target_.step(fed_[static_cast<std::size_t>(at)]);
            model.keep(at + 1);
        }
    }

    /// Nanoseconds of one call, top-1 extraction left out as in B.2; counts rows that differ from the steps.
    Nanoseconds call(Count offset, std::optional<Count> width) {
        const auto first = fed_.begin() + offset;
        const Call call = width ? parts_.model.greedy({first, first + *width}) : target_.step(*first);
        parts_.model.keep(offset);
        extra_.clear();
        if (width) {
            Count differing = 0;
            for (Count i = 0; i < *width; ++i) {
                differing += call.greedy[static_cast<std::size_t>(i)] != greedy_[static_cast<std::size_t>(offset + i)];
            }
            extra_ = {{"physical", *width}, {"differing_rows", differing}};
        }
        return call.end_ns - call.start_ns;
    }

    // -- drafter

    std::vector<DrafterOperation> open_operations(Count turn) const {
        std::vector<DrafterOperation> out;
        for (const DrafterOperation& operation : drafter_operations()) {
            if (plan_.wants(operation.cell(), turn)) out.push_back(operation);
        }
        return out;
    }

    /// One draft step, two branches in one forward, one row's probability, a refresh of each width (D.2.2).
    void measure_drafter(Count turn) {
        std::vector<DrafterOperation> operations = open_operations(turn);
        random_.shuffle(operations);
        for (const auto& [name, width] : operations) {
            const std::string_view what = name;
            const Count rows = what == "paired" ? 2 : width.value_or(1);
            const auto values = what == "confidence"
                                    ? parts_.drafter.confidence(drafter_calls)
                                    : parts_.drafter.timing(rows, 0, width ? refresh_calls : drafter_calls);
            for (const Nanoseconds value_ns : values) {
                Sample sample{name, value_ns, false};
                sample.width = width;
                add(std::move(sample), turn);
            }
        }
    }

    // -- whole runs

    /// One real request without pauses; its rounds give loop, publication and concurrent costs.
    void measure_episode(const std::string& name, Count turn) {
        EpisodeRecorder episode(recorder_);
        const Count width = std::min(widest_episode, parts_.policy.widths().back());
        Request asked = request_;
        asked.method = name;
        asked.budget = std::max<Count>(1, width - 1);
        asked.width = std::max<Count>(2, width);
        asked.plain_step = false;
        Proposer proposer;
        if (name == "as2d") proposer = &parts_.drafter.source(episode, request_.batch_tokens, request_.max_tokens);
        if (name == "sd") proposer = &parts_.drafter.serial();
        const Nanoseconds start_ns = recorder_.now_ns();
        const Outcome outcome = decode(target_, proposer, asked, episode);
        if (std::string_view(outcome.status) == "cancelled") return;
        for (Sample& sample : episode_samples(name, episode.events(), outcome.eos_ns - start_ns)) {
            add(std::move(sample), turn);
        }
    }

    void add(Sample sample, Count turn) {
        sample.repetition = std::max<Count>(turn, 0);
        sample.warm_up = turn < 0;
        recorder_.add(std::move(sample));
    }

    const OperationParts& parts_;
    const Request& request_;
    Recorder& recorder_;
    const std::function<void(const std::string&)>& gate_;
    const CalibrationPlan plan_;
    PaddedTarget target_;
    PythonRandom random_;
    Count widest_;
    std::set<Count> tried_;
    /// The reference: tokens that are fed, and what the target said after each of them, one step at a time.
    Tokens fed_;
    Tokens greedy_;
    /// What is noted beside the time of the last call.
    Extra extra_;
};

}  // namespace

Outcome calibrate(const OperationParts& parts, const Request& request, Recorder& recorder,
                  const std::function<void(const std::string&)>& gate) {
    return Calibration(parts, request, recorder, gate).run();
}

}  // namespace as2d
