"""What a round, a span, a publication and a run are; what is asked for is in ``request``.

What self-tests, calibrations and collections find out is in ``operation_records``.
All times are integer nanoseconds of one clock, named in the run header and read on the device.
The same records come out of a native run, a replay and a scripted test (``clock`` tells which).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from as2d_core.event import Event
from as2d_core.operation_records import Sample, SelfTest, Trajectory
from as2d_core.request import Request

SCHEMA_VERSION = 1

Lane = Literal["drafter", "target"]
LANES = ("drafter", "target")
SPAN_KINDS = (
    "load",
    "encode",
    "prefill",
    "draft",
    "publish",
    "step",
    "verify",
    "correct",
    "repair",
    "align",
    "convert",
    "drain",
)
MARKS = ("request", "decode_start", "eos", "drained")
STOPS_BATCH = "stops_batch"
"""Set in the ``extra`` of an end line after which no further run of its batch may be measured."""
SOURCES = ("measured", "replayed", "synthetic")
"""What every figure of a run is labelled."""
STATUSES = ("eos", "capped", "cancelled", "failed")


@dataclass(frozen=True, slots=True)
class RunHeader(Event):
    """First line of a run: who ran what, where, on which clock."""

    kind: ClassVar[str] = "run"
    schema_version: int
    run_id: str
    request: Request
    device: Mapping[str, Any]
    versions: Mapping[str, str]
    clock: str
    """``CLOCK_BOOTTIME``, ``monotonic`` (measured), ``virtual`` (replayed or scripted)."""
    created_at: str = ""
    source: str = "measured"
    """``measured``, ``replayed``, ``synthetic``: what every figure of this run is labelled."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span(Event):
    """One stretch of work on one lane."""

    kind: ClassVar[str] = "span"
    lane: str
    work: str
    start_ns: int
    end_ns: int
    round: int | None = None
    operations: int = 1
    """Model forwards inside the span; a draft span covers a whole batch."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Publication(Event):
    """An immutable batch of candidates (Appendix C.1)."""

    kind: ClassVar[str] = "publication"
    source: str
    offset: int
    tokens: tuple[int, ...]
    confidences: tuple[float | None, ...] | None
    time_ns: int
    """When the producer published it, on the producer's side."""
    received_ns: int | None = None
    """The boundary at which the target took it; ``None`` when it came after the output was complete."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One target boundary: what was ready, what was checked, what was committed."""

    kind: ClassVar[str] = "round"
    index: int
    start_ns: int
    end_ns: int
    width: int
    """K: candidates and the known root."""
    physical_width: int
    """Rows the engine really computed (K padded to an exact width)."""
    proposed: int
    accepted: int
    committed: tuple[int, ...]
    """Tokens this round added to the output: the accepted ones, then the correction or bonus."""
    candidates: tuple[int, ...]
    origins: str
    """One letter per candidate: ``d`` drafted, ``r`` reused after a rejection."""
    cursor_before: int
    cursor_after: int
    visible: int
    """Candidates published when the round began."""
    source_running: bool
    width_reason: str
    """Why K was what it was: one of ``WIDTH_REASONS``."""
    moves: tuple[tuple[str, int, int], ...] = ()
    """Alignment before the round: (rule, cursor before, cursor after) per step."""
    call_ns: int = 0
    """Time inside model calls; the rest of the round is our own."""
    extra: Mapping[str, Any] = field(default_factory=dict)


WIDTH_REASONS = (
    "budget",  # as many candidates as the budget allows
    "ready",  # fewer were published
    "confidence",  # stopped after a low-confidence candidate
    "cheapest",  # the width rule: fewer than were ready, because they cost less per expected token
    "output cap",  # the output cap left no more room
    "awaiting target token",  # alignment needs the next target token: K = 1
    "no candidates",  # nothing published beyond the cursor: K = 1
    "target-only",  # the method never proposes
    "drafter end",  # the drafter reached EOS
    "fixed width",  # standard SD
)


