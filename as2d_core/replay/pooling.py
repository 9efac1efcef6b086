"""Pooled throughput, slowdowns against target-only, and how sure either is (Appendix D.4.3, D.4.5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Windows whose TPS ratio is this close to 1 are neither slower nor faster."""
DEFAULT_RESAMPLES = 2000
DEFAULT_SEED = 688
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Slowdown:
    """How often, and by how much, one set of windows is slower than another."""

    windows: int
    slower: int
    """TPS ratio below 1 - 1e-9."""
    ties: int
    """TPS ratio within 1e-9 of 1."""
    median_loss: float | None
    """Median loss of TPS in percent over the slower windows; ``None`` when none is slower."""
    max_loss: float | None
    """Largest loss in percent."""

    @property
    def share(self) -> float:
        """Slower windows as a share of all."""
        return self.slower / self.windows


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % bootstrap interval over windows."""

    low: float
    high: float


def pooled_tps(tokens: NDArray[np.int64], time_ms: Floats) -> float | None:
    """Sum of tokens over sum of time, never a mean of rates; ``None`` when a window has no time.

    Args:
        tokens: [W] committed tokens.
        time_ms: [W].
    """
    total_ms = float(np.sum(time_ms))
    return None if math.isnan(total_ms) or total_ms <= 0 else float(np.sum(tokens)) / total_ms * 1e3


def gap_percent(selected_tps: float | None, oracle_tps: float | None) -> float | None:
    """Shortfall of pooled TPS against the oracle's: 100 (1 - selected / oracle)."""
    return None if selected_tps is None or oracle_tps is None else 100 * (1 - selected_tps / oracle_tps)


def gain_percent(tps: float | None, reference_tps: float | None) -> float | None:
    """Pooled TPS above a reference's: 100 (tps / reference - 1)."""
    return None if tps is None or reference_tps is None else 100 * (tps / reference_tps - 1)


def tps_ratio(time_ms: Floats, reference_ms: Floats) -> Floats:
    """[W] TPS against a reference that committed the same tokens; 1 where neither took any time."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.asarray(reference_ms, np.float64) / np.asarray(time_ms, np.float64)
    return np.where((np.asarray(time_ms) == 0) & (np.asarray(reference_ms) == 0), 1.0, ratio)


def slowdown(ratio: Floats) -> Slowdown | None:
    """Count the windows below a TPS ratio of 1; ``None`` when a window has no ratio."""
    if len(ratio) == 0 or np.isnan(ratio).any():
        return None
    losses = 100 * (1 - ratio[ratio < 1 - TIE])
    return Slowdown(
        windows=len(ratio),
        slower=len(losses),
        ties=int(np.sum(np.abs(ratio - 1) <= TIE)),
        median_loss=float(np.median(losses)) if len(losses) else None,
        max_loss=float(np.max(losses)) if len(losses) else None,
    )


class Bootstrap:
    """Paired resamples of windows: every figure of one comparison uses the same ones.

    Intervals are ``None`` for a single window, whose spread cannot be known, and for windows
    without a time.
    """

    def __init__(
        self, tokens: NDArray[np.int64] | Floats, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> None:
        """``tokens`` [W] are the committed tokens; the same seed gives the same resamples."""
        self._draws = _draws(len(tokens), resamples, seed)
        self._tokens: Floats = self._draws @ tokens

    def tps(self, time_ms: Floats) -> Interval | None:
        """Interval of the pooled TPS of [W] times."""
        return self._interval(self._pooled(time_ms))

    def tps_of_each(self, times_ms: Sequence[Floats]) -> list[Interval | None]:
        """Intervals of the pooled TPS of many [W] times: one product of matrices instead of many with vectors."""
        if not times_ms:
            return []
        with np.errstate(divide="ignore", invalid="ignore"):
            pooled = self._tokens[:, np.newaxis] / (self._draws @ np.stack(times_ms, axis=1)) * 1e3
        return [self._interval(column) for column in pooled.T]

    def gap(self, time_ms: Floats, oracle_ms: Floats) -> Interval | None:
        """Interval of the gap to the oracle in percent."""
        # A resample of windows that take no time has no rate; it leaves no interval.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._interval(100 * (1 - self._pooled(time_ms) / self._pooled(oracle_ms)))

    def difference(self, time_ms: Floats, reference_ms: Floats) -> Interval | None:
        """Interval of the difference of pooled TPS."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._interval(self._pooled(time_ms) - self._pooled(reference_ms))

    def gain(self, time_ms: Floats, reference_ms: Floats) -> Interval | None:
        """Interval of the gain of pooled TPS over a reference in percent."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._interval(100 * (self._pooled(time_ms) / self._pooled(reference_ms) - 1))

    def gain_over(self, time_ms: Floats, reference: "Bootstrap", reference_ms: Floats) -> Interval | None:
        """Interval of the gain in percent over a reference that committed other tokens on the same windows.

        Args:
            time_ms: [W].
            reference: of the reference's tokens, with as many windows, resamples and the same seed.
            reference_ms: [W].
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._interval(100 * (self._pooled(time_ms) / reference._pooled(reference_ms) - 1))  # noqa: SLF001

    def mean_tps(self, times_ms: Sequence[Floats]) -> Interval | None:
        """Interval of the arithmetic mean of several pooled TPS (fixed widths of standard SD)."""
        return self._interval(np.mean([self._pooled(times) for times in times_ms], axis=0))

    def _pooled(self, time_ms: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._tokens / (self._draws @ np.asarray(time_ms, np.float64)) * 1e3

    def _interval(self, figures: Floats) -> Interval | None:
        if self._draws.shape[1] < 2 or not np.isfinite(figures).all():
            return None
        low, high = np.percentile(figures, [2.5, 97.5])
        return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _draws(windows: int, resamples: int, seed: int) -> Floats:
    """How often each window is drawn: [resamples, W]. Kept, so that a slider does not draw again."""
    chance = np.random.default_rng(seed)
    draws: Floats = chance.multinomial(windows, np.full(windows, 1 / windows), size=resamples).astype(np.float64)
    draws.flags.writeable = False
    return draws
