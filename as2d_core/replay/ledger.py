"""Where did the time of a replayed window go? Every charged millisecond once, and T = D + V - O + H (D.2.7)."""

import math
from dataclasses import dataclass, fields

from as2d_core.accounting import TimeAccount
from as2d_core.errors import ProfileError
from as2d_core.replay.kernel import As2dReplay, StandardSdReplay


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the time of one window was charged for, in whole nanoseconds of the replay clock.

    Only what lies on the clock is charged: drafting that a verification hides is in ``account``
    alone. The charges sum up to the time exactly; each is rounded to a nanosecond, and the largest
    one takes what rounding leaves over.
    """

    draft_ns: int
    """Draft forwards that the target waited for."""
    confidence_ns: int
    """Probabilities of output rows, where they are priced apart from the forward."""
    refresh_ns: int
    """Batched forwards that put a reused suffix into the drafter's cache."""
    verify_ns: int
    """Verifications, and target-only steps."""
    loop_ns: int
    """The rest of the rounds."""
    publish_ns: int
    """Publications that the target waited for; none does."""
    align_ns: int
    """Alignment, free of charge in replay."""
    drain_ns: int
    """Waiting for a cancelled drafter to stand still."""
    account: TimeAccount

    @property
    def total_ns(self) -> int:
        """The time: the sum of all charges."""
        return sum(getattr(self, name) for name in CHARGES)


CHARGES = tuple(field.name for field in fields(Ledger) if field.name != "account")


def ledger(
    time_ms: float,
    *,
    draft_ms: float = 0.0,
    confidence_ms: float = 0.0,
    refresh_ms: float = 0.0,
    verify_ms: float = 0.0,
    loop_ms: float = 0.0,
    drain_ms: float = 0.0,
    hidden_ms: float = 0.0,
) -> Ledger:
    """Round charges so that they sum up to the time, and account for it.

    Args:
        time_ms: the time, and what it was charged for.
        hidden_ms: drafting beside a verification.

    Raises:
        ProfileError: there is no time, because a cost is missing.

    The loop counts as the target's service, as correction and repair do in a run record, and the
    drafter works while it is drained.
    """
    charges = dict(
        zip(
            CHARGES,
            map(_nanoseconds, (draft_ms, confidence_ms, refresh_ms, verify_ms, loop_ms, 0.0, 0.0, drain_ms)),
            strict=True,
        )
    )
    total_ns = _nanoseconds(time_ms)
    largest = max(charges, key=lambda name: charges[name])
    charges[largest] += total_ns - sum(charges.values())
    drafted = charges["draft_ns"] + charges["confidence_ns"] + charges["refresh_ns"] + charges["drain_ns"]
    verified = charges["verify_ns"] + charges["loop_ns"]
    hidden = min(_nanoseconds(hidden_ms), verified)
    account = TimeAccount(total_ns, drafted + hidden, verified, hidden, total_ns - drafted - verified)
    return Ledger(**charges, account=account)


def ledger_of_target_only(tokens: int, step_ms: float) -> Ledger:
    """Target-only decoding: every token but the first is one step of the target."""
    spent_ms = (tokens - 1) * step_ms
    return ledger(spent_ms, verify_ms=spent_ms)


def ledger_of_standard_sd(replayed: StandardSdReplay, loop_ms: float) -> Ledger:
    """Standard SD: drafting, then verification and the loop.

    Args:
        replayed: on one window.
        loop_ms: what a round was charged besides its verification.

    Raises:
        ProfileError: it has no time.
    """
    looped_ms = (replayed.rounds or 0) * loop_ms
    return ledger(
        replayed.time_ms,
        draft_ms=replayed.draft_ms,
        verify_ms=replayed.verify_ms - looped_ms,
        loop_ms=looped_ms,
    )


def ledger_of_as2d(replayed: As2dReplay, loop_ms: float, producer_end_ms: float) -> Ledger:
    """As²d: verification and the loop, and the drain of a producer that was still running.

    Args:
        replayed: on one window.
        loop_ms: what the costs by width hold for the loop.
        producer_end_ms: when the producer would have ended by itself; it works from the start.

    Raises:
        ProfileError: it has no time.
    """
    looped_ms = (replayed.rounds or 0) * loop_ms
    return ledger(
        replayed.time_ms,
        verify_ms=replayed.verify_ms - looped_ms,
        loop_ms=looped_ms,
        drain_ms=replayed.drain_ms,
        hidden_ms=min(producer_end_ms, replayed.verify_ms),
    )


def _nanoseconds(milliseconds: float) -> int:
    if math.isnan(milliseconds):
        raise ProfileError("A replay without a time has no ledger: a cost is missing.")
    return round(milliseconds * 1e6)
