// Engines that answer from known tokens on a virtual clock. The clock moves only when an engine charges a cost.
// Milliseconds are doubles and are added in the order that the Python engine and the replay kernel add them, so that
// all three agree to the last bit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engines/interface.hpp"

namespace as2d {

/// Eleven days: an instant beyond it would not be told apart by the nanosecond.
constexpr double longest_ms = 1e9;

/// Milliseconds since decoding began; never goes back.
class VirtualClock {
public:
    double now_ms() const { return now_ms_; }
    /// The instant as the records keep it.
    Nanoseconds now_ns() const { return nanoseconds(now_ms_); }
    /// Throws EngineError when the instant has passed, is beyond `longest_ms`, or is no number.
    void advance_to(double instant_ms);

    static Nanoseconds nanoseconds(double instant_ms);

private:
    double now_ms_ = 0.0;
};

/// What a scripted target charges, in milliseconds. A width without a cost cannot be run.
struct TargetCosts {
    double step_ms = 0.0;
    std::map<Count, double> verify_concurrent_ms;
    std::map<Count, double> verify_idle_ms;
    /// The rest of a verification round; target-only steps do not pay it.
    double loop_ms = 0.0;
};

/// What one recorded round took, from its boundary to the next.
struct RoundCost {
    double before_ms;
    double call_ms;
    double after_ms;
};

/// A target whose greedy tokens are known: the reference. After a wrong candidate it answers EOS, so that a method that
/// used a row behind a mismatch would end its output early.
class ScriptedTarget : public Target {
public:
    using Costs = std::variant<TargetCosts, std::vector<RoundCost>>;

    /// tokens: the reference y[0..N-1]. A list of costs is charged round by round.
    ScriptedTarget(VirtualClock& clock, Tokens tokens, Token eos, Costs costs);

    Token first_token() const override { return tokens_.front(); }
    Token eos() const override { return eos_; }
    Call step(Token root) override;
    /// The loop cost passes until `keep`.
    Call verify(Token root, const Tokens& candidates, bool source_running) override;
    void keep(Count generated) override;

private:
    RoundCost next_recorded(const std::vector<RoundCost>& costs);
    Call forward(const Tokens& fed, RoundCost cost);

    VirtualClock& clock_;
    Tokens tokens_;
    Token eos_;
    Costs costs_;
    std::size_t kept_ = 0;
    std::size_t fed_ = 0;
    std::size_t round_ = 0;
    double boundary_ms_;
};

/// When one source publishes. Times are milliseconds since it started.
struct Schedule {
    /// Candidates that are published once each batch is out; rises strictly.
    std::vector<Count> batch_ends;
    std::vector<double> batch_times_ms;
    /// When the producer ends by itself.
    double producer_end_ms = 0.0;
    /// A cancelled producer stops at the next multiple of it.
    double operation_ms = 0.0;
};

/// When everything stands still: a running producer is cancelled at its next operation boundary.
double drain_end_ms(double eos_ms, double producer_end_ms, double operation_ms);

/// A producer whose candidates and publication times are known.
class ScriptedSource : public Source {
public:
    struct Script {
        Tokens candidates;
        Confidences confidences;
        Schedule schedule;
        double publish_ms = 0.0;
        std::string name = "drafter";
        /// It dies at this instant, with this sentence; batches from then on never come.
        std::optional<double> dies_ms;
        std::string last_words;
    };

    ScriptedSource(VirtualClock& clock, Script script);

    bool running() const override { return running_; }
    void start(Nanoseconds now_ns) override;
    /// A publication at the very instant of a boundary is seen by it.
    std::vector<Publication> poll() override;
    Drain stop(Nanoseconds now_ns) override;

private:
    bool is_dead() const;
    std::vector<Publication> take(double until_ms);
    /// Service of the producer until it stood still: one draft and one publication for each batch.
    std::vector<Span> spans(double stopped_ms) const;

    VirtualClock& clock_;
    Script script_;
    double origin_ms_ = 0.0;
    std::size_t handed_out_ = 0;
    bool running_ = false;
};

/// A model with a hand-kept cache whose next token is known for every prefix that is asked for. Its probabilities cost
/// nothing.
class ScriptedModel : public VerifyingModel {
public:
    using Predictions = std::map<Tokens, Prediction>;
    /// Cost of a forward, by the number of fed tokens where it differs.
    struct ForwardCost {
        double any_width_ms = 0.0;
        std::map<Count, double> by_width_ms;
    };

    struct Script {
        Predictions predictions;
        ForwardCost forward_cost;
        /// Verifications from this width on fail, or say EOS in every row.
        std::optional<Count> fails_from;
        std::optional<Count> differs_from;
    };

    ScriptedModel(VirtualClock& clock, Token eos, Script script);

    Token eos() const override { return eos_; }
    Prediction first() const override { return ask({}); }
    Rows forward(const Tokens& tokens) override;
    Call greedy(const Tokens& tokens) override;
    void keep(Count generated) override;
    Count generated() const override { return static_cast<Count>(cache_.size()); }
    std::vector<Nanoseconds> time_confidence(Count repetitions) override;

    /// Milliseconds of a forward.
    double forward_ms(Count width) const;

private:
    Prediction ask(const Tokens& prefix) const;

    VirtualClock& clock_;
    Token eos_;
    Script script_;
    Tokens cache_;
};

}  // namespace as2d
