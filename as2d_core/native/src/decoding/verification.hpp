// Accept the matching prefix, take the target's correction or bonus (Section 4.2, Appendix C.2).
#pragma once

#include "types.hpp"

namespace as2d {

/// What one verification adds to the output.
struct Commitment {
    /// Candidates that match.
    Count accepted;
    /// The accepted prefix and then the correction or bonus, cut at EOS and at the room that is left.
    Tokens tokens;
};

/// Compares a chain with the target's greedy tokens: one after the root, one after each candidate.
///
/// The output ends with EOS wherever it appears (a serial drafter may propose it), and never grows by more than `room`.
///
/// Throws EngineError when the engine returned another number of rows than it was given.
Commitment commit(const Tokens& candidates, const Tokens& greedy, Token eos, Count room);

}  // namespace as2d
