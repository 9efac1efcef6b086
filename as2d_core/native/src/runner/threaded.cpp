#include "runner/threaded.hpp"

#include <algorithm>
#include <exception>

#include "clock.hpp"

namespace as2d {

Draft ThreadedDrafter::draft_fixed(const Tokens& committed, Count count) {
    work_->committed = committed;
    return thread_.call([work = work_, count] { return work->drafter.draft_fixed(work->committed, count); },
                        draft_deadline);
}

Draft ThreadedDrafter::draft_adaptive(const Tokens& committed, Count cap, std::optional<double> threshold,
                                      const Tokens& old_branch, const std::vector<double>& old_confidences) {
    work_->committed = committed;
    work_->old_branch = old_branch;
    work_->old_confidences = old_confidences;
    return thread_.call(
        [work = work_, cap, threshold] {
            return work->drafter.draft_adaptive(work->committed, cap, threshold, work->old_branch,
                                                work->old_confidences);
        },
        draft_deadline);
}

ThreadedSource::ThreadedSource(WorkerThread& thread, CacheModel& model, Recorder& recorder, std::string name,
                               ProducerSettings settings)
    : thread_(thread), model_(model), recorder_(recorder), name_(std::move(name)), settings_(settings) {}

ThreadedSource::~ThreadedSource() {
    channel_->cancelled = true;
    if (finished_.valid()) finished_.wait_for(drain_deadline);
}

void ThreadedSource::start(Nanoseconds now_ns) {
    end_ns_ = now_ns;
    running_ = true;
    finished_ = thread_.submit([channel = channel_, &model = model_, settings = settings_] {
        try {
            produce(
                model, settings, [&](Batch batch) { channel->batches.push(std::move(batch)); },
                [&] { return channel->cancelled.load(std::memory_order_relaxed); }, [] { return DeviceClock::now(); });
        } catch (const std::exception& error) {
            channel->failure = error.what();
            channel->failed.store(true, std::memory_order_release);
        }
    });
}

std::vector<Publication> ThreadedSource::poll() {
    if (!running_) return {};
    // Asked before the queue is emptied: a failure comes after everything that was published.
    const bool failed = channel_->failed.load(std::memory_order_acquire);
    std::vector<Publication> batches = take_all();
    if (failed && batches.empty()) {
        running_ = false;
        throw DrafterLostError("The drafter failed: " + channel_->failure);
    }
    return batches;
}

Drain ThreadedSource::stop(Nanoseconds now_ns) {
    if (!running_) return {{}, {}, end_ns_};
    channel_->cancelled = true;
    const bool stands_still = finished_.wait_for(drain_deadline) == std::future_status::ready;
    Drain drain{take_all(), {}, std::max(now_ns, end_ns_)};
    running_ = false;
    if (!stands_still) {
        drain.lost = "The drafter did not stop within " + std::to_string(drain_deadline.count()) + " s.";
        finished_ = {};  // waited for once
    } else if (channel_->failed.load(std::memory_order_acquire)) {
        drain.lost = "The drafter failed: " + channel_->failure;
    } else {
        drain.end_ns = end_ns_;
    }
    return drain;
}

std::vector<Publication> ThreadedSource::take_all() {
    std::vector<Publication> out;
    while (auto batch = channel_->batches.pop()) {
        record_spans(*batch);
        end_ns_ = batch->time_ns;
        if (batch->last) running_ = false;
        if (batch->tokens.empty()) continue;
        out.push_back({name_, batch->offset, std::move(batch->tokens), std::move(batch->confidences), batch->time_ns});
    }
    return out;
}

void ThreadedSource::record_spans(const Batch& batch) {
    const auto add = [this](const char* work, Nanoseconds start_ns, Nanoseconds end_ns, Count operations) {
        recorder_.add(Span{"drafter", work, start_ns, end_ns, std::nullopt, operations});
    };
    if (previous_draft_end_ns_) add("publish", *previous_draft_end_ns_, batch.draft_start_ns, 0);
    if (batch.forwards > 0) add("draft", batch.draft_start_ns, batch.draft_end_ns, batch.forwards);
    if (batch.last) add("publish", batch.draft_end_ns, batch.time_ns, 0);
    previous_draft_end_ns_ = batch.draft_end_ns;
}

}  // namespace as2d
