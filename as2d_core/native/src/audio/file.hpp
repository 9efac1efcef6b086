// What every kind of audio file is for whoever reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace as2d {

struct AudioFormat {
    std::uint32_t rate = 0;
    std::size_t channels = 0;
    /// As the file says.
    std::uint64_t frames = 0;
};

/// An audio file in memory. What it refuses is a clause that follows the file's name: "breaks off; ...".
class AudioFile {
public:
    virtual ~AudioFile() = default;

    virtual AudioFormat format() const = 0;

    /// Frames `first` to `first + count` as one channel, the mean of all; fewer when the file ends before.
    /// Full scale is 1. Throws AudioError.
    virtual std::vector<float> mono(std::uint64_t first, std::uint64_t count) const = 0;
};

constexpr std::size_t most_channels = 64;
/// A file that says it is larger does not know: a recorder or a pipe fills its length in when it ends.
constexpr std::uint64_t most_bytes = 200'000'000;
/// Full scale is 1; far above it, in any channel, whole numbers were written as fractions.
constexpr float loudest = 100.0F;

/// The mean as numpy computes it: in single precision, eight sums side by side where there are as many channels.
float mean_of(const float* samples, std::size_t count);

/// `bytes` outlive the file. Throws AudioError: it is damaged, or coded in a way that this runner does not take.
std::unique_ptr<AudioFile> open_wav(std::string_view bytes);
std::unique_ptr<AudioFile> open_flac(std::string_view bytes);

}  // namespace as2d
