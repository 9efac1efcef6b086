#include "runner/stream_recorder.hpp"

#include <algorithm>
#include <chrono>

#include "clock.hpp"
#include "runner/conditions.hpp"
#include "runner/cores.hpp"

namespace as2d {
namespace {

using Clock = std::chrono::steady_clock;

/// Events travel at most this often while decoding: every write wakes another process.
constexpr std::chrono::milliseconds flush_period{150};
constexpr std::chrono::milliseconds reading_period{250};

/// The tokens that an event shows.
struct TokensOf {
    std::set<Token>& out;

    void operator()(const Round& round) const {
        out.insert(round.committed.begin(), round.committed.end());
        out.insert(round.candidates.begin(), round.candidates.end());
    }
    void operator()(const Publication& batch) const { out.insert(batch.tokens.begin(), batch.tokens.end()); }
    void operator()(const Mark& mark) const {
        if (mark.token) out.insert(*mark.token);
    }
    template <typename Other>
    void operator()(const Other&) const {}
};

}  // namespace

StreamRecorder::StreamRecorder(StreamWriter& writer, Cancelled cancelled, const Sensors* sensors)
    : writer_(writer), cancelled_(std::move(cancelled)), sensors_(sensors) {
    events_.reserve(4096);
    thread_ = std::thread([this] { run(); });  // last: it takes the events away as soon as it runs
}

StreamRecorder::~StreamRecorder() {
    try {
        finish();
    } catch (const std::exception&) {
        // Whoever did not call `finish` is on the way out with an error of its own.
    }
}

Nanoseconds StreamRecorder::now_ns() const {
    return DeviceClock::now();
}

void StreamRecorder::add(Event event) {
    if (const auto* round = std::get_if<Round>(&event)) committed_ += static_cast<Count>(round->committed.size());
    if (const auto* mark = std::get_if<Mark>(&event); mark != nullptr && mark->token) {
        committed_ = 1;
        measuring_ = true;
    }
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
}

void StreamRecorder::set_piece(Piece piece) {
    const std::lock_guard lock(mutex_);
    piece_ = std::move(piece);
}

void StreamRecorder::flush() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = ++flushes_wanted_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return flushes_done_ >= mine; });
}

void StreamRecorder::finish() {
    {
        const std::lock_guard lock(mutex_);
        finishing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void StreamRecorder::run() {
    step_back();
    auto next_reading = Clock::now();
    std::vector<Event> taken;
    std::uint64_t wanted = 0;
    bool finishing = false;
    while (!finishing) {
        auto wake = Clock::now() + flush_period;
        if (sensors_ != nullptr) wake = std::min(wake, next_reading);
        {
            std::unique_lock lock(mutex_);
            changed_.wait_until(lock, wake, [this] { return finishing_ || flushes_wanted_ > flushes_done_; });
            finishing = finishing_;
            wanted = flushes_wanted_;
            taken.swap(events_);
        }
        // From the time it was due and not from now, or every delay would lower the rate; never to catch up.
        if (const auto now = Clock::now(); sensors_ != nullptr && now >= next_reading && !finishing) {
            const Telemetry reading = sensors_->read();
            look_for_lost_cores(reading);
            taken.push_back(reading);
            next_reading = std::max(next_reading + reading_period, now);
        }
        try {
            if (!failure_) write(taken);
        } catch (const std::exception&) {
            failure_ = std::current_exception();
            failed_ = true;
        }
        taken.clear();
        {
            const std::lock_guard lock(mutex_);
            flushes_done_ = wanted;
        }
        changed_.notify_all();
    }
}

void StreamRecorder::look_for_lost_cores(const Telemetry& reading) {
    if (!reading.online_mask || core_lost_) return;
    online_ = online_.value_or(0) | *reading.online_mask;
    if (!measuring_) return;
    lost_cores_ = as2d::lost_cores(*online_, *reading.online_mask);
    core_lost_ = !lost_cores_.empty();
}

void StreamRecorder::write(std::vector<Event>& events) {
    write_new_pieces(events);
    for (const Event& event : events) writer_.add(event);
}

void StreamRecorder::write_new_pieces(const std::vector<Event>& events) {
    Piece piece;
    {
        const std::lock_guard lock(mutex_);
        piece = piece_;
    }
    if (!piece) return;
    std::set<Token> shown;
    for (const Event& event : events) std::visit(TokensOf{shown}, event);
    Pieces pieces;
    for (const Token token : shown) {
        if (known_.insert(token).second) pieces.bytes[token] = piece(token);
    }
    if (!pieces.bytes.empty()) writer_.add(pieces);
}

}  // namespace as2d
