// The random order in which a calibration measures: the numbers of Python's `random.Random`, so that both runners measure
// in the same order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace as2d {

class PythonRandom {
public:
    explicit PythonRandom(std::uint32_t seed) : numbers_(seeded(seed)) {}

    /// `random.shuffle`.
    template <typename Item>
    void shuffle(std::vector<Item>& items) {
        for (std::size_t i = items.size(); i-- > 1;) {
            std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
        }
    }

private:
    /// The state that Python (and the reference `init_by_array`) makes of a whole number of one word.
    struct Seed {
        using result_type = std::uint_least32_t;
        std::uint32_t number;

        template <typename Iterator>
        void generate(Iterator first, Iterator last) const {
            constexpr std::size_t size = 624;
            std::array<std::uint32_t, size> state{19650218U};
            const auto mixed = [&state](std::size_t i) { return state[i - 1] ^ (state[i - 1] >> 30); };
            for (std::uint32_t i = 1; i < size; ++i) state[i] = 1812433253U * mixed(i) + i;
            std::size_t i = 1;
            const auto go_on = [&] {
                if (++i < size) return;
                state[0] = state[size - 1];
                i = 1;
            };
            for (std::size_t k = 0; k < size; ++k, go_on()) state[i] = (state[i] ^ (mixed(i) * 1664525U)) + number;
            for (std::size_t k = 1; k < size; ++k, go_on()) {
                state[i] = (state[i] ^ (mixed(i) * 1566083941U)) - static_cast<std::uint32_t>(i);
            }
            state[0] = 0x80000000U;
            std::copy_n(state.begin(), last - first, first);
        }
    };

    static std::mt19937 seeded(std::uint32_t number) {
        Seed seed{number};
        return std::mt19937(seed);
    }

    /// A number from 0 to `end` - 1.
    std::uint32_t below(std::uint32_t end) {
        int bits = 0;
        while (bits < 32 && end >> bits != 0) ++bits;
        std::uint32_t number = end;
        while (number >= end) number = static_cast<std::uint32_t>(numbers_()) >> (32 - bits);
        return number;
    }

    std::mt19937 numbers_;
};

}  // namespace as2d
