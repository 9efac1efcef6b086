"""Time every operation a replay charges. Runs in the target process of the runner (Appendix B.2, D.2).

Idle and concurrent sweeps alternate within a turn, and the widths of a sweep come in random order, so
that drift of the clock or the load spreads over all cells. Only the first sweep goes up in width: it
finds the widest verification that works.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from as2d_core.calibration.plan import (
    BUSY_TOKENS,
    DRAFTER_CALLS,
    EPISODES,
    Plan,
    drafter_cell,
    drafter_operations,
    episode_cell,
    plan_from,
    sweep_cell,
    trying,
)
from as2d_core.engines.base import Recorder
from as2d_core.engines.mnn import MnnModel
from as2d_core.engines.padded import PaddedTarget, WidthPolicy
from as2d_core.errors import EngineError
from as2d_core.methods import Outcome, method
from as2d_core.operation_records import Sample
from as2d_core.records import Round, Span
from as2d_core.request import Request
from as2d_core.runner.remote import DrafterProcess, RemoteSerialDrafter, RemoteSource


class SendingRecorder(Recorder, Protocol):
    """A recorder that can be told to send what it has."""

    def flush(self) -> None: ...


class _Episode:
    """Keeps one episode's events to turn them into samples."""

    def __init__(self, recorder: Recorder) -> None:
        self.now_ns = recorder.now_ns
        self.cancelled = recorder.cancelled
        self.events: list[Any] = []

    def add(self, *events: object) -> None:
        """Keep the events."""
        self.events.extend(events)


@dataclass(frozen=True, slots=True)
class _Reference:
    """True continuation for the sweeps: target-reference token blocks (B.2)."""

    fed: list[int]
    """Tokens that are fed. Past EOS the text starts over: a cost does not depend on what tokens mean."""
    greedy: list[int]
    """What the target said after each of them, one step at a time."""


