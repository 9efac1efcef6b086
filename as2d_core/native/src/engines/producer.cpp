#include "engines/producer.hpp"

#include <utility>

namespace as2d {

void produce(CacheModel& model, const ProducerSettings& settings, const std::function<void(Batch)>& publish,
             const std::function<bool()>& cancelled, const std::function<Nanoseconds()>& now_ns) {
    Batch pending{};
    pending.draft_start_ns = pending.draft_end_ns = now_ns();
    const auto flush = [&](bool last) {
        Batch next{};
        next.offset = pending.offset + static_cast<Count>(pending.tokens.size());
        next.draft_end_ns = pending.draft_end_ns;
        pending.last = last;
        pending.time_ns = now_ns();
        publish(std::exchange(pending, std::move(next)));
        pending.draft_start_ns = now_ns();
    };

    Prediction next = model.first();
    while (next.token != model.eos()) {
        pending.tokens.push_back(next.token);
        pending.confidences.emplace_back(next.confidence);
        if (static_cast<Count>(pending.tokens.size()) == settings.batch_tokens) flush(false);
        const Count drafted = pending.offset + static_cast<Count>(pending.tokens.size());
        if (cancelled() || drafted >= settings.max_tokens) break;
        const Rows rows = model.forward({next.token});
        pending.draft_end_ns = rows.end_ns;
        ++pending.forwards;
        next = rows.predictions.back();
    }
    flush(true);
}

}  // namespace as2d
