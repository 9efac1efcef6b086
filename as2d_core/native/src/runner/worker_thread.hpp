// A thread of its own for one model: MNN keeps its executor per thread, and cores are bound per thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>

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
        std::packaged_task<Result()> packed(std::move(task));
        std::future<Result> result = packed.get_future();
        post(std::make_shared<Submitted<Result>>(std::move(packed)));
        return result;
    }

    /// Runs `task` there and waits for what it returns. Throws DrafterLostError after the deadline, and what it throws.
    /// Every round of a serial method comes through here right after a forward that left nothing in the caches: one
    /// allocation, few lines of memory.
    template <typename Task>
    std::invoke_result_t<Task> call(Task task, std::chrono::seconds deadline) {
        auto asked = std::make_shared<Call<Task>>(std::move(task));
        post(asked);
        wait_until_done([&asked] { return asked->done.load(std::memory_order_acquire); }, deadline);
        return asked->result();
    }

    /// Waits, awake for as long as the thread itself would be.
    template <typename Result>
    void wait(const std::future<Result>& result, std::chrono::seconds deadline) {
        wait_until_done([&result] { return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; },
                        deadline);
    }

    /// Whether every task has ended, or ends before the deadline. A thread that does not stand still is stuck in one.
    bool stands_still(std::chrono::seconds deadline);

private:
    struct Work {
        virtual ~Work() = default;
        /// Throws nothing.
        virtual void run() = 0;
    };

    template <typename Result>
    struct Submitted : Work {
        explicit Submitted(std::packaged_task<Result()> packed) : task(std::move(packed)) {}
        void run() override { task(); }

        std::packaged_task<Result()> task;
    };

    template <typename Task>
    struct Call : Work {
        using Result = std::invoke_result_t<Task>;
        /// void has no values.
        using Held = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;

        explicit Call(Task asked) : task(std::move(asked)) {}

        void run() override {
            try {
                if constexpr (std::is_void_v<Result>) {
                    task();
                    held.emplace();
                } else {
                    held.emplace(task());
                }
            } catch (...) {
                failure = std::current_exception();
            }
            done.store(true, std::memory_order_release);
        }

        Result result() {
            if (failure) std::rethrow_exception(failure);
            if constexpr (!std::is_void_v<Result>) return std::move(*held);
        }

        Task task;
        std::optional<Held> held;
        std::exception_ptr failure;
        std::atomic<bool> done{false};
    };

    void post(std::shared_ptr<Work> work);

    template <typename Done>
    void wait_until_done(const Done& done, std::chrono::seconds deadline) {
        using Clock = std::chrono::steady_clock;
        const auto awake_until = Clock::now() + spin_;
        while (Clock::now() < awake_until) {
            if (done()) return;
        }
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, deadline, done)) {
            throw DrafterLostError("The drafter did not answer within " + std::to_string(deadline.count()) + " s.");
        }
    }

    std::shared_ptr<Work> next();
    void run();

    const std::chrono::microseconds spin_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Work>> tasks_;
    bool leaving_ = false;
    bool works_ = false;
    /// Posted tasks; a thread that spins looks here, without the lock.
    std::atomic<std::size_t> posted_{0};
    std::thread thread_;
};

}  // namespace as2d
