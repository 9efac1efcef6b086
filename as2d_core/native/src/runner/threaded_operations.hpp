// The drafter of an operation on a thread of its own, as the target's thread sees it.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "engines/operations.hpp"
#include "runner/threaded.hpp"

namespace as2d {

class ThreadedOperations : public OperationDrafter {
public:
    /// Models belong to `thread`; all outlive this. `paced` is the same model or one that slows it down.
    ThreadedOperations(WorkerThread& thread, CacheModel& model, CacheModel& paced, std::string name)
        : thread_(thread), model_(model), paced_(paced), name_(std::move(name)) {}
    /// Drafting that is still going on is ended and waited for.
    ~ThreadedOperations() override;

    void start_busy(Count length_tokens) override;
    std::vector<Nanoseconds> stop_busy() override;
    std::vector<Nanoseconds> timing(Count width, Count offset_tokens, Count repetitions) override;
    std::vector<Nanoseconds> confidence(Count repetitions) override;
    std::vector<Prediction> forced(const Tokens& tokens) override;
    SerialDrafter& serial() override;
    Source& source(Recorder& recorder, Count batch_tokens, Count max_tokens) override;
    const std::string& name() const override { return name_; }

private:
    WorkerThread& thread_;
    CacheModel& model_;
    CacheModel& paced_;
    std::string name_;
    /// Of the latest busy drafting.
    std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(true);
    std::future<std::vector<Nanoseconds>> busy_;
    std::unique_ptr<ThreadedDrafter> serial_;
    std::unique_ptr<ThreadedSource> source_;
};

}  // namespace as2d
