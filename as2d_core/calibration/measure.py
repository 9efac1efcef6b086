"""Time every operation a replay charges. Runs in the target process of the runner (Appendix B.2, D.2).

Idle and concurrent sweeps alternate within a repetition, and the widths of a sweep come in random
order, so that drift of the clock or the load spreads over all cells.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from as2d_core.engines.base import Recorder
from as2d_core.engines.mnn import MnnModel
from as2d_core.engines.padded import PaddedTarget, WidthPolicy
from as2d_core.errors import RequestError
from as2d_core.methods import Outcome, method
from as2d_core.records import Request, Round, Sample, Span
from as2d_core.runner.remote import DrafterProcess, RemoteSerialDrafter, RemoteSource

OFFSETS_TOKENS = (0, 64, 128)
REPETITIONS = 5
BUSY_TOKENS = 96
REFRESH_WIDTHS = (2, 4, 8, 12, 16)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured; read from ``request.options``."""

    repetitions: int = REPETITIONS
    max_width: int = 16
    offsets_tokens: tuple[int, ...] = OFFSETS_TOKENS
    episodes: int = REPETITIONS
    seed: int = 20260915


def plan_from(options: Any) -> Plan:
    """The plan in a request's options.

    Raises:
        RequestError: an option is unknown or out of range.
    """
    known = {"repetitions": (1, 100), "max_width": (1, 64), "episodes": (0, 100), "seed": (0, 2**31)}
    values: dict[str, Any] = {}
    for name, value in dict(options).items():
        if name == "offsets_tokens" and isinstance(value, list | tuple):
            if not value or not all(isinstance(v, int) and 0 <= v <= 512 for v in value):
                raise RequestError("offsets_tokens is a list of cache offsets from 0 to 512 tokens.")
            values[name] = tuple(sorted(value))
        elif name not in known:
            raise RequestError(f"Calibration knows no option {name!r}; known: {', '.join([*known, 'offsets_tokens'])}.")
        elif isinstance(value, bool) or not isinstance(value, int) or not known[name][0] <= value <= known[name][1]:
            raise RequestError(
                f"The calibration option {name} is {value!r}; choose {known[name][0]} to {known[name][1]}."
            )
        else:
            values[name] = value
    return Plan(**values)


class _Episode:
    """Keeps one episode's events to turn them into samples."""

    def __init__(self, recorder: Recorder) -> None:
        self.now_ns = recorder.now_ns
        self.cancelled = recorder.cancelled
        self.events: list[Any] = []

    def add(self, *events: object) -> None:
        """Keep the events."""
        self.events.extend(events)


def calibrate(
    model: MnnModel,
    policy: WidthPolicy,
    drafter: DrafterProcess,
    request: Request,
    recorder: Recorder,
    prepare: Callable[[], None],
) -> Outcome:
    """Measure all cells of the plan and leave a ``Sample`` for every call.

    ``prepare`` prefills the instruction in both models again (between episodes).
    """
    plan = plan_from(request.options)
    target = PaddedTarget(model, policy)
    tokens = _reference(target, model, plan)
    rng = random.Random(plan.seed)  # noqa: S311 - an order of measurements, no secret
    for repetition in range(-1, plan.repetitions):
        if recorder.cancelled():
            return _outcome("cancelled", tokens, recorder)
        modes = [False, True] if repetition % 2 else [True, False]
        for running in modes:
            if running:
                drafter.start_busy(BUSY_TOKENS)
            _sweep(target, model, tokens, plan, rng, repetition, running, policy, recorder)
            if running:
                for value in drafter.stop_busy():
                    recorder.add(_sample("draft", value, True, repetition))
        for value in drafter.timing(1, plan.offsets_tokens[0], 16):
            recorder.add(_sample("draft", value, False, repetition))
        for width in REFRESH_WIDTHS:
            for value in drafter.timing(width, 0, 2):
                recorder.add(replace(_sample("refresh", value, False, repetition), width=width))
    for repetition in range(-1, plan.episodes):
        arms = ["target-only", "as2d", "sd"]
        for name in arms if repetition % 2 else reversed(arms):
            if recorder.cancelled():
                return _outcome("cancelled", tokens, recorder)
            prepare()
            _episode(name, target, drafter, request, recorder, repetition)
    return _outcome("eos", tokens, recorder)


