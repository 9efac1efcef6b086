"""What does a run look like in time? Every round, draft, publication and reading as columns of numbers.

Built with numpy, so that a run of 200,000 spans is ready in about a second. All times are milliseconds from decode
start (the end of both prefills); what lies before it is negative.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.request import METHODS, OPERATIONS
from dashboard.views import numbers, telemetry
from dashboard.views.parts import Work, work_of
from dashboard.views.run_columns import Lists, RunColumns, columns_of_record, limits
from dashboard.views.theme import method_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SERIAL_CAPS = {"sd": f"K {numbers.MINUS} 1", "specasr": "cap"}


@dataclass(frozen=True, eq=False, slots=True)
class RoundColumns:
    """One row a round, in record order. ``start_ms`` and ``end_ms`` are the target's part of the round."""

    index: Ints
    start_ms: Floats
    end_ms: Floats
    boundary_ms: Floats
    """Start of the whole round; in serial methods drafting comes between it and ``start_ms``."""
    width: Ints
    proposed: Ints
    accepted: Ints
    reused: Ints
    """Accepted candidates that were taken over after a rejection."""
    committed: Ints
    """Tokens that the round added to the output."""
    ready: Ints
    """Candidates that lay ready at the boundary, after alignment."""
    chain_start: Ints
    """Index of the first candidate behind the aligned cursor."""
    reasons: tuple[str, ...]
    tokens: Lists

    def __len__(self) -> int:
        return len(self.index)

    @property
    def corrected(self) -> Flags:
        """Whether the target refused a candidate."""
        return self.accepted < self.proposed


@dataclass(frozen=True, eq=False, slots=True)
class SpanColumns:
    """One row a stretch of work."""

    start_ms: Floats
    end_ms: Floats
    operations: Ints
    works: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start_ms)


@dataclass(frozen=True, eq=False, slots=True)
class PublicationColumns:
    """One row a published batch."""

    time_ms: Floats
    offset: Ints
    count: Ints
    first_use: Ints
    """Row of the first round that proposed one of its candidates; -1: none did."""

    def __len__(self) -> int:
        return len(self.time_ms)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run achieved. ``None`` is "n/a"."""

    tps: float | None
    tokens: int
    elapsed_ms: float | None


@dataclass(frozen=True, eq=False, slots=True)
class TimelineInfo:
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
    cap: int | None
    """Most candidates in one verification: budget b, K - 1 or SpecASR's cap."""
    cap_label: str
    telemetry: tuple[telemetry.Series, ...]
    pieces: Mapping[int, bytes]
    notes: tuple[str, ...]
    """Sentences (plain text) about what is missing or unusual."""
    work: Work | None
    """When drafter and target worked; ``None`` where decoding never began."""
    empty: str | None = None
    virtual: bool = False
    """Whether it ran on a virtual phone."""

    @property
    def drafts(self) -> bool:
        """Whether there is a drafter to show."""
        return self.method != "target-only" or len(self.drafting) > 0

    @property
    def serial(self) -> bool:
        """Whether the drafter works while the target waits."""
        return self.method in _SERIAL_CAPS


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
    request = record.request
    start, end = columns.span_start_ns - origin, columns.span_end_ns - origin
    on_target = columns.span_target
    rounds, known = _rounds(columns, origin)
    before = on_target & (start < 0) & (end <= 0)
    orphan = on_target & ~before
    orphan[np.flatnonzero(on_target)[known]] = False
    publications = _publications(columns, origin, rounds)
    drafting = _select(columns, origin, ~on_target)
    derived = len(drafting) == 0 and len(publications) > 0
    if derived:
        drafting = _between(publications)
    eos = record.marks.get("eos")
    cap = {"as2d": request.budget, "sd": None if request.width is None else request.width - 1}.get(
        request.method, request.draft_cap if request.method == "specasr" else None
    )
    return TimelineInfo(
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
        rounds=rounds,
        target_before=_select(columns, origin, before),
        target_orphans=_select(columns, origin, orphan),
        drafting=drafting,
        drafting_derived=derived,
        publications=publications,
        cap=cap,
        cap_label="" if cap is None else f"{_SERIAL_CAPS.get(request.method, 'b')} = {cap}",
        telemetry=telemetry.series(record.telemetry, origin),
        pieces=record.pieces,
        notes=_notes(record, len(rounds), derived, figures.elapsed_ms),
        work=None if bounds is None or request.method not in METHODS else work_of(columns, *bounds),
        empty=None if bounds is not None else _never_began(record),
        virtual=bool(record.header.device.get("virtual")),
    )


