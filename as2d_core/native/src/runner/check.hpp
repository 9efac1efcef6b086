// Is a request runnable here? What can be refused without loading a model is refused here.
#pragma once

#include "records/request.hpp"

namespace as2d {

constexpr Count largest_width = 64;

/// Throws RequestError with a sentence about what is wrong.
void check_request(const Request& request);

}  // namespace as2d
