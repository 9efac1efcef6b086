"""What does each model say about one window? Runs in the target process; times do not matter here."""

import time

from as2d_core.engines.base import Recorder
from as2d_core.engines.padded import PaddedTarget
from as2d_core.errors import EngineError
from as2d_core.methods import Outcome, target_only
from as2d_core.records import Request, Trajectory
from as2d_core.runner.remote import DrafterProcess, RemoteSource

SOURCE_DEADLINE_S = 120.0


class _Quiet:
    """A recorder that keeps nothing: the rounds of a collection are no measurement."""

    def __init__(self, recorder: Recorder) -> None:
        self.now_ns = recorder.now_ns
        self.cancelled = recorder.cancelled

    def add(self, *events: object) -> None:
        """Drop the events."""


def collect(target: PaddedTarget, drafter: DrafterProcess, request: Request, recorder: Recorder) -> Outcome:
    """Record the target's output, the free-running source and the drafter on the true prefix."""
    quiet = _Quiet(recorder)
    outcome = target_only.decode(target, None, request, quiet)
    if outcome.status == "cancelled":
        return outcome
    name = request.drafter.name if request.drafter is not None else "drafter"
    source = RemoteSource(drafter, quiet, name, request.batch_tokens, request.max_tokens)
    source.start(recorder.now_ns())
    tokens: list[int] = []
    confidences: list[float] = []
    deadline = time.monotonic() + SOURCE_DEADLINE_S
    while source.running:
        if time.monotonic() > deadline:
            drafter.kill()
            raise EngineError(f"The source did not end within {SOURCE_DEADLINE_S:g} s and was stopped.")
        for batch in source.poll():
            tokens.extend(batch.tokens)
            confidences.extend(c for c in batch.confidences or () if c is not None)
        time.sleep(0.001)
    forced, forced_confidences = drafter.forced(outcome.tokens)
    recorder.add(
        Trajectory(
            target_tokens=outcome.tokens,
            target_capped=outcome.status == "capped",
            source=name,
            candidates=tuple(tokens),
            confidences=tuple(confidences),
            source_capped=len(tokens) >= request.max_tokens,
            forced=tuple(forced),
            forced_confidences=tuple(forced_confidences),
            eos=target.eos,
            batch_tokens=request.batch_tokens,
        )
    )
    return outcome