def calibrate(
    model: MnnModel,
    policy: WidthPolicy,
    drafter: DrafterProcess,
    request: Request,
    recorder: SendingRecorder,
    prepare: Callable[[], None],
    gate: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Measure all cells of the plan that are not there yet, and leave a ``Sample`` for every call.

    Args:
        prepare: prefills the instruction in both models again (between episodes).
        gate: returns once the named episode may begin.

    Raises:
        ConditionsError: from ``gate``.
        EngineError: a model failed at something else than a width that was tried for the first time.
    """
    return _Calibration(model, policy, drafter, request, recorder, prepare, gate).run()


class _Calibration:
    def __init__(
        self,
        model: MnnModel,
        policy: WidthPolicy,
        drafter: DrafterProcess,
        request: Request,
        recorder: SendingRecorder,
        prepare: Callable[[], None],
        gate: Callable[[str], None],
    ) -> None:
        self._model, self._policy, self._drafter = model, policy, drafter
        self._request, self._recorder, self._prepare, self._gate = request, recorder, prepare, gate
        self._plan: Plan = plan_from(request.options)
        self._target = PaddedTarget(model, policy)
        self._rng = random.Random(self._plan.seed)  # noqa: S311 - an order of measurements, no secret
        self._widest = self._plan.max_width
        self._tried: set[int] = set()
        self._extra: dict[str, Any] = {}
        """What is noted beside the time of the last call."""

    def run(self) -> Outcome:
        plan, first = self._plan, self._target.first_token
        reference: _Reference | None = None
        for turn in plan.turns:
            for running in (False, True) if turn % 2 else (True, False):
                if self._recorder.cancelled():
                    return self._outcome("cancelled", first)
                if self._open_cells(turn, running):
                    self._gate(f"the sweep {'beside the drafter' if running else 'of widths'}")
                    reference = reference or self._reference()
                    self._sweep(reference, turn, running)
            if any(plan.wants(drafter_cell(name, width), turn) for name, width in drafter_operations()):
                self._gate("the drafter's sweep")
                self._drafter_alone(turn)
        for turn in plan.episode_turns:
            for name in EPISODES if turn % 2 else reversed(EPISODES):
                if self._recorder.cancelled():
                    return self._outcome("cancelled", first)
                if plan.wants(episode_cell(name), turn):
                    self._prepare()
                    self._gate(f"the episode of {name}")
                    self._episode(name, turn)
        return self._outcome("eos", first)

    def _outcome(self, status: str, first: int) -> Outcome:
        now = self._recorder.now_ns()
        return Outcome(status, (first,), now, now)

    # -- target ---------------------------------------------------------------------------------

    def _reference(self) -> _Reference:
        """Long enough for all offsets and widths."""
        need = self._plan.offsets_tokens[-1] + self._plan.max_width + 1
        fed = [self._target.first_token]
        greedy: list[int] = []
        self._model.keep(0)
        while len(greedy) < need:
            token = self._target.step(fed[-1]).greedy[0]
            self._target.keep(len(fed))
            greedy.append(token)
            fed.append(fed[len(fed) // 2] if token == self._model.eos else token)
        return _Reference(fed, greedy)

    def _open_cells(self, turn: int, running: bool) -> list[tuple[int | None, int]]:
        return [
            (width, offset)
            for offset in self._plan.offsets_tokens
            for width in (None, *range(1, self._widest + 1))
            if self._plan.wants(sweep_cell(width, offset, running), turn)
        ]

    def _sweep(self, reference: _Reference, turn: int, running: bool) -> None:
        open_ = self._open_cells(turn, running)
        self._try_new_widths(reference, {width for width, _ in open_ if width is not None})
        if running:
            self._drafter.start_busy(BUSY_TOKENS)
        for offset in self._plan.offsets_tokens:
            self._move_to(reference, offset)
            # A width that was found to fail a moment ago is among the open cells still.
            widths = [w for w, at in open_ if at == offset and (w is None or w <= self._widest)]
            self._rng.shuffle(widths)
            for width in widths:
                sample = _sample(
                    "step" if width is None else "verify", self._call(offset, width, reference), running, turn
                )
                self._recorder.add(replace(sample, width=width, offset_tokens=offset, extra=self._extra))
        if running:
            for value in self._drafter.stop_busy():
                self._recorder.add(_sample("draft", value, True, turn))
        self._recorder.flush()

    def _try_new_widths(self, reference: _Reference, widths: set[int]) -> None:
        """The first time, from the narrowest to the widest: one that fails is kept, and ends it."""
        for width in sorted(widths - self._tried):
            self._recorder.add(trying(width, self._recorder.now_ns()))
            self._recorder.flush()  # a width that takes this process with it has been named before
            began = self._recorder.now_ns()
            try:
                self._move_to(reference, 0)
                self._call(0, width, reference)
            except EngineError as error:
                if width == 1:
                    raise
                sample = _sample("verify", self._recorder.now_ns() - began, False, -1)
                self._recorder.add(replace(sample, width=width, offset_tokens=0, extra={"failed": str(error)}))
                self._widest = width - 1
                self._prepare()
                return
            self._tried.add(width)

    def _move_to(self, reference: _Reference, offset: int) -> None:
        """The cache holds the first ``offset`` tokens of the reference, each from a step."""
        self._model.keep(min(offset, self._model.generated))
        while (at := self._model.generated) < offset:
            self._target.step(reference.fed[at])
            self._model.keep(at + 1)

    def _call(self, offset: int, width: int | None, reference: _Reference) -> int:
        """Nanoseconds of one call, top-1 extraction left out as in B.2; counts rows that differ from the steps."""
        if width is None:
            call = self._target.step(reference.fed[offset])
            self._model.keep(offset)
            self._extra = {}
            return call.end_ns - call.start_ns
        rows, start_ns, end_ns = self._model.greedy(reference.fed[offset : offset + width])
        self._model.keep(offset)
        wanted = reference.greedy[offset : offset + width]
        differing = sum(a != b for a, b in zip(rows, wanted, strict=True))
        self._extra = {"physical": width, "differing_rows": differing}
        return end_ns - start_ns

    # -- drafter --------------------------------------------------------------------------------

    def _drafter_alone(self, turn: int) -> None:
        """One draft step, two branches in one forward, one row's probability, a refresh of each width (D.2.2)."""
        operations = [(n, w) for n, w in drafter_operations() if self._plan.wants(drafter_cell(n, w), turn)]
        self._rng.shuffle(operations)
        for name, width in operations:
            if name == "confidence":
                values = self._drafter.confidence(DRAFTER_CALLS)
            else:
                rows = {"draft": 1, "paired": 2}.get(name, width or 1)
                values = self._drafter.timing(rows, 0, DRAFTER_CALLS if width is None else 2)
            for value in values:
                self._recorder.add(replace(_sample(name, value, False, turn), width=width))
        self._recorder.flush()

    # -- whole runs -----------------------------------------------------------------------------

    def _episode(self, name: str, turn: int) -> None:
        """One real request without pauses; its rounds give loop, publication and concurrent costs."""
        episode, request, drafter = _Episode(self._recorder), self._request, self._drafter
        width = min(8, self._policy.most)
        asked = replace(request, method=name, budget=max(1, width - 1), width=max(2, width), plain_step=False)
        proposer: Any = None
        if name == "as2d":
            label = request.drafter.name if request.drafter is not None else "drafter"
            proposer = RemoteSource(drafter, episode, label, request.batch_tokens, request.max_tokens)
        elif name == "sd":
            proposer = RemoteSerialDrafter(drafter)
        start_ns = self._recorder.now_ns()
        outcome = method(name)(self._target, proposer, asked, episode)
        if outcome.status != "cancelled":
            self._recorder.add(*_episode_samples(name, turn, episode.events, outcome.eos_ns - start_ns))
        self._recorder.flush()


def _episode_samples(name: str, turn: int, events: list[Any], elapsed_ns: int) -> list[Sample]:
    rounds = [e for e in events if isinstance(e, Round)]
    spans = [e for e in events if isinstance(e, Span)]
    calls: dict[int, int] = {
        s.round: s.end_ns - s.start_ns
        for s in spans
        if s.lane == "target" and s.work in ("step", "verify") and s.round is not None
    }
    samples: list[Sample] = []

    def add(what: str, value_ns: int, running: bool, operations: int = 1, **more: Any) -> None:
        extra = {"method": name, "operations": operations}
        samples.append(replace(_sample(what, value_ns, running, turn), origin="episode", extra=extra, **more))

    for item in rounds:
        work = "step" if name == "target-only" else "verify"
        width = None if name == "target-only" else item.width
        add(work, calls.get(item.index, item.call_ns), item.source_running, width=width)
    for span in spans:
        if span.lane == "drafter" and span.work == "draft" and span.operations:
            add("draft", (span.end_ns - span.start_ns) // span.operations, name == "as2d", operations=span.operations)
        if span.work == "publish":
            add("publish", span.end_ns - span.start_ns, True)
    # Last, because it says that the episode is whole.
    drafting = 0 if name == "as2d" else sum(s.end_ns - s.start_ns for s in spans if s.lane == "drafter")
    add("loop", max(0, (elapsed_ns - sum(calls.values()) - drafting) // max(1, len(rounds))), name == "as2d")
    return samples


def _sample(name: str, value_ns: int, running: bool, turn: int) -> Sample:
    return Sample(name, value_ns, running, repetition=max(turn, 0), warm_up=turn < 0)
