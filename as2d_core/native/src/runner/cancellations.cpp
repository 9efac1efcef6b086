#include "runner/cancellations.hpp"

#include <algorithm>

namespace as2d {

void Cancellations::expect(const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({run_id});
}

void Cancellations::cancel(const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    for (Waiting& run : waiting_) run.cancelled = run.cancelled || run.run_id == run_id;
}

void Cancellations::forget(const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    const auto run =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.run_id == run_id; });
    if (run != waiting_.end()) waiting_.erase(run);
}

bool Cancellations::wanted(const std::string& run_id) {
    if (all_) return true;
    const std::lock_guard lock(mutex_);
    return std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const Waiting& run) { return run.cancelled && run.run_id == run_id; });
}

}  // namespace as2d
