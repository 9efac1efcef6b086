"""Target-only decoding: one token, one forward."""

from as2d_core.engines.base import Recorder, Target
from as2d_core.methods.base import Outcome, finished
from as2d_core.records import Round, Span
from as2d_core.request import Request


def decode(target: Target, drafter: None, request: Request, recorder: Recorder) -> Outcome:
    """Decode greedily with the target alone, at its scalar step cost."""
    tokens = [target.first_token]
    while (status := finished(tokens, target.eos, request.max_tokens, recorder)) is None:
        start_ns = recorder.now_ns()
        call = target.step(tokens[-1])
        token = call.greedy[0]
        tokens.append(token)
        target.keep(len(tokens) - 1)
        index = len(tokens) - 2
        end_ns = recorder.now_ns()
        recorder.add(
            Span("target", "step", call.start_ns, call.end_ns, index),
            Round(
                index=index,
                start_ns=start_ns,
                end_ns=end_ns,
                width=1,
                physical_width=call.physical_width,
                proposed=0,
                accepted=0,
                committed=(token,),
                candidates=(),
                origins="",
                cursor_before=0,
                cursor_after=0,
                visible=0,
                source_running=False,
                width_reason="target-only",
                call_ns=call.end_ns - call.start_ns,
            ),
        )
    now = recorder.now_ns()
    return Outcome(status, tuple(tokens), now, now)
