#include "engines/drafting.hpp"

#include <algorithm>

namespace as2d {
namespace {

/// The forwards of one draft, timed as one span.
class Work {
public:
    Work(CacheModel& model, Tokens& cached) : model_(model), cached_(cached) {}

    Prediction forward(const Tokens& tokens) {
        const Rows rows = model_.forward(tokens);
        if (forwards_ == 0) start_ns_ = rows.start_ns;
        end_ns_ = rows.end_ns;
        ++forwards_;
        if (tokens.size() > 1) refresh_widths_.emplace_back(static_cast<Count>(tokens.size()));
        cached_.insert(cached_.end(), tokens.begin(), tokens.end());
        return rows.predictions.back();
    }

    /// Rolls the cache back to the committed prefix and feeds what is missing, token by token.
    Prediction catch_up(const Tokens& committed) {
        const std::size_t limit = std::min(cached_.size(), committed.size() - 1);
        std::size_t shared = 0;
        while (shared < limit && cached_[shared] == committed[shared]) ++shared;
        if (shared < cached_.size()) {
            model_.keep(static_cast<Count>(shared));
            cached_.resize(shared);
        }
        Prediction last{0, 0.0};
        for (std::size_t i = shared; i < committed.size(); ++i) last = forward({committed[i]});
        return last;
    }

    Draft done(Draft draft, const char* reason) const {
        draft.reason = reason;
        if (forwards_ > 0) {
            Span span{"drafter", "draft", start_ns_, end_ns_, std::nullopt, forwards_};
            if (!refresh_widths_.empty()) span.extra.emplace_back("refresh_widths", refresh_widths_);
            draft.spans.push_back(std::move(span));
        }
        return draft;
    }

private:
    CacheModel& model_;
    Tokens& cached_;
    Nanoseconds start_ns_ = 0;
    Nanoseconds end_ns_ = 0;
    Count forwards_ = 0;
    json::Array refresh_widths_;
};

void append(Draft& draft, Prediction prediction, char origin) {
    draft.tokens.push_back(prediction.token);
    draft.confidences.push_back(prediction.confidence);
    draft.origins += origin;
}

/// Where the old branch goes on behind `token`: same position first, then its neighbours.
std::optional<std::size_t> meeting_point(const Tokens& old_branch, Token token, Count position) {
    const auto size = static_cast<Count>(old_branch.size());
    for (const Count j : {position, position - 1, position + 1}) {
        if (j >= 0 && j < size - 1 && old_branch[static_cast<std::size_t>(j)] == token) {
            return static_cast<std::size_t>(j + 1);
        }
    }
    return std::nullopt;
}

}  // namespace

Draft BranchDrafter::draft_fixed(const Tokens& committed, Count count) {
    Work work(model_, cached_);
    Draft draft{};
    if (count < 1) return work.done(std::move(draft), "budget");
    append(draft, work.catch_up(committed), 'd');
    while (static_cast<Count>(draft.tokens.size()) < count) append(draft, work.forward({draft.tokens.back()}), 'd');
    return work.done(std::move(draft), "fixed width");
}

Draft BranchDrafter::draft_adaptive(const Tokens& committed, Count cap, std::optional<double> threshold,
                                    const Tokens& old_branch, const std::vector<double>& old_confidences) {
    Work work(model_, cached_);
    Draft draft{};
    if (cap < 1) return work.done(std::move(draft), "budget");
    const auto is_low = [threshold](double confidence) { return threshold && confidence < *threshold; };
    const auto is_full = [cap, &draft] { return static_cast<Count>(draft.tokens.size()) == cap; };

    Tokens old = old_branch;
    Prediction next = work.catch_up(committed);
    while (true) {
        if (next.token == model_.eos()) return work.done(std::move(draft), "drafter end");
        append(draft, next, 'd');
        if (is_low(next.confidence)) return work.done(std::move(draft), "confidence");
        if (is_full()) return work.done(std::move(draft), "budget");

        Tokens feed{next.token};
        if (const auto start = meeting_point(old, next.token, static_cast<Count>(draft.tokens.size()) - 1)) {
            bool stopped = false;
            for (std::size_t i = *start; i < old.size() && !stopped && !is_full(); ++i) {
                append(draft, {old[i], old_confidences[i]}, 'r');
                feed.push_back(old[i]);
                stopped = is_low(old_confidences[i]);
            }
            old.clear();
            if (stopped || is_full()) {
                work.forward(feed);  // refreshes the cache of what was taken over
                return work.done(std::move(draft), stopped ? "confidence" : "budget");
            }
        }
        next = work.forward(feed);
    }
}

}  // namespace as2d
