#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "audio/file.hpp"
#include "errors.hpp"

namespace as2d {
namespace {

enum : std::uint16_t { pcm = 1, ieee_float = 3, extensible = 0xFFFE };

/// Behind the two bytes of the coding, in the long form of a format.
constexpr std::string_view common_guid{"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14};

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    return value;
}

class Wav : public AudioFile {
public:
    explicit Wav(std::string_view bytes) {
        find_parts(bytes);
        if (channels_ == 0) throw AudioError("does not say how its samples are written; export it again.");
    }

    AudioFormat format() const override { return {rate_, channels_, promised_ / frame_bytes()}; }

    std::vector<float> mono(std::uint64_t first, std::uint64_t count) const override {
        const std::uint64_t frames = data_.size() / frame_bytes();
        first = std::min(first, frames);
        count = std::min(count, frames - first);
        std::vector<float> out;
        out.reserve(static_cast<std::size_t>(count));
        std::array<float, most_channels> frame{};
        for (std::size_t at = static_cast<std::size_t>(first) * frame_bytes(); out.size() < count;) {
            for (std::size_t channel = 0; channel < channels_; ++channel, at += sample_bytes_) {
                frame[channel] = sample(at);
                if (std::isfinite(frame[channel]) && std::abs(frame[channel]) > loudest) {
                    throw AudioError("has samples far beyond full scale; export it again.");
                }
            }
            out.push_back(mean_of(frame.data(), channels_));
        }
        return out;
    }

private:
    std::size_t frame_bytes() const { return channels_ * sample_bytes_; }

    void find_parts(std::string_view all) {
        std::size_t at = 12;
        while (at + 8 <= all.size()) {
            const std::string_view id = all.substr(at, 4);
            std::uint64_t size = little_endian(all, at + 4, 4);
            at += 8;
            const std::size_t left = all.size() - at;
            if (id == "data") {
                // What was never closed says 0, what was written to a pipe all bits: it goes on to the end of the file.
                if (size == 0 && little_endian(all, 4, 4) == 8) size = left;
                data_ = all.substr(at, static_cast<std::size_t>(std::min<std::uint64_t>(size, left)));
                // What promises more than a file can hold was never told its length; what promises more than there
                // is was cut off, and lasts as long as it says, so that whoever hears it misses the rest.
                promised_ = size <= most_bytes ? size : data_.size();
                return;
            }
            if (size > left) throw AudioError("breaks off; it is cut or damaged, so copy or export it again.");
            if (id == "fmt ") read_format(all.substr(at, static_cast<std::size_t>(size)));
            at += static_cast<std::size_t>(size + size % 2);
        }
        throw AudioError("holds no samples; record or export it again.");
    }

    void read_format(std::string_view chunk) {
        if (chunk.size() < 16) return;
        coding_ = static_cast<std::uint16_t>(little_endian(chunk, 0, 2));
        const auto channels = static_cast<std::size_t>(little_endian(chunk, 2, 2));
        const auto frame = static_cast<std::size_t>(little_endian(chunk, 12, 2));
        const auto bits = static_cast<std::size_t>(little_endian(chunk, 14, 2));
        if (coding_ == extensible && chunk.size() >= 40 && chunk.substr(26, 14) == common_guid) {
            coding_ = static_cast<std::uint16_t>(little_endian(chunk, 24, 2));
        }
        const bool known = coding_ == pcm ? bits == 8 || bits == 16 || bits == 24 || bits == 32
                                          : coding_ == ieee_float && (bits == 32 || bits == 64);
        if (!known || frame != channels * bits / 8) {
            throw AudioError("is coded in a way that this runner does not take; export it as 16-bit PCM.");
        }
        if (channels == 0 || channels > most_channels) {
            throw AudioError("has " + std::to_string(channels) + " channels; this runner takes 1 to 64.");
        }
        rate_ = static_cast<std::uint32_t>(little_endian(chunk, 4, 4));
        channels_ = channels;
        sample_bytes_ = bits / 8;
    }

    float sample(std::size_t at) const {
        const std::uint64_t raw = little_endian(data_, at, sample_bytes_);
        if (coding_ == pcm) {
            if (sample_bytes_ == 1) return static_cast<float>(static_cast<int>(raw) - 128) / 128.0F;
            // The highest bit of the sample becomes the sign.
            const auto whole = static_cast<std::int32_t>(static_cast<std::uint32_t>(raw << (32 - 8 * sample_bytes_)));
            return static_cast<float>(whole) / 2147483648.0F;
        }
        if (sample_bytes_ == 8) {
            double value = 0.0;
            std::memcpy(&value, &raw, sizeof value);
            return static_cast<float>(value);
        }
        const auto low = static_cast<std::uint32_t>(raw);
        float value = 0.0F;
        std::memcpy(&value, &low, sizeof value);
        return value;
    }

    std::uint16_t coding_ = 0;
    std::uint32_t rate_ = 0;
    std::size_t channels_ = 0;
    std::size_t sample_bytes_ = 1;
    std::string_view data_;
    std::uint64_t promised_ = 0;
};

}  // namespace

std::unique_ptr<AudioFile> open_wav(std::string_view bytes) {
    return std::make_unique<Wav>(bytes);
}

}  // namespace as2d
