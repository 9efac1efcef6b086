// A drafter that follows its own text and publishes immutable batches (Section 4.1, Appendix C.1).
#pragma once

#include <functional>

#include "engines/interface.hpp"

namespace as2d {

/// One batch as the producer publishes it.
struct Batch {
    Count offset;
    Tokens tokens;
    std::vector<std::optional<double>> confidences;
    Nanoseconds draft_start_ns;
    Nanoseconds draft_end_ns;
    Count forwards;
    Nanoseconds time_ns;
    /// Marks the end of the source.
    bool last;
};

struct ProducerSettings {
    Count batch_tokens;
    Count max_tokens;
};

/// Drafts from the model's own history until its EOS, the cap or a cancellation.
///
/// The first token is free: the producer's prefill selected it. A batch is published as soon as it holds `batch_tokens`
/// candidates; a shorter last batch (perhaps empty) ends the source. `cancelled` is asked between two forwards, so that
/// a cancellation waits for one operation at most.
void produce(CacheModel& model, const ProducerSettings& settings, const std::function<void(Batch)>& publish,
             const std::function<bool()>& cancelled, const std::function<Nanoseconds()>& now_ns);

}  // namespace as2d
