"""How fast could a choice per window have been, with hindsight? (Appendix D.4.3)"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from as2d_core.replay.grid import Grid
from as2d_core.replay.pooling import pooled_tps


@dataclass(frozen=True)
class Oracle:
    """The feasible (drafter, budget) with the smallest completion time, window by window.

    It has hindsight and pays nothing for choosing. Ties go to the earlier drafter, then to the
    smaller budget.
    """

    drafters: tuple[str | None, ...]
    """[W] chosen drafter; ``None`` where no pair can run."""
    budgets: tuple[int | None, ...]
    """[W] chosen budget."""
    time_ms: NDArray[np.float64]
    """[W] NaN where no pair can run."""
    tps: float | None
    """Pooled; ``None`` when a window has no feasible pair."""

    @property
    def picks(self) -> dict[tuple[str, int], int]:
        """How many windows chose each pair, the most frequent first."""
        chosen = Counter(
            (drafter, budget)
            for drafter, budget in zip(self.drafters, self.budgets, strict=True)
            if drafter is not None and budget is not None
        )
        return dict(chosen.most_common())


def oracle(grid: Grid) -> Oracle:
    """Choose for every window with hindsight."""
    pairs, windows = len(grid.drafters) * len(grid.budgets), len(grid.windows)
    times = np.where(np.isnan(grid.time_ms), np.inf, grid.time_ms).reshape(pairs, windows)
    # Drafters lie in catalog order and budgets rise, so the first minimum is the tie rule's.
    chosen = np.argmin(times, axis=0)
    best = times[chosen, np.arange(windows)]
    found = np.isfinite(best).tolist()
    time_ms = np.where(np.isfinite(best), best, np.nan)
    width = len(grid.budgets)
    return Oracle(
        drafters=tuple(grid.drafters[i // width] if ok else None for i, ok in zip(chosen.tolist(), found, strict=True)),
        budgets=tuple(grid.budgets[i % width] if ok else None for i, ok in zip(chosen.tolist(), found, strict=True)),
        time_ms=time_ms,
        tps=pooled_tps(grid.tokens, time_ms),
    )
