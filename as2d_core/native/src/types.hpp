// The few words that every other file uses.
#pragma once

#include <cstdint>
#include <vector>

namespace as2d {

using Token = std::int32_t;
using Tokens = std::vector<Token>;

/// Nanoseconds of one clock, the one that the run header names.
using Nanoseconds = std::int64_t;

/// Number of tokens, candidates, rows or an index into them.
using Count = std::int64_t;

}  // namespace as2d
