#include "methods/methods.hpp"

namespace as2d {

Outcome decode_target_only(Target& target, const Request& request, Recorder& recorder) {
    Tokens tokens{target.first_token()};
    const char* status = nullptr;
    for (Count index = 0; (status = finished(tokens, target.eos(), request.max_tokens, recorder)) == nullptr; ++index) {
        const Nanoseconds start_ns = recorder.now_ns();
        const Call call = target.step(tokens.back());
        const Token token = call.greedy.front();
        tokens.push_back(token);
        target.keep(index + 1);
        const Nanoseconds end_ns = recorder.now_ns();
        recorder.add(Span{"target", "step", call.start_ns, call.end_ns, index});

        Round round{};
        round.index = index;
        round.start_ns = start_ns;
        round.end_ns = end_ns;
        round.width = 1;
        round.physical_width = call.physical_width;
        round.committed = {token};
        round.width_reason = "target-only";
        round.call_ns = call.end_ns - call.start_ns;
        recorder.add(std::move(round));
    }
    const Nanoseconds now_ns = recorder.now_ns();
    return {status, std::move(tokens), now_ns, now_ns};
}

}  // namespace as2d
