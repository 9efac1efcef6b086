"""How long do the serial methods and the ablations take on every window? (D.1.3, D.5, Table 13)

What SpecASR does depends on no cost, so its operations are counted once for a set and priced as
often as costs change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import ProfileError, TrajectoryError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay import specasr_loop
from as2d_core.replay.branches import DrafterStates
from as2d_core.replay.grid import DEFAULT_THRESHOLD, replay_grid
from as2d_core.replay.kernel import check_budget
from as2d_core.replay.lookahead import replay_lookahead
from as2d_core.replay.method_times import MethodTimes
from as2d_core.replay.packing import PackedCorpus, PackedDrafter, pack
from as2d_core.replay.specasr import (
    DEFAULT_ASP_CAP,
    asp_costs,
    check_asp_costs,
    count_specasr,
    price_specasr,
)
from as2d_core.replay.states import drafter_states
from as2d_core.replay.windows import TrajectorySet

SERIAL_METHODS = ("specasr", "without-td", "without-bc", "lookahead")
"""SpecASR; As²d without target-decoupled drafting; without budget configuration; prefix lookahead."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Counts:
    """SpecASR's operations on W windows."""

    counters: Ints
    """[W, ASP_COUNTERS]."""
    widths: Ints
    """[W, K] verifications by width."""
    known: NDArray[np.bool_]
    """[W] whether the window could be replayed."""
    problem: str | None
    """Why one of the others could not."""


_kept: "WeakKeyDictionary[PackedCorpus, dict[Any, Any]]" = WeakKeyDictionary()
"""States and counts of the sets that are packed, gone with them."""


def method_times(
    corpus: TrajectorySet,
    profile: Profile,
    methods: Sequence[str] = SERIAL_METHODS,
    budget: int | None = None,
    drafters: Sequence[str] | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    form: str | None = None,
    compiled: bool = True,
) -> tuple[MethodTimes, ...]:
    """Replay serial methods and ablations on every window with one device's costs.

    Args:
        corpus: recorded tokens.
        profile: costs of one device.
        methods: of ``SERIAL_METHODS``; rows come in this order, drafter by drafter.
        budget: selected proposal budget b, for "without TD" and for lookahead at K = b + 1;
            ``None`` = the deployed one.
        drafters: names; ``None`` = all of the set, in catalog order.
        threshold: confidence below which a draft or a chain stops; ``None`` = never.
        search_window: how far alignment looks beyond the cursor ("without BC").
        form: of SpecASR, see ``specasr.asp_costs``.
        compiled: as machine code, or as plain Python with the same result to the last bit.

    Raises:
        UnknownNameError: a method, drafter or form that there is not.
        RequestError: a budget that cannot be.
        ProfileError: a cost that cannot be charged.
    """
    for name in methods:
        if name not in SERIAL_METHODS:
            raise unknown_name("serial method", name, list(SERIAL_METHODS))
    packed = pack(corpus)
    names = [d.name for d in packed.drafters]
    for name in drafters or ():
        if name not in names:
            raise unknown_name("drafter", name, names)
    used = [d for d in packed.drafters if drafters is None or d.name in drafters]
    chosen = profile.deployed_budget if budget is None else budget
    if chosen is not None:
        check_budget(chosen)
    cap = profile.asp_cap or DEFAULT_ASP_CAP
    rows = []
    for method in methods:
        for drafter in used:
            empty = MethodTimes(
                method,
                drafter.name,
                cap if method in ("specasr", "without-bc") else chosen,
                tuple(w.window_id for w in corpus.windows),
                np.full(packed.windows, math.nan),
                np.full(packed.windows, -1, np.int64),
            )
            if empty.parameter is None:
                rows.append(replace(empty, problem=f"no budget is selected, and none is deployed on {profile.id!r}"))
            elif empty.parameter < 1:
                rows.append(replace(empty, problem="a budget of 0 drafts nothing"))
            elif method == "without-bc":
                rows.append(_without_bc(empty, corpus, profile, threshold, search_window, compiled))
            elif method == "lookahead":
                rows.append(_lookahead(empty, packed, drafter, profile, compiled))
            else:
                rows.append(_specasr(empty, packed, drafter, profile, threshold, form, compiled))
    return tuple(rows)


