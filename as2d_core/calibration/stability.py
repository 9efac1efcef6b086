"""Can measured costs be trusted to repeat? Spread, drift, two levels, stragglers, a falling clock (D.2.2)."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from as2d_core.operation_records import Sample
from as2d_core.profiles.profile import Stability
from as2d_core.records import Telemetry

LEAST_REPETITIONS = 3
MOST_VARIATION = 0.10
MOST_DRIFT = 0.08
STRAGGLER = 1.5
"""A call this many times its cell's median is one."""
MOST_STRAGGLERS = 0.15
LEAST_SHARE_OF_LEVEL = 0.15
"""A level that holds less than this share of the calls is a few stragglers."""
LEAST_LEVEL_DISTANCE = 0.12
CLEAR_SPLIT = 0.85
"""Share of the variance that two levels must explain; one bell curve split in the middle explains 0.64."""
MOST_CLOCK_DROP = 0.10
LEAST_READINGS = 12


def judge_stability(samples: Sequence[Sample], telemetry: Sequence[Sequence[Telemetry]] = ()) -> Stability:
    """A verdict with its reason.

    Args:
        samples: formal repetitions; those of the sweeps are judged.
        telemetry: readings of each run, in time order within a run.
    """
    cells: dict[tuple[str, int | None, int | None, bool], list[Sample]] = defaultdict(list)
    for s in samples:
        if s.origin == "sweep" and s.name in ("verify", "step"):
            cells[s.name, s.width, s.offset_tokens, s.running].append(s)
    usable = [group for group in cells.values() if len(group) >= LEAST_REPETITIONS]
    if not usable:
        return Stability("unknown", "fewer than three repetitions of every cell")
    values = [np.array([s.value_ns for s in group], dtype=float) for group in usable]
    variation = float(np.median([v.std(ddof=1) / v.mean() for v in values]))
    drift, last = _drift(usable)
    stragglers = float(np.mean([v.max() > STRAGGLER * np.median(v) for v in values]))
    reasons = []
    if variation > MOST_VARIATION:
        reasons.append(f"typical spread {variation * 100:.0f} % of the mean")
    if abs(drift) > MOST_DRIFT:
        reasons.append(f"costs drifted by {drift * 100:+.0f} % from the first to the last repetition")
    # Over the least and not the median: where most calls of a cell are slow, its median is the slow time.
    levels = two_levels(np.concatenate([v / v.min() for v in values]))
    if levels is not None:
        reasons.append(f"calls take one of two times, {levels:.2f} times as long as each other")
    if stragglers > MOST_STRAGGLERS:
        reasons.append(f"{stragglers * 100:.0f} % of the cells hold a call over {STRAGGLER} times their median")
    drop = clock_drop(telemetry)
    if drop is not None:
        reasons.append(f"the fastest core's clock fell from {drop[0]:.0f} to {drop[1]:.0f} MHz")
    if reasons:
        return Stability("unstable", "; ".join(reasons))
    said = f"typical spread {variation * 100:.1f} %, drift {drift * 100:+.1f} % over {last + 1} repetitions"
    return Stability("stable", said)


def two_levels(relative: NDArray[np.float64]) -> float | None:
    """Ratio of the two times between which calls jump; ``None`` when they scatter around one.

    Args:
        relative: float64, every call over the least of its cell.
    """
    values = np.sort(np.log(relative[relative > 0]))
    total = float(values.var())
    n = len(values)
    if n < LEAST_READINGS or total == 0:
        return None
    counts = np.arange(1, n)
    sums = np.cumsum(values)[:-1]
    low, high = sums / counts, (values.sum() - sums) / (n - counts)
    explained = counts * (n - counts) / n**2 * (high - low) ** 2 / total
    best = int(explained.argmax())
    share = min(counts[best], n - counts[best]) / n
    distance = float(np.expm1(high[best] - low[best]))
    if explained[best] < CLEAR_SPLIT or share < LEAST_SHARE_OF_LEVEL or distance < LEAST_LEVEL_DISTANCE:
        return None
    return 1 + distance


def clock_drop(telemetry: Sequence[Sequence[Telemetry]]) -> tuple[float, float] | None:
    """Frequency of the fastest core in the first and the last third of the run where it fell most, MHz.

    The ceiling is looked at where it is shown: the clock itself also falls whenever nothing is to do.
    ``None`` = it did not fall by more than a tenth in any run, or was not read.
    """
    worst: tuple[float, float] | None = None
    for readings in telemetry:
        speeds = [value for reading in readings if (value := _fastest_mhz(reading)) is not None]
        if len(speeds) < LEAST_READINGS:
            continue
        third = len(speeds) // 3
        first, last = (float(np.percentile(part, 75)) for part in (speeds[:third], speeds[-third:]))
        if last < (1 - MOST_CLOCK_DROP) * first and (worst is None or last / first < worst[1] / worst[0]):
            worst = first, last
    return worst


def _fastest_mhz(reading: Telemetry) -> float | None:
    ceilings = reading.extra.get("ceiling_mhz")
    shown = ceilings if isinstance(ceilings, list | tuple) else reading.core_mhz or ()
    known = [float(mhz) for mhz in shown if isinstance(mhz, int | float)]
    return max(known, default=None)


def _drift(groups: Sequence[Sequence[Sample]]) -> tuple[float, int]:
    """Relative change from the first to the last repetition, and the number of the last."""
    last = max(s.repetition for group in groups for s in group)
    drifts = [
        np.median([s.value_ns for s in group if s.repetition == last])
        / np.median([s.value_ns for s in group if s.repetition == 0])
        for group in groups
        if {0, last} <= {s.repetition for s in group}
    ]
    return (float(np.median(drifts)) - 1.0 if drifts else 0.0), last
