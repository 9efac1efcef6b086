"""How long does one window take? Replay of one trajectory under one set of costs, method by method.

These functions check their input and call the loops of ``as2d_core.replay.loops``, compiled or as
plain Python.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import ProfileError, RequestError, TrajectoryError
from as2d_core.profiles.profile import Profile
from as2d_core.replay import loops
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.schedule import Schedule
from as2d_core.width_rule import WidthRule, width_rule_faults

DEFAULT_OUTPUT_CAP = 1024
NO_TABLE: NDArray[np.int64] = np.zeros((0, loops.ROUND_COLUMNS), np.int64)
NO_BOUNDARIES: NDArray[np.float64] = np.zeros(0)
NO_RULE: NDArray[np.int64] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ReplayedRound:
    """One round of a replay."""

    start_ms: float
    end_ms: float
    width: int
    accepted: int
    cursor_before: int
    """Cursor before alignment."""
    cursor_after: int
    visible: int
    source_running: bool


@dataclass(frozen=True, slots=True)
class As2dReplay:
    """As²d on one window: ``time_ms == verify_ms + drain_ms`` to the clock's resolution."""

    time_ms: float
    """Until everything stood still; NaN when a width had no cost."""
    verify_ms: float
    """Charged to verification rounds, loop included: the time until the output was complete."""
    drain_ms: float
    """Charged to the cancelled producer."""
    rounds: int | None
    k1_rounds: int | None
    proposed: int | None
    accepted: int | None
    missing_width: int | None = None
    """The width that had no cost, ``None`` when the replay is feasible."""
    round_list: tuple[ReplayedRound, ...] | None = None

    @property
    def feasible(self) -> bool:
        return self.missing_width is None


@dataclass(frozen=True, slots=True)
class StandardSdReplay:
    """Standard SD on one window: ``time_ms == draft_ms + verify_ms`` to the clock's resolution."""

    time_ms: float
    """NaN when a width had no cost."""
    draft_ms: float
    """Charged to draft forwards."""
    verify_ms: float
    """Charged to verification rounds, loop included."""
    rounds: int | None
    draft_forwards: int | None
    missing_width: int | None = None

    @property
    def feasible(self) -> bool:
        return self.missing_width is None


def replay_as2d(
    target_tokens: ArrayLike,
    candidates: ArrayLike,
    low_confidence: ArrayLike,
    batch_ends: ArrayLike,
    batch_times_ms: ArrayLike,
    producer_end_ms: float,
    operation_ms: float,
    budget: int,
    verify_concurrent_ms: ArrayLike,
    verify_idle_ms: ArrayLike,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    output_cap: int = DEFAULT_OUTPUT_CAP,
    compiled: bool = True,
    with_rounds: bool = False,
    width_rule: WidthRule | None = None,
) -> As2dReplay:
    """Replay As²d on one window (Section 4).

    Args:
        target_tokens: y[0..N-1], EOS included when it was reached.
        candidates: the source's tokens c[0..M-1], EOS left out.
        low_confidence: one flag per candidate.
        batch_ends: candidates published once each batch is out.
        batch_times_ms: when each batch is visible, since decoding began.
        producer_end_ms: when the source ends by itself.
        operation_ms: one operation of the source, after which a cancelled one stops.
        budget: proposal budget b; 0 gives the K = 1 loop.
        verify_concurrent_ms: cost of a round by width K (entry 0 unused) beside the running source,
            loop cost included; NaN = no cost.
        verify_idle_ms: the same with nothing beside it.
        search_window: how far alignment looks beyond the cursor.
        output_cap: largest number of committed tokens.
        compiled: as machine code, or as plain Python with the same result to the last bit.
        with_rounds: keep the list of rounds.
        width_rule: shortens chains to the width that is cheapest per expected token; ``None`` = none does.

    Raises:
        TrajectoryError: tokens or batches do not fit together.
        ProfileError: a cost is negative, zero or infinite.
        RequestError: a budget, window, cap or width rule that cannot be.
    """
    Schedule(
        tuple(np.asarray(batch_ends, np.int64).tolist()),
        tuple(np.asarray(batch_times_ms, np.float64).tolist()),
        float(producer_end_ms),
        float(operation_ms),
    )
    target = _tokens("target tokens", target_tokens)
    source = _tokens("candidates", candidates)
    low = np.asarray(low_confidence, np.bool_)
    ends = np.asarray(batch_ends, np.int64)
    check_lengths(len(target), output_cap)
    if len(low) != len(source):
        raise TrajectoryError(f"There are {len(source)} candidates but {len(low)} confidence flags.")
    if (int(ends[-1]) if len(ends) else 0) != len(source):
        raise TrajectoryError(f"The batches publish {int(ends[-1]) if len(ends) else 0} of {len(source)} candidates.")
    check_budget(budget)
    check_search_window(search_window)
    rule = rule_table(width_rule, budget)
    table = np.zeros((len(target), loops.ROUND_COLUMNS), np.int64) if with_rounds else NO_TABLE
    boundaries = np.zeros(len(target)) if with_rounds else NO_BOUNDARIES
    arrays = (target, source, low, ends, np.asarray(batch_times_ms, np.float64))
    costs = (check_costs("verify_concurrent_ms", verify_concurrent_ms), check_costs("verify_idle_ms", verify_idle_ms))
    if not compiled:
        arrays, costs = (tuple(a.tolist() for a in arrays), tuple(a.tolist() for a in costs))
    run: Any = compile_loop(loops.as2d_loop) if compiled else loops.as2d_loop
    time_ms, eos_ms, rounds, k1_rounds, proposed, accepted, _ = run(
        *arrays,
        float(producer_end_ms),
        float(operation_ms),
        budget,
        *costs,
        search_window,
        output_cap,
        rule if compiled else rule.tolist(),
        table,
        boundaries,
    )
    if rounds < 0:
        return As2dReplay(math.nan, math.nan, math.nan, None, None, None, None, missing_width=-rounds)
    kept = _round_list(table[:rounds].tolist(), [*boundaries[:rounds].tolist(), eos_ms]) if with_rounds else None
    return As2dReplay(time_ms, eos_ms, time_ms - eos_ms, rounds, k1_rounds, proposed, accepted, round_list=kept)


