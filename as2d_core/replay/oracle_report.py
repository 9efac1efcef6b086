"""How far is a choice from the per-window oracle, on all windows and dataset by dataset, and how sure is that?

Every figure of one report is over the same windows, and every interval over the same resamples of
them (Appendix D.4.3, D.4.5, Table 11). Windows count equally in distributions and slowdowns, and by
their time in pooled throughput.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import RequestError, TrajectoryError
from as2d_core.profiles.profile import Profile
from as2d_core.profiles.variants import concurrent_scenarios
from as2d_core.replay.budgets import fixed_times
from as2d_core.replay.grid import Catalog, Grid, replay_grid
from as2d_core.replay.hindsight import Oracle, oracle
from as2d_core.replay.pooling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    TIE,
    Bootstrap,
    Interval,
    Slowdown,
    gain_percent,
    gap_percent,
    pooled_tps,
    slowdown,
    tps_ratio,
)
from as2d_core.replay.windows import TrajectorySet
from as2d_core.replay.within import DEFAULT_LABELS, WithinOracle, within_grid

Floats = NDArray[np.float64]
ALL_GROUPS = "all"
"""All windows together, beside the name of every dataset."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that was decided before the windows were decoded, and its time on each of them."""

    name: str
    origin: str
    """Why it is looked at: deployed, selected, given, fastest with hindsight, learned."""
    time_ms: Floats
    """[W] NaN where it cannot run."""
    drafter: str | None = None
    budget: int | None = None
    extrapolated: bool = False
    """Whether a width may have been used whose cost was not measured."""


@dataclass(frozen=True, slots=True)
class Quartiles:
    """How a figure differs from window to window; each window counts once."""

    least: float
    low: float
    """First quartile."""
    median: float
    high: float
    """Third quartile."""
    most: float

    @property
    def iqr(self) -> float:
        """Interquartile range."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class GapRow:
    """One choice on one dataset, or on all. ``None`` is n/a: a window has no time."""

    choice: str
    group: str
    windows: int
    tokens: int
    tps: float | None
    """Pooled."""
    tps_interval: Interval | None
    gain: float | None
    """Percent of pooled TPS over target-only."""
    gain_interval: Interval | None
    oracle_tps: float | None
    gap: float | None
    """Percent of pooled TPS below the oracle; below zero where a width rule beats every fixed budget."""
    gap_interval: Interval | None
    slowdown: Slowdown | None
    """Windows slower than target-only."""
    window_tps: Quartiles | None
    window_change: Quartiles | None
    """Percent of a window's TPS over target-only (Table 11)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two choices on the same windows."""

    choice: str
    against: str
    tps: float | None
    """Difference of pooled TPS; above zero: the choice is faster."""
    tps_interval: Interval | None
    percent: float | None
    percent_interval: Interval | None
    faster: int
    """Windows on which the choice is faster by more than the tie of 1e-9."""
    slower: int
    ties: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """The same choice when wide verification beside a running source costs less or more than assumed."""

    name: str
    """``nominal``, ``low`` or ``high`` concurrent ratio."""
    tps: float | None
    oracle_tps: float | None
    gap: float | None


@dataclass(frozen=True, slots=True)
class WithinRow:
    """What the best sequence of widths within each window adds to the per-window oracle."""

    group: str
    windows: int
    exact_windows: int
    """Windows whose sequence is known to be the best there is."""
    tps: float | None
    """Pooled, of the sequences that were found: they can be run."""
    bound_tps: float | None
    """Pooled; no sequences are faster."""
    over_oracle: float | None
    """Percent of pooled TPS of the found sequences over the per-window oracle: what that one leaves at least."""
    bound_over_oracle: float | None
    """The same for the bound: what it leaves at most."""


@dataclass(frozen=True)
class OracleReport:
    """Choices beside the per-window oracle."""

    oracle: Oracle
    rows: tuple[GapRow, ...]
    """Choice by choice; all windows first, then dataset by dataset."""
    oracle_rows: tuple[GapRow, ...]
    """The oracle itself in the same figures."""
    differences: tuple[Difference, ...]
    """The first choice against each of the others."""
    cdf: dict[str, Floats]
    """By choice, ``oracle`` and ``target-only``: the windows' TPS, rising; entry i is the quantile (i + 1) / W.
    Windows without a rate are NaN, at the end."""

    def row(self, choice: str, group: str = ALL_GROUPS) -> GapRow:
        """One row.

        Raises:
            RequestError: there is none of these names.
        """
        for item in (*self.rows, *self.oracle_rows):
            if (item.choice, item.group) == (choice, group):
                return item
        raise RequestError(f"The report has no {choice!r} on {group!r}.")


