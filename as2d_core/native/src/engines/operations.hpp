// The drafter as calibration and collection use it: operations that are timed, and answers on a given text.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engines/interface.hpp"

namespace as2d {

/// Between two operations its cache holds the prompt and nothing else.
class OperationDrafter {
public:
    virtual ~OperationDrafter() = default;

    /// Lets it draft over and over, `length_tokens` at a time, until `stop_busy`; returns nanoseconds of every forward.
    virtual void start_busy(Count length_tokens) = 0;
    virtual std::vector<Nanoseconds> stop_busy() = 0;

    /// Nanoseconds of forwards of one width at a cache offset.
    virtual std::vector<Nanoseconds> timing(Count width, Count offset_tokens, Count repetitions) = 0;

    /// Nanoseconds of probabilities of one output row.
    virtual std::vector<Nanoseconds> confidence(Count repetitions) = 0;

    /// What it says after each true prefix of `tokens`: the first answer is prefill's, then one forward a token.
    virtual std::vector<Prediction> forced(const Tokens& tokens) = 0;

    /// The drafter for one serial run; the one before it ends.
    virtual SerialDrafter& serial() = 0;

    /// The source for one run; the one before it ends.
    virtual Source& source(Recorder& recorder, Count batch_tokens, Count max_tokens) = 0;

    /// What its source is called.
    virtual const std::string& name() const = 0;
};

/// `OperationDrafter::timing` on a model; the cache holds dummy tokens. Forwards that are timed go through `paced`, the
/// same model or one that slows it down.
std::vector<Nanoseconds> time_forwards(CacheModel& model, CacheModel& paced, Count width, Count offset_tokens,
                                       Count repetitions);

/// `OperationDrafter::forced` on a model.
std::vector<Prediction> predict_along(CacheModel& model, const Tokens& tokens);

/// Drafts over and over until `stop`, asked after every forward, is set; nanoseconds of every forward.
std::vector<Nanoseconds> draft_over_and_over(CacheModel& model, Count length_tokens, const std::atomic<bool>& stop);

}  // namespace as2d
