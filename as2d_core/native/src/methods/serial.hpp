// The loop that all prefix-conditioned methods share: draft, verify, commit, one after the other.
#pragma once

#include <functional>

#include "methods/methods.hpp"

namespace as2d {

/// Drafts after the committed tokens. `rejected` is the draft before, when not all of it was accepted, else nullptr;
/// `accepted` is how many of it were.
using Propose = std::function<Draft(const Tokens& committed, const Draft* rejected, Count accepted)>;

Outcome decode_serially(Target& target, const Propose& propose, const Request& request, Recorder& recorder);

}  // namespace as2d
