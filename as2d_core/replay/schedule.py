"""When is a candidate visible, and when does its producer stand still? (Section 4.1, Appendix C.1.)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from as2d_core.errors import TrajectoryError


@dataclass(frozen=True, slots=True)
class Schedule:
    """When one source publishes. Times are milliseconds since decoding began.

    Raises:
        TrajectoryError: ends that do not rise, times that fall, or a source that ends before its last batch.
    """

    batch_ends: tuple[int, ...]
    """Number of candidates that are published once a batch is out; rises strictly."""
    batch_times_ms: tuple[float, ...]
    """When each batch becomes visible; never falls."""
    producer_end_ms: float
    """When the producer ends by itself."""
    operation_ms: float
    """Length of one operation: a cancelled producer stops at the next multiple of it."""

    def __post_init__(self) -> None:
        if len(self.batch_ends) != len(self.batch_times_ms):
            raise TrajectoryError(
                f"A schedule has {len(self.batch_ends)} batch ends but {len(self.batch_times_ms)} batch times."
            )
        for i, (before, after) in enumerate(pairwise((0, *self.batch_ends))):
            if after <= before:
                raise TrajectoryError(f"Batch {i} of a schedule ends at candidate {after}, not behind {before}.")
        for i, (earlier, later) in enumerate(pairwise((0.0, *self.batch_times_ms))):
            if not later >= earlier or math.isinf(later):
                raise TrajectoryError(f"Batch {i} of a schedule is visible at {later} ms, not after {earlier} ms.")
        last = self.batch_times_ms[-1] if self.batch_times_ms else 0.0
        if not self.producer_end_ms >= last or math.isinf(self.producer_end_ms):
            raise TrajectoryError(
                f"A schedule's producer ends at {self.producer_end_ms} ms, before its last batch at {last} ms."
            )
        if not self.operation_ms >= 0 or math.isinf(self.operation_ms):
            raise TrajectoryError(f"The operation length of a schedule is {self.operation_ms} ms; it cannot be.")

    @property
    def candidates(self) -> int:
        """How many candidates the source publishes in all."""
        return self.batch_ends[-1] if self.batch_ends else 0


def autoregressive_schedule(candidates: int, batch_tokens: int, draft_ms: float, publish_ms: float = 0.0) -> Schedule:
    """Schedule of a drafter that follows its own text and publishes batches.

    Its first token comes free from its own prefill, so that a batch that ends at candidate e is
    visible after e - 1 forwards. A shorter last batch comes out when the source ends, one more
    forward (its EOS) after the last candidate.

    Args:
        candidates: tokens the source drafts before its EOS, M.
        batch_tokens: candidates in a batch (8 in the paper).
        draft_ms: one draft forward beside a running target.
        publish_ms: one publication.
    """
    if candidates < 0 or batch_tokens < 1:
        raise TrajectoryError(f"A source cannot publish {candidates} candidates in batches of {batch_tokens}.")
    ends = tuple(range(batch_tokens, candidates + 1, batch_tokens))
    times = tuple((end - 1) * draft_ms + publish_ms * (i + 1) for i, end in enumerate(ends))
    batches = -(-candidates // batch_tokens)
    producer_end_ms = candidates * draft_ms + publish_ms * batches
    if batches > len(ends):
        ends, times = (*ends, candidates), (*times, producer_end_ms)
    return Schedule(ends, times, producer_end_ms, draft_ms)


def chunk_schedule(chunk_ends: Sequence[int], chunk_times_ms: Sequence[float], operation_ms: float) -> Schedule:
    """Schedule of a source that publishes each finished audio chunk at once (CTC drafters).

    Args:
        chunk_ends: candidates published once each chunk is done; a chunk without candidates repeats the last end.
        chunk_times_ms: when each chunk is done; the source ends with the last one.
        operation_ms: time of one chunk, after which a cancelled source stops.
    """
    if len(chunk_ends) != len(chunk_times_ms):
        raise TrajectoryError(f"There are {len(chunk_ends)} chunk ends but {len(chunk_times_ms)} chunk times.")
    spoken = [i for i, (before, after) in enumerate(pairwise((0, *chunk_ends))) if after != before]
    return Schedule(
        tuple(chunk_ends[i] for i in spoken),
        tuple(chunk_times_ms[i] for i in spoken),
        chunk_times_ms[-1] if chunk_times_ms else 0.0,
        operation_ms,
    )


def drain_end(eos_ms: float, producer_end_ms: float, operation_ms: float) -> float:
    """When everything stands still: a running producer is cancelled at its next operation boundary.

    Args:
        eos_ms: when the output was complete.
        producer_end_ms: when the producer would have ended by itself.
        operation_ms: length of one of its operations.
    """
    if eos_ms >= producer_end_ms or operation_ms <= 0.0:
        return eos_ms
    boundary = math.ceil(eos_ms / operation_ms) * operation_ms
    # Rounding may leave the product just below the instant it was rounded up from.
    if boundary < eos_ms:
        boundary = eos_ms
    if boundary > producer_end_ms:
        boundary = producer_end_ms
    return boundary
