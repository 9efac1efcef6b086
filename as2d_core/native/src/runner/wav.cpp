#include "runner/wav.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "errors.hpp"
#include "json/writer.hpp"
#include "records/sha256.hpp"

namespace as2d {
namespace {

constexpr std::uint32_t sample_rate = 16'000;
constexpr double most_seconds = 30.0;
constexpr double least_seconds = 0.1;
constexpr std::uintmax_t most_bytes = 200'000'000;
/// Full scale is 1; far above it, whole numbers were written as fractions.
constexpr float loudest = 100.0F;

enum : std::uint16_t { pcm = 1, ieee_float = 3, extensible = 0xFFFE };

struct Format {
    std::uint16_t coding = 0;
    std::uint16_t channels = 0;
    std::uint32_t rate = 0;
    std::uint16_t bits = 0;
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    return value;
}

class Wav {
public:
    Wav(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) { find_parts(); }

    [[noreturn]] void fail(const std::string& what) const { throw AudioError(name_ + " " + what); }

    double duration_s() const { return static_cast<double>(frames()) / sample_rate; }

    /// One channel: the mean of all.
    std::vector<float> mono(std::size_t first, std::size_t count) const {
        std::vector<float> out;
        out.reserve(count);
        for (std::size_t frame = first; frame < first + count; ++frame) {
            float sum = 0.0F;
            for (std::size_t channel = 0; channel < format_.channels; ++channel) sum += sample(frame, channel);
            const float value = sum / static_cast<float>(format_.channels);
            if (!std::isfinite(value)) fail("holds samples that are not numbers (NaN or infinite); export it again.");
            if (std::abs(value) > loudest) fail("has samples far beyond full scale; export it again.");
            out.push_back(value);
        }
        return out;
    }

private:
    std::size_t frames() const { return data_.size() / frame_bytes(); }
    std::size_t frame_bytes() const { return std::size_t{format_.channels} * format_.bits / 8; }

    void find_parts() {
        const std::string_view all = bytes_;
        if (all.size() < 12 || all.substr(0, 4) != "RIFF" || all.substr(8, 4) != "WAVE") {
            fail("is no WAV file; this runner takes WAV with 16 kHz, so convert it first.");
        }
        std::size_t at = 12;
        while (at + 8 <= all.size() && data_.empty()) {
            const std::string_view id = all.substr(at, 4);
            const std::size_t size = little_endian(all, at + 4, 4);
            at += 8;
            if (size > all.size() - at) fail("breaks off; it is cut or damaged, so copy or export it again.");
            if (id == "fmt ") read_format(all.substr(at, size));
            if (id == "data") data_ = all.substr(at, size);
            at += size + size % 2;
        }
        if (format_.channels == 0) fail("does not say how its samples are written; export it again.");
        if (format_.rate != sample_rate) {
            fail("has " + std::to_string(format_.rate) + " Hz; this runner takes 16000 Hz, so resample it first.");
        }
        if (data_.size() < frame_bytes()) fail("holds no samples; record or export it again.");
    }

    void read_format(std::string_view chunk) {
        if (chunk.size() < 16) return;
        format_ = {static_cast<std::uint16_t>(little_endian(chunk, 0, 2)),
                   static_cast<std::uint16_t>(little_endian(chunk, 2, 2)), little_endian(chunk, 4, 4),
                   static_cast<std::uint16_t>(little_endian(chunk, 14, 2))};
        if (format_.coding == extensible && chunk.size() >= 26) {
            format_.coding = static_cast<std::uint16_t>(little_endian(chunk, 24, 2));
        }
        const bool whole = format_.coding == pcm && (format_.bits == 16 || format_.bits == 24 || format_.bits == 32);
        const bool fraction = format_.coding == ieee_float && format_.bits == 32;
        if (!whole && !fraction) fail("is coded in a way that this runner does not take; export it as 16-bit PCM.");
        if (format_.channels == 0 || format_.channels > 64) fail("names a number of channels that cannot be.");
    }

    float sample(std::size_t frame, std::size_t channel) const {
        const std::size_t size = format_.bits / 8U;
        const std::uint32_t raw = little_endian(data_, frame * frame_bytes() + channel * size, size);
        if (format_.coding == ieee_float) {
            float value = 0.0F;
            std::memcpy(&value, &raw, sizeof value);
            return value;
        }
        // The highest bit of the sample becomes the sign.
        const auto whole = static_cast<std::int32_t>(raw << (32 - format_.bits));
        return static_cast<float>(static_cast<double>(whole) / 2147483648.0);
    }

    std::string name_;
    std::string bytes_;
    Format format_;
    std::string_view data_;
};

std::string read_bytes(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error || !std::filesystem::is_regular_file(path, error))
        throw AudioError("There is no audio file at " + path + ".");
    const std::string name = std::filesystem::path(path).filename().string();
    if (size > most_bytes) throw AudioError(name + " is larger than 200 MB; give a smaller file.");
    std::string bytes(size, '\0');
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) throw AudioError(name + " cannot be read.");
    return bytes;
}

}  // namespace

Audio read_wav(const AudioRef& view) {
    const Wav wav(std::filesystem::path(view.path).filename().string(), read_bytes(view.path));
    const double start_s = view.view_start_s;
    const double end_s = view.view_end_s.value_or(wav.duration_s());
    if (!(start_s >= 0 && start_s < end_s) || end_s > wav.duration_s() + 1e-6) {
        wav.fail("does not hold the view " + json::to_string(start_s) + " to " + json::to_string(end_s) + " s.");
    }
    if (end_s - start_s > most_seconds + 1e-6) {
        wav.fail(
            "lasts longer than the models hear (30 s); cut it, or choose a start and an end nearer to each other.");
    }
    const auto first = static_cast<std::size_t>(start_s * sample_rate);
    const auto asked = static_cast<std::size_t>(std::nearbyint((end_s - start_s) * sample_rate));
    const auto last = static_cast<std::size_t>(std::nearbyint(wav.duration_s() * sample_rate));
    Audio audio{wav.mono(first, std::min(asked, last - first)), {}, 0.0};
    audio.duration_s = static_cast<double>(audio.samples.size()) / sample_rate;
    if (audio.duration_s < least_seconds) wav.fail("holds less than the 100 ms of audio that are needed.");
    Sha256 hash;
    hash.update({reinterpret_cast<const char*>(audio.samples.data()), audio.samples.size() * sizeof(float)});
    audio.sha256 = hash.hex();
    return audio;
}

}  // namespace as2d
