"""When are the candidates of a source visible that publishes chunk by chunk? (CTC drafters, Appendix C.1, Table 14)

A finished chunk is published at once and whole. Its text is converted into the target's vocabulary
before that, and both are the source's work. Such a source gives no confidences.
"""

import math
from dataclasses import dataclass

from as2d_core.errors import ProfileError, TrajectoryError
from as2d_core.replay.schedule import Schedule, chunk_schedule
from as2d_core.replay.windows import DrafterTrajectory

CHUNK_S = 2.56
"""Audio of one chunk in the paper; the last one of a window may be shorter."""


@dataclass(frozen=True, slots=True)
class ChunkCosts:
    """What one chunk costs its source beside the running target, in milliseconds."""

    chunk_ms: float
    """From samples to the source's own text."""
    convert_ms: float = 0.0
    """The text into the target's vocabulary; 0 where it is part of ``chunk_ms``."""
    publish_ms: float = 0.0
    """One publication; a chunk without candidates publishes nothing."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.chunk_ms) and self.chunk_ms > 0):
            raise ProfileError(f"A chunk of {self.chunk_ms} ms cannot be charged; a cost is above zero and finite.")
        for name in ("convert_ms", "publish_ms"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ProfileError(f"{name} of a chunk source is {value} ms; it cannot be charged.")


def chunks_of(duration_s: float, chunk_s: float = CHUNK_S) -> int:
    """Chunks in a window of audio.

    Raises:
        TrajectoryError: a duration or a chunk of no length.
    """
    if not (math.isfinite(duration_s) and duration_s > 0 and math.isfinite(chunk_s) and chunk_s > 0):
        raise TrajectoryError(f"Audio of {duration_s} s cannot be cut into chunks of {chunk_s} s.")
    # A duration that is a whole number of chunks must not gain one from rounding.
    return max(1, math.ceil(duration_s / chunk_s - 1e-9))


def chunk_source_schedule(drafter: DrafterTrajectory, costs: ChunkCosts) -> Schedule:
    """Visibility of a chunk source's candidates; it is cancelled between two chunks.

    Raises:
        TrajectoryError: the drafter does not publish chunk by chunk.
    """
    if drafter.chunk_ends is None:
        raise TrajectoryError(f"Drafter {drafter.name!r} publishes batches, not chunks.")
    operation_ms = costs.chunk_ms + costs.convert_ms
    times_ms = []
    published = before = 0
    for i, end in enumerate(drafter.chunk_ends):
        published += end > before
        times_ms.append((i + 1) * operation_ms + published * costs.publish_ms)
        before = end
    return chunk_schedule(drafter.chunk_ends, times_ms, operation_ms)