@dataclass(frozen=True, slots=True)
class Mark(Event):
    """A named instant of the run: request, decode_start, eos, drained."""

    kind: ClassVar[str] = "mark"
    name: str
    time_ns: int
    token: int | None = None
    """With ``decode_start``: the first token, selected by prefill."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pieces(Event):
    """Text of token ids that appear for the first time; bytes that are not UTF-8 are written as hex."""

    kind: ClassVar[str] = "pieces"
    text: Mapping[str, str] = field(default_factory=dict)
    hex: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Telemetry(Event):
    """One reading of the device's sensors; what could not be read is ``None``."""

    kind: ClassVar[str] = "telemetry"
    time_ns: int
    battery_temperature_c: float | None = None
    battery_current_ma: float | None = None
    battery_voltage_mv: float | None = None
    charging: bool | None = None
    thermal_status: int | None = None
    core_mhz: tuple[float | None, ...] | None = None
    online_mask: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conditions(Event):
    """One look at the device before a measured episode; what could not be read is ``None``."""

    kind: ClassVar[str] = "conditions"
    time_ns: int
    passed: bool
    """Whether nothing was missing; an episode begins after enough of these in a row."""
    missing: tuple[str, ...] = ()
    """What was missing, as clauses."""
    rested_s: float = 0.0
    """Time since the last work."""
    online_mask: int | None = None
    ceiling_mhz: tuple[float | None, ...] | None = None
    """Highest clock each core may take."""
    battery_temperature_c: float | None = None
    thermal_status: int | None = None
    charging: bool | None = None
    plugged: bool | None = None
    screen_on: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Engine(Event):
    """What really runs one model: read back after loading, not what was asked for."""

    kind: ClassVar[str] = "engine"
    role: str
    """``target`` or ``drafter``."""
    model: str
    model_sha256: str
    mnn_version: str
    backend: str
    threads: int
    precision: str
    memory: str
    cores: tuple[int, ...] | None = None
    """Cores the process may use, read back; ``None`` where the system does not tell."""
    asked_cores: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    """Widths in use; the first one is the width of a single step."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class End(Event):
    """Last line: how the run ended, and what a complete stream must contain."""

    kind: ClassVar[str] = "end"
    status: str
    tokens: int
    counts: Mapping[str, int]
    sha256: str
    text: str | None = None
    error: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown(Event):
    """A line of a kind this version does not know: kept, counted, reported."""

    kind: ClassVar[str] = "unknown"
    name: str
    body: Mapping[str, Any]


EVENT_TYPES: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        RunHeader,
        Span,
        Publication,
        Round,
        Mark,
        Pieces,
        Telemetry,
        Conditions,
        Engine,
        SelfTest,
        Sample,
        Trajectory,
        End,
    )
}


@dataclass(slots=True)
class RunRecord:
    """A whole run, complete or not. ``problems`` says what keeps it from being complete."""

    header: RunHeader
    rounds: list[Round] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    publications: list[Publication] = field(default_factory=list)
    marks: dict[str, Mark] = field(default_factory=dict)
    pieces: dict[int, bytes] = field(default_factory=dict)
    telemetry: list[Telemetry] = field(default_factory=list)
    conditions: list[Conditions] = field(default_factory=list)
    engines: dict[str, Engine] = field(default_factory=dict)
    self_tests: list[SelfTest] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)
    end: End | None = None
    unknown: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def run_id(self) -> str:
        return self.header.run_id

    @property
    def request(self) -> Request:
        return self.header.request

    @property
    def status(self) -> str:
        """Status of the ``end`` line, or ``incomplete`` when the stream has none that matches."""
        return self.end.status if self.end is not None and not self.problems else "incomplete"

    @property
    def tokens(self) -> list[int]:
        """Committed tokens, the first one (selected by prefill) included."""
        start = self.marks.get("decode_start")
        out = [] if start is None or start.token is None else [start.token]
        for item in self.rounds:
            out.extend(item.committed)
        return out

    @property
    def candidates(self) -> list[int]:
        """All published candidates in source order."""
        return [token for batch in self.publications for token in batch.tokens]

    def add(self, event: Event) -> None:
        """File one event under its list."""
        match event:
            case Round():
                self.rounds.append(event)
            case Span():
                self.spans.append(event)
            case Publication():
                self.publications.append(event)
            case Mark():
                self.marks[event.name] = event
            case Pieces():
                self.pieces.update({int(k): v.encode() for k, v in event.text.items()})
                self.pieces.update({int(k): bytes.fromhex(v) for k, v in event.hex.items()})
            case Telemetry():
                self.telemetry.append(event)
            case Conditions():
                self.conditions.append(event)
            case Engine():
                self.engines[event.role] = event
            case SelfTest():
                self.self_tests.append(event)
            case Sample():
                self.samples.append(event)
            case Trajectory():
                self.trajectories.append(event)
            case End():
                self.end = event
            case Unknown():
                self.unknown[event.name] = self.unknown.get(event.name, 0) + 1
