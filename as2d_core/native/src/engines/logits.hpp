// What one row of logits says. Every round reads rows as long as the vocabulary, so both walks are written for vector
// units: no call, no branch and no order of additions that the compiler would have to keep.
#pragma once

#include <cstddef>
#include <optional>

#include "types.hpp"

namespace as2d {

/// Greedy token of a row of `size` logits, the first of equals. `barred` is never taken: an index of the row, or one
/// behind its end. Nothing where the row holds values that are no numbers, or none that a model computes.
std::optional<Token> greedy_token(const float* row, std::size_t size, std::size_t barred);

/// Softmax probability of `token`, which is what `greedy_token` found in the same row; six digits of it are right.
double greedy_probability(const float* row, std::size_t size, std::size_t barred, Token token);

}  // namespace as2d
