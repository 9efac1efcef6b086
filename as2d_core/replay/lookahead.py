"""How long does prefix lookahead take on one window, and how much of its early drafting is of use? (Table 13)"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from as2d_core.errors import ProfileError, RequestError
from as2d_core.replay import lookahead_loop
from as2d_core.replay.branches import NO_EOS, NO_STATES, DrafterStates, plain_states
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.kernel import DEFAULT_OUTPUT_CAP, check_costs, check_lengths
from as2d_core.replay.ledger import Ledger, ledger


@dataclass(frozen=True, slots=True)
class LookaheadReplay:
    """Prefix lookahead on one window; its rounds are those of standard SD."""

    time_ms: float
    """Drafting, waiting, verification, loop and drain, added in this order; NaN when a width had no cost."""
    draft_ms: float
    """Draft forwards that the target waited for."""
    wait_ms: float
    """Waiting for a looked-ahead forward that had begun."""
    verify_ms: float
    loop_ms: float
    drain_ms: float
    hidden_ms: float
    """Drafting beside verification and loop; not part of the time."""
    rounds: int | None
    proposed: int | None
    accepted: int | None
    draft_forwards: int | None
    """While the target waited."""
    ahead_forwards: int | None
    """Beside the target."""
    ahead_used: int | None
    """Of these, the ones that the next draft did not have to repeat."""
    ahead_realigned: int | None
    """Looked-ahead tokens that a rejection voided and the next draft said again where both branches
    meet; they are drafted again and save no time. ``None`` when the tokens are not known."""
    missing_width: int | None = None

    @property
    def feasible(self) -> bool:
        return self.missing_width is None

    @property
    def hidden_share(self) -> float | None:
        """Share of all drafting that verification hides; ``None`` without drafting."""
        drafting = self.draft_ms + self.wait_ms + self.drain_ms + self.hidden_ms
        return self.hidden_ms / drafting if drafting > 0 else None

    @property
    def used_share(self) -> float | None:
        """Share of the looked-ahead forwards that were of use; ``None`` without any."""
        return self.ahead_used / self.ahead_forwards if self.ahead_used is not None and self.ahead_forwards else None

    @property
    def ledger(self) -> Ledger:
        """Raises ``ProfileError`` when there is no time."""
        return ledger(
            self.time_ms,
            draft_ms=self.draft_ms + self.wait_ms,
            verify_ms=self.verify_ms,
            loop_ms=self.loop_ms,
            drain_ms=self.drain_ms,
            hidden_ms=self.hidden_ms,
        )


def replay_lookahead(
    agrees: ArrayLike,
    width: int,
    draft_ms: float,
    ahead_ms: float,
    concurrent_ms: ArrayLike,
    idle_ms: ArrayLike,
    loop_ms: float,
    output_cap: int = DEFAULT_OUTPUT_CAP,
    compiled: bool = True,
    target_tokens: ArrayLike | None = None,
    drafter: DrafterStates | None = None,
    eos: int = NO_EOS,
) -> LookaheadReplay:
    """Replay prefix lookahead at a fixed width on one window.

    Args:
        agrees: N flags: the drafter's greedy token after the true prefix y[0..i-1] equals y[i].
        width: physical width K: K - 1 drafted tokens and the known root.
        draft_ms: one draft forward while the target waits.
        ahead_ms: one draft forward beside a verification.
        concurrent_ms, idle_ms: verification by width K (entry 0 unused) beside the drafter and alone,
            loop cost not included; NaN = no cost.
        loop_ms: the rest of a round.
        output_cap: largest number of committed tokens; only this makes a round narrower than K.
        target_tokens, drafter, eos: with what the drafter says off the true path, realigned tokens are counted.

    Raises:
        TrajectoryError: no flags, or more than the cap.
        ProfileError: a cost is negative or infinite, or a forward costs nothing.
        RequestError: a width below 2.
    """
    flags = np.asarray(agrees, np.bool_)
    check_lengths(len(flags), output_cap)
    if width < 2:
        raise RequestError(f"Prefix lookahead at width {width} drafts nothing; the least width is 2.")
    for what, cost in (("A draft forward", draft_ms), ("A draft forward beside the target", ahead_ms)):
        if not (math.isfinite(cost) and cost > 0):
            raise ProfileError(f"{what} of {cost} ms cannot be charged.")
    if not (math.isfinite(loop_ms) and loop_ms >= 0):
        raise ProfileError(f"A loop of {loop_ms} ms cannot be charged.")
    tables = (check_costs("verify_concurrent_ms", concurrent_ms), check_costs("verify_idle_ms", idle_ms))
    known = drafter is not None and target_tokens is not None
    target = np.asarray(target_tokens if known else [], np.int64)
    states = drafter if known and drafter is not None else NO_STATES
    parts = np.zeros(lookahead_loop.LOOKAHEAD_PARTS)
    counters = np.zeros(lookahead_loop.LOOKAHEAD_COUNTERS, np.int64)
    old = np.zeros(4 * min(width, output_cap + 1), np.int64)
    loop = lookahead_loop.lookahead_loop
    run: Any = compile_loop(loop, lookahead_loop.HELPERS) if compiled else loop
    inputs: tuple[Any, ...] = (flags, target, states)
    if not compiled:
        inputs, tables = (flags.tolist(), target.tolist(), plain_states(states)), tuple(t.tolist() for t in tables)
    code = run(
        *inputs, known, eos, width, float(draft_ms), float(ahead_ms), *tables, float(loop_ms), output_cap,
        old, parts, counters,
    )  # fmt: skip
    if code < 0:
        return replace(_NO_LOOKAHEAD, missing_width=-code)
    drafting, waiting, verifying, looping, draining, hidden = parts.tolist()
    rounds, proposed, accepted, forwards, ahead, used, realigned = counters.tolist()
    return LookaheadReplay(
        time_ms=drafting + waiting + verifying + looping + draining,
        draft_ms=drafting,
        wait_ms=waiting,
        verify_ms=verifying,
        loop_ms=looping,
        drain_ms=draining,
        hidden_ms=hidden,
        rounds=rounds,
        proposed=proposed,
        accepted=accepted,
        draft_forwards=forwards,
        ahead_forwards=ahead,
        ahead_used=used,
        ahead_realigned=realigned if known and realigned >= 0 else None,
    )


_NO_LOOKAHEAD = LookaheadReplay(*[math.nan] * 7, *[None] * 7)  # type: ignore[arg-type]
