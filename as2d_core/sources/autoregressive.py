"""A drafter that follows its own text and publishes immutable batches (Section 4.1, Appendix C.1)."""

from collections.abc import Callable
from dataclasses import dataclass

from as2d_core.engines.drafting import CacheModel


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch as the producer publishes it; ``last`` marks the end of the source."""

    offset: int
    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    draft_start_ns: int
    draft_end_ns: int
    forwards: int
    time_ns: int
    last: bool


def produce(
    model: CacheModel,
    batch_tokens: int,
    max_tokens: int,
    publish: Callable[[Batch], None],
    cancelled: Callable[[], bool],
    now_ns: Callable[[], int],
) -> int:
    """Draft from the model's own history until its EOS, the cap or a cancellation.

    The first token is free: the producer's prefill selected it. A batch is published as soon as it
    holds ``batch_tokens`` candidates; a shorter last batch (perhaps empty) ends the source.

    Args:
        cancelled: asked between two forwards, so that a cancellation waits for one operation at most.

    Returns:
        Number of forwards that were run.
    """
    pending: list[int] = []
    confidences: list[float] = []
    offset = forwards = batch_forwards = 0
    start_ns = end_ns = now_ns()
    token, confidence = model.first

    def flush(last: bool) -> None:
        nonlocal offset, batch_forwards, start_ns
        publish(Batch(offset, tuple(pending), tuple(confidences), start_ns, end_ns, batch_forwards, now_ns(), last))
        offset += len(pending)
        pending.clear()
        confidences.clear()
        batch_forwards = 0
        start_ns = now_ns()

    while token != model.eos:
        pending.append(token)
        confidences.append(confidence)
        if len(pending) == batch_tokens:
            flush(last=False)
        if cancelled() or offset + len(pending) >= max_tokens:
            break
        rows = model.forward([token])
        end_ns = rows.end_ns
        forwards += 1
        batch_forwards += 1
        token, confidence = rows.greedy[-1], rows.confidences[-1]
    flush(last=True)
    return forwards