def replay_standard_sd(
    agrees: ArrayLike,
    width: int,
    draft_ms: float,
    verify_ms: ArrayLike,
    loop_ms: float,
    output_cap: int = DEFAULT_OUTPUT_CAP,
    compiled: bool = True,
) -> StandardSdReplay:
    """Replay standard SD at a fixed width on one window (Appendix D.1.3).

    Args:
        agrees: N flags: the drafter's greedy token after the true prefix y[0..i-1] equals y[i].
        width: physical width K: K - 1 drafted tokens and the known root.
        draft_ms: one draft forward while the target waits.
        verify_ms: verification by width K (entry 0 unused), loop cost not included; NaN = no cost.
        loop_ms: the rest of a round.
        output_cap: largest number of committed tokens; only this makes a round narrower than K.

    Raises:
        TrajectoryError: no flags, or more than the cap.
        ProfileError: a cost is negative or infinite, or a forward costs nothing.
        RequestError: a width below 2.
    """
    flags = np.asarray(agrees, np.bool_)
    check_lengths(len(flags), output_cap)
    if width < 2:
        raise RequestError(f"Standard SD at width {width} drafts nothing; the least width is 2.")
    if not (math.isfinite(draft_ms) and draft_ms > 0 and math.isfinite(loop_ms) and loop_ms >= 0):
        raise ProfileError(f"A draft forward of {draft_ms} ms and a loop of {loop_ms} ms cannot be charged.")
    costs = check_costs("verify_ms", verify_ms)
    run: Any = compile_loop(loops.standard_sd_loop) if compiled else loops.standard_sd_loop
    inputs = (flags, costs) if compiled else (flags.tolist(), costs.tolist())
    time_ms, rounds, forwards = run(inputs[0], width, float(draft_ms), inputs[1], float(loop_ms), output_cap)
    if rounds < 0:
        return StandardSdReplay(math.nan, math.nan, math.nan, None, None, missing_width=-rounds)
    return StandardSdReplay(time_ms, forwards * draft_ms, time_ms - forwards * draft_ms, rounds, forwards)


def replay_target_only(tokens: int, step_ms: float) -> float:
    """Milliseconds of target-only decoding: every token but the first costs one scalar step.

    Raises:
        TrajectoryError: fewer than one token.
        ProfileError: a step that costs nothing, or is no number.
    """
    if tokens < 1:
        raise TrajectoryError(f"An output of {tokens} tokens cannot be: prefill always selects the first one.")
    if not (math.isfinite(step_ms) and step_ms > 0):
        raise ProfileError(f"A target step of {step_ms} ms cannot be charged.")
    return (tokens - 1) * step_ms


