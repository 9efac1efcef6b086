#include "engines/padded_target.hpp"

#include <algorithm>

#include "errors.hpp"

namespace as2d {

Count WidthPolicy::pad(Count width) const {
    const auto found = std::lower_bound(widths_.begin(), widths_.end(), width);
    if (found == widths_.end()) {
        throw RequestError("A verification of width " + std::to_string(width) +
                           " is not exact on this processor; the widest exact width is " +
                           std::to_string(widths_.back()) + ", so the largest budget is " +
                           std::to_string(widths_.back() - 1) + ".");
    }
    return *found;
}

Call PaddedTarget::verify(Token root, const Tokens& candidates, bool) {
    Tokens rows{root};
    rows.insert(rows.end(), candidates.begin(), candidates.end());
    const Count width = policy_.pad(static_cast<Count>(rows.size()));
    return call(std::move(rows), width);
}

Call PaddedTarget::call(Tokens rows, Count width) {
    const std::size_t real_rows = rows.size();
    rows.resize(static_cast<std::size_t>(width), model_.eos());
    Call call = model_.greedy(rows);
    call.greedy.resize(real_rows);
    return call;
}

}  // namespace as2d
