// Which cores do the two models run on? Asked for, set where the system allows, and read back.
#pragma once

#include <string>
#include <vector>

#include "types.hpp"

namespace as2d {

/// Cores that this process may use now, whatever the calling thread is bound to; empty where the system does not tell.
std::vector<Count> allowed_cores();

/// Binds the calling thread, and threads that it starts from now on, to `cores` if the system can; to all that the
/// process may use if it cannot. Returns what the thread may use now.
std::vector<Count> bind_cores(const std::vector<Count>& cores);

/// Cores for the two models.
struct CoreChoice {
    std::vector<Count> target;
    std::vector<Count> drafter;
};

/// Fills in the cores that a request leaves open: the target gets the fastest core, the drafter the next one; two
/// threads of one physical core are not split between the two. With a single core both share it.
CoreChoice choose_cores(CoreChoice asked, Count target_threads, Count drafter_threads);

/// Lets the calling thread run on any core of the process, and push no model from its core when it wakes up.
void step_back();

/// Cores of a list such as `0-3,6`; empty when it is none.
std::vector<Count> parse_cores(const std::string& text);

}  // namespace as2d
