#include "audio/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "errors.hpp"

namespace as2d {
namespace {

constexpr std::uint64_t target_rate = 16'000;
/// Measured at the impulse response of soxr's quality HQ. Cut-off as a share of the lower of the two bands,
constexpr double cut_off = 0.95687183;
/// shape of the Kaiser window,
constexpr double window_shape = 13.0401;
/// and half its length, in samples at the lower of the two rates.
constexpr double half_length = 96.8336;
/// Of all filters together: 128 MB. No usual rate comes near it.
constexpr std::uint64_t most_coefficients = 16'000'000;
constexpr double pi = 3.14159265358979323846;

/// The modified Bessel function I0.
double bessel(double x) {
    double sum = 1.0;
    double term = 1.0;
    for (int k = 1; term > sum * 1e-17; ++k) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

/// Response `t` samples of the lower rate from its middle.
double response(double t) {
    const double left = 1 - (t / half_length) * (t / half_length);
    if (left < 0) return 0.0;
    const double angle = pi * cut_off * t;
    const double sinc = std::abs(angle) < 1e-12 ? 1.0 : std::sin(angle) / angle;
    static const double highest = bessel(window_shape);
    return cut_off * sinc * bessel(window_shape * std::sqrt(left)) / highest;
}

}  // namespace

std::vector<float> resampled(const std::vector<float>& samples, std::uint32_t rate) {
    if (rate == target_rate) return samples;
    const std::uint64_t shared = std::gcd(std::uint64_t{rate}, target_rate);
    const std::uint64_t phases = target_rate / shared;
    const std::uint64_t step = rate / shared;
    // In samples of the file: half the filter, and its width in units of the lower rate.
    const double narrowing = std::min(1.0, static_cast<double>(target_rate) / rate);
    const auto reach = static_cast<std::int64_t>(std::ceil(half_length / narrowing));
    const auto taps = static_cast<std::size_t>(2 * reach);
    const auto length = static_cast<std::int64_t>(samples.size());
    const double exact = static_cast<double>(samples.size()) * static_cast<double>(target_rate) / rate;
    std::vector<float> out(static_cast<std::size_t>(std::floor(exact + 0.5)));
    if (std::min<std::uint64_t>(phases, out.size()) * taps > most_coefficients) {
        throw AudioError("has " + std::to_string(rate) +
                         " Hz, which takes too much memory to bring to 16 kHz; export it at 44100 or 48000 Hz.");
    }
    std::vector<std::vector<double>> filters(static_cast<std::size_t>(phases));
    for (std::size_t m = 0; m < out.size(); ++m) {
        const std::uint64_t position = m * step;
        const std::uint64_t phase = position % phases;
        auto& filter = filters[static_cast<std::size_t>(phase)];
        if (filter.empty()) {
            const double fraction = static_cast<double>(phase) / static_cast<double>(phases);
            for (std::size_t k = 0; k < taps; ++k) {
                const double away = static_cast<double>(static_cast<std::int64_t>(k) - reach + 1) - fraction;
                filter.push_back(narrowing * response(away * narrowing));
            }
        }
        const std::int64_t before = static_cast<std::int64_t>(position / phases) - reach + 1;
        const auto from = static_cast<std::size_t>(std::max<std::int64_t>(0, -before));
        const std::int64_t end = std::clamp<std::int64_t>(length - before, 0, static_cast<std::int64_t>(taps));
        const float* heard = samples.data() + (before + static_cast<std::int64_t>(from));
        double sums[4] = {};
        for (std::size_t k = from; k < static_cast<std::size_t>(end); ++k) {
            sums[k % 4] += filter[k] * static_cast<double>(*heard++);
        }
        out[m] = static_cast<float>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    return out;
}

}  // namespace as2d
