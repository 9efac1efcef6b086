// A drafter on a thread of its own, as the target's thread sees it: a serial drafter, or a free-running source.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "decoding/publication_queue.hpp"
#include "engines/drafting.hpp"
#include "engines/producer.hpp"
#include "runner/worker_thread.hpp"

namespace as2d {

constexpr std::chrono::seconds draft_deadline{100};
constexpr std::chrono::seconds drain_deadline{10};

/// Drafts on demand while the target waits.
class ThreadedDrafter : public SerialDrafter {
public:
    /// `model` belongs to `thread`; both outlive the drafter.
    ThreadedDrafter(WorkerThread& thread, CacheModel& model) : thread_(thread), work_(std::make_shared<Work>(model)) {}

    /// After a DrafterLostError nothing more may be asked: the draft may still be going on.
    Draft draft_fixed(const Tokens& committed, Count count) override;
    Draft draft_adaptive(const Tokens& committed, Count cap, std::optional<double> threshold, const Tokens& old_branch,
                         const std::vector<double>& old_confidences) override;

private:
    /// Everything that a draft touches; shared, so that one that was given up touches no freed memory. Its room is used
    /// again: a round allocates nothing for it.
    struct Work {
        explicit Work(CacheModel& model) : drafter(model) {}

        BranchDrafter drafter;
        Tokens committed;
        Tokens old_branch;
        std::vector<double> old_confidences;
    };

    WorkerThread& thread_;
    std::shared_ptr<Work> work_;
};

/// Drafts on its own and publishes through a queue on which the target never waits.
class ThreadedSource : public Source {
public:
    /// `model` belongs to `thread`; both outlive the source. Spans are recorded as they arrive.
    ThreadedSource(WorkerThread& thread, CacheModel& model, Recorder& recorder, std::string name,
                   ProducerSettings settings);
    /// A producer that is still running is cancelled and waited for.
    ~ThreadedSource() override;

    bool running() const override { return running_; }
    void start(Nanoseconds now_ns) override;
    std::vector<Publication> poll() override;
    Drain stop(Nanoseconds now_ns) override;

private:
    /// Everything that both threads touch; shared, so that a producer that was given up touches no freed memory.
    struct Channel {
        PublicationQueue<Batch> batches;
        std::atomic<bool> cancelled{false};
        /// Set once `failure` is whole.
        std::atomic<bool> failed{false};
        std::string failure;
    };

    std::vector<Publication> take_all();
    void record_spans(const Batch& batch);

    WorkerThread& thread_;
    CacheModel& model_;
    Recorder& recorder_;
    std::string name_;
    ProducerSettings settings_;
    std::shared_ptr<Channel> channel_ = std::make_shared<Channel>();
    std::future<void> finished_;
    bool running_ = false;
    Nanoseconds end_ns_ = 0;
    std::optional<Nanoseconds> previous_draft_end_ns_;
};

}  // namespace as2d
