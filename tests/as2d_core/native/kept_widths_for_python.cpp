// Reads and writes kept widths, for tests to call.
#include "runner/kept_widths.hpp"

namespace {

/// With what a test may vary.
as2d::SelfTestSetting setting_of(const char* model, const char* cpu, std::int64_t threads) {
    return {model, cpu, threads, "high", "low", "cpu", "3.6.1"};
}

}  // namespace

extern "C" {

/// Number of widths that were written to `widths`, which holds `widest`; 0: nothing is kept.
std::size_t as2d_kept_widths(const char* folder, const char* model, const char* cpu, std::int64_t threads,
                             std::int64_t widest, std::int64_t* widths) {
    const auto kept = as2d::kept_widths(folder, setting_of(model, cpu, threads), widest);
    if (!kept) return 0;
    for (const as2d::Count width : *kept) *widths++ = width;
    return kept->size();
}

void as2d_keep_widths(const char* folder, const char* model, const char* cpu, std::int64_t threads,
                      const std::int64_t* widths, std::size_t count) {
    as2d::keep_widths(folder, setting_of(model, cpu, threads), {widths, widths + count});
}
}
