// Readers of rows of logits, for tests to call.
#include "engines/logits.hpp"

extern "C" {

/// -1: no numbers.
int as2d_greedy_token(const float* row, std::size_t size, std::size_t barred) {
    return as2d::greedy_token(row, size, barred).value_or(-1);
}

double as2d_greedy_probability(const float* row, std::size_t size, std::size_t barred, int token) {
    return as2d::greedy_probability(row, size, barred, token);
}
}
