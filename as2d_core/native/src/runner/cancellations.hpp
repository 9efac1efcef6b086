// Which runs are to end early? Told by a control line or a signal, asked once a round.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace as2d {

/// A cancellation counts from the moment its request was read, so that one which overtakes the start of its run is not
/// lost; one that comes after the end of its run changes nothing.
class Cancellations {
public:
    /// A request for this run has been read.
    void expect(const std::string& run_id);
    /// Cancels one run; unknown and finished ones are left alone.
    void cancel(const std::string& run_id);
    /// The run has ended.
    void forget(const std::string& run_id);
    /// Whether the run is to end.
    bool wanted(const std::string& run_id);

    /// Cancels the present run and every later one; safe in a signal handler.
    void cancel_all() { all_ = true; }
    bool all() const { return all_; }

private:
    struct Waiting {
        std::string run_id;
        bool cancelled = false;
    };

    std::atomic<bool> all_{false};
    std::mutex mutex_;
    std::vector<Waiting> waiting_;
};

}  // namespace as2d
