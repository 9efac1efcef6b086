#include "runner/input.hpp"

#include <chrono>

#include "errors.hpp"

namespace as2d {
namespace {

/// Bytes of the longest line that is kept: four for each character. What lies beyond it is passed over.
constexpr std::size_t longest_line_bytes = longest_request_characters * 4;

}  // namespace

bool get_line(std::istream& stream, std::string& line) {
    line.clear();
    for (int c = stream.get(); c != std::istream::traits_type::eof(); c = stream.get()) {
        if (c == '\n') return true;
        if (line.size() <= longest_line_bytes) line += static_cast<char>(c);
    }
    return !line.empty();
}

std::optional<Input::Item> read_line(const std::string& line, Cancellations& cancellations) {
    if (line.find_first_not_of(" \t\r\n\v\f") == std::string::npos) return std::nullopt;
    json::Value body;
    try {
        body = parse_request_line(line);
    } catch (const FormatError& error) {
        return Refusal{std::string("A request line is not JSON: ") + error.what() + "."};
    }
    const auto* object = body.get<json::Object>();
    if (object != nullptr && object->members.size() == 1 && object->members.front().first == "cancel") {
        if (const auto* run_id = object->members.front().second.get<std::string>()) cancellations.cancel(*run_id);
        return std::nullopt;
    }
    try {
        return request_from_json(body);
    } catch (const FormatError& error) {
        return Refusal{std::string("A request is refused: ") + error.what() + "."};
    }
}

void Input::read(std::istream& stream) {
    std::string line;
    while (get_line(stream, line)) take(line);
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

void Input::take(const std::string& line) {
    auto item = read_line(line, cancellations_);
    if (!item) return;
    if (const auto* request = std::get_if<Request>(&*item)) cancellations_.expect(request->run_id);
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(*item));
    changed_.notify_all();
}

std::optional<Input::Item> Input::next() {
    // A signal handler can wake nobody: whether everything was cancelled is looked at now and then.
    constexpr std::chrono::milliseconds look_period{200};
    std::unique_lock lock(mutex_);
    while (items_.empty() && !ended_ && !cancellations_.all()) changed_.wait_for(lock, look_period);
    if (items_.empty() || cancellations_.all()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
}

}  // namespace as2d
