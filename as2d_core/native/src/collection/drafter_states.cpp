#include "collection/drafter_states.hpp"

#include <algorithm>

namespace as2d {
namespace {

/// A chain of tokens, which of them are low, and how far a state has read it.
struct Chain {
    Tokens tokens;
    std::vector<bool> low;
    Count state = 0;
    std::size_t read = 0;

    std::size_t size() const { return tokens.size(); }

    void push(Token token, bool is_low) {
        tokens.push_back(token);
        low.push_back(is_low);
    }

    /// Feeds what the state has not read; none when it has read all of it.
    std::optional<Question> catch_up(const DrafterStates& states) {
        for (; read < tokens.size(); ++read) {
            const auto next = states.after(state, tokens[read]);
            if (!next) return Question{state, Tokens(tokens.begin() + static_cast<Count>(read), tokens.end())};
            state = *next;
        }
        return std::nullopt;
    }
};

/// Where the old branch, which starts at `start`, goes on behind `token`; 0 when it does not. The same position comes
/// first, then the one before, then the one after; something must follow.
std::size_t meeting_point(const Chain& old, Count start, Token token, Count position) {
    for (const Count shift : {0, -1, 1}) {
        const Count at = start + position + shift;
        const bool goes_on = at >= start && at < static_cast<Count>(old.size()) - 1;
        if (goes_on && old.tokens[static_cast<std::size_t>(at)] == token) return static_cast<std::size_t>(at + 1);
    }
    return 0;
}

}  // namespace

DrafterStates::DrafterStates(const Tokens& target, const std::vector<Prediction>& said,
                             std::optional<double> threshold)
    : target_(target), threshold_(threshold) {
    for (const Prediction& word : said) add_word(word);
    for (std::size_t i = 0; i + 1 < target.size(); ++i) {
        ways_[{static_cast<Count>(i), target[i]}] = static_cast<Count>(i + 1);
    }
}

std::optional<Count> DrafterStates::after(Count state, Token fed) const {
    const auto total = static_cast<Count>(target_.size());
    const bool is_true = state < total && fed == target_[static_cast<std::size_t>(state)];
    if (is_true && fed != word(state)) return state + 1 < total ? std::optional(state + 1) : std::nullopt;
    const auto way = ways_.find({state, fed});
    return way == ways_.end() ? std::nullopt : std::optional(way->second);
}

void DrafterStates::add(Count state, Token fed, const std::vector<Prediction>& branch) {
    ways_[{state, fed}] = size();
    for (std::size_t k = 0; k < branch.size(); ++k) {
        if (k + 1 < branch.size()) ways_[{size(), branch[k].token}] = size() + 1;
        add_word(branch[k]);
    }
}

void DrafterStates::add_word(const Prediction& said) {
    words_.push_back(said.token);
    low_.push_back(threshold_ && said.confidence < *threshold_);
}

std::optional<Question> missing_fact(const Tokens& target, const DrafterStates& states, Token eos, Count cap,
                                     Count output_cap, bool paired) {
    const auto total = static_cast<Count>(target.size());
    Count committed = 1;
    Chain old;
    Count old_start = 0;
    while (committed < total) {
        const Count limit = std::min(output_cap - committed - 1, cap);
        Chain draft;
        draft.state = committed;
        const auto length = [&draft] { return static_cast<Count>(draft.size()); };
        bool searching = old_start < static_cast<Count>(old.size());
        bool extending = paired && searching;
        while (limit > 0) {
            if (extending && static_cast<Count>(old.size()) - old_start <= limit) {
                if (auto missing = old.catch_up(states)) return missing;
                const Token word = states.word(old.state);
                if (word == eos) {
                    extending = false;
                } else {
                    old.push(word, states.is_low(old.state));
                }
            }
            if (auto missing = draft.catch_up(states)) return missing;
            const Token token = states.word(draft.state);
            if (token == eos) break;
            draft.push(token, states.is_low(draft.state));
            if (draft.low.back() || length() == limit) break;
            const std::size_t suffix = searching ? meeting_point(old, old_start, token, length() - 1) : 0;
            if (suffix == 0) continue;
            searching = extending = false;
            for (std::size_t i = suffix; i < old.size() && length() < limit; ++i) {
                draft.push(old.tokens[i], old.low[i]);
                if (draft.low.back()) break;
            }
            if (draft.low.back() || length() == limit) break;
        }
        Count matched = 0;
        while (matched < length() && committed + matched < total) {
            const Token wanted = target[static_cast<std::size_t>(committed + matched)];
            if (draft.tokens[static_cast<std::size_t>(matched)] != wanted) break;
            ++matched;
        }
        committed += matched;
        if (committed < total) ++committed;
        // Nothing of the draft is fed before it is needed, so that no fact is asked for in vain.
        old_start = matched + 1;
        old = matched == length() ? Chain() : std::move(draft);
    }
    return std::nullopt;
}

}  // namespace as2d
