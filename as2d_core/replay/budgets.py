"""Which drafter and budget is fastest over all windows, and how far from the oracle is it? (Appendix D.4)"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import TrajectoryError
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import Oracle, oracle
from as2d_core.replay.pooling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Bootstrap,
    Interval,
    Slowdown,
    gain_percent,
    gap_percent,
    pooled_tps,
    slowdown,
    tps_ratio,
)

STANDARD_SD_WIDTHS = (5, 6, 7, 8)
"""The paper's "standard SD" is the mean over these four."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One fixed (drafter, budget) on all windows. ``None`` is n/a: the pair cannot run everywhere."""

    drafter: str
    budget: int
    tps: float | None
    """Pooled."""
    tps_low: float | None
    """95 % bootstrap interval over windows."""
    tps_high: float | None
    gain: float | None
    """Percent of pooled TPS over target-only."""
    gap: float | None
    """Percent of pooled TPS below the oracle."""
    slower_windows: int | None
    slower_share: float | None
    median_loss: float | None
    """Median loss of TPS in percent over the slower windows; ``None`` also when none is slower."""
    max_loss: float | None
    fallback_windows: int
    """Windows this drafter does not take: the first drafter stands in at the same budget."""
    rounds: int | None
    k1_rounds: int | None
    proposed: int | None
    accepted: int | None
    extrapolated: bool
    """Whether a width may have been used whose cost was not measured."""
    feasible: bool
    width_rule: str | None = None
    """Name of the rule that shortens the chains; the budget is then the most it may take. ``None`` = none does."""


@dataclass(frozen=True, slots=True)
class SdRow:
    """Standard SD of one drafter at one fixed width K on all windows."""

    drafter: str
    width: int
    tps: float | None
    tps_low: float | None
    tps_high: float | None
    slower_windows: int | None
    slower_share: float | None
    feasible: bool


@dataclass(frozen=True, slots=True)
class SdMean:
    """The paper's "standard SD" of one drafter: the mean of pooled TPS at K = 5 to 8.

    Its slowdowns come from the mean of the four TPS of each window.
    """

    drafter: str
    widths: tuple[int, ...]
    tps: float | None
    tps_low: float | None
    tps_high: float | None
    slowdown: Slowdown | None


@dataclass(frozen=True)
class BudgetTable:
    """Every fixed pair of a grid, its baselines and its oracle."""

    corpus: str
    profile: str
    label: str
    """What the trajectories are: ``measured`` or ``synthetic``. Times are always replayed."""
    windows: int
    tokens: int
    rows: tuple[BudgetRow, ...]
    """Drafters in catalog order, budgets rising."""
    target_only_tps: float | None
    target_only_interval: Interval | None
    sd_rows: tuple[SdRow, ...]
    sd_means: tuple[SdMean, ...]
    oracle_tps: float | None
    oracle_interval: Interval | None
    oracle_picks: dict[tuple[str, int], int]
    rule_rows: tuple[BudgetRow, ...] = ()
    """Width rules on the same windows, against the same oracle over fixed budgets: a gap may be below zero."""

    @property
    def best(self) -> BudgetRow | None:
        """The fastest fixed pair; ties go to the earlier drafter, then to the smaller budget."""
        feasible = [row for row in self.rows if row.tps is not None]
        return max(feasible, key=lambda row: row.tps or 0.0) if feasible else None


def compare_budgets(
    grid: Grid,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    ruled: Grid | None = None,
    rule_pairs: Sequence[tuple[str, int]] | None = None,
) -> BudgetTable:
    """Pool every fixed pair of a grid and put its baselines and its oracle beside it.

    Args:
        grid: fixed pairs.
        resamples, seed: of the bootstrap intervals.
        ruled: the same windows replayed with width rules, for rows of their own.
        rule_pairs: which (drafter, largest budget) of it; ``None`` = every drafter at its largest budget.

    Raises:
        TrajectoryError: ``ruled`` holds other windows.
        UnknownNameError, RequestError: ``ruled`` does not hold a pair.
    """
    bootstrap = Bootstrap(grid.tokens, resamples, seed)
    hindsight = oracle(grid)
    times, fallback = fixed_times(grid)
    pairs = [(d, b) for d in range(len(grid.drafters)) for b in range(len(grid.budgets))]
    intervals = bootstrap.tps_of_each([times[d, b] for d, b in pairs])
    rows = tuple(
        _row(grid, interval, hindsight, d, b, times[d, b], int(fallback[d, b].sum()))
        for (d, b), interval in zip(pairs, intervals, strict=True)
    )
    serial = [(d, width) for d in range(len(grid.drafters)) for width in grid.standard_sd_ms]
    serial_intervals = bootstrap.tps_of_each([grid.standard_sd_ms[width][d] for d, width in serial])
    return BudgetTable(
        corpus=grid.corpus,
        profile=grid.profile,
        label=grid.label,
        windows=len(grid.windows),
        tokens=int(grid.tokens.sum()),
        rows=rows,
        target_only_tps=pooled_tps(grid.tokens, grid.target_only_ms),
        target_only_interval=bootstrap.tps(grid.target_only_ms),
        sd_rows=tuple(
            _sd_row(grid, interval, d, width) for (d, width), interval in zip(serial, serial_intervals, strict=True)
        ),
        sd_means=tuple(_sd_mean(grid, bootstrap, d) for d in range(len(grid.drafters))),
        oracle_tps=hindsight.tps,
        oracle_interval=bootstrap.tps(hindsight.time_ms),
        oracle_picks=hindsight.picks,
        rule_rows=() if ruled is None else _rule_rows(grid, ruled, rule_pairs, bootstrap, hindsight),
    )


