// Requests and control lines, one a line, from a file or standard input.
#pragma once

#include <condition_variable>
#include <deque>
#include <istream>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "records/request.hpp"
#include "runner/cancellations.hpp"

namespace as2d {

/// A sentence about a line that is no request.
struct Refusal {
    std::string sentence;
};

/// What has been read and waits to be run. One thread reads, one takes.
class Input {
public:
    using Item = std::variant<Request, Refusal>;

    explicit Input(Cancellations& cancellations) : cancellations_(cancellations) {}

    /// Reads until the stream ends. Control lines are carried out at once, so that a run can be cancelled from here.
    void read(std::istream& stream);

    /// The next item, once there is one; none when the input has ended or everything was cancelled.
    std::optional<Item> next();

private:
    void take(const std::string& line);

    Cancellations& cancellations_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    bool ended_ = false;
};

/// The next line without its end; false at the end of the stream. A line that is too long for a request is cut, but
/// stays too long.
bool get_line(std::istream& stream, std::string& line);

/// Reads one line: a request, a refusal, or none for a control line, which is carried out, and for an empty line.
std::optional<Input::Item> read_line(const std::string& line, Cancellations& cancellations);

}  // namespace as2d
