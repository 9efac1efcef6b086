// Reads WAV files: 16 kHz, one channel or several, whole numbers of 16, 24 or 32 bits or floats.
#pragma once

#include <string>
#include <vector>

#include "records/request.hpp"

namespace as2d {

/// Samples that a model can take.
struct Audio {
    /// Mono, 16 kHz, finite.
    std::vector<float> samples;
    /// Over the samples, not the file: the same hash as the other runners give.
    std::string sha256;
    double duration_s;
};

/// Throws AudioError: the file is missing, no WAV, of another rate, empty, cut off, or the view is longer than 30 s.
Audio read_wav(const AudioRef& view);

}  // namespace as2d
