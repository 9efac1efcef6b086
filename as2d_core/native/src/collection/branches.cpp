#include "collection/branches.hpp"

#include "collection/drafter_states.hpp"

namespace as2d {
namespace {

/// The branches so far, and what the drafter has read in every state off the true path.
class Found {
public:
    Found(const Tokens& target, const std::vector<Prediction>& said, const DraftLimits& limits, const Ask& ask)
        : target_(target), draft_cap_(limits.draft_cap), ask_(ask), states_(target, said, limits.threshold) {}

    /// Feeds tokens one by one in a state; keeps the drafter's word after each, and its continuation after the last.
    void leave(const Question& missing) {
        Count state = missing.state;
        const auto total = static_cast<Count>(target_.size());
        Tokens read = state < total ? Tokens(target_.begin(), target_.begin() + state)
                                    : read_[static_cast<std::size_t>(state - total)];
        for (std::size_t k = 0; k < missing.fed.size(); ++k) {
            const Token fed = missing.fed[k];
            read.push_back(fed);
            // One more than a cap: the old branch is extended until a draft at an adjacent position could end in it.
            const std::vector<Prediction> said = ask_(read, k + 1 == missing.fed.size() ? draft_cap_ + 1 : 1);
            branches_.leaves.push_back(state);
            branches_.feeds.push_back(fed);
            branches_.lengths.push_back(static_cast<Count>(said.size()));
            const Count next = states_.size();
            states_.add(state, fed, said);
            state = next;
            Tokens so_far = read;
            for (const Prediction& word : said) {
                read_.push_back(so_far);
                so_far.push_back(word.token);
                branches_.tokens.push_back(word.token);
                branches_.confidences.push_back(word.confidence);
            }
        }
    }

    const DrafterStates& states() const { return states_; }
    Branches& branches() { return branches_; }

private:
    const Tokens& target_;
    Count draft_cap_;
    const Ask& ask_;
    DrafterStates states_;
    Branches branches_;
    std::vector<Tokens> read_;
};

}  // namespace

Branches collect_branches(const Tokens& target, const std::vector<Prediction>& said, Token eos,
                          const DraftLimits& limits, const Ask& ask) {
    Found found(target, said, limits, ask);
    for (std::size_t i = 0; i < said.size(); ++i) {
        const Token token = said[i].token;
        if (token != target[i] && token != eos) found.leave({static_cast<Count>(i), {token}});
    }
    for (const bool paired : {true, false}) {
        for (Count cap = 1; cap <= limits.draft_cap; ++cap) {
            while (auto missing = missing_fact(target, found.states(), eos, cap, limits.output_cap, paired)) {
                found.leave(*missing);
            }
        }
    }
    return std::move(found.branches());
}

}  // namespace as2d
