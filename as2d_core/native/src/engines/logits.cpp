#include "engines/logits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace as2d {
namespace {

/// Partial results side by side: what the widest vector unit takes at once, and a multiple of every other.
constexpr std::size_t lanes = 16;
constexpr std::size_t block = 8 * lanes;
/// No logit comes near this.
constexpr float huge = 1e30F;

/// The largest of `size` values, minus infinity where there are none.
float largest_of(const float* row, std::size_t size) {
    std::array<float, block> tops;
    tops.fill(-std::numeric_limits<float>::infinity());
    const std::size_t whole = size - size % block;
    for (std::size_t start = 0; start < whole; start += block) {
        for (std::size_t i = 0; i < block; ++i) tops[i] = row[start + i] > tops[i] ? row[start + i] : tops[i];
    }
    for (std::size_t i = 0; i < size - whole; ++i) tops[i] = row[whole + i] > tops[i] ? row[whole + i] : tops[i];
    return *std::max_element(tops.begin(), tops.end());
}

bool all_numbers(const float* row, std::size_t size) {
    std::int32_t strange = 0;
    for (std::size_t i = 0; i < size; ++i) strange += row[i] != row[i] ? 1 : 0;
    return strange == 0;
}

/// e to the power of `x`, a number that is not above 0, to seven digits: 2 to the whole part of x / ln 2, times the
/// Taylor series over the rest of at most half of ln 2.
inline float exponential(float x) {
    constexpr float lowest = -87.0F;  // as good as nothing; below, the result would be no normal number
    constexpr float log2_e = 1.44269504F;
    constexpr float ln2_high = 0.693359375F;  // few bits, so that its multiples are exact
    constexpr float ln2_low = -2.12194440e-4F;
    constexpr float rounder = 12582912.0F;  // 1.5 times 2^23: whatever is added to it loses its fraction
    constexpr std::uint32_t exponent_bias = 127;
    constexpr int fraction_bits = 23;

    const float held = x > lowest ? x : lowest;
    const float shifted = held * log2_e + rounder;
    const float power = shifted - rounder;
    const float rest = (held - power * ln2_high) - power * ln2_low;
    const float series =
        1.0F +
        rest * (1.0F + rest * (1.0F / 2 + rest * (1.0F / 6 + rest * (1.0F / 24 + rest * (1.0F / 120 + rest / 720)))));
    std::uint32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + exponent_bias) << fraction_bits;  // what else is in the rounder's bits leaves at the top
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return series * scale;
}

/// Sum over a row of e to the power of (value - top).
double sum_of_exponentials(const float* row, std::size_t size, float top) {
    std::array<float, block> powers;
    double sum = 0.0;
    for (std::size_t start = 0; start < size; start += block) {
        const std::size_t length = std::min(block, size - start);
        for (std::size_t i = 0; i < length; ++i) powers[i] = exponential(row[start + i] - top);
        std::fill(powers.begin() + static_cast<std::ptrdiff_t>(length), powers.end(), 0.0F);
        std::array<float, lanes> sums{};
        for (std::size_t i = 0; i < block; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += powers[i + lane];
        }
        for (const float part : sums) sum += static_cast<double>(part);
    }
    return sum;
}

}  // namespace

std::optional<Token> greedy_token(const float* row, std::size_t size, std::size_t barred) {
    const std::size_t gap = std::min(barred, size);
    const std::size_t rest = std::min(gap + 1, size);
    const float before = largest_of(row, gap);
    const float behind = largest_of(row + rest, size - rest);
    const float top = std::max(before, behind);
    if (!(top > -huge && top < huge) || !all_numbers(row, gap) || !all_numbers(row + rest, size - rest)) {
        return std::nullopt;
    }
    const float* const found = before == top ? std::find(row, row + gap, top) : std::find(row + rest, row + size, top);
    return static_cast<Token>(found - row);
}

double greedy_probability(const float* row, std::size_t size, std::size_t barred, Token token) {
    const std::size_t gap = std::min(barred, size);
    const std::size_t rest = std::min(gap + 1, size);
    const float top = row[token];
    const double sum = sum_of_exponentials(row, gap, top) + sum_of_exponentials(row + rest, size - rest, top);
    return 1.0 / sum;
}

}  // namespace as2d
