"""How loud is a recording from moment to moment? The least and the greatest sample of each stretch of it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """A recording in stretches of equal length, in which no sample is left out."""

    lows: npt.NDArray[np.float32]
    """Shape [n], least sample of each stretch."""
    highs: npt.NDArray[np.float32]
    """Shape [n], greatest sample of each stretch."""
    frames: int
    """Samples of one channel."""

    @property
    def peak(self) -> float:
        """Largest distance from zero; 0 for silence and for nothing at all."""
        return float(max(self.highs.max(initial=0.0), -self.lows.min(initial=0.0)))


def envelope(blocks: Iterable[npt.NDArray[np.float32]], frames: int, columns: int) -> Envelope:
    """Least and greatest sample of each of at most ``columns`` stretches, of what all channels mix to.

    Args:
        blocks: samples in order, in pieces of any length: shape [n] or [n, channels]. More than ``frames`` of them
            are left out; of fewer, the stretches that they reach are given.
        frames: samples of one channel that are expected.
        columns: stretches that are wanted; there are no more of them than samples.
    """
    count = min(columns, frames)
    if count < 1:
        return Envelope(np.empty(0, np.float32), np.empty(0, np.float32), 0)
    # Stretch k begins where k * frames / count rounds up to, so that their lengths differ by one sample at most.
    starts = -(-np.arange(count, dtype=np.int64) * frames // count)
    lows, highs = np.full(count, np.inf, np.float32), np.full(count, -np.inf, np.float32)
    seen = 0
    for block in blocks:
        mono = (block if block.ndim == 1 else block.mean(axis=1, dtype=np.float32))[: frames - seen]
        if not len(mono):
            continue
        first = int(np.searchsorted(starts, seen, "right")) - 1
        last = int(np.searchsorted(starts, seen + len(mono), "left"))
        cuts = np.maximum(starts[first:last] - seen, 0)
        part = slice(first, last)
        lows[part] = np.fmin(lows[part], np.fmin.reduceat(mono, cuts))  # a damaged sample (NaN) is passed over
        highs[part] = np.fmax(highs[part], np.fmax.reduceat(mono, cuts))
        seen += len(mono)
    reached = int(np.searchsorted(starts, seen, "left"))
    return Envelope(_known(lows[:reached]), _known(highs[:reached]), seen)


def _known(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Stretches that hold nothing but damaged samples are drawn as silence."""
    return np.where(np.isfinite(values), values, np.float32(0.0))