def fixed_times(grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Times of fixed pairs, with the first drafter standing in where another takes no part.

    Returns:
        ``(time_ms, fallback)``: [D, B, W] in ms, NaN where neither can run; and whether the first
        drafter stood in.
    """
    absent = np.isnan(grid.time_ms)
    fallback = absent & ~absent[:1]
    if grid.left_out is not None:
        fallback &= ~grid.left_out[:, :, np.newaxis]
    return np.where(fallback, grid.time_ms[:1], grid.time_ms), fallback


def _rule_rows(
    grid: Grid, ruled: Grid, pairs: Sequence[tuple[str, int]] | None, bootstrap: Bootstrap, hindsight: Oracle
) -> tuple[BudgetRow, ...]:
    if ruled.windows != grid.windows:
        raise TrajectoryError(f"The width rules of {ruled.corpus!r} were replayed on other windows than the budgets.")
    times, fallback = fixed_times(ruled)
    rows = []
    for drafter, budget in [(name, ruled.budgets[-1]) for name in ruled.drafters] if pairs is None else pairs:
        ruled.times(drafter, budget)  # raises for a pair that is not there
        d, b = ruled.drafters.index(drafter), ruled.budgets.index(budget)
        row = _row(ruled, bootstrap.tps(times[d, b]), hindsight, d, b, times[d, b], int(fallback[d, b].sum()))
        name = None if ruled.width_rules is None else ruled.width_rules[drafter].name
        rows.append(replace(row, width_rule=name or "width rule"))
    return tuple(rows)


def _row(
    grid: Grid,
    interval: Interval | None,
    hindsight: Oracle,
    d: int,
    b: int,
    time_ms: NDArray[np.float64],
    fallback: int,
) -> BudgetRow:
    tps = pooled_tps(grid.tokens, time_ms)
    target_only = pooled_tps(grid.tokens, grid.target_only_ms)
    slower = slowdown(tps_ratio(time_ms, grid.target_only_ms))
    feasible = not bool(np.isnan(time_ms).any())
    counted = feasible and fallback == 0

    def total(counts: NDArray[np.int64]) -> int | None:
        return int(counts[d, b].sum()) if counted else None

    return BudgetRow(
        drafter=grid.drafters[d],
        budget=grid.budgets[b],
        tps=tps,
        tps_low=interval.low if interval else None,
        tps_high=interval.high if interval else None,
        gain=gain_percent(tps, target_only),
        gap=gap_percent(tps, hindsight.tps),
        slower_windows=slower.slower if slower else None,
        slower_share=slower.share if slower else None,
        median_loss=slower.median_loss if slower else None,
        max_loss=slower.max_loss if slower else None,
        fallback_windows=fallback,
        rounds=total(grid.rounds),
        k1_rounds=total(grid.k1_rounds),
        proposed=total(grid.proposed),
        accepted=total(grid.accepted),
        extrapolated=bool(grid.extrapolated[d, b]),
        feasible=feasible,
    )


def _sd_row(grid: Grid, interval: Interval | None, d: int, width: int) -> SdRow:
    time_ms = grid.standard_sd_ms[width][d]
    slower = slowdown(tps_ratio(time_ms, grid.target_only_ms))
    return SdRow(
        drafter=grid.drafters[d],
        width=width,
        tps=pooled_tps(grid.tokens, time_ms),
        tps_low=interval.low if interval else None,
        tps_high=interval.high if interval else None,
        slower_windows=slower.slower if slower else None,
        slower_share=slower.share if slower else None,
        feasible=not bool(np.isnan(time_ms).any()),
    )


def _sd_mean(grid: Grid, bootstrap: Bootstrap, d: int) -> SdMean:
    if not set(STANDARD_SD_WIDTHS) <= set(grid.standard_sd_ms):
        return SdMean(grid.drafters[d], STANDARD_SD_WIDTHS, None, None, None, None)
    times = [grid.standard_sd_ms[width][d] for width in STANDARD_SD_WIDTHS]
    pooled = [pooled_tps(grid.tokens, time_ms) for time_ms in times]
    known = [tps for tps in pooled if tps is not None]
    interval = bootstrap.mean_tps(times)
    return SdMean(
        drafter=grid.drafters[d],
        widths=STANDARD_SD_WIDTHS,
        tps=sum(known) / len(known) if len(known) == len(pooled) else None,
        tps_low=interval.low if interval else None,
        tps_high=interval.high if interval else None,
        slowdown=slowdown(np.mean([tps_ratio(time_ms, grid.target_only_ms) for time_ms in times], axis=0)),
    )
