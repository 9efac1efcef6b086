// What must be asked of a drafter so that SpecASR can be replayed from the answers? (Appendix D.1.3)
//
// Two kinds of facts: where the drafter leaves the true path, its continuation as far as a draft and its extension can
// reach; and the few prefixes that mix a regenerated branch with a reused suffix. Which of these come up depends on the
// cap, so that SpecASR is walked through at every cap and says what it misses.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engines/interface.hpp"

namespace as2d {

/// The drafter's greedy continuation of a text: up to `count` words, EOS included where it comes and nothing behind it.
using Ask = std::function<std::vector<Prediction>(const Tokens& read, Count count)>;

/// What bounds the drafts that the branches must cover.
struct DraftLimits {
    Count draft_cap;
    /// Confidence below which a draft stops; none = never.
    std::optional<double> threshold;
    /// Largest number of committed tokens.
    Count output_cap;
};

/// Asks a drafter for everything that SpecASR needs on one window, with any cap up to the largest.
///
/// target: y[0..N-1]. said: the drafter after every true prefix, N answers.
Branches collect_branches(const Tokens& target, const std::vector<Prediction>& said, Token eos,
                          const DraftLimits& limits, const Ask& ask);

}  // namespace as2d
