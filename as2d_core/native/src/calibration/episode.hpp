// One whole run of a calibration: its events are kept to be turned into samples.
#pragma once

#include <string>
#include <vector>

#include "engines/interface.hpp"

namespace as2d {

/// Keeps the events of one run; clock and cancellation are those of the recorder behind it.
class EpisodeRecorder : public Recorder {
public:
    explicit EpisodeRecorder(Recorder& behind) : behind_(behind) {}

    Nanoseconds now_ns() const override { return behind_.now_ns(); }
    void add(Event event) override { events_.push_back(std::move(event)); }
    bool cancelled() override { return behind_.cancelled(); }

    const std::vector<Event>& events() const { return events_; }

private:
    Recorder& behind_;
    std::vector<Event> events_;
};

/// Costs of the calls, drafts and publications of one run of a method, and what is left of its rounds, which is the last
/// sample and says that the run is whole.
std::vector<Sample> episode_samples(const std::string& method, const std::vector<Event>& events,
                                    Nanoseconds elapsed_ns);

}  // namespace as2d
