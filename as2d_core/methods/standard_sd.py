"""Standard speculative decoding at a fixed width K: draft K - 1, verify, correct, repeat (Leviathan et al.)."""

from as2d_core.engines.base import Draft, Recorder, SerialDrafter, Target
from as2d_core.errors import RequestError
from as2d_core.methods.base import Outcome
from as2d_core.methods.serial import decode_serially
from as2d_core.request import Request


def decode(target: Target, drafter: SerialDrafter, request: Request, recorder: Recorder) -> Outcome:
    """Decode with ``request.width - 1`` prefix-conditioned drafts before every verification.

    The width is never cut by knowledge of the reference length; only the output cap cuts it.
    """
    if request.width is None or request.width < 2:
        raise RequestError("Standard SD needs a width K of at least 2: K - 1 drafted tokens and the known root.")
    width = request.width

    def propose(tokens: list[int], rejected: Draft | None, accepted: int) -> Draft:
        room = request.max_tokens - len(tokens) - 1
        return drafter.draft_fixed(tokens, min(width - 1, room))

    return decode_serially(target, propose, request, recorder)
