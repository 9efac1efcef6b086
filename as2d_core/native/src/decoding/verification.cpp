#include "decoding/verification.hpp"

#include <algorithm>
#include <string>

#include "errors.hpp"

namespace as2d {

Commitment commit(const Tokens& candidates, const Tokens& greedy, Token eos, Count room) {
    if (greedy.size() != candidates.size() + 1) {
        throw EngineError("The target returned " + std::to_string(greedy.size()) + " rows for a width of " +
                          std::to_string(candidates.size() + 1) +
                          "; the backend does not compute the width it was asked for.");
    }
    const auto mismatch = std::mismatch(candidates.begin(), candidates.end(), greedy.begin());
    const auto accepted = mismatch.first - candidates.begin();

    Tokens committed(candidates.begin(), mismatch.first);
    committed.push_back(*mismatch.second);
    const auto end = std::find(committed.begin(), committed.end(), eos);
    if (end != committed.end()) committed.erase(end + 1, committed.end());
    if (static_cast<Count>(committed.size()) > room)
        committed.resize(static_cast<std::size_t>(std::max<Count>(room, 0)));
    return {std::min<Count>(accepted, static_cast<Count>(committed.size())), std::move(committed)};
}

}  // namespace as2d
