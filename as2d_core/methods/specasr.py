"""SpecASR: adaptive single-sequence prediction (ASP) with recycling, in its serial-branch form (D.1.3, D.6.1).

The drafter stops at a token whose confidence is below the threshold (included), at the cap, or at
its own EOS. After a rejection the rest of the old branch is kept beside the branch that is
regenerated from the corrected prefix; when the new token equals the old branch at the same or an
adjacent position, the old suffix is taken over and its cache refreshed in one batched forward.
"""

from as2d_core.engines.base import Draft, Recorder, SerialDrafter, Target
from as2d_core.errors import RequestError
from as2d_core.methods.base import Outcome
from as2d_core.methods.serial import decode_serially
from as2d_core.request import Request


def decode(target: Target, drafter: SerialDrafter, request: Request, recorder: Recorder) -> Outcome:
    """Decode with adaptive drafts of at most ``request.draft_cap`` tokens."""
    if request.draft_cap is None or request.draft_cap < 1:
        raise RequestError("SpecASR needs a draft cap of at least 1 token.")
    cap = request.draft_cap

    def propose(tokens: list[int], rejected: Draft | None, accepted: int) -> Draft:
        room = request.max_tokens - len(tokens) - 1
        old = slice(accepted + 1, None)
        return drafter.draft_adaptive(
            tokens,
            min(cap, room),
            request.threshold,
            rejected.tokens[old] if rejected is not None else (),
            rejected.confidences[old] if rejected is not None else (),
        )

    return decode_serially(target, propose, request, recorder)
