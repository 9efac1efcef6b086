// How many bytes of weights does an MNN graph want? MNN reads on behind the end of a shorter file without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace as2d {

/// Least length of the weight file of a graph, 0 when it keeps all weights inside itself; none when `graph` is none that
/// can be followed.
std::optional<std::uint64_t> weight_bytes(std::string_view graph);

}  // namespace as2d
