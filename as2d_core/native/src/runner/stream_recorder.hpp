// The recorder of a measured run: events are kept in memory and written by another thread, so that no round waits for a
// pipe, a hash or a disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "engines/interface.hpp"
#include "records/stream_writer.hpp"
#include "runner/sensors.hpp"

namespace as2d {

class StreamRecorder : public Recorder {
public:
    using Cancelled = std::function<bool()>;
    /// Bytes of a token's text.
    using Piece = std::function<std::string(Token)>;

    /// Writes to `writer` until `finish`; nobody else may use it meanwhile. With `sensors` it adds four readings a
    /// second. `flush` and `finish` wait for the writing thread as long as `writer` waits for its reader: after one
    /// write that failed nothing more is written.
    StreamRecorder(StreamWriter& writer, Cancelled cancelled, const Sensors* sensors);
    ~StreamRecorder() override;

    Nanoseconds now_ns() const override;
    void add(Event event) override;
    /// Also when the stream cannot be written any more: nobody would read what is decoded from now on.
    bool cancelled() override { return failed_ || core_lost_ || cancelled_(); }

    void flush() override;

    /// Tokens committed so far, the first one included. Only for the thread that adds rounds.
    Count committed() const { return committed_; }

    /// Cores that went off-line while something was measured; what is measured after that is another device. Only after
    /// `finish`.
    const std::vector<Count>& lost_cores() const { return lost_cores_; }

    /// From now on the text of new tokens is written too.
    void set_piece(Piece piece);

    /// Writes everything that was added and ends the writing thread. Throws what writing threw.
    void finish();

private:
    void run();
    void write(std::vector<Event>& events);
    void write_new_pieces(const std::vector<Event>& events);
    void look_for_lost_cores(const Telemetry& reading);

    StreamWriter& writer_;
    Cancelled cancelled_;
    Count committed_ = 0;
    const Sensors* sensors_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Event> events_;
    Piece piece_;
    bool finishing_ = false;
    /// Times that somebody waits for everything to be written, and times that it was.
    std::uint64_t flushes_wanted_ = 0;
    std::uint64_t flushes_done_ = 0;
    std::atomic<bool> failed_{false};
    /// Whether the run has come to what is measured.
    std::atomic<bool> measuring_{false};
    std::atomic<bool> core_lost_{false};
    /// Cores that were seen on-line, and what is lost of them; the writing thread's own until it has ended.
    std::optional<std::int64_t> online_;
    std::vector<Count> lost_cores_;
    /// What writing threw; the writing thread's own until it has ended.
    std::exception_ptr failure_;
    /// Tokens whose text was written; the writing thread's own.
    std::set<Token> known_;
    std::thread thread_;
};

}  // namespace as2d
