// SHA-256 (FIPS 180-4), for the end line of a run and for what a model folder holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace as2d {

class Sha256 {
public:
    void update(std::string_view bytes);

    std::array<std::uint8_t, 32> digest() const;
    /// 64 small hex digits.
    std::string hex() const;

private:
    void compress(const std::uint8_t* block);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace as2d
