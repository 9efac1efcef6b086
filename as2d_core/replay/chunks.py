"""When are the candidates of a source visible that publishes chunk by chunk? (CTC drafters, Appendix C.1, Table 14)

A finished chunk is published at once and whole. Its text is converted into the target's vocabulary
before that, and both are the source's work. Such a source gives no confidences.
"""

import math

from as2d_core.errors import TrajectoryError
from as2d_core.profiles.profile import ChunkCosts
from as2d_core.replay.schedule import Schedule, chunk_schedule
from as2d_core.replay.windows import DrafterTrajectory

CHUNK_S = 2.56
"""Audio of one chunk in the paper; the last one of a window may be shorter."""


def chunks_of(duration_s: float, chunk_s: float = CHUNK_S) -> int:
    """Chunks in a window of audio.

    Raises:
        TrajectoryError: a duration or a chunk of no length.
    """
    if not (math.isfinite(duration_s) and duration_s > 0 and math.isfinite(chunk_s) and chunk_s > 0):
        raise TrajectoryError(f"Audio of {duration_s} s cannot be cut into chunks of {chunk_s} s.")
    # A duration that is a whole number of chunks must not gain one from rounding.
    return max(1, math.ceil(duration_s / chunk_s - 1e-9))


def ready_ms(duration_s: float, costs: ChunkCosts, chunk_s: float = CHUNK_S) -> float:
    """When the last chunk of a window is out, since decoding began.

    Raises:
        TrajectoryError: a duration or a chunk of no length.
    """
    return chunks_of(duration_s, chunk_s) * (costs.chunk_ms + costs.convert_ms)


def chunk_source_schedule(drafter: DrafterTrajectory, costs: ChunkCosts) -> Schedule:
    """Visibility of a chunk source's candidates; it is cancelled between two chunks.

    A chunk without candidates takes its time and publishes nothing.

    Raises:
        TrajectoryError: the drafter does not publish chunk by chunk.
    """
    if drafter.chunk_ends is None:
        raise TrajectoryError(f"Drafter {drafter.name!r} publishes batches, not chunks.")
    operation_ms = costs.chunk_ms + costs.convert_ms
    times_ms = [(i + 1) * operation_ms for i in range(len(drafter.chunk_ends))]
    return chunk_schedule(drafter.chunk_ends, times_ms, operation_ms)
