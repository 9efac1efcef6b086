#include "runner/worker_thread.hpp"

namespace as2d {

WorkerThread::WorkerThread(std::chrono::microseconds spin) : spin_(spin), thread_([this] { run(); }) {}

WorkerThread::~WorkerThread() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
        tasks_.clear();
    }
    changed_.notify_all();
    thread_.join();
}

void WorkerThread::post(std::shared_ptr<Work> work) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(work));
    }
    posted_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
}

std::shared_ptr<WorkerThread::Work> WorkerThread::next() {
    const std::size_t seen = posted_.load(std::memory_order_acquire);
    std::unique_lock lock(mutex_);
    if (tasks_.empty() && !leaving_ && spin_.count() > 0) {
        lock.unlock();
        const auto awake_until = std::chrono::steady_clock::now() + spin_;
        while (posted_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < awake_until) {
        }
        lock.lock();
    }
    changed_.wait(lock, [this] { return leaving_ || !tasks_.empty(); });
    if (tasks_.empty()) return nullptr;
    std::shared_ptr<Work> work = std::move(tasks_.front());
    tasks_.pop_front();
    works_ = true;
    return work;
}

bool WorkerThread::stands_still(std::chrono::seconds deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, deadline, [this] { return tasks_.empty() && !works_; });
}

void WorkerThread::run() {
    while (auto work = next()) {
        work->run();
        work.reset();
        {
            const std::lock_guard lock(mutex_);
            works_ = false;
        }
        changed_.notify_all();
    }
}

}  // namespace as2d