def check_costs(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Costs by width as an array; entry 0 is unused, NaN is a width without a cost.

    Raises:
        ProfileError: a cost is negative, zero or infinite, or there is none at K = 1.
    """
    costs = np.asarray(values, np.float64)
    if costs.ndim != 1 or len(costs) < 2 or math.isnan(costs[1]):
        raise ProfileError(f"{name} has no cost at K = 1; a round without candidates could not be priced.")
    for width, cost in enumerate(costs[1:].tolist(), 1):
        if cost <= 0 or math.isinf(cost):
            raise ProfileError(f"{name} at K = {width} is {cost} ms; a cost must be above zero and finite.")
    return costs


def check_draft_costs(profile: Profile) -> None:
    """Raise ``ProfileError`` unless draft forwards, publications, steps and the loop can be charged."""
    for name in ("draft_serial_ms", "draft_overlapped_ms", "target_step_ms"):
        value = getattr(profile, name)
        if not (math.isfinite(value) and value > 0):
            raise ProfileError(f"{name} of {profile.id!r} is {value} ms; a cost must be above zero and finite.")
    for name in ("publish_ms", "loop_ms"):
        value = getattr(profile, name)
        if not (math.isfinite(value) and value >= 0):
            raise ProfileError(f"{name} of {profile.id!r} is {value} ms; it cannot be charged.")
    for name in ("verify_idle_ms", "verify_concurrent_ms"):
        for width, value in getattr(profile, name).items():
            # A width that was never run is left out; NaN would make it look as if it had been.
            if math.isnan(value):
                raise ProfileError(
                    f"{name} of {profile.id!r} at K = {width} is no number; leave the width out instead."
                )
    for drafter, costs in profile.chunk_sources.items():
        if not (math.isfinite(costs.chunk_ms) and costs.chunk_ms > 0):
            raise ProfileError(f"A chunk of {drafter!r} costs {costs.chunk_ms} ms; it must be above zero and finite.")
        if not (math.isfinite(costs.convert_ms) and costs.convert_ms >= 0):
            raise ProfileError(f"Converting a chunk of {drafter!r} costs {costs.convert_ms} ms; it cannot be charged.")


def check_budget(budget: int) -> None:
    """Raise ``RequestError`` unless ``budget`` is a whole number of candidates."""
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 0:
        raise RequestError(f"The proposal budget is {budget!r}; it must be a whole number of at least 0.")


def check_search_window(search_window: int) -> None:
    """Raise ``RequestError`` unless alignment can look that far."""
    if isinstance(search_window, bool) or not isinstance(search_window, int | np.integer) or search_window < 0:
        raise RequestError(f"The search window is {search_window!r}; it must be a whole number and cannot be negative.")


def rule_table(rule: WidthRule | None, budget: int) -> NDArray[np.int64]:
    """A width rule as the loops read it, empty for none.

    Raises:
        RequestError: the rule is malformed, or does not cover the budget.
    """
    if rule is None:
        return NO_RULE
    for fault in width_rule_faults(rule):
        raise RequestError(f"The width rule cannot be applied: {fault}.")
    if budget > rule.max_budget:
        raise RequestError(f"The width rule covers budgets up to {rule.max_budget}, not {budget}.")
    return np.array(rule.table, np.int64)


def check_lengths(tokens: int, output_cap: int) -> None:
    """Raise ``TrajectoryError`` unless an output of ``tokens`` tokens fits under the cap."""
    if tokens < 1:
        raise TrajectoryError("There are no target tokens; prefill always selects the first one.")
    if tokens > output_cap:
        raise TrajectoryError(f"The output has {tokens} tokens, more than the cap of {output_cap}.")


def _tokens(name: str, values: ArrayLike) -> NDArray[np.int64]:
    tokens = np.asarray(values, np.int64)
    if tokens.ndim != 1:
        raise TrajectoryError(f"The {name} are not a list.")
    return tokens


def _round_list(table: Sequence[Sequence[int]], boundaries: Sequence[float]) -> tuple[ReplayedRound, ...]:
    return tuple(
        ReplayedRound(
            boundaries[i],
            boundaries[i + 1],
            row[loops.WIDTH],
            row[loops.ACCEPTED],
            row[loops.CURSOR_BEFORE],
            row[loops.CURSOR_AFTER],
            row[loops.VISIBLE],
            bool(row[loops.RUNNING]),
        )
        for i, row in enumerate(table)
    )
