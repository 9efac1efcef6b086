// Any sampling rate becomes 16 kHz.
#pragma once

#include <cstdint>
#include <vector>

namespace as2d {

/// One channel at 16 kHz, as the Python runner's library computes it: a sinc of linear phase under a Kaiser window,
/// that lets 91.4 % of the band pass and stops at its end. The two stay 80 dB below the signal apart, because the
/// library splits most ratios into stages.
///
/// `rate` is in Hz and not 0. There are as many samples as the duration holds, rounded.
///
/// Throws AudioError: the ratio of the rates is so odd that the filters would take too much memory.
std::vector<float> resampled(const std::vector<float>& samples, std::uint32_t rate);

}  // namespace as2d
