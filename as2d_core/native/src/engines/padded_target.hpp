// A target whose every forward runs at a width that is bit-equal to sequential decoding (Appendix C.4).
#pragma once

#include <vector>

#include "engines/interface.hpp"

namespace as2d {

/// Widths that may be used, ascending; the first one is the width of a single step.
class WidthPolicy {
public:
    explicit WidthPolicy(std::vector<Count> widths) : widths_(std::move(widths)) {}

    const std::vector<Count>& widths() const { return widths_; }
    Count step() const { return widths_.front(); }
    /// Smallest usable width that holds `width` rows. Throws RequestError when there is none.
    Count pad(Count width) const;

private:
    std::vector<Count> widths_;
};

/// Rows are padded with a dummy token behind the chain; attention is causal, so the real rows do not see it, and the
/// cache drops it before the next forward.
class PaddedTarget : public Target {
public:
    /// plain_step: target-only steps as plain K = 1 forwards (a control, not bit-equal to the widths).
    PaddedTarget(VerifyingModel& model, WidthPolicy policy, bool plain_step)
        : model_(model), policy_(std::move(policy)), plain_step_(plain_step) {}

    Token first_token() const override { return model_.first().token; }
    Token eos() const override { return model_.eos(); }
    Call step(Token root) override { return call({root}, plain_step_ ? 1 : policy_.step()); }
    Call verify(Token root, const Tokens& candidates, bool source_running) override;
    void keep(Count generated) override { model_.keep(generated); }

private:
    Call call(Tokens rows, Count width);

    VerifyingModel& model_;
    WidthPolicy policy_;
    bool plain_step_;
};

}  // namespace as2d
