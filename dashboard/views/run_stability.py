"""Do repeated runs agree with each other? The verdict of a calibration, for whole runs: spread, drift, two levels."""

from collections.abc import Sequence

import numpy as np

from as2d_core.calibration.stability import LEAST_REPETITIONS, MOST_DRIFT, MOST_VARIATION, two_levels
from dashboard.views import numbers
from dashboard.views.run_groups import Work, work
from dashboard.views.runs import Row


def judge_runs(rows: Sequence[Row]) -> str:
    """``stable``, ``unstable`` or ``n/a`` with the reason.

    Args:
        rows: finished runs that were decoded alike on one device; those of one window are each other's repetitions.
    """
    found: dict[Work, list[Row]] = {}
    for row in rows:
        found.setdefault(work(row), []).append(row)
    cells = [sorted(cell, key=_when) for cell in found.values() if len(cell) >= LEAST_REPETITIONS]
    if not cells:
        return f"{numbers.NA}: fewer than three runs of a window"
    times = [np.array([row["elapsed_ms"] for row in cell], np.float64) for cell in cells]
    variation = float(np.median([t.std(ddof=1) / t.mean() for t in times]))
    drift = float(np.median([t[-1] / t[0] for t in times])) - 1
    levels = two_levels(np.concatenate([t / t.min() for t in times]))
    reasons = []
    if variation > MOST_VARIATION:
        reasons.append(f"typical spread {numbers.share(variation)} of the mean")
    if abs(drift) > MOST_DRIFT:
        reasons.append(f"{numbers.signed_percent(drift * 100)} time from the first to the last")
    if levels is not None:
        reasons.append(f"two times, {levels:.2f} apart")
    if reasons:
        return f"unstable: {'; '.join(reasons)}"
    return f"stable: spread {numbers.share(variation)}, drift {numbers.signed_percent(drift * 100)}"


def _when(row: Row) -> tuple[str, int, str]:
    return str(row.get("created_at") or ""), row.get("repetition") or 0, str(row.get("run_id"))
