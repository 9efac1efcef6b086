// A thread of its own for one model: MNN keeps its executor per thread, and cores are bound per thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "errors.hpp"

namespace as2d {

/// Runs tasks one after the other on one thread.
class WorkerThread {
public:
    /// spin: how long the thread looks for the next task before it falls asleep. A core that slept has lost its caches:
    /// where the two models have cores of their own, serial methods are measured awake.
    explicit WorkerThread(std::chrono::microseconds spin = std::chrono::microseconds(0));
    /// Waits for the running task; tasks that were not begun are dropped.
    ~WorkerThread();
    WorkerThread(const WorkerThread&) = delete;
    WorkerThread& operator=(const WorkerThread&) = delete;

    /// Lets the thread run `task`; what it returns or throws is in the future.
    template <typename Task>
    std::future<std::invoke_result_t<Task>> submit(Task task) {
        using Result = std::invoke_result_t<Task>;
        auto packed = std::make_shared<std::packaged_task<Result()>>(std::move(task));
        std::future<Result> result = packed->get_future();
        post([packed] { (*packed)(); });
        return result;
    }

    /// Runs `task` there and waits for what it returns. Throws DrafterLostError after the deadline, and what it throws.
    template <typename Task>
    std::invoke_result_t<Task> call(Task task, std::chrono::seconds deadline) {
        auto result = submit(std::move(task));
        wait(result, deadline);
        return result.get();
    }

    /// Waits, awake for as long as the thread itself would be.
    template <typename Result>
    void wait(const std::future<Result>& result, std::chrono::seconds deadline) const {
        using Clock = std::chrono::steady_clock;
        const auto awake_until = Clock::now() + spin_;
        while (Clock::now() < awake_until) {
            if (result.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return;
        }
        if (result.wait_for(deadline) != std::future_status::ready) {
            throw DrafterLostError("The drafter did not answer within " + std::to_string(deadline.count()) + " s.");
        }
    }

    /// Whether every task has ended, or ends before the deadline. A thread that does not stand still is stuck in one.
    bool stands_still(std::chrono::seconds deadline);

private:
    using Task = std::function<void()>;

    void post(Task task);
    std::optional<Task> next();
    void run();

    const std::chrono::microseconds spin_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    bool leaving_ = false;
    bool works_ = false;
    /// Posted tasks; a thread that spins looks here, without the lock.
    std::atomic<std::size_t> posted_{0};
    std::thread thread_;
};

}  // namespace as2d
