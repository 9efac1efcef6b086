// What a decoding method may ask of an engine. A method decides; it sees a target, perhaps a drafter, and a recorder.
// The same method runs on MNN models and the device clock, or on scripted tokens and a virtual clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/events.hpp"
#include "types.hpp"

namespace as2d {

/// One model call as the engine timed it.
struct Call {
    /// The model's greedy token after each fed position, one for each fed token.
    Tokens greedy;
    Nanoseconds start_ns;
    Nanoseconds end_ns;
    Count physical_width;
};

/// The big model, prefilled with audio and instruction.
class Target {
public:
    virtual ~Target() = default;

    /// y[0], selected by prefill: known before decoding starts.
    virtual Token first_token() const = 0;
    virtual Token eos() const = 0;

    /// One target-only step after `root`.
    virtual Call step(Token root) = 0;

    /// One batched forward over the known root and the candidates (Section 4.2). `source_running` says whether a
    /// producer runs beside it: a scripted target charges another cost.
    virtual Call verify(Token root, const Tokens& candidates, bool source_running) = 0;

    /// Drops everything from the cache behind the first `generated` output tokens (C.2).
    virtual void keep(Count generated) = 0;
};

/// A greedy token and its softmax probability.
struct Prediction {
    Token token;
    double confidence;
};

/// One forward of a drafter: a prediction after each fed token.
struct Rows {
    std::vector<Prediction> predictions;
    Nanoseconds start_ns;
    Nanoseconds end_ns;
};

/// One autoregressive model whose cache holds the prompt and some generated tokens.
class CacheModel {
public:
    virtual ~CacheModel() = default;

    virtual Token eos() const = 0;
    /// What prefill selected.
    virtual Prediction first() const = 0;
    /// Appends tokens to the cache.
    virtual Rows forward(const Tokens& tokens) = 0;
    /// Keeps the prompt and the first `generated` tokens after it.
    virtual void keep(Count generated) = 0;
    /// Generated tokens in the cache.
    virtual Count generated() const = 0;
    /// Nanoseconds of so many probabilities of one output row, as every drafted token needs one.
    virtual std::vector<Nanoseconds> time_confidence(Count repetitions) = 0;
};

/// A model that can verify: it says what is greedy without pricing how probable that is.
class VerifyingModel : public CacheModel {
public:
    /// Appends tokens to the cache. Throws EngineError when it does not run that many rows.
    virtual Call greedy(const Tokens& tokens) = 0;
};

/// What a serial drafter proposes for one verification.
struct Draft {
    Tokens tokens;
    std::vector<double> confidences;
    /// One letter a token: `d` drafted, `r` taken over from the old branch.
    std::string origins;
    /// Why it ended, as a width reason of the records.
    const char* reason;
    std::vector<Span> spans;
};

/// A prefix-conditioned drafter that works while the target waits.
class SerialDrafter {
public:
    virtual ~SerialDrafter() = default;

    /// Exactly `count` tokens after `committed`, past the drafter's EOS if need be.
    virtual Draft draft_fixed(const Tokens& committed, Count count) = 0;

    /// SpecASR's ASP with recycling: stops at low confidence (included), at `cap`, or at the drafter's EOS.
    ///
    /// old_branch: what followed the rejected token, so that its first token stands where the first new one will stand.
    virtual Draft draft_adaptive(const Tokens& committed, Count cap, std::optional<double> threshold,
                                 const Tokens& old_branch, const std::vector<double>& old_confidences) = 0;
};

/// What came out of a cancelled producer.
struct Drain {
    /// Published but never used.
    std::vector<Publication> publications;
    /// Its service spans that were not recorded before, in time order.
    std::vector<Span> spans;
    /// When it stood still.
    Nanoseconds end_ns;
    /// A sentence when the producer had died instead.
    std::optional<std::string> lost = std::nullopt;
};

/// A target-decoupled producer: it never sees target state.
class Source {
public:
    virtual ~Source() = default;

    /// Lets it run; its own prefill is done. Throws DrafterLostError.
    virtual void start(Nanoseconds now_ns) = 0;

    /// Publications that have arrived and were not handed out yet; never waits.
    ///
    /// Throws DrafterLostError: the producer has died; what it published before was handed out already.
    virtual std::vector<Publication> poll() = 0;

    /// Whether the producer was still running at the last `poll`.
    virtual bool running() const = 0;

    /// Cancels at the next operation boundary and waits (with a deadline) until it stands still.
    virtual Drain stop(Nanoseconds now_ns) = 0;
};

/// Where a method leaves its record, and its clock.
class Recorder {
public:
    virtual ~Recorder() = default;

    virtual Nanoseconds now_ns() const = 0;
    /// Keeps an event; cheap, it runs between target calls.
    virtual void add(Event event) = 0;
    /// Whether the user asked to stop; asked once a round.
    virtual bool cancelled() = 0;
    /// Returns once everything that was added can be read by others, where there are any.
    virtual void flush() {}
};

}  // namespace as2d
