"""The loop that all prefix-conditioned methods share: draft, verify, commit, one after the other."""

from collections.abc import Callable

from as2d_core.engines.base import Draft, Recorder, Target
from as2d_core.methods.base import Outcome, finished
from as2d_core.records import Round, Span
from as2d_core.request import Request
from as2d_core.verification import commit

Propose = Callable[[list[int], Draft | None, int], Draft]
"""``(committed tokens, the draft that was rejected or None, how many of it were accepted) -> draft``"""


def decode_serially(target: Target, propose: Propose, request: Request, recorder: Recorder) -> Outcome:
    """Alternate drafting and verification until the output is complete."""
    tokens = [target.first_token]
    index = 0
    rejected: Draft | None = None
    accepted = 0
    while (status := finished(tokens, target.eos, request.max_tokens, recorder)) is None:
        start_ns = recorder.now_ns()
        draft = propose(tokens, rejected, accepted)
        call = target.verify(tokens[-1], draft.tokens, False)
        room = request.max_tokens - len(tokens)
        accepted, committed = commit(draft.tokens, call.greedy, target.eos, room)
        tokens.extend(committed)
        target.keep(len(tokens) - 1)
        rejected = draft if accepted < len(draft.tokens) else None
        end_ns = recorder.now_ns()
        drafting_ns = sum(span.end_ns - span.start_ns for span in draft.spans)
        recorder.add(
            *draft.spans,
            Span("target", "verify" if draft.tokens else "step", call.start_ns, call.end_ns, index),
            Span("target", "correct", call.end_ns, end_ns, index),
            Round(
                index=index,
                start_ns=start_ns,
                end_ns=end_ns,
                width=len(draft.tokens) + 1,
                physical_width=call.physical_width,
                proposed=len(draft.tokens),
                accepted=accepted,
                committed=committed,
                candidates=draft.tokens,
                origins=draft.origins,
                cursor_before=0,
                cursor_after=0,
                visible=len(draft.tokens),
                source_running=False,
                width_reason=draft.reason,
                call_ns=call.end_ns - call.start_ns + drafting_ns,
            ),
        )
        index += 1
    now = recorder.now_ns()
    return Outcome(status, tuple(tokens), now, now)
