// Reads an audio file into what the models take: one channel, 16 kHz, at most 30 s.
#pragma once

#include <string>
#include <vector>

#include "records/request.hpp"

namespace as2d {

/// Samples that a model can take.
struct Audio {
    /// Mono, 16 kHz, finite.
    std::vector<float> samples;
    /// Over the samples, not the file: where nothing is resampled, the hash that the Python runner gives.
    std::string sha256;
    double duration_s;
};

/// Reads WAV (PCM or floats) or FLAC of any rate. Throws AudioError: the file is missing, neither of them, empty, cut
/// off, damaged, or the view is longer than 30 s.
Audio read_audio(const AudioRef& view);

}  // namespace as2d
