#include "runner/threaded_operations.hpp"

namespace as2d {
namespace {

constexpr std::chrono::seconds forced_deadline{60};

}  // namespace

ThreadedOperations::~ThreadedOperations() {
    stop_ = true;
    if (busy_.valid()) busy_.wait_for(drain_deadline);
}

void ThreadedOperations::start_busy(Count length_tokens) {
    stop_ = false;
    busy_ = thread_.submit([this, length_tokens] { return draft_over_and_over(paced_, length_tokens, stop_); });
}

std::vector<Nanoseconds> ThreadedOperations::stop_busy() {
    stop_ = true;
    thread_.wait(busy_, drain_deadline);
    return busy_.get();
}

std::vector<Nanoseconds> ThreadedOperations::timing(Count width, Count offset_tokens, Count repetitions) {
    return thread_.call(
        [this, width, offset_tokens, repetitions] {
            return time_forwards(model_, paced_, width, offset_tokens, repetitions);
        },
        draft_deadline);
}

std::vector<Nanoseconds> ThreadedOperations::confidence(Count repetitions) {
    return thread_.call([this, repetitions] { return model_.time_confidence(repetitions); }, draft_deadline);
}

std::vector<Prediction> ThreadedOperations::forced(const Tokens& tokens) {
    return thread_.call([this, tokens] { return predict_along(model_, tokens); }, forced_deadline);
}

SerialDrafter& ThreadedOperations::serial() {
    serial_ = std::make_unique<ThreadedDrafter>(thread_, paced_);
    return *serial_;
}

Source& ThreadedOperations::source(Recorder& recorder, Count batch_tokens, Count max_tokens) {
    source_ = std::make_unique<ThreadedSource>(thread_, paced_, recorder, name_,
                                               ProducerSettings{batch_tokens, max_tokens});
    return *source_;
}

}  // namespace as2d
