"""A decoding method on the virtual clock gives a whole run record, as a native run does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from as2d_core import __version__
from as2d_core.engines.scripted import ListRecorder, ScriptedTarget, VirtualClock
from as2d_core.event import Event
from as2d_core.methods import Outcome, method
from as2d_core.protocol import Writer
from as2d_core.records import SCHEMA_VERSION, Mark, Publication, Round, RunHeader, RunRecord, Span
from as2d_core.request import Request


@dataclass(frozen=True, slots=True)
class VirtualRun:
    """One run on the virtual clock."""

    record: RunRecord
    lines: tuple[str, ...]
    """The same run as a stream of the runner protocol, newlines included."""
    outcome: Outcome
    elapsed_ms: float
    """Time until everything stood still, before it was rounded to nanoseconds."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the header of a virtual run says about its origin."""

    device: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the device whose costs were charged."""
    source: str = "replayed"
    """``replayed`` (recorded tokens), ``synthetic`` (made-up tokens)."""
    created_at: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    """Text of the output, where it is known."""


def run_virtually(
    request: Request, target: ScriptedTarget, drafter: Any, clock: VirtualClock, facts: RunFacts | None = None
) -> VirtualRun:
    """Run the method that ``request`` names and keep everything it did.

    Args:
        request: decides the method and its parameters.
        target: reference and costs; shares ``clock``.
        drafter: ``None`` (target-only), a serial drafter or a source, as the method needs.
        clock: stands at 0 ms, the start of decoding; prefill is not replayed.

    Raises:
        ProfileError: a round needed a width that has no cost.
        RequestError: the method cannot run as asked.
    """
    facts = facts or RunFacts()
    recorder = ListRecorder(clock)
    start_ns = clock.now_ns()
    outcome = method(request.method)(target, drafter, request, recorder)
    header = RunHeader(
        SCHEMA_VERSION,
        request.run_id,
        request,
        dict(facts.device),
        {"as2d": __version__},
        "virtual",
        facts.created_at,
        facts.source,
        dict(facts.extra),
    )
    events: list[Event] = [
        Mark("request", start_ns, extra={"prefill_included": False}),
        Mark("decode_start", start_ns, target.first_token),
        *sorted((e for e in recorder.events if isinstance(e, Event)), key=_when),
        Mark("eos", outcome.eos_ns),
        Mark("drained", outcome.end_ns),
    ]
    record = RunRecord(header)
    lines: list[str] = []
    writer = Writer(lines.append)
    writer.add(header)
    for event in events:
        writer.add(event)
        record.add(event)
    record.add(writer.end(outcome.status, len(outcome.tokens), facts.text, outcome.error))
    return VirtualRun(record, tuple(lines), outcome, clock.now_ms)


def _when(event: Event) -> int:
    """When an event became known: spans and rounds at their end."""
    match event:
        case Span() | Round():
            return event.end_ns
        case Publication():
            return event.time_ns
        case _:
            return 0
