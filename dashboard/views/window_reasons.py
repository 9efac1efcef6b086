"""Why is a window slower, or faster, than target-only? The difference in time, taken apart without a rest.

With N tokens, R rounds, a target-only step of s and T = V + (time in which the target did not work), the difference
to target-only's (N - 1) s is the sum of three parts: steps that were saved, rounds that cost more than a step, and
time without the target.
"""

import math
from dataclasses import dataclass

from dashboard.views import numbers
from dashboard.views.window_set import Timed, WindowSet

KINDS = ("wide rounds", "target waited", "few steps saved")


@dataclass(frozen=True, slots=True)
class Reason:
    """One setting on one window against target-only. Times in ms; they sum up to ``difference_ms``."""

    window: str
    difference_ms: float
    """Positive: slower than target-only."""
    saved_steps: float
    """Target-only's steps less the rounds that were taken."""
    saved_ms: float
    """What those steps would have cost; negative when more rounds than steps were taken."""
    wider_ms: float
    """What the rounds cost beyond as many K = 1 steps."""
    waiting_ms: float
    """Time in which the target did not work: exposed drafting, the drain, our own loop."""
    rounds: float
    step_ms: float
    acceptance: float | None
    other_output: bool
    """Whether the two committed different numbers of tokens; then a part of the difference is that."""

    @property
    def kind(self) -> str:
        """The largest cost in a few words, or that no step was saved."""
        if self.saved_ms <= 0:
            return KINDS[2]
        return KINDS[0] if self.wider_ms >= self.waiting_ms else KINDS[1]

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        accepted = "" if self.acceptance is None else f" with {numbers.share(self.acceptance)} of candidates accepted"
        more = self.wider_ms / self.rounds if self.rounds else 0.0
        said = (
            f"{self.saved_steps:,.0f} steps saved{accepted} ({numbers.MINUS}{numbers.duration(abs(self.saved_ms))}), "
            if self.saved_ms > 0
            else f"no step saved{accepted} (+{numbers.duration(abs(self.saved_ms))}), "
        )
        said += (
            f"{self.rounds:,.0f} rounds at {signed(more)} each over a K = 1 step ({signed(self.wider_ms)}), "
            f"the target idle for {numbers.duration(self.waiting_ms)}: {signed(self.difference_ms)} in all"
        )
        return said + ("; the outputs differ in length." if self.other_output else ".")


def reason(shown: WindowSet, item: Timed, at: int) -> Reason | None:
    """Take the difference of one window apart; ``None`` when something of it is not known.

    Args:
        shown: the windows.
        item: one of its settings.
        at: which window.
    """
    alone = shown.alone
    if alone is None:
        return None
    tokens, steps_ms = float(alone.tokens[at]), float(alone.time_ms[at])
    mine = (float(item.time_ms[at]), float(item.rounds[at]), float(item.target_ms[at]), float(item.tokens[at]))
    if tokens < 2 or not all(map(math.isfinite, (steps_ms, *mine))):
        return None
    time_ms, rounds, target_ms, own_tokens = mine
    step_ms = steps_ms / (tokens - 1)
    acceptance = float(item.acceptance[at])
    return Reason(
        window=shown.windows[at],
        difference_ms=time_ms - steps_ms,
        saved_steps=tokens - 1 - rounds,
        saved_ms=(tokens - 1 - rounds) * step_ms,
        wider_ms=target_ms - rounds * step_ms,
        waiting_ms=max(round(time_ms - target_ms, 6), 0.0),
        rounds=rounds,
        step_ms=step_ms,
        acceptance=acceptance if math.isfinite(acceptance) else None,
        other_output=own_tokens != tokens,
    )


def signed(value_ms: float) -> str:
    """A difference in time with its sign (``+11.7 ms``)."""
    if value_ms == 0:
        return numbers.duration(0)
    return f"{'+' if value_ms > 0 else numbers.MINUS}{numbers.duration(abs(value_ms))}"
