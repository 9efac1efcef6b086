#include "methods/serial.hpp"

#include <algorithm>

#include "decoding/verification.hpp"
#include "errors.hpp"

namespace as2d {

Outcome decode_serially(Target& target, const Propose& propose, const Request& request, Recorder& recorder) {
    Tokens tokens{target.first_token()};
    std::optional<Draft> rejected;
    Count accepted = 0;
    const char* status = nullptr;
    for (Count index = 0; (status = finished(tokens, target.eos(), request.max_tokens, recorder)) == nullptr; ++index) {
        const Nanoseconds start_ns = recorder.now_ns();
        Draft draft = propose(tokens, rejected ? &*rejected : nullptr, accepted);
        const Call call = target.verify(tokens.back(), draft.tokens, false);
        const Count room = request.max_tokens - static_cast<Count>(tokens.size());
        Commitment commitment = commit(draft.tokens, call.greedy, target.eos(), room);
        accepted = commitment.accepted;
        tokens.insert(tokens.end(), commitment.tokens.begin(), commitment.tokens.end());
        target.keep(static_cast<Count>(tokens.size()) - 1);
        const Nanoseconds end_ns = recorder.now_ns();

        const auto proposed = static_cast<Count>(draft.tokens.size());
        Round round{};
        round.index = index;
        round.start_ns = start_ns;
        round.end_ns = end_ns;
        round.width = proposed + 1;
        round.physical_width = call.physical_width;
        round.proposed = proposed;
        round.accepted = accepted;
        round.committed = std::move(commitment.tokens);
        round.candidates = draft.tokens;
        round.origins = draft.origins;
        round.visible = proposed;
        round.width_reason = draft.reason;
        round.call_ns = call.end_ns - call.start_ns;
        for (const Span& span : draft.spans) {
            round.call_ns += span.end_ns - span.start_ns;
            recorder.add(span);
        }
        recorder.add(Span{"target", proposed > 0 ? "verify" : "step", call.start_ns, call.end_ns, index});
        recorder.add(Span{"target", "correct", call.end_ns, end_ns, index});
        recorder.add(std::move(round));
        rejected = accepted < proposed ? std::optional(std::move(draft)) : std::nullopt;
    }
    const Nanoseconds now_ns = recorder.now_ns();
    return {status, std::move(tokens), now_ns, now_ns};
}

Outcome decode_standard_sd(Target& target, SerialDrafter& drafter, const Request& request, Recorder& recorder) {
    if (!request.width || *request.width < 2) {
        throw RequestError("Standard SD needs a width K of at least 2: K - 1 drafted tokens and the known root.");
    }
    const auto propose = [&](const Tokens& committed, const Draft*, Count) {
        const Count room = request.max_tokens - static_cast<Count>(committed.size()) - 1;
        return drafter.draft_fixed(committed, std::min(*request.width - 1, room));
    };
    return decode_serially(target, propose, request, recorder);
}

Outcome decode_specasr(Target& target, SerialDrafter& drafter, const Request& request, Recorder& recorder) {
    if (!request.draft_cap || *request.draft_cap < 1) {
        throw RequestError("SpecASR needs a draft cap of at least 1 token.");
    }
    const auto propose = [&](const Tokens& committed, const Draft* rejected, Count accepted) {
        const Count room = request.max_tokens - static_cast<Count>(committed.size()) - 1;
        Tokens old_branch;
        std::vector<double> old_confidences;
        // The rest of the old branch: what stood behind the rejected token.
        if (rejected != nullptr) {
            old_branch.assign(rejected->tokens.begin() + accepted + 1, rejected->tokens.end());
            old_confidences.assign(rejected->confidences.begin() + accepted + 1, rejected->confidences.end());
        }
        return drafter.draft_adaptive(committed, std::min(*request.draft_cap, room), request.threshold, old_branch,
                                      old_confidences);
    };
    return decode_serially(target, propose, request, recorder);
}

}  // namespace as2d
