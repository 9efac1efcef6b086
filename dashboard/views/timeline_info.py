"""What does a run look like in time? Every round, draft, publication and reading as columns of numbers.

Built with numpy, so that a run of 200,000 spans is ready in about a second. All times are milliseconds from decode
start (the end of both prefills); what lies before it is negative.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.request import METHODS, OPERATIONS
from dashboard.views import numbers, telemetry
from dashboard.views.parts import Work, work_of
from dashboard.views.run_columns import RunColumns, columns_of_record, limits
from dashboard.views.theme import method_of
from dashboard.views.timeline_columns import (
    PublicationColumns,
    RoundColumns,
    SpanColumns,
    publications_of,
    rounds_of,
    spans_of,
)

_SERIAL_CAPS = {"sd": f"K {numbers.MINUS} 1", "specasr": "cap"}


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run achieved. ``None`` is "n/a"."""

    tps: float | None
    tokens: int
    elapsed_ms: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Lanes:
    """What a run's events show: who worked when, and on what."""

    rounds: RoundColumns
    target_before: SpanColumns
    """The target's work before decode start: load, encode, prefill."""
    target_orphans: SpanColumns
    """The target's work whose round is not in the record (a stream that broke off)."""
    drafting: SpanColumns
    """The drafter's work, what lies before decode start included."""
    drafting_derived: bool
    """Whether ``drafting`` was concluded from publication times, for want of spans."""
    publications: PublicationColumns
    work: Work | None
    """When drafter and target worked; ``None`` where decoding never began."""


@dataclass(frozen=True, eq=False, slots=True)
class TimelineInfo(Lanes):
    """A whole run, ready to be drawn. ``empty`` is the reason when there is nothing to draw."""

    run_id: str
    method: str
    method_label: str
    device: str | None
    window: str | None
    audio_s: float | None
    label: str
    clock: str
    emulated: bool
    status: str
    tps: float | None
    tokens: int
    end_ms: float
    eos_ms: float | None
    cap: int | None
    """Most candidates in one verification: budget b, K - 1 or SpecASR's cap."""
    cap_label: str
    telemetry: tuple[telemetry.Series, ...]
    pieces: Mapping[int, bytes]
    notes: tuple[str, ...]
    """Sentences (plain text) about what is missing or unusual."""
    empty: str | None = None
    virtual: bool = False
    """Whether it ran on a virtual phone."""
    round_count: int | None = None
    """How many rounds the run has, where ``rounds`` are not all of them one by one."""

    @property
    def drafts(self) -> bool:
        """Whether there is a drafter to show."""
        return self.method != "target-only" or len(self.drafting) > 0

    @property
    def serial(self) -> bool:
        """Whether the drafter works while the target waits."""
        return self.method in _SERIAL_CAPS

    @property
    def total_rounds(self) -> int:
        """How many rounds the run has, shown here or not."""
        return len(self.rounds) if self.round_count is None else self.round_count


def timeline_info(record: RunRecord) -> TimelineInfo:
    """Turn a run, complete or not, into columns. Nothing is left out and nothing is made up."""
    summary = summarise(record)
    figures = Figures(summary.tps, summary.committed_tokens, summary.elapsed_ms)
    return timeline_of(record, columns_of_record(record), figures)


def timeline_of(record: RunRecord, columns: RunColumns, figures: Figures) -> TimelineInfo:
    """The same of a run whose spans, rounds and publications come as columns.

    Args:
        record: header, marks, readings and end; its other events are not looked at.
        columns: the other events.
        figures: what the run achieved.
    """
    bounds = limits(record, columns)
    origin = bounds[0] if bounds is not None else 0
    start, end = columns.span_start_ns - origin, columns.span_end_ns - origin
    on_target = columns.span_target
    rounds, known = rounds_of(columns, origin)
    before = on_target & (start < 0) & (end <= 0)
    orphan = on_target & ~before
    orphan[np.flatnonzero(on_target)[known]] = False
    publications = publications_of(columns, origin, rounds)
    drafting = spans_of(columns, origin, ~on_target)
    derived = len(drafting) == 0 and len(publications) > 0
    if derived:
        drafting = _between(publications)
    lanes = Lanes(
        rounds,
        spans_of(columns, origin, before),
        spans_of(columns, origin, orphan),
        drafting,
        derived,
        publications,
        None if bounds is None else work_of(columns, *bounds),
    )
    return assembled(record, figures, bounds, lanes, len(rounds))