def _rounds(columns: RunColumns, origin: int) -> tuple[RoundColumns, Flags]:
    """Columns of the rounds, and which target spans belong to one of them."""
    n = len(columns.round_index)
    index = columns.round_index
    boundary, finish = columns.round_start_ns - origin, columns.round_end_ns - origin
    on_target = columns.span_target
    start, end = columns.span_start_ns[on_target] - origin, columns.span_end_ns[on_target] - origin
    row = columns.span_round[on_target]
    first, last = np.full(n, np.iinfo(np.int64).max), np.full(n, np.iinfo(np.int64).min)
    order = np.argsort(index, kind="stable")
    at = np.searchsorted(index[order], row) if n else np.zeros(len(row), np.int64)
    known = at < n
    known[known] = index[order][at[known]] == row[known]
    where = order[at[known]]
    np.minimum.at(first, where, start[known])
    np.maximum.at(last, where, end[known])
    bare = first > last
    first, last = np.where(bare, boundary, first), np.where(bare, finish, last)
    rounds = RoundColumns(
        index=index,
        start_ms=first / 1e6,
        end_ms=last / 1e6,
        boundary_ms=boundary / 1e6,
        width=columns.width,
        proposed=columns.proposed,
        accepted=columns.accepted,
        reused=columns.reused,
        committed=columns.committed.lengths,
        ready=np.maximum(columns.visible - columns.chain_start, 0),
        chain_start=columns.chain_start,
        reasons=columns.reasons,
        tokens=columns.committed,
    )
    return rounds, known


def _select(columns: RunColumns, origin: int, mask: Flags) -> SpanColumns:
    chosen = np.flatnonzero(mask)
    chosen = chosen[np.argsort(columns.span_start_ns[chosen], kind="stable")]
    works = columns.span_works
    return SpanColumns(
        start_ms=(columns.span_start_ns[chosen] - origin) / 1e6,
        end_ms=(columns.span_end_ns[chosen] - origin) / 1e6,
        operations=columns.span_operations[chosen],
        works=tuple(map(works.__getitem__, chosen.tolist())),
    )


def _publications(columns: RunColumns, origin: int, rounds: RoundColumns) -> PublicationColumns:
    offset, count = columns.batch_offset, columns.batch_count
    return PublicationColumns(
        time_ms=(columns.batch_time_ns - origin) / 1e6,
        offset=offset,
        count=count,
        first_use=_first_use(offset, count, rounds),
    )


def _first_use(offset: Ints, count: Ints, rounds: RoundColumns) -> Ints:
    """Row of the first round whose chain reaches into each batch.

    The cursor never goes back, so the first chain that ends behind the batch's start is the only one to ask.
    """
    proposing = np.flatnonzero(rounds.proposed > 0)
    if not len(proposing) or not len(offset):
        return np.full(len(offset), -1, np.int64)
    reach = np.maximum.accumulate(rounds.chain_start[proposing] + rounds.proposed[proposing])
    at = np.searchsorted(reach, offset, side="right")
    found = at < len(proposing)
    rows = np.where(found, proposing[np.minimum(at, len(proposing) - 1)], -1)
    inside = found & (rounds.chain_start[rows] < offset + count)
    return np.where(inside, rows, -1)


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
