"""How much does the per-window oracle itself leave? The best sequence of widths within each window.

The per-window oracle holds one budget for a whole window. This one chooses the length of the chain
at every boundary, in hindsight, among all lengths a budget may give: up to the largest budget, what
is published, the confidence stop and the output cap.

**What is exact and what is a bound.** ``time_ms`` belongs to a sequence that was found and can be
replayed. ``bound_ms`` is a time that no sequence beats. Where both agree, the window is exact. The
bound starts from a target that may wait for publications, for which one earliest time for each
state is exact (see ``within_loops``); intervals that hold all boundary times then take back most of
what waiting would gain. A target that never waits is searched for below a limit close to the bound,
with at most ``labels`` boundary times for a state: where they fit, that search is exhaustive, and
either finds the best sequence or raises the bound to the limit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError
from as2d_core.profiles.profile import Profile
from as2d_core.replay import within_loops, within_search
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.grid import DEFAULT_THRESHOLD, Grid, replay_grid
from as2d_core.replay.kernel import DEFAULT_OUTPUT_CAP, check_budget, check_costs, replay_as2d
from as2d_core.replay.packing import pack
from as2d_core.replay.pooling import pooled_tps
from as2d_core.replay.windows import TrajectorySet

DEFAULT_LABELS = 32
FIRST_LABELS = 16
"""For the first, fast look: what it finds prunes the thorough one."""
FIRST_SLACK, SLACK_GROWTH = 2e-4, 6.0
"""How far above the bound a sequence is looked for first, and how much farther every time none is found."""
TOLERANCE = 1e-9
"""Times that differ by less than this share are equal."""


@dataclass(frozen=True, slots=True)
class WithinReplay:
    """The best sequence of widths on one window with one source."""

    time_ms: float
    """Of the sequence that was found, producer drain included; NaN when the window cannot run at all."""
    bound_ms: float
    """No sequence is faster."""
    exact: bool
    """Whether both are the same: the sequence is the best there is."""
    lengths: tuple[int, ...]
    """Candidates verified in every round; width K is one more."""


@dataclass(frozen=True)
class WithinOracle:
    """The best sequence of widths of every window, over all its drafters. NaN is a window that cannot run."""

    drafters: tuple[str | None, ...]
    """[W] whose candidates; ties go to the earlier in the catalog."""
    time_ms: NDArray[np.float64]
    """[W]."""
    bound_ms: NDArray[np.float64]
    """[W] no sequence with any of the drafters is faster."""
    exact: NDArray[np.bool_]
    """[W]."""
    lengths: tuple[tuple[int, ...], ...]
    """[W] candidates verified in every round."""
    tps: float | None
    """Pooled, of the sequences that were found."""
    bound_tps: float | None
    """Pooled: no sequences are faster."""

    @property
    def exact_windows(self) -> int:
        """How many windows are known to be the best there is."""
        return int(self.exact.sum())

    @property
    def largest_doubt_percent(self) -> float | None:
        """How much faster than what was found a window may be at most; ``None`` when no window can run."""
        doubt = 100 * (self.time_ms / self.bound_ms - 1)
        return None if np.isnan(doubt).all() else float(np.nanmax(doubt))


def best_widths(
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
    labels: int = DEFAULT_LABELS,
) -> WithinReplay:
    """Search the best sequence of widths on one window. Arguments and errors are those of ``replay_as2d``.

    Args:
        target_tokens, candidates, low_confidence, batch_ends, batch_times_ms, producer_end_ms,
        operation_ms, verify_concurrent_ms, verify_idle_ms, search_window, output_cap: one window, as there.
        budget: the most candidates of one round; a width without a cost is passed over.
        compiled: as machine code, or as plain Python with the same result to the last bit.
        labels: boundary times kept for each state; more of them make more windows exact.

    Raises:
        RequestError: fewer than two labels.
    """
    check_budget(budget)
    if labels < 2:
        raise RequestError(f"The search cannot work with {labels} boundary times for a state; allow at least 2.")
    window = (target_tokens, candidates, low_confidence, batch_ends, batch_times_ms, producer_end_ms, operation_ms)
    costs = (check_costs("verify_concurrent_ms", verify_concurrent_ms), check_costs("verify_idle_ms", verify_idle_ms))
    options = {"search_window": search_window, "output_cap": output_cap, "compiled": compiled}
    fixed = [(b, replay_as2d(*window, b, *costs, **options)) for b in range(budget + 1)]  # type: ignore[arg-type]
    times = {b: replay.time_ms for b, replay in fixed if replay.feasible}
    if not times:
        return WithinReplay(math.nan, math.nan, False, ())
    start = min(times, key=lambda b: times[b])
    arrays = (
        np.asarray(target_tokens, np.int64),
        np.asarray(candidates, np.int64),
        np.asarray(low_confidence, np.bool_),
        np.asarray(batch_ends, np.int64),
        np.asarray(batch_times_ms, np.float64),
    )
    found = _Search(compiled).solve(
        *arrays, producer_end_ms, operation_ms, budget, *costs, search_window, output_cap, times[start], labels
    )
    if found.lengths or len(arrays[0]) == 1:
        return found
    best = replay_as2d(*window, start, *costs, **options, with_rounds=True)  # type: ignore[arg-type]
    lengths = tuple(item.width - 1 for item in best.round_list or ())
    return WithinReplay(found.time_ms, found.bound_ms, found.exact, lengths)


def within_oracle(
    corpus: TrajectorySet,
    profile: Profile,
    budgets: Sequence[int] | None = None,
    drafters: Sequence[str] | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    labels: int = DEFAULT_LABELS,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> WithinOracle:
    """The best sequence of widths of every window, with hindsight.

    Args:
        corpus, profile, budgets, drafters, threshold, search_window: as for ``replay_grid``; a round takes
            at most as many candidates as the largest budget that the profile can price.
        labels: boundary times kept for each state; more of them make more windows exact, and take longer.
        progress: told how many windows of how many are done.

    Raises:
        RequestError, UnknownNameError, TrajectoryError, ProfileError: as ``replay_grid``.
    """
    grid = replay_grid(corpus, profile, budgets, drafters, threshold, search_window)
    return within_grid(corpus, profile, grid, labels, progress)


def within_grid(
    corpus: TrajectorySet,
    profile: Profile,
    grid: Grid,
    labels: int = DEFAULT_LABELS,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> WithinOracle:
    """The same beside a grid of fixed pairs that is there already; of all windows of the set.

    Raises:
        RequestError: the grid holds other windows than the set, or fewer than two labels are allowed.
    """
    if labels < 2:
        raise RequestError(f"The search cannot work with {labels} boundary times for a state; allow at least 2.")
    if grid.windows != tuple(w.window_id for w in corpus.windows):
        raise RequestError(f"The grid does not hold the {len(corpus.windows)} windows of {corpus.id!r}.")
    packed = pack(corpus)
    concurrent, idle = profile.round_costs()
    largest = max((b for b in grid.budgets if profile.feasible(b)), default=0)
    used = [next(d for d in packed.drafters if d.name == name) for name in grid.drafters]
    lows = [drafter.low_confidence(grid.threshold) for drafter in used]
    published = [drafter.publications(profile) for drafter in used]
    search = _Search(compiled=True)
    chosen: list[str | None] = []
    results: list[WithinReplay] = []
    bounds: list[float] = []
    for w in range(packed.windows):
        here: list[tuple[str, WithinReplay]] = []
        for d, drafter in enumerate(used):
            fixed = grid.time_ms[d, :, w]
            if np.isnan(fixed).all():
                continue
            span = slice(drafter.batch_ends.offsets[w], drafter.batch_ends.offsets[w + 1])
            low = lows[d][drafter.candidates.offsets[w] : drafter.candidates.offsets[w + 1]]
            window = (
                packed.target.window(w),
                drafter.candidates.window(w),
                low,
                drafter.batch_ends.window(w),
                published[d].times_ms[span],
                float(published[d].producer_end_ms[w]),
                published[d].operation_ms,
            )
            best = int(np.nanargmin(fixed))
            found = search.solve(
                *window, largest, concurrent, idle, grid.search_window, int(packed.caps[w]), float(fixed[best]), labels
            )
            if not found.lengths and len(window[0]) > 1:
                replayed = replay_as2d(
                    *window,
                    grid.budgets[best],
                    concurrent,
                    idle,
                    grid.search_window,
                    int(packed.caps[w]),
                    with_rounds=True,
                )
                lengths = tuple(item.width - 1 for item in replayed.round_list or ())
                found = WithinReplay(found.time_ms, found.bound_ms, found.exact, lengths)
            here.append((drafter.name, found))
        progress(w + 1, packed.windows)
        if not here:
            chosen.append(None)
            results.append(WithinReplay(math.nan, math.nan, False, ()))
            bounds.append(math.nan)
            continue
        name, found = min(here, key=lambda item: item[1].time_ms)
        chosen.append(name)
        results.append(found)
        bounds.append(min(item.bound_ms for _, item in here))
    time_ms, bound_ms = np.array([r.time_ms for r in results]), np.array(bounds)
    return WithinOracle(
        drafters=tuple(chosen),
        time_ms=time_ms,
        bound_ms=bound_ms,
        exact=time_ms <= bound_ms,
        lengths=tuple(r.lengths for r in results),
        tps=pooled_tps(packed.tokens, time_ms),
        bound_tps=pooled_tps(packed.tokens, bound_ms),
    )


class _Search:
    """Room for one window after the other; it grows when a window needs more."""

    def __init__(self, compiled: bool) -> None:
        def use(function: Callable[..., Any], *helpers: Callable[..., Any]) -> Any:
            return compile_loop(function, helpers) if compiled else function

        self._events = use(within_loops.event_times)
        self._explore = use(within_loops.explore, within_loops.state_of)
        self._latest = use(within_loops.latest_starts)
        self._search = use(within_search.search, within_search.keep_few)
        self._enclose = use(within_search.enclose, within_search.merge_nearest)
        self._states = 512
        self._moves = 1 << 14
        self._allocate()

    def solve(
        self,
        target: NDArray[np.int64],
        candidates: NDArray[np.int64],
        low: NDArray[np.bool_],
        batch_ends: NDArray[np.int64],
        batch_times_ms: NDArray[np.float64],
        producer_end_ms: float,
        operation_ms: float,
        budget: int,
        concurrent: NDArray[np.float64],
        idle: NDArray[np.float64],
        search_window: int,
        output_cap: int,
        known_ms: float,
        labels: int,
    ) -> WithinReplay:
        """Beat ``known_ms``, the time of some sequence; ``lengths`` are empty where that cannot be."""
        event_ms = np.zeros(len(batch_ends) + 3)
        visible = np.zeros(len(batch_ends) + 3, np.int64)
        events = self._events(batch_ends, batch_times_ms, producer_end_ms, event_ms, visible)
        heads = np.empty(len(target) + 1, np.int64)
        while True:
            bound, placed = self._explore(
                target, candidates, low, event_ms, visible, events, producer_end_ms, operation_ms, budget,
                concurrent, idle, search_window, output_cap, heads, self._state, self._earliest, self._order,
                self._stage, self._move, self._move_ms,
            )  # fmt: skip
            if placed != within_loops.TOO_SMALL:
                break
            self._states *= 2
            self._moves *= 2
            self._allocate()
        tolerance = TOLERANCE * known_ms
        best, lengths = known_ms, ()
        lengths_buffer = np.zeros(len(target), np.int64)
        ground = (self._state, self._order, placed, self._stage, self._move, self._move_ms, event_ms)
        clock = (producer_end_ms, operation_ms)

        def faster_than(limit_ms: float, room: int) -> tuple[bool, bool]:
            """Whether a sequence below the limit was found, and whether none was left out."""
            nonlocal best, lengths
            self._latest(*ground, *clock, limit_ms - tolerance, self._latest_ms)
            times, parents = np.empty((placed, 2 * room)), np.empty((placed, 2 * room), np.int64)
            time_ms, rounds, complete = self._search(
                *ground, *clock, self._latest_ms, limit_ms, tolerance, times, parents, self._count, lengths_buffer
            )
            if rounds > 0:
                best, lengths = float(time_ms), tuple(lengths_buffer[:rounds].tolist())
            return rounds > 0, bool(complete)

        def enclosed() -> float:
            self._latest(*ground, *clock, best - tolerance, self._latest_ms)
            lows, highs = np.empty((placed, 2 * labels)), np.empty((placed, 2 * labels))
            return float(self._enclose(*ground, *clock, self._latest_ms, lows, highs, self._count))

        if bound < best - tolerance and faster_than(best, min(FIRST_LABELS, labels))[1]:
            bound = best
        if bound < best - tolerance:
            bound = max(bound, enclosed())
        # A limit close above the bound leaves little to keep, so that the search is exhaustive there more often:
        # it either finds a sequence, or proves that there is none.
        slack = FIRST_SLACK
        while bound < best - tolerance:
            limit = min(best, bound * (1 + slack))
            found, complete = faster_than(limit, labels)
            if complete:
                bound = best if found or limit == best else limit
            elif found:
                bound = max(bound, enclosed())
                break
            elif limit == best:
                break
            slack *= SLACK_GROWTH
        if bound >= best - tolerance:
            bound = best
        return WithinReplay(best, float(bound), bool(bound == best), lengths)

    def _allocate(self) -> None:
        self._state = np.empty((self._states, within_loops.STATE_COLUMNS), np.int64)
        self._earliest = np.empty(self._states)
        self._latest_ms = np.empty(self._states)
        self._order = np.empty(self._states, np.int64)
        self._count = np.empty(self._states, np.int64)
        self._stage = np.empty((self._moves, within_loops.STAGE_COLUMNS), np.int64)
        self._move = np.empty((self._moves, within_loops.MOVE_COLUMNS), np.int64)
        self._move_ms = np.empty(self._moves)
