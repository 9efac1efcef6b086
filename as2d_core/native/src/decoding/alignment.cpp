#include "decoding/alignment.hpp"

#include <algorithm>

namespace as2d {
namespace {

Token at(const Tokens& tokens, Count index) {
    return tokens[static_cast<std::size_t>(index)];
}

}  // namespace

const char* name_of(Rule rule) {
    switch (rule) {
        case Rule::stop: return "next target token needed";
        case Rule::match: return "match";
        case Rule::insertion: return "target inserted a token";
        case Rule::next_token: return "next target token found";
        case Rule::correction_pair: return "correction and continuation found";
        case Rule::unmatched: break;
    }
    return "no match";
}

AlignmentStep align_step(const Tokens& candidates, Count visible, const Tokens& target, Count cursor, Count consumed,
                         Count search_window) {
    const Token anchor = at(target, consumed);
    if (at(candidates, cursor) == anchor) return {Rule::match, cursor + 1, consumed + 1};
    if (consumed + 1 >= static_cast<Count>(target.size())) return {Rule::stop, cursor, consumed};
    const Token following = at(target, consumed + 1);
    if (at(candidates, cursor) == following) return {Rule::insertion, cursor + 1, consumed + 2};

    // A window beyond everything published would overflow the sum: what lies behind `visible` is not looked at.
    const Count edge = cursor + std::min(search_window, visible);
    const Count last = std::min(edge, visible - 1);
    for (Count j = cursor + 1; j <= last; ++j) {
        if (at(candidates, j) == following) return {Rule::next_token, j + 1, consumed + 2};
    }
    // Nearer pairs would have been found above: only the window's far edge is left.
    if (edge + 1 < visible && at(candidates, edge) == anchor && at(candidates, edge + 1) == following) {
        return {Rule::correction_pair, edge + 2, consumed + 2};
    }
    return {Rule::unmatched, cursor, consumed + 1};
}

Count chain_length(const std::vector<bool>& low_confidence, Count cursor, Count visible, Count committed, Count budget,
                   Count output_cap) {
    const Count most = std::min({visible - cursor, budget, output_cap - committed - 1});
    for (Count k = 0; k < most; ++k) {
        if (low_confidence[static_cast<std::size_t>(cursor + k)]) return k + 1;
    }
    return std::max<Count>(most, 0);
}

}  // namespace as2d