def assembled(
    record: RunRecord, figures: Figures, bounds: tuple[int, int] | None, lanes: Lanes, round_count: int
) -> TimelineInfo:
    """A run from its lanes and from what its record says besides.

    Args:
        bounds: decode start and the end of everything, ns; ``None``: decoding never began.
        round_count: how many rounds the run has.
    """
    origin = bounds[0] if bounds is not None else 0
    request = record.request
    eos = record.marks.get("eos")
    cap = {"as2d": request.budget, "sd": None if request.width is None else request.width - 1}.get(
        request.method, request.draft_cap if request.method == "specasr" else None
    )
    held = {item.name: getattr(lanes, item.name) for item in fields(Lanes)}
    return TimelineInfo(
        **held | ({} if request.method in METHODS else {"work": None}),
        run_id=record.run_id,
        method=request.method,
        method_label=method_of(request),
        device=_device(record),
        window=request.audio.window_id,
        audio_s=request.audio.duration_s,
        label=record.header.source,
        clock=record.header.clock,
        emulated=request.drafter_pace_ms is not None,
        status=record.status,
        tps=figures.tps,
        tokens=figures.tokens,
        end_ms=(bounds[1] - bounds[0]) / 1e6 if bounds is not None else 0.0,
        eos_ms=(eos.time_ns - origin) / 1e6 if eos is not None and bounds is not None else None,
        cap=cap,
        cap_label="" if cap is None else f"{_SERIAL_CAPS.get(request.method, 'b')} = {cap}",
        telemetry=telemetry.series(record.telemetry, origin),
        pieces=record.pieces,
        notes=_notes(record, round_count, lanes.drafting_derived, figures.elapsed_ms),
        empty=None if bounds is not None else _never_began(record),
        virtual=bool(record.header.device.get("virtual")),
        round_count=round_count,
    )


def _between(publications: PublicationColumns) -> SpanColumns:
    """One draft from each publication to the next: all that is known of a producer whose spans are not in yet."""
    time = publications.time_ms
    start = np.concatenate([[min(0.0, time[0])], time[:-1]])
    return SpanColumns(start, np.maximum(time, start), publications.count, ("draft",) * len(time))


def _device(record: RunRecord) -> str | None:
    for key in ("name", "model", "host", "serial"):
        value = record.header.device.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _never_began(record: RunRecord) -> str:
    if record.end is not None and record.end.error:
        return f"Decoding never began: {record.end.error}"
    if record.request.method in OPERATIONS:
        return f"This record is a {record.request.method} operation; it holds no decoding."
    return "Decoding never began: the record holds no decode start."


def _notes(record: RunRecord, rounds: int, derived: bool, elapsed_ms: float | None) -> tuple[str, ...]:
    notes = []
    reached = numbers.counted(rounds, "round")
    if elapsed_ms is not None:
        reached += f", {numbers.duration(elapsed_ms)} of decoding"
    if record.status == "incomplete":
        more = f" (and {len(record.problems) - 1} more)" if len(record.problems) > 1 else ""
        fault = f"The record is not complete: line {record.problems[0]}{more}." if record.problems else "No end yet."
        notes.append(f"{fault} It got as far as {reached}.")
    elif record.status == "failed":
        cause = record.end.error if record.end is not None and record.end.error else "no reason was recorded"
        notes.append(f"The run failed after {reached}: {cause}")
    elif record.status == "cancelled":
        notes.append(f"The run was cancelled after {reached}.")
    elif record.status == "capped":
        notes.append(f"The output was cut at the cap of {record.request.max_tokens:,} tokens.")
    if derived:
        notes.append("The drafter's own times are not in the record; its lane shows the time between publications.")
    if record.request.drafter_pace_ms is not None:
        pace = numbers.duration(record.request.drafter_pace_ms)
        notes.append(f"The drafter was slowed down on purpose to at least {pace} a token.")
    if record.unknown:
        kinds = ", ".join(f"{name} ({number})" for name, number in sorted(record.unknown.items()))
        notes.append(f"The record holds lines that this version does not know: {kinds}.")
    return tuple(notes)