def _outcome(status: str, tokens: list[int], recorder: Recorder) -> Outcome:
    now = recorder.now_ns()
    return Outcome(status, tuple(tokens[:1]), now, now)


def _reference(target: PaddedTarget, model: MnnModel, plan: Plan) -> list[int]:
    """True continuation for the sweeps (target-reference token blocks, B.2), long enough for all offsets.

    Past EOS the text starts over: a cost does not depend on what the tokens mean.
    """
    need = plan.offsets_tokens[-1] + plan.max_width + 1
    tokens = [target.first_token]
    while len(tokens) < need:
        token = target.step(tokens[-1]).greedy[0]
        target.keep(len(tokens))
        tokens.append(tokens[len(tokens) // 2] if token == model.eos else token)
    return tokens


def _sweep(
    target: PaddedTarget,
    model: MnnModel,
    tokens: list[int],
    plan: Plan,
    rng: random.Random,
    repetition: int,
    running: bool,
    policy: WidthPolicy,
    recorder: Recorder,
) -> None:
    for offset in plan.offsets_tokens:
        model.keep(min(offset, model.generated))
        while model.generated < offset:
            target.step(tokens[model.generated])
            model.keep(min(offset, model.generated))
        widths = [0, *range(1, min(plan.max_width, policy.most) + 1)]
        rng.shuffle(widths)
        for width in widths:
            start_ns = recorder.now_ns()
            if width:
                target.verify(tokens[offset], tokens[offset + 1 : offset + width], running)
            else:
                target.step(tokens[offset])
            model.keep(offset)
            sample = _sample("verify" if width else "step", recorder.now_ns() - start_ns, running, repetition)
            recorder.add(replace(sample, width=width or None, offset_tokens=offset))


def _episode(
    name: str, target: PaddedTarget, drafter: DrafterProcess, request: Request, recorder: Recorder, repetition: int
) -> None:
    """One real request without pauses; its rounds give loop, publication and concurrent costs."""
    episode = _Episode(recorder)
    asked = replace(request, method=name, budget=7, width=8, plain_step=False)
    proposer: Any = None
    if name == "as2d":
        label = request.drafter.name if request.drafter is not None else "drafter"
        proposer = RemoteSource(drafter, episode, label, request.batch_tokens, request.max_tokens)
    elif name == "sd":
        proposer = RemoteSerialDrafter(drafter)
    start_ns = recorder.now_ns()
    outcome = method(name)(target, proposer, asked, episode)
    rounds = [e for e in episode.events if isinstance(e, Round)]
    spans = [e for e in episode.events if isinstance(e, Span)]
    calls: dict[int, int] = {
        s.round: s.end_ns - s.start_ns
        for s in spans
        if s.lane == "target" and s.work in ("step", "verify") and s.round is not None
    }

    def add(what: str, value_ns: int, running: bool, **more: Any) -> None:
        sample = _sample(what, value_ns, running, repetition)
        operations = more.pop("operations", 1)
        recorder.add(replace(sample, origin="episode", extra={"method": name, "operations": operations}, **more))

    for item in rounds:
        work = "step" if name == "target-only" else "verify"
        width = None if name == "target-only" else item.width
        add(work, calls.get(item.index, item.call_ns), item.source_running, width=width)
    if rounds:
        drafting = 0 if name == "as2d" else sum(s.end_ns - s.start_ns for s in spans if s.lane == "drafter")
        rest = outcome.eos_ns - start_ns - sum(calls.values()) - drafting
        add("loop", max(0, rest // len(rounds)), name == "as2d")
    for span in spans:
        if span.lane == "drafter" and span.work == "draft" and span.operations:
            add("draft", (span.end_ns - span.start_ns) // span.operations, name == "as2d", operations=span.operations)
        if span.work == "publish":
            add("publish", span.end_ns - span.start_ns, True)


def _sample(name: str, value_ns: int, running: bool, repetition: int) -> Sample:
    return Sample(name, value_ns, running, repetition=max(repetition, 0), warm_up=repetition < 0)
