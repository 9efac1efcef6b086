"""How fast is every method, pooled over all windows, beside target-only and the oracle? (Tables 5, 8, 12)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import TrajectoryError
from as2d_core.replay.budgets import STANDARD_SD_WIDTHS
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.ledger import CHARGES
from as2d_core.replay.method_times import MethodCase, MethodTimes
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


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One method on all windows of a grid. ``None`` is n/a: it cannot run everywhere."""

    case: MethodCase
    mean_of: tuple[int, ...]
    """Widths K that this row is the mean of (the paper's "standard SD"); empty for a single case."""
    tps: float | None
    """Pooled; of a mean, the mean of the pooled TPS."""
    tps_low: float | None
    """95 % bootstrap interval over windows."""
    tps_high: float | None
    gain: float | None
    """Percent of pooled TPS over target-only."""
    gap: float | None
    """Percent of pooled TPS below the oracle of As²d."""
    slower_windows: int | None
    slower_share: float | None
    median_loss: float | None
    max_loss: float | None
    rounds: int | None
    charges_ms: dict[str, float] | None
    """What the time of all windows was charged for, by the names of ``ledger.CHARGES`` in milliseconds."""
    missing_windows: int
    """Windows that it cannot run on."""
    extrapolated: bool
    substituted: tuple[str, ...]
    problem: str | None


def compare_methods(
    grid: Grid, times: Sequence[MethodTimes], resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> tuple[MethodRow, ...]:
    """Pool methods over exactly the windows of a grid.

    Where standard SD was replayed at all of K = 5 to 8, a row with the mean of the four follows.

    Args:
        grid: of As²d, perhaps a part of the set.
        times: of the same set with the same costs, see ``every_method.replay_methods``.
        resamples, seed: of the bootstrap.

    Raises:
        TrajectoryError: a window of the grid has no entry.
    """
    bootstrap = Bootstrap(grid.tokens, resamples, seed)
    best = oracle(grid).tps
    aligned = [aligned_with(item, grid.windows) for item in times]
    rows = []
    for i, item in enumerate(aligned):
        rows.append(_row(item, grid, bootstrap, best))
        following = aligned[i + 1].case if i + 1 < len(aligned) else None
        if item.case.method == "sd" and (
            following is None or (following.method, following.drafter) != ("sd", item.case.drafter)
        ):
            four = [x for x in aligned if x.case.method == "sd" and x.case.drafter == item.case.drafter]
            four = [x for x in four if x.case.parameter in STANDARD_SD_WIDTHS]
            if sorted(x.case.parameter or 0 for x in four) == list(STANDARD_SD_WIDTHS):
                rows.append(_mean_row(four, grid, bootstrap, best))
    return tuple(rows)


def aligned_with(item: MethodTimes, windows: tuple[str, ...]) -> MethodTimes:
    """The windows of a grid out of a method's.

    Raises:
        TrajectoryError: one of them has no entry, or they lie in another order.
    """
    if item.windows == windows:
        return item
    wanted = set(windows)
    part = item.subset(np.array([name in wanted for name in item.windows], np.bool_))
    if part.windows != windows:
        lost = next((name for name in windows if name not in set(item.windows)), windows[0])
        raise TrajectoryError(
            f"Window {lost!r} of the grid was not replayed with {item.case.method} in the same order."
        )
    return part


def _row(item: MethodTimes, grid: Grid, bootstrap: Bootstrap, best: float | None) -> MethodRow:
    ratio = tps_ratio(item.time_ms, grid.target_only_ms)
    return _filled(
        item.case,
        (),
        pooled_tps(grid.tokens, item.time_ms),
        bootstrap.tps(item.time_ms),
        slowdown(ratio),
        [item],
        grid,
        best,
    )


def _mean_row(four: Sequence[MethodTimes], grid: Grid, bootstrap: Bootstrap, best: float | None) -> MethodRow:
    pooled = [pooled_tps(grid.tokens, item.time_ms) for item in four]
    known = [tps for tps in pooled if tps is not None]
    ratios: list[NDArray[np.float64]] = [tps_ratio(item.time_ms, grid.target_only_ms) for item in four]
    return _filled(
        MethodCase("sd", four[0].case.drafter),
        STANDARD_SD_WIDTHS,
        sum(known) / len(known) if len(known) == len(four) else None,
        bootstrap.mean_tps([item.time_ms for item in four]),
        slowdown(np.mean(ratios, axis=0)),
        four,
        grid,
        best,
    )


def _filled(
    case: MethodCase,
    mean_of: tuple[int, ...],
    tps: float | None,
    interval: Interval | None,
    slower: Slowdown | None,
    items: Sequence[MethodTimes],
    grid: Grid,
    best: float | None,
) -> MethodRow:
    one = items[0]
    whole = len(items) == 1 and all(entry is not None for entry in one.ledgers)
    return MethodRow(
        case=case,
        mean_of=mean_of,
        tps=tps,
        tps_low=interval.low if interval else None,
        tps_high=interval.high if interval else None,
        gain=gain_percent(tps, pooled_tps(grid.tokens, grid.target_only_ms)),
        gap=gap_percent(tps, best),
        slower_windows=slower.slower if slower else None,
        slower_share=slower.share if slower else None,
        median_loss=slower.median_loss if slower else None,
        max_loss=slower.max_loss if slower else None,
        rounds=one.total("rounds") if len(items) == 1 else None,
        charges_ms={name.removesuffix("_ns"): _summed_ms(one, name) for name in CHARGES} if whole else None,
        missing_windows=max(int(np.isnan(item.time_ms).sum()) for item in items),
        extrapolated=any(item.extrapolated for item in items),
        substituted=one.substituted,
        problem=next((item.problem for item in items if item.problem), None),
    )


def _summed_ms(item: MethodTimes, charge: str) -> float:
    charged_ns: list[int] = [getattr(entry, charge) for entry in item.ledgers if entry is not None]
    return sum(charged_ns) / 1e6
