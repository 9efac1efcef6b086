#include "audio/audio.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "audio/file.hpp"
#include "audio/resample.hpp"
#include "errors.hpp"
#include "json/writer.hpp"
#include "records/sha256.hpp"

namespace as2d {
namespace {

constexpr double sample_rate = 16'000;
constexpr double most_seconds = 30.0;
constexpr double least_seconds = 0.1;
constexpr std::uint32_t lowest_rate = 1'000;
constexpr std::uint32_t highest_rate = 1'048'575;

std::string read_bytes(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) throw AudioError("cannot be read.");
    if (size == 0) throw AudioError("is empty (0 bytes); record or export it again.");
    if (size > most_bytes) throw AudioError("is larger than 200 MB; give a smaller file.");
    std::string bytes(size, '\0');
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) throw AudioError("cannot be read.");
    return bytes;
}

std::unique_ptr<AudioFile> open_audio(std::string_view bytes) {
    if (bytes.size() >= 12 && bytes.substr(0, 4) == "RIFF" && bytes.substr(8, 4) == "WAVE") return open_wav(bytes);
    if (bytes.substr(0, 4) == "fLaC" || bytes.substr(0, 3) == "ID3") return open_flac(bytes);
    throw AudioError("is no WAV and no FLAC file, and this runner takes no other; convert it to one of them.");
}

/// Samples of the view at the rate of the file.
std::vector<float> heard(const AudioFile& file, const AudioFormat& format, const AudioRef& view) {
    const double lasts_s = static_cast<double>(format.frames) / format.rate;
    const double start_s = view.view_start_s;
    const double end_s = view.view_end_s.value_or(lasts_s);
    if (!(start_s >= 0 && start_s < end_s) || end_s > lasts_s + 1e-6) {
        throw AudioError("does not hold the view " + json::to_string(start_s) + " to " + json::to_string(end_s) + " s.");
    }
    if (end_s - start_s > most_seconds + 1e-6) {
        throw AudioError(
            "lasts longer than the models hear (30 s); cut it, or choose a start and an end nearer to each other.");
    }
    const auto asked = static_cast<std::uint64_t>(std::nearbyint((end_s - start_s) * format.rate));
    std::vector<float> samples = file.mono(static_cast<std::uint64_t>(start_s * format.rate), asked);
    if (static_cast<double>(samples.size()) < static_cast<double>(asked) - format.rate * least_seconds) {
        throw AudioError("breaks off; it is cut or damaged, so copy or export it again.");
    }
    for (const float value : samples) {
        if (!std::isfinite(value)) {
            throw AudioError("holds samples that are not numbers (NaN or infinite); export it again.");
        }
    }
    return samples;
}

}  // namespace

float mean_of(const float* samples, std::size_t count) {
    float sum = 0.0F;
    std::size_t done = 0;
    if (count >= 8) {
        float sums[8];
        std::copy(samples, samples + 8, sums);
        for (done = 8; done + 8 <= count; done += 8) {
            for (std::size_t i = 0; i < 8; ++i) sums[i] += samples[done + i];
        }
        sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    for (; done < count; ++done) sum += samples[done];
    return sum / static_cast<float>(count);
}

Audio read_audio(const AudioRef& view) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(view.path, error)) {
        throw AudioError("There is no audio file at " + view.path + ".");
    }
    try {
        const std::string bytes = read_bytes(view.path);
        const auto file = open_audio(bytes);
        const AudioFormat format = file->format();
        if (format.rate < lowest_rate || format.rate > highest_rate) {
            throw AudioError("has " + std::to_string(format.rate) +
                             " Hz; this runner takes 1000 Hz to 1 MHz, so export it again.");
        }
        if (format.frames == 0) throw AudioError("holds no samples; record or export it again.");
        Audio audio{resampled(heard(*file, format, view), format.rate), {}, 0.0};
        audio.duration_s = static_cast<double>(audio.samples.size()) / sample_rate;
        if (audio.duration_s < least_seconds) throw AudioError("holds less than the 100 ms of audio that are needed.");
        Sha256 hash;
        hash.update({reinterpret_cast<const char*>(audio.samples.data()), audio.samples.size() * sizeof(float)});
        audio.sha256 = hash.hex();
        return audio;
    } catch (const AudioError& reason) {
        throw AudioError(std::filesystem::path(view.path).filename().string() + " " + reason.what());
    }
}

}  // namespace as2d