def _specasr(
    empty: MethodTimes,
    packed: PackedCorpus,
    drafter: PackedDrafter,
    profile: Profile,
    threshold: float | None,
    form: str | None,
    compiled: bool,
) -> MethodTimes:
    try:
        costs = asp_costs(profile, form)
    except ProfileError as error:
        return replace(empty, problem=str(error))
    check_asp_costs(costs)
    cap = empty.parameter or 0
    counts = _counted(packed, drafter, cap, threshold, costs.form == "paired", compiled)
    time_ms = price_specasr(counts.counters, counts.widths, costs)[-1]
    met = np.flatnonzero(counts.widths[counts.known].sum(axis=0)).tolist()
    lacking = [k for k in met if k >= len(costs.verify_ms) or math.isnan(costs.verify_ms[k])]
    problem = counts.problem
    if lacking:
        problem = f"{profile.id!r} has no cost of verification at width {lacking[0]}"
    return replace(
        empty,
        time_ms=np.where(counts.known, time_ms, np.nan),
        rounds=np.where(counts.known, counts.counters[:, specasr_loop.ROUNDS], -1),
        form=costs.form,
        substituted=costs.substituted,
        extrapolated=bool(set(met) & set(profile.extrapolated_idle)),
        problem=problem,
    )


def _counted(
    packed: PackedCorpus, drafter: PackedDrafter, cap: int, threshold: float | None, paired: bool, compiled: bool
) -> _Counts:
    kept = _kept.setdefault(packed, {})
    key = ("counts", drafter.name, cap, threshold, paired, compiled)
    if key in kept:
        found: _Counts = kept[key]
        return found
    corpus = packed.corpus
    counters = np.zeros((packed.windows, specasr_loop.ASP_COUNTERS), np.int64)
    widths = np.zeros((packed.windows, cap + 2), np.int64)
    known = np.zeros(packed.windows, np.bool_)
    problem = None
    for w, states in enumerate(_states(packed, drafter.name, threshold)):
        if states is None:
            problem = problem or (
                f"window {corpus.windows[w].window_id!r} does not hold what the drafter says off the true path"
            )
            continue
        output_cap = int(packed.caps[w])
        try:
            counters[w], mine = count_specasr(
                packed.target.window(w), states, corpus.eos, cap, output_cap, paired, compiled
            )
        except TrajectoryError as error:
            problem = problem or f"window {corpus.windows[w].window_id!r}: {error}"
            continue
        widths[w, : len(mine)] = mine
        known[w] = True
    counts = _Counts(counters, widths, known, problem)
    kept[key] = counts
    return counts


def _states(packed: PackedCorpus, drafter: str, threshold: float | None) -> list[DrafterStates | None]:
    kept = _kept.setdefault(packed, {})
    key = ("states", drafter, threshold)
    if key not in kept:
        corpus = packed.corpus
        kept[key] = [
            None if t is None else drafter_states(w.target_tokens, t, corpus.eos, threshold)
            for w, t in ((w, corpus.eligible(w, drafter)) for w in corpus.windows)
        ]
    found: list[DrafterStates | None] = kept[key]
    return found


def _without_bc(
    empty: MethodTimes,
    corpus: TrajectorySet,
    profile: Profile,
    threshold: float | None,
    search_window: int,
    compiled: bool,
) -> MethodTimes:
    cap = empty.parameter or 0
    grid = replay_grid(corpus, profile, [cap], [empty.drafter], threshold, search_window, compiled)
    problem = None
    if not profile.feasible(cap):
        problem = f"{profile.id!r} lacks costs of widths up to {cap + 1}"
    return replace(
        empty,
        time_ms=grid.time_ms[0, 0],
        rounds=grid.rounds[0, 0],
        extrapolated=bool(grid.extrapolated[0, 0]),
        problem=problem,
    )


def _lookahead(
    empty: MethodTimes, packed: PackedCorpus, drafter: PackedDrafter, profile: Profile, compiled: bool
) -> MethodTimes:
    width = (empty.parameter or 0) + 1
    if not profile.feasible(width - 1):
        return replace(empty, problem=f"{profile.id!r} lacks costs of widths up to {width}")
    concurrent = np.full(max(profile.verify_concurrent_ms) + 1, np.nan)
    for k, cost in profile.verify_concurrent_ms.items():
        concurrent[k] = cost
    time_ms, rounds = empty.time_ms.copy(), empty.rounds.copy()
    problem = None
    for w in range(packed.windows):
        agrees = drafter.agrees.window(w)
        if len(agrees) == 0:
            problem = problem or f"window {packed.corpus.windows[w].window_id!r} does not say where the drafter agrees"
            continue
        replayed = replay_lookahead(
            agrees,
            width,
            profile.draft_serial_ms,
            profile.draft_overlapped_ms,
            concurrent,
            profile.verify_costs(),
            profile.loop_ms,
            int(packed.caps[w]),
            compiled,
        )
        time_ms[w] = replayed.time_ms
        rounds[w] = -1 if replayed.rounds is None else replayed.rounds
    used = set(range(1, width + 1)) & {*profile.extrapolated_concurrent, *profile.extrapolated_idle}
    return replace(empty, time_ms=time_ms, rounds=rounds, extrapolated=bool(used), problem=problem)
