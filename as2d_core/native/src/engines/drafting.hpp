// How a prefix-conditioned drafter drafts: cache catch-up, fixed and adaptive branches (D.1.3, D.6.1).
#pragma once

#include "engines/interface.hpp"

namespace as2d {

/// Serial drafting over one cache; old and new branches run one after the other.
class BranchDrafter : public SerialDrafter {
public:
    /// `model` must outlive the drafter, and nobody else may move its cache between two drafts.
    explicit BranchDrafter(CacheModel& model) : model_(model) {}

    Draft draft_fixed(const Tokens& committed, Count count) override;

    /// The old branch is not extended before it is taken over: with one cache that would cost a forward a token and be
    /// thrown away whenever no position matches.
    Draft draft_adaptive(const Tokens& committed, Count cap, std::optional<double> threshold, const Tokens& old_branch,
                         const std::vector<double>& old_confidences) override;

private:
    CacheModel& model_;
    /// Generated tokens that the model's cache holds.
    Tokens cached_;
};

}  // namespace as2d
