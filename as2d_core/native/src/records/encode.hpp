// Events as lines of JSON, field for field as every runner of this protocol writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "records/events.hpp"

namespace as2d {

/// Lines of each kind so far, in the order the kinds first came in.
using LineCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// How a run ended.
struct Ending {
    std::string status;
    Count tokens = 0;
    std::optional<std::string> text = std::nullopt;
    std::optional<std::string> error = std::nullopt;
    Extra extra = {};
};

/// The word under `kind`.
const char* kind_of(const Event& event);

/// One event as one line, newline not included.
std::string encode(const Event& event);

/// The last line. `sha256` covers every line before it, newlines included.
std::string encode_end(const Ending& ending, const LineCounts& counts, const std::string& sha256);

}  // namespace as2d
