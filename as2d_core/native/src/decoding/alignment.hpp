// Where does the read cursor go after a target boundary? (Section 4.2 and Appendix C.3 of the paper.)
#pragma once

#include <vector>

#include "types.hpp"

namespace as2d {

/// What one step of alignment did.
enum class Rule {
    stop,             ///< the next target token is needed first: this round has K = 1
    match,            ///< the candidate is the committed token
    insertion,        ///< the target inserted a token; the candidate matches the one after it
    next_token,       ///< the next target token was found further on
    correction_pair,  ///< the correction followed by the next target token was found further on
    unmatched,        ///< nothing found; the committed token is passed over, the cursor stays
};

/// The rule's name in the records.
const char* name_of(Rule rule);

struct AlignmentStep {
    Rule rule;
    Count cursor;
    /// Committed tokens that alignment has used up.
    Count consumed;
};

/// Compares one committed token with the candidate at the cursor and moves on by one rule.
///
/// Call it only while `consumed < target.size()` and `cursor < visible`.
///
/// candidates: the source's tokens, at least `visible` of them.
/// visible: candidates published at this boundary.
/// target: the committed target tokens.
/// search_window: how far past the cursor the search may look (W).
AlignmentStep align_step(const Tokens& candidates, Count visible, const Tokens& target, Count cursor, Count consumed,
                         Count search_window);

/// How many candidates the next verification takes when alignment has caught up: at most `budget`, at most what is
/// published, never past the output cap, and no further than the first candidate of low confidence (that one included).
///
/// committed: committed tokens so far, known root included.
Count chain_length(const std::vector<bool>& low_confidence, Count cursor, Count visible, Count committed, Count budget,
                   Count output_cap);

}  // namespace as2d
