"""How long does SpecASR take on one window, and what is it charged for? (D.1.3, D.2.2, D.5)

"Without TD" is SpecASR with the selected proposal budget as its cap; SpecASR itself is As²d without
target-decoupled drafting and without budget configuration.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from as2d_core.errors import ProfileError, RequestError, TrajectoryError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay import specasr_loop
from as2d_core.replay.branches import DrafterStates, plain_states
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.kernel import DEFAULT_OUTPUT_CAP, check_costs, check_lengths
from as2d_core.replay.ledger import Ledger, ledger

FORMS = ("paired", "serial")
"""Old and new branch in one masked forward (the paper's ASR port); one branch after the other (native runs)."""

DEFAULT_ASP_CAP = 14
"""Most tokens SpecASR drafts on a device whose profile does not say."""

DRAFT_ENDS = {
    specasr_loop.BUDGET: "budget",
    specasr_loop.CONFIDENCE: "confidence",
    specasr_loop.DRAFTER_END: "drafter end",
}
NO_TABLE: NDArray[np.int64] = np.zeros((0, specasr_loop.ASP_COLUMNS), np.int64)


@dataclass(frozen=True)
class AspCosts:
    """What one device charges for SpecASR, in milliseconds."""

    form: str
    """One of ``FORMS``."""
    draft_ms: float
    """One draft forward while the target waits."""
    paired_ms: float
    """Both branches in one forward; NaN in the serial form, which has none."""
    confidence_row_ms: float
    """Probabilities of one output row: one for a scalar forward and a refresh, two for a paired forward;
    0 where they are part of the forward that was timed."""
    refresh_base_ms: float
    refresh_token_ms: float
    """A batched refresh: a constant, and a part for every token that is fed."""
    verify_ms: NDArray[np.float64]
    """Idle verification by width K (entry 0 unused), loop not included; NaN = no cost."""
    loop_ms: float
    substituted: tuple[str, ...] = ()
    """Costs that the profile does not hold, each with what stands in for it."""


@dataclass(frozen=True, slots=True)
class AspRound:
    """One round of SpecASR."""

    width: int
    accepted: int
    reused: int
    """Proposed tokens that were taken over from the old branch."""
    reason: str
    """Why the draft ended: ``budget``, ``confidence`` or ``drafter end``."""
    scalar_forwards: int
    paired_forwards: int
    refreshed: int
    """Tokens fed in the batched refresh, 0 without one."""


@dataclass(frozen=True, slots=True)
class AspReplay:
    """SpecASR on one window."""

    time_ms: float
    """The sum of the five parts below, in their order; NaN when a width had no cost."""
    draft_ms: float
    confidence_ms: float
    refresh_ms: float
    verify_ms: float
    loop_ms: float
    rounds: int
    k1_rounds: int
    proposed: int
    accepted: int
    reused: int
    scalar_forwards: int
    paired_forwards: int
    refreshes: int
    refreshed: int
    """Tokens fed in batched refreshes."""
    widths: dict[int, int]
    """Verifications by width K."""
    substituted: tuple[str, ...] = ()
    missing_width: int | None = None
    round_list: tuple[AspRound, ...] | None = None

    @property
    def feasible(self) -> bool:
        return self.missing_width is None

    @property
    def confidence_rows(self) -> int:
        """Output rows whose probabilities were computed."""
        return self.scalar_forwards + 2 * self.paired_forwards + self.refreshes

    @property
    def ledger(self) -> Ledger:
        """Raises ``ProfileError`` when there is no time."""
        return ledger(
            self.time_ms,
            draft_ms=self.draft_ms,
            confidence_ms=self.confidence_ms,
            refresh_ms=self.refresh_ms,
            verify_ms=self.verify_ms,
            loop_ms=self.loop_ms,
        )


def asp_costs(profile: Profile, form: str | None = None) -> AspCosts:
    """What a device charges for SpecASR.

    A profile without the cost of a paired forward or of a probability row has no paired form. In the
    serial form probabilities that are not priced apart are part of the draft forward, and a refresh
    that was never timed is charged as one draft forward a token; both are named in the result.

    Args:
        form: one of ``FORMS``; ``None`` = the paired one where it can be priced, else the serial one.

    Raises:
        UnknownNameError: there is no such form.
        ProfileError: the paired form is asked for and a cost is missing.
    """
    if form is not None and form not in FORMS:
        raise unknown_name("form of SpecASR", form, list(FORMS))
    names = ("paired_forward_ms", "confidence_row_ms", "refresh_base_ms", "refresh_token_ms")
    missing = [name for name in names if getattr(profile, name) is None]
    if form == "paired" and missing:
        raise ProfileError(
            f"SpecASR with paired branches needs {', '.join(missing)}, which {profile.id!r} does not hold; "
            "replay its serial form instead."
        )
    paired = form == "paired" or (form is None and not missing)
    substituted = []
    row_ms, base_ms, token_ms = profile.confidence_row_ms, profile.refresh_base_ms, profile.refresh_token_ms
    if row_ms is None:
        row_ms = 0.0
        substituted.append("confidence_row_ms: taken as part of the draft forward")
    if base_ms is None or token_ms is None:
        base_ms, token_ms = 0.0, profile.draft_serial_ms
        substituted.append("refresh_token_ms: one serial draft forward a token")
    return AspCosts(
        form="paired" if paired else "serial",
        draft_ms=profile.draft_serial_ms,
        paired_ms=float(profile.paired_forward_ms or math.nan) if paired else math.nan,
        confidence_row_ms=row_ms,
        refresh_base_ms=base_ms,
        refresh_token_ms=token_ms,
        verify_ms=profile.verify_costs(),
        loop_ms=profile.loop_ms,
        substituted=tuple(substituted),
    )


def replay_specasr(
    target_tokens: ArrayLike,
    drafter: DrafterStates,
    eos: int,
    cap: int,
    costs: AspCosts,
    output_cap: int = DEFAULT_OUTPUT_CAP,
    compiled: bool = True,
    with_rounds: bool = False,
) -> AspReplay:
    """Replay SpecASR's adaptive drafts with recycling on one window.

    Args:
        target_tokens: y[0..N-1], EOS included when it was reached.
        drafter: see ``drafter_states``; the threshold is in it.
        eos: the target's EOS.
        cap: most tokens of a draft; the selected budget gives "without TD".
        costs: see ``asp_costs``.
        output_cap: largest number of committed tokens.
        compiled: as machine code, or as plain Python with the same result to the last bit.
        with_rounds: keep the list of rounds.

    Raises:
        TrajectoryError: no tokens or too many, or a fact that was not recorded.
        ProfileError: a cost is negative, zero or infinite.
        RequestError: a cap below 1.
    """
    target = np.asarray(target_tokens, np.int64)
    check_asp_costs(costs)
    rows = np.zeros((len(target), specasr_loop.ASP_COLUMNS), np.int64) if with_rounds else NO_TABLE
    counters, widths = count_specasr(target, drafter, eos, cap, output_cap, costs.form == "paired", compiled, rows)
    parts = price_specasr(counters, widths, costs)
    missing = next((k for k in np.flatnonzero(widths).tolist() if _cost(costs.verify_ms, k) is None), None)
    counted = counters.tolist()
    named = dict(zip(specasr_loop.COUNTER_NAMES, counted, strict=True))
    draft_ms, confidence_ms, refresh_ms, verify_ms, loop_ms, time_ms = (float(part) for part in parts)
    return AspReplay(
        time_ms=time_ms,
        draft_ms=draft_ms,
        confidence_ms=confidence_ms,
        refresh_ms=refresh_ms,
        verify_ms=verify_ms,
        loop_ms=loop_ms,
        **named,
        widths={k: int(widths[k]) for k in np.flatnonzero(widths).tolist()},
        substituted=costs.substituted,
        missing_width=missing,
        round_list=_rounds(rows[: named["rounds"]].tolist()) if with_rounds else None,
    )


def count_specasr(
    target: NDArray[np.int64],
    drafter: DrafterStates,
    eos: int,
    cap: int,
    output_cap: int,
    paired: bool,
    compiled: bool = True,
    table: NDArray[np.int64] = NO_TABLE,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Operations of SpecASR on one window; they do not depend on costs.

    Args:
        table: filled with the rounds when it has room.

    Returns:
        ``(counters, widths)``: [ASP_COUNTERS] and verifications by width up to cap + 1.

    Raises:
        TrajectoryError: no tokens or too many, or a fact that was not recorded.
        RequestError: a cap below 1.
    """
    check_lengths(len(target), output_cap)
    _check_cap(cap)
    missing, counters, widths = explore_specasr(target, drafter, eos, cap, output_cap, paired, compiled, table)
    if missing is not None:
        state, tokens = missing
        raise TrajectoryError(
            f"What the drafter says after {len(tokens)} more tokens in state {state} was not recorded; "
            f"collect the window again for drafts of {cap} tokens at this threshold."
        )
    return counters, widths


def explore_specasr(
    target: NDArray[np.int64],
    drafter: DrafterStates,
    eos: int,
    cap: int,
    output_cap: int,
    paired: bool,
    compiled: bool = True,
    table: NDArray[np.int64] = NO_TABLE,
) -> tuple[tuple[int, tuple[int, ...]] | None, NDArray[np.int64], NDArray[np.int64]]:
    """SpecASR until its end, or until the drafter would have to be asked.

    Returns:
        ``(missing, counters, widths)``: ``missing`` is a state and the tokens to feed there, or
        ``None`` when the window was replayed to its end.
    """
    room = specasr_loop.asp_room(min(cap, output_cap))
    counters = np.zeros(specasr_loop.ASP_COUNTERS, np.int64)
    widths = np.zeros(min(cap, output_cap) + 2, np.int64)
    draft, old = np.zeros(room, np.int64), np.zeros(room, np.int64)
    flags = np.zeros(room, np.bool_), np.zeros(room, np.bool_)
    if compiled:
        run: Any = compile_loop(specasr_loop.asp_loop, specasr_loop.HELPERS)
        inputs: tuple[Any, Any] = (target, drafter)
    else:
        run, inputs = specasr_loop.asp_loop, (target.tolist(), plain_states(drafter))
    state, first, last = run(
        *inputs, eos, cap, output_cap, paired, draft, flags[0], old, flags[1], counters, widths, table
    )
    if state < 0:
        return None, counters, widths
    tokens = old[first:-last] if last < 0 else draft[first:last]
    return (int(state), tuple(tokens.tolist())), counters, widths


def price_specasr(
    counters: NDArray[np.int64], widths: NDArray[np.int64], costs: AspCosts
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Milliseconds of counted operations, for one window or many.

    Args:
        counters: [..., ASP_COUNTERS].
        widths: [..., K].

    Returns:
        ``(draft, confidence, refresh, verify, loop, time)``; time is their sum in this order, NaN
        where a width has no cost.
    """
    count = {name: counters[..., i] for i, name in enumerate(specasr_loop.COUNTER_NAMES)}
    draft = count["scalar_forwards"] * costs.draft_ms
    if costs.form == "paired":
        draft = draft + count["paired_forwards"] * costs.paired_ms
    rows = count["scalar_forwards"] + 2 * count["paired_forwards"] + count["refreshes"]
    confidence = rows * costs.confidence_row_ms
    refresh = count["refreshes"] * costs.refresh_base_ms + count["refreshed"] * costs.refresh_token_ms
    verify = np.zeros(widths.shape[:-1])
    for width in range(1, widths.shape[-1]):
        cost = _cost(costs.verify_ms, width)
        met = widths[..., width]
        verify = verify + np.where(met > 0, met * (math.nan if cost is None else cost), 0.0)
    loop = count["rounds"] * costs.loop_ms
    return draft, confidence, refresh, verify, loop, draft + confidence + refresh + verify + loop


def check_asp_costs(costs: AspCosts) -> None:
    """Raise ``ProfileError`` unless every operation of SpecASR can be charged."""
    check_costs("verify_idle_ms", costs.verify_ms)
    positive = {"draft_serial_ms": costs.draft_ms}
    if costs.form == "paired":
        positive["paired_forward_ms"] = costs.paired_ms
    for name, value in positive.items():
        if not (math.isfinite(value) and value > 0):
            raise ProfileError(f"{name} is {value} ms; a cost must be above zero and finite.")
    for name in ("confidence_row_ms", "refresh_base_ms", "refresh_token_ms", "loop_ms"):
        value = getattr(costs, name)
        if not (math.isfinite(value) and value >= 0):
            raise ProfileError(f"{name} is {value} ms; it cannot be charged.")


def _check_cap(cap: int) -> None:
    if isinstance(cap, bool) or not isinstance(cap, int | np.integer) or cap < 1:
        raise RequestError(f"The draft cap is {cap!r}; SpecASR needs a whole number of at least 1.")


def _cost(verify_ms: NDArray[np.float64], width: int) -> float | None:
    return None if width >= len(verify_ms) or math.isnan(verify_ms[width]) else float(verify_ms[width])


def _rounds(table: Sequence[Sequence[int]]) -> tuple[AspRound, ...]:
    return tuple(
        AspRound(
            row[specasr_loop.WIDTH],
            row[specasr_loop.MATCHED],
            row[specasr_loop.TAKEN_OVER],
            DRAFT_ENDS[row[specasr_loop.REASON]],
            row[specasr_loop.SCALARS],
            row[specasr_loop.PAIRS],
            row[specasr_loop.REFRESH],
        )
        for row in table
    )
