// The drafter on one window as far as it is known: in every state one greedy word, and ways to other states.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collection/branches.hpp"

namespace as2d {

class DrafterStates {
public:
    DrafterStates(const Tokens& target, const std::vector<Prediction>& said, std::optional<double> threshold);

    Token word(Count state) const { return words_[static_cast<std::size_t>(state)]; }
    /// Whether the probability of the word is below the threshold.
    bool is_low(Count state) const { return low_[static_cast<std::size_t>(state)]; }
    Count size() const { return static_cast<Count>(words_.size()); }

    /// The state after one fed token; none where it is not known.
    std::optional<Count> after(Count state, Token fed) const;

    /// A branch that leaves `state` by `fed`.
    void add(Count state, Token fed, const std::vector<Prediction>& branch);

private:
    void add_word(const Prediction& said);

    const Tokens& target_;
    std::optional<double> threshold_;
    Tokens words_;
    std::vector<bool> low_;
    std::map<std::pair<Count, Token>, Count> ways_;
};

/// Something that SpecASR would have to ask the drafter: the words after these tokens, fed in this state.
struct Question {
    Count state;
    Tokens fed;
};

/// Walks through SpecASR on one window with drafts of at most `cap` tokens; none when nothing is missing.
///
/// A draft ends behind a token of low confidence, at the cap, or where the drafter says EOS. After a rejection the rest
/// of the draft is the old branch. While the new branch is drafted, the old one is extended beside it (`paired`) as far
/// as a draft could still use it, or stays as it is. Where the new token is the old branch's at the same or an adjacent
/// position, the old suffix joins the draft, and drafting goes on behind it.
std::optional<Question> missing_fact(const Tokens& target, const DrafterStates& states, Token eos, Count cap,
                                     Count output_cap, bool paired);

}  // namespace as2d
