#include <algorithm>

#include "decoding/alignment.hpp"
#include "decoding/buffer.hpp"
#include "decoding/verification.hpp"
#include "errors.hpp"
#include "methods/methods.hpp"

namespace as2d {
namespace {

/// A chain of candidates to verify, and why it has the length it has.
struct Chain {
    Tokens tokens;
    const char* reason;
};

/// What is carried from one boundary to the next.
class As2dState {
public:
    As2dState(Target& target, Source& source, const Request& request)
        : target_(target),
          source_(source),
          request_(request),
          buffer_(target.eos(), request.threshold),
          tokens_{target.first_token()} {}

    const Tokens& tokens() const { return tokens_; }

    /// The producer is gone: from now on the target works alone.
    void lose_source() { source_alive_ = false; }

    void run_round(Recorder& recorder) {
        // The boundary is read after the poll, so that no batch is seen before it was published.
        std::vector<Publication> batches;
        if (source_alive_) batches = source_.poll();
        const bool running = source_alive_ && source_.running();
        const Nanoseconds start_ns = recorder.now_ns();
        for (Publication& batch : batches) {
            buffer_.publish(batch);
            batch.received_ns = start_ns;
            recorder.add(std::move(batch));
        }
        Round round{};
        round.index = index_;
        round.start_ns = start_ns;
        round.visible = buffer_.visible();
        round.cursor_before = cursor_;
        round.source_running = running;
        round.moves = align();
        Chain chain = choose_chain(running);
        const Count chain_start = cursor_;
        const auto proposed = static_cast<Count>(chain.tokens.size());

        const Call call = target_.verify(tokens_.back(), chain.tokens, running);
        const Count room = request_.max_tokens - committed();
        Commitment commitment = commit(chain.tokens, call.greedy, target_.eos(), room);
        tokens_.insert(tokens_.end(), commitment.tokens.begin(), commitment.tokens.end());
        if (proposed > 0) {
            cursor_ += commitment.accepted;
            consumed_ = committed() - 1;  // the correction or bonus is compared with the cursor at the next boundary
        }
        target_.keep(committed() - 1);
        const Count reused = std::clamp<Count>(visible_at_rejection_ - chain_start, 0, proposed);
        if (commitment.accepted < proposed) visible_at_rejection_ = round.visible;
        round.end_ns = recorder.now_ns();

        round.width = proposed + 1;
        round.physical_width = call.physical_width;
        round.proposed = proposed;
        round.accepted = commitment.accepted;
        round.committed = std::move(commitment.tokens);
        round.candidates = std::move(chain.tokens);
        round.origins.assign(static_cast<std::size_t>(reused), 'r')
            .append(static_cast<std::size_t>(proposed - reused), 'd');
        round.cursor_after = cursor_;
        round.width_reason = chain.reason;
        round.call_ns = call.end_ns - call.start_ns;
        recorder.add(Span{"target", "align", start_ns, call.start_ns, index_});
        recorder.add(Span{"target", proposed > 0 ? "verify" : "step", call.start_ns, call.end_ns, index_});
        recorder.add(Span{"target", "correct", call.end_ns, round.end_ns, index_});
        recorder.add(std::move(round));
        ++index_;
    }

private:
    Count committed() const { return static_cast<Count>(tokens_.size()); }

    std::vector<Move> align() {
        std::vector<Move> moves;
        while (consumed_ < committed() && cursor_ < buffer_.visible()) {
            const AlignmentStep step =
                align_step(buffer_.tokens(), buffer_.visible(), tokens_, cursor_, consumed_, request_.search_window);
            moves.push_back({name_of(step.rule), cursor_, step.cursor});
            cursor_ = step.cursor;
            consumed_ = step.consumed;
            if (step.rule == Rule::stop) break;
        }
        return moves;
    }

    Chain choose_chain(bool running) const {
        const Count visible = buffer_.visible();
        if (consumed_ != committed()) return {{}, cursor_ < visible ? "awaiting target token" : "no candidates"};
        const Count budget = *request_.budget;
        const Count length =
            chain_length(buffer_.low_confidence(), cursor_, visible, committed(), budget, request_.max_tokens);
        if (length == 0) return {{}, cursor_ >= visible ? "no candidates" : "budget"};
        const Count taken = ruled_length(length, running);
        const auto first = buffer_.tokens().begin() + cursor_;
        Chain chain{Tokens(first, first + taken), "output cap"};
        if (taken < length) {
            chain.reason = "cheapest";
        } else if (length == budget) {
            chain.reason = "budget";
        } else if (length == visible - cursor_) {
            chain.reason = "ready";
        } else if (buffer_.low_confidence()[static_cast<std::size_t>(cursor_ + length - 1)]) {
            chain.reason = "confidence";
        }
        return chain;
    }

    /// How many of `ready` candidates the width rule takes; all of them without a rule.
    Count ruled_length(Count ready, bool running) const {
        if (!request_.width_rule) return ready;
        const auto& table = running ? request_.width_rule->concurrent : request_.width_rule->idle;
        return table[static_cast<std::size_t>(ready)];
    }

    Target& target_;
    Source& source_;
    const Request& request_;
    CandidateBuffer buffer_;
    Tokens tokens_;
    /// Index u of the next candidate.
    Count cursor_ = 0;
    /// Committed tokens s that alignment has used up.
    Count consumed_ = 0;
    Count index_ = 0;
    Count visible_at_rejection_ = 0;
    bool source_alive_ = true;
};

void check_as2d(const Request& request) {
    if (!request.budget) throw RequestError("As²d needs a proposal budget; give one with budget.");
    if (request.width_rule && *request.budget > request.width_rule->max_budget()) {
        throw RequestError("The width rule covers budgets up to " + std::to_string(request.width_rule->max_budget()) +
                           ", not " + std::to_string(*request.budget) + "; give a smaller budget.");
    }
}

}  // namespace

Outcome decode_as2d(Target& target, Source& source, const Request& request, Recorder& recorder) {
    check_as2d(request);
    As2dState state(target, source, request);
    std::optional<std::string> lost;
    const auto alone_when_lost = [&](const auto& work) {
        try {
            work();
        } catch (const DrafterLostError& error) {
            lost = error.what();
            state.lose_source();
        }
    };
    alone_when_lost([&] { source.start(recorder.now_ns()); });
    const char* status = nullptr;
    while ((status = finished(state.tokens(), target.eos(), request.max_tokens, recorder)) == nullptr) {
        alone_when_lost([&] { state.run_round(recorder); });
    }
    const Nanoseconds eos_ns = recorder.now_ns();
    Drain drain = source.stop(eos_ns);
    if (!lost) lost = drain.lost;
    for (Publication& batch : drain.publications) recorder.add(std::move(batch));
    for (Span& span : drain.spans) recorder.add(std::move(span));
    if (drain.end_ns > eos_ns) recorder.add(Span{"drafter", "drain", eos_ns, drain.end_ns});
    const Nanoseconds end_ns = std::max(eos_ns, drain.end_ns);
    if (lost && std::string_view(status) != "cancelled") return {"failed", state.tokens(), eos_ns, end_ns, lost};
    return {status, state.tokens(), eos_ns, end_ns};
}

}  // namespace as2d
