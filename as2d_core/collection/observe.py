"""What does each model say about one window? Runs in the target process; times do not matter here."""

import time
from collections.abc import Sequence
from dataclasses import replace

from as2d_core.engines.base import Recorder
from as2d_core.engines.padded import PaddedTarget
from as2d_core.errors import As2dError, EngineError
from as2d_core.methods import Outcome, target_only
from as2d_core.operation_records import Trajectory
from as2d_core.request import Request
from as2d_core.runner.remote import DrafterProcess, RemoteSerialDrafter, RemoteSource

SOURCE_DEADLINE_S = 120.0


class _Quiet:
    """A recorder that keeps nothing: the rounds of a collection are no measurement."""

    def __init__(self, recorder: Recorder) -> None:
        self.now_ns = recorder.now_ns
        self.cancelled = recorder.cancelled

    def add(self, *events: object) -> None:
        """Drop the events."""


class _CancelledError(As2dError):
    """The user asked to stop while the drafter was being asked."""


def collect(target: PaddedTarget, drafter: DrafterProcess, request: Request, recorder: Recorder) -> Outcome:
    """Record the target's output, the free-running source, and the drafter on the true prefix.

    With a draft cap in the request, the drafter is also followed off the true path, as far as
    SpecASR's drafts of up to this cap can lead it.
    """
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
    trajectory = Trajectory(
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
    if request.draft_cap:
        try:
            trajectory = _with_branches(trajectory, drafter, request, request.draft_cap, recorder)
        except _CancelledError:
            return replace(outcome, status="cancelled")
    recorder.add(trajectory)
    return outcome


def _with_branches(
    trajectory: Trajectory, drafter: DrafterProcess, request: Request, draft_cap: int, recorder: Recorder
) -> Trajectory:
    """Ask the drafter for its continuations off the true path."""
    from as2d_core.collection.branches import collect_branches

    serial, eos = RemoteSerialDrafter(drafter), trajectory.eos

    def ask(read: Sequence[int], count: int) -> tuple[Sequence[int], Sequence[float]]:
        if recorder.cancelled():
            raise _CancelledError
        draft = serial.draft_adaptive(read, count, None, (), ())
        if draft.reason != "drafter end":
            return draft.tokens, draft.confidences
        end = serial.draft_fixed([*read, *draft.tokens], 1)
        return (*draft.tokens, eos), (*draft.confidences, *end.confidences)

    found = collect_branches(
        trajectory.target_tokens,
        trajectory.forced,
        trajectory.forced_confidences,
        eos,
        request.max_tokens,
        ask,
        draft_cap,
        request.threshold,
    )
    return replace(
        trajectory,
        branch_leaves=found.leaves,
        branch_feeds=found.feeds,
        branch_lengths=found.lengths,
        branch_tokens=found.tokens,
        branch_confidences=found.confidences,
        branch_draft_cap=found.draft_cap,
        branch_threshold=found.threshold,
    )
