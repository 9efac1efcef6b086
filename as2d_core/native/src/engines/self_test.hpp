// Which widths may a target use here? Found by running it, since the answer is a property of the processor.
//
// A width is exact when all its rows, and the cache it leaves behind, reproduce sequential decoding bit for bit.
// Sequential decoding itself runs at some width, the step: where plain K = 1 forwards go through another kernel than
// wider ones, the step that makes most widths exact is chosen.
#pragma once

#include <functional>

#include "engines/mnn_model.hpp"

namespace as2d {

constexpr Count widest_tested = 16;

/// Tries every width up to `widest_tested`, or up to the last one that runs at all; clears the cache. `go_on` is asked
/// between steps and may throw. `trying` is told each width before its first forward, which may be the last thing this
/// process does, and 0 once all of them have run.
///
/// Where no two widths agree bit for bit, only plain K = 1 is exact.
SelfTest find_exact_widths(MnnModel& model, const std::string& cpu, const std::function<void()>& go_on,
                           const std::function<void(Count)>& trying);

}  // namespace as2d
