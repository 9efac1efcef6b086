"""Does a device hold its throughput when it works on and on, and would it keep pace with speech? (D.6.2)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import RecordError

MOST_DRIFT_PERCENT = 5.0
"""A change up to this size counts as none."""
LEAST_RUNS = 9
"""Three in each third: with fewer, nobody can tell drift from scatter."""
RESAMPLES, SEED = 2_000, 20_240_601
TRAILING = 15
"""Requests that a trailing mean covers at most (Figure 9)."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drift:
    """The last third of a sequence of equal requests against the first."""

    verdict: str
    """``steady``, ``slower``, ``faster`` or ``undecided``."""
    runs: int
    change: float | None
    """Percent of median throughput; ``None`` with too few runs."""
    low: float | None
    high: float | None
    """95 % bootstrap interval of ``change``."""
    reason: str
    """The verdict as a sentence."""


@dataclass(frozen=True, eq=False, slots=True)
class Pace:
    """What blocks of speech that arrive in real time would have waited, given how long each took."""

    lag_s: Floats
    """[n] from a block's last sample to its complete output."""
    wait_s: Floats
    """[n] from a block's last sample until work on it begins."""
    active_rtf: float
    """Work over audio."""
    keeps_pace: bool
    """Whether the backlog does not grow: no work per second of audio beyond one second."""


def judge_drift(tps: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Drift:
    """A verdict on throughput of equal requests in the order they ran.

    Args:
        tps: tokens per second, one value a request, all above zero.
        resamples, seed: of the bootstrap interval.

    Raises:
        RecordError: a throughput is not a number above zero.
    """
    values = np.asarray(tps, np.float64)
    if values.size and not (np.isfinite(values).all() and (values > 0).all()):
        raise RecordError("A throughput that is no number above zero cannot be judged for drift.")
    n = len(values)
    if n < LEAST_RUNS:
        return Drift(
            "undecided", n, None, None, None, f"Undecided: {n} complete requests, at least {LEAST_RUNS} are needed."
        )
    third = n // 3
    first, last = values[:third], values[-third:]
    change = 100 * (float(np.median(last) / np.median(first)) - 1)
    random = np.random.default_rng(seed)
    draws = random.integers(0, third, (2, resamples, third))
    ratios = 100 * (np.median(last[draws[1]], axis=1) / np.median(first[draws[0]], axis=1) - 1)
    low, high = (float(end) for end in np.percentile(ratios, (2.5, 97.5)))
    said = f"the last third of {n} requests against the first"
    if low > -MOST_DRIFT_PERCENT and high < MOST_DRIFT_PERCENT:
        return Drift("steady", n, change, low, high, f"Steady within {MOST_DRIFT_PERCENT:g} %: {said}.")
    if abs(change) > MOST_DRIFT_PERCENT and (high < 0 or low > 0):
        verdict = "slower" if change < 0 else "faster"
        return Drift(verdict, n, change, low, high, f"Became {verdict}: {said}.")
    return Drift("undecided", n, change, low, high, f"Undecided, the requests scatter too much: {said}.")


def trailing_mean(tokens: Sequence[float], seconds: Sequence[float], most: int = TRAILING) -> Floats:
    """Pooled throughput of each request and those before it, at most ``most`` of them: float64 [n] in tokens/s."""
    count, time = (np.concatenate([[0.0], np.cumsum(np.asarray(v, np.float64))]) for v in (tokens, seconds))
    ends = np.arange(1, len(count))
    begins = np.maximum(ends - most, 0)
    spent = time[ends] - time[begins]
    pooled: Floats = np.divide(count[ends] - count[begins], spent, out=np.full(len(spent), np.nan), where=spent > 0)
    return pooled


def pace_of(arrival_s: Sequence[float], work_s: Sequence[float], audio_s: Sequence[float]) -> Pace:
    """Queue of blocks behind one worker: a block begins when it is there and the one before is done.

    Args:
        arrival_s: when the last sample of each block is there, rising.
        work_s: encoding, prefill and decoding of each block.
        audio_s: length of each block.

    Raises:
        RecordError: the sequences differ in length or are empty.
    """
    if not len(arrival_s) == len(work_s) == len(audio_s) or not len(arrival_s):
        raise RecordError("Arrivals, work and lengths of blocks must be equally many, and at least one.")
    lag, wait, done = [], [], 0.0
    for there, work in zip(arrival_s, work_s, strict=True):
        begin = max(there, done)
        done = begin + work
        wait.append(begin - there)
        lag.append(done - there)
    rtf = float(np.sum(work_s) / np.sum(audio_s))
    return Pace(np.array(lag), np.array(wait), rtf, rtf <= 1.0)