def fixed_choice(grid: Grid, drafter: str, budget: int, origin: str) -> Choice:
    """A fixed pair of a grid; where its drafter takes no part, the catalog's first stands in at the same budget.

    Raises:
        UnknownNameError, RequestError: the grid does not hold the pair.
    """
    grid.times(drafter, budget)
    d, b = grid.drafters.index(drafter), grid.budgets.index(budget)
    times, _ = fixed_times(grid)
    return Choice(f"{drafter} b={budget}", origin, times[d, b], drafter, budget, bool(grid.extrapolated[d, b]))


def report_oracle(
    grid: Grid, choices: Sequence[Choice], resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> OracleReport:
    """Put choices beside the per-window oracle of a grid.

    Args:
        grid: fixed pairs on W windows.
        choices: times on the same windows, the one that the report is about first.
        resamples, seed: of the bootstrap.

    Raises:
        TrajectoryError: a choice has another number of windows.
    """
    for item in choices:
        if item.time_ms.shape != (len(grid.windows),):
            raise TrajectoryError(f"{item.name} has {len(item.time_ms)} windows, the grid {len(grid.windows)}.")
    hindsight = oracle(grid)
    best = Choice("oracle", "hindsight", hindsight.time_ms)
    groups = np.array(grid.groups)
    parts = {ALL_GROUPS: np.ones(len(groups), np.bool_)}
    # One dataset needs no row of its own beside all windows.
    if len(names := list(dict.fromkeys(grid.groups))) > 1:
        parts |= {name: groups == name for name in names}
    chances = {name: Bootstrap(grid.tokens[mask], resamples, seed) for name, mask in parts.items()}

    def rows(choice: Choice) -> list[GapRow]:
        return [
            _row(
                choice.name,
                name,
                chances[name],
                grid.tokens[mask],
                choice.time_ms[mask],
                best.time_ms[mask],
                grid.target_only_ms[mask],
            )
            for name, mask in parts.items()
        ]

    shown = {item.name: item.time_ms for item in (*choices, best)} | {"target-only": grid.target_only_ms}
    return OracleReport(
        oracle=hindsight,
        rows=tuple(row for choice in choices for row in rows(choice)),
        oracle_rows=tuple(rows(best)),
        differences=tuple(_difference(choices[0], other, grid, chances[ALL_GROUPS]) for other in choices[1:]),
        cdf={name: np.sort(_window_tps(grid.tokens, times)) for name, times in shown.items()},
    )


def cost_sensitivity(
    corpus: TrajectorySet, profile: Profile, grid: Grid, drafter: str, budget: int
) -> tuple[Scenario, ...]:
    """The gap of a fixed pair under the nominal, lowest and highest concurrent ratio at assumed widths.

    Args:
        corpus, profile: what ``grid`` was replayed from, or a set whose windows it is a part of.
        grid: says which windows, drafters, budgets, threshold and search window.
        drafter, budget: the pair.

    Raises:
        ProfileError: the profile assumes widths, but does not say between which ratios they may lie.
        UnknownNameError, RequestError: the grid does not hold the pair.
    """
    part = _part(corpus, grid)
    found = []
    for name, assumed in concurrent_scenarios(profile).items():
        other = replay_grid(
            part, assumed, _catalog(grid), None if grid.left_out is not None else grid.drafters,
            grid.threshold, grid.search_window,
        )  # fmt: skip
        times = fixed_choice(other, drafter, budget, name).time_ms
        tps, best = pooled_tps(other.tokens, times), oracle(other).tps
        found.append(Scenario(name, tps, best, gap_percent(tps, best)))
    return tuple(found)


def within_report(
    corpus: TrajectorySet,
    profile: Profile,
    grid: Grid,
    labels: int = DEFAULT_LABELS,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[WithinOracle, tuple[WithinRow, ...]]:
    """Search the best sequence of widths of every window of a grid, and pool it beside the per-window oracle.

    Args:
        corpus: what the grid was replayed from, or a set whose windows it is a part of.
        profile, grid, labels, progress: as for ``within.within_grid``.

    Raises:
        RequestError: as ``within_grid``.
    """
    found = within_grid(_part(corpus, grid), profile, grid, labels, progress)
    best = oracle(grid).time_ms
    groups = np.array(grid.groups)
    names = list(dict.fromkeys(grid.groups))
    parts = {ALL_GROUPS: np.ones(len(groups), np.bool_)}
    parts |= {name: groups == name for name in names} if len(names) > 1 else {}
    rows = []
    for name, mask in parts.items():
        tokens = grid.tokens[mask]
        tps, bound = pooled_tps(tokens, found.time_ms[mask]), pooled_tps(tokens, found.bound_ms[mask])
        per_window = pooled_tps(tokens, best[mask])
        rows.append(
            WithinRow(
                name,
                int(mask.sum()),
                int(found.exact[mask].sum()),
                tps,
                bound,
                gain_percent(tps, per_window),
                gain_percent(bound, per_window),
            )
        )
    return found, tuple(rows)


def _part(corpus: TrajectorySet, grid: Grid) -> TrajectorySet:
    """The windows of a set that are in a grid."""
    wanted = set(grid.windows)
    if len(wanted) == len(corpus.windows):
        return corpus
    return replace(corpus, windows=tuple(w for w in corpus.windows if w.window_id in wanted))


def _catalog(grid: Grid) -> Catalog:
    if grid.left_out is None:
        return grid.budgets
    return {
        name: [b for b, out in zip(grid.budgets, left_out, strict=True) if not out]
        for name, left_out in zip(grid.drafters, grid.left_out.tolist(), strict=True)
    }


def _row(
    choice: str,
    group: str,
    chance: Bootstrap,
    tokens: NDArray[np.int64],
    time_ms: Floats,
    best_ms: Floats,
    alone_ms: Floats,
) -> GapRow:
    tps, best, alone = (pooled_tps(tokens, times) for times in (time_ms, best_ms, alone_ms))
    ratio = tps_ratio(time_ms, alone_ms)
    return GapRow(
        choice=choice,
        group=group,
        windows=len(tokens),
        tokens=int(tokens.sum()),
        tps=tps,
        tps_interval=chance.tps(time_ms),
        gain=gain_percent(tps, alone),
        gain_interval=chance.gain(time_ms, alone_ms),
        oracle_tps=best,
        gap=gap_percent(tps, best),
        gap_interval=chance.gap(time_ms, best_ms),
        slowdown=slowdown(ratio),
        window_tps=None if tps is None else _quartiles(_window_tps(tokens, time_ms)),
        window_change=None if tps is None else _quartiles(100 * (ratio - 1)),
    )


def _difference(choice: Choice, other: Choice, grid: Grid, chance: Bootstrap) -> Difference:
    mine, theirs = pooled_tps(grid.tokens, choice.time_ms), pooled_tps(grid.tokens, other.time_ms)
    ratio = tps_ratio(choice.time_ms, other.time_ms)
    return Difference(
        choice=choice.name,
        against=other.name,
        tps=None if mine is None or theirs is None else mine - theirs,
        tps_interval=chance.difference(choice.time_ms, other.time_ms),
        percent=gain_percent(mine, theirs),
        percent_interval=chance.gain(choice.time_ms, other.time_ms),
        faster=int(np.sum(ratio > 1 + TIE)),
        slower=int(np.sum(ratio < 1 - TIE)),
        ties=int(np.sum(np.abs(ratio - 1) <= TIE)),
    )


def _window_tps(tokens: NDArray[np.int64], time_ms: Floats) -> Floats:
    """[W] NaN for a window without a time, and for one whose only token was there from the start."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(time_ms > 0, tokens / time_ms * 1e3, np.nan)


def _quartiles(figures: Floats) -> Quartiles | None:
    known = figures[~np.isnan(figures)]
    if len(known) == 0:
        return None
    least, low, median, high, most = np.percentile(known, [0, 25, 50, 75, 100]).tolist()
    return Quartiles(least, low, median, high, most)
