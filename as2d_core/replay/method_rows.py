"""How fast are the serial methods and the ablations, beside target-only and the oracle? (Tables 5, 8, 12)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from as2d_core.errors import TrajectoryError
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.method_times import MethodTimes
from as2d_core.replay.pooling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Bootstrap,
    gap_percent,
    pooled_tps,
    slowdown,
    tps_ratio,
)


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One serial method or ablation on all windows of a grid. ``None`` is n/a: it cannot run everywhere."""

    method: str
    drafter: str
    parameter: int | None
    """Draft cap or proposal budget b."""
    form: str | None
    """SpecASR: ``paired`` or ``serial`` branches."""
    tps: float | None
    """Pooled."""
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
    missing_windows: int
    """Windows that it cannot run on."""
    extrapolated: bool
    substituted: tuple[str, ...]
    problem: str | None


def compare_methods(
    grid: Grid, times: Sequence[MethodTimes], resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> tuple[MethodRow, ...]:
    """Pool serial methods and ablations over exactly the windows of a grid.

    Args:
        grid: of As²d, perhaps a part of the set.
        times: of the same set with the same costs, see ``baselines.method_times``.
        resamples, seed: of the bootstrap.

    Raises:
        TrajectoryError: a window of the grid has no entry.
    """
    bootstrap = Bootstrap(grid.tokens, resamples, seed)
    target_only = pooled_tps(grid.tokens, grid.target_only_ms)
    best = oracle(grid).tps
    return tuple(_row(_aligned(item, grid.windows), grid, bootstrap, target_only, best) for item in times)


def _aligned(item: MethodTimes, windows: tuple[str, ...]) -> MethodTimes:
    if item.windows == windows:
        return item
    wanted = set(windows)
    part = item.subset(np.array([name in wanted for name in item.windows], np.bool_))
    if part.windows != windows:
        lost = next((name for name in windows if name not in set(item.windows)), windows[0])
        raise TrajectoryError(f"Window {lost!r} of the grid was not replayed with {item.method} in the same order.")
    return part


def _row(
    item: MethodTimes, grid: Grid, bootstrap: Bootstrap, target_only: float | None, best: float | None
) -> MethodRow:
    tps = pooled_tps(grid.tokens, item.time_ms)
    interval = bootstrap.tps(item.time_ms)
    slower = slowdown(tps_ratio(item.time_ms, grid.target_only_ms))
    missing = int(np.isnan(item.time_ms).sum())
    return MethodRow(
        method=item.method,
        drafter=item.drafter,
        parameter=item.parameter,
        form=item.form,
        tps=tps,
        tps_low=interval.low if interval else None,
        tps_high=interval.high if interval else None,
        gain=100 * (tps / target_only - 1) if tps is not None and target_only is not None else None,
        gap=gap_percent(tps, best),
        slower_windows=slower.slower if slower else None,
        slower_share=slower.share if slower else None,
        median_loss=slower.median_loss if slower else None,
        max_loss=slower.max_loss if slower else None,
        rounds=int(item.rounds.sum()) if missing == 0 else None,
        missing_windows=missing,
        extrapolated=item.extrapolated,
        substituted=item.substituted,
        problem=item.problem,
    )
