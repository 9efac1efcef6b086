// Which widths may a target use here? Found by running it, since the answer is a property of the processor.
//
// A width is exact when all its rows, and the cache it leaves behind, reproduce sequential decoding bit for bit.
// Sequential decoding itself runs at some width, the step: where plain K = 1 forwards go through another kernel than
// wider ones, the step that makes most widths exact is chosen.
#pragma once

#include <functional>

#include "engines/mnn_model.hpp"

namespace as2d {

/// Tries every width up to `widest`, all of which run; clears the cache. `go_on` is asked between steps and may throw.
///
/// Where no two widths agree bit for bit, only plain K = 1 is exact.
SelfTest find_exact_widths(MnnModel& model, const std::string& cpu, Count widest, const std::function<void()>& go_on);

}  // namespace as2d
