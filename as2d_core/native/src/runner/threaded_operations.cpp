#include "runner/threaded_operations.hpp"

namespace as2d {
namespace {

constexpr std::chrono::seconds forced_deadline{60};

}  // namespace

ThreadedOperations::~ThreadedOperations() {
    *stop_ = true;
    if (busy_.valid()) busy_.wait_for(drain_deadline);
}

// No task holds `this`: one that comes too late outlives it, and only the models are still there.
void ThreadedOperations::start_busy(Count length_tokens) {
    stop_ = std::make_shared<std::atomic<bool>>(false);
    busy_ = thread_.submit(
        [&paced = paced_, length_tokens, stop = stop_] { return draft_over_and_over(paced, length_tokens, *stop); });
}

std::vector<Nanoseconds> ThreadedOperations::stop_busy() {
    *stop_ = true;
    thread_.wait(busy_, drain_deadline);
    return busy_.get();
}

std::vector<Nanoseconds> ThreadedOperations::timing(Count width, Count offset_tokens, Count repetitions) {
    return thread_.call(
        [&model = model_, &paced = paced_, width, offset_tokens, repetitions] {
            return time_forwards(model, paced, width, offset_tokens, repetitions);
        },
        draft_deadline);
}

std::vector<Nanoseconds> ThreadedOperations::confidence(Count repetitions) {
    return thread_.call([&model = model_, repetitions] { return model.time_confidence(repetitions); }, draft_deadline);
}

std::vector<Prediction> ThreadedOperations::forced(const Tokens& tokens) {
    return thread_.call([&model = model_, tokens] { return predict_along(model, tokens); }, forced_deadline);
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
