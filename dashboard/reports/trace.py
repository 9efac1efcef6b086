"""How does a run look in Perfetto or chrome://tracing? As a trace in the JSON format that both read.

Drafter and target have a track each; a round holds the target's work inside it, an arrow goes from a publication to
the first round that used it, and what lay ready and what the sensors said are counters. Spans of one lane that only
partly overlap would be drawn wrongly on one track, so that the later one moves to a second track of the same lane.

Times are microseconds from decode start (earlier is negative), so that several runs in one trace begin together.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from as2d_core.accounting import boundaries, summarise
from as2d_core.records import LANES, RunRecord
from dashboard.views import text
from dashboard.views.telemetry import series
from dashboard.views.theme import method_of
from dashboard.views.timeline_info import TimelineInfo, timeline_info

Json = dict[str, Any]
MOST_TOKENS = 64
"""Tokens of one publication or round whose text is written out."""
_LOOK_BACK = 8
"""Slices that may be nested in each other on the drafter's track."""
_TRACKS = {"target": 10, "drafter": 20}
"""Thread id of a lane's first track."""


@dataclass(slots=True)
class _Slice:
    """One stretch of work on one track."""

    name: str
    start_ns: int
    end_ns: int
    category: str
    args: Json = field(default_factory=dict)
    tid: int = 0
    """Thread id: of the lane's first track, or of one further down."""


def trace(records: Sequence[RunRecord]) -> Json:
    """A trace of one or several runs, each as a process of its own.

    Returns:
        An object with ``traceEvents``, ``displayTimeUnit`` and ``otherData``, ready for ``json.dumps``.
    """
    events: list[Json] = []
    flow = 0
    for pid, record in enumerate(records, 1):
        found = _run(record, pid, flow)
        flow += len(record.publications)
        events += found
    about = {"program": "as2d", "time_zero": "decode start of each run", "runs": [_about(r) for r in records]}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": about}


def trace_json(records: Sequence[RunRecord]) -> bytes:
    """The same as the bytes of a file."""
    return json.dumps(trace(records), allow_nan=False, separators=(",", ":"), default=str).encode()


def _run(record: RunRecord, pid: int, first_flow: int) -> list[Json]:
    limits = boundaries(record)
    origin = limits[0] if limits is not None else min((s.start_ns for s in record.spans), default=0)
    info = timeline_info(record)
    tracks = {lane: _nested(slices, _TRACKS[lane]) for lane, slices in _slices(record, info, origin).items()}
    events = _names(record, pid, tracks)
    for slices in tracks.values():
        events += [_event(item, pid, origin) for item in slices]
    events += _publications(record, info, tracks, (pid, first_flow, origin))
    events += _marks(record, pid, origin)
    events += _counters(record, info, pid, origin)
    return events


def _about(record: RunRecord) -> Json:
    header, summary = record.header, summarise(record)
    return {
        "run_id": record.run_id,
        "method": method_of(record.request),
        "label": header.source,
        "emulated_drafter": record.request.drafter_pace_ms is not None,
        "clock": header.clock,
        "status": record.status,
        "tps": summary.tps,
        "device": dict(header.device),
        "versions": dict(header.versions),
        "created_at": header.created_at,
        "problems": list(record.problems),
    }


def _slices(record: RunRecord, info: TimelineInfo, origin: int) -> dict[str, list[_Slice]]:
    lanes: dict[str, list[_Slice]] = {lane: [] for lane in LANES}
    for item in record.rounds:
        share = f", {item.accepted} of {item.proposed} accepted" if item.proposed else ", target alone"
        args = {
            "round": item.index,
            "width": item.width,
            "physical_width": item.physical_width,
            "proposed": item.proposed,
            "accepted": item.accepted,
            "committed": _texts(record, item.committed),
            "candidates": _texts(record, item.candidates),
            "cursor_before": item.cursor_before,
            "cursor_after": item.cursor_after,
            "visible": item.visible,
            "source_running": item.source_running,
            "width_reason": item.width_reason,
            "moves": [list(move) for move in item.moves],
        }
        name = f"round {item.index}: K = {item.width}{share}"
        lanes["target"].append(_Slice(name, item.start_ns, max(item.end_ns, item.start_ns), "round", args))
    for span in record.spans:
        known: Json = {"operations": span.operations} | ({} if span.round is None else {"round": span.round})
        lane = span.lane if span.lane in lanes else "target"
        extra = {} if span.lane == lane else {"lane": span.lane}
        end = max(span.end_ns, span.start_ns)
        lanes[lane].append(_Slice(span.work, span.start_ns, end, span.work, known | extra))
    if info.drafting_derived:
        for start, end in zip(info.drafting.start_ms, info.drafting.end_ms, strict=True):
            args = {"derived": "time between publications; the drafter's own spans are not in the record"}
            place = (round(start * 1e6) + origin, round(end * 1e6) + origin)
            lanes["drafter"].append(_Slice("draft (derived)", *place, "draft", args))
    return lanes


def _nested(slices: Iterable[_Slice], first_tid: int) -> list[_Slice]:
    """Give every slice the first track on which it lies inside or behind all others.

    Outer slices come first: viewers build the nesting in the order of the file where times are equal.
    """
    ordered = sorted(slices, key=lambda s: (s.start_ns, -s.end_ns, s.category != "round"))
    open_ends: list[list[int]] = []
    for item in ordered:
        for track, ends in enumerate(open_ends):  # noqa: B007 - the track that was found
            while ends and ends[-1] <= item.start_ns:
                ends.pop()
            if not ends or item.end_ns <= ends[-1]:
                break
        else:
            track = len(open_ends)
            open_ends.append([])
        item.tid = first_tid + track
        open_ends[track].append(item.end_ns)
    return ordered


def _names(record: RunRecord, pid: int, tracks: Mapping[str, Sequence[_Slice]]) -> list[Json]:
    request = record.request
    labels = [record.header.source] + (["emulated drafter"] if request.drafter_pace_ms is not None else [])
    name = f"{record.run_id} {method_of(request)}"
    out = [
        _meta(pid, "process_name", {"name": name}),
        _meta(pid, "process_labels", {"labels": ", ".join(labels)}),
        _meta(pid, "process_sort_index", {"sort_index": pid}),
    ]
    for lane, slices in tracks.items():
        for tid in sorted({item.tid for item in slices} | {_TRACKS[lane]}):
            further = tid - _TRACKS[lane]
            shown = lane if not further else f"{lane} (overlapping, {further + 1})"
            out.append(_meta(pid, "thread_name", {"name": shown}, tid))
            out.append(_meta(pid, "thread_sort_index", {"sort_index": tid}, tid))
    return out


def _publications(
    record: RunRecord, info: TimelineInfo, tracks: Mapping[str, list[_Slice]], place: tuple[int, int, int]
) -> list[Json]:
    """An instant for each batch, and an arrow to the first round that proposed one of its candidates."""
    pid, first_flow, origin = place
    drafting, out = tracks["drafter"], []
    starts = [item.start_ns for item in drafting]
    rounds = {item.args["round"]: item for item in tracks["target"] if item.category == "round"}
    for number, (batch, row) in enumerate(zip(record.publications, info.publications.first_use.tolist(), strict=True)):
        name = f"publication {batch.offset} to {batch.offset + len(batch.tokens) - 1}"
        used = record.rounds[row].index if row >= 0 else None
        args = {
            "offset": batch.offset,
            "tokens": _texts(record, batch.tokens),
            "confidences": None if batch.confidences is None else list(batch.confidences[:MOST_TOKENS]),
            "first_used_by_round": used,
        }
        instant = {"ph": "i", "s": "t", "name": name, "cat": "publication", "args": args}
        out.append({**instant, "pid": pid, "tid": _TRACKS["drafter"], "ts": _us(batch.time_ns - origin)})
        source = _holding(drafting, starts, batch.time_ns)
        target = rounds.get(used) if used is not None else None
        if source is None or target is None:
            continue
        arrow = {"name": "used", "cat": "publication", "id": first_flow + number + 1, "pid": pid}
        # An arrow belongs to the slice that holds its end: just before the end of a slice, not at it.
        leaves = max(source.start_ns, min(batch.time_ns, source.end_ns - 1))
        arrives = max(target.start_ns, leaves)
        out.append(arrow | {"ph": "s", "tid": source.tid, "ts": _us(leaves - origin)})
        ts = _us(max(target.start_ns, min(arrives, target.end_ns - 1)) - origin)
        out.append(arrow | {"ph": "f", "bp": "e", "tid": target.tid, "ts": ts})
    return out


def _holding(slices: Sequence[_Slice], starts: Sequence[int], time_ns: int) -> _Slice | None:
    """The slice that was at work when a batch was published, or else the last one that ended before."""
    at = bisect_left(starts, time_ns)
    before = [item for item in slices[max(0, at - _LOOK_BACK) : at][::-1] if item.end_ns > item.start_ns]
    return next((item for item in before if item.end_ns >= time_ns), before[0] if before else None)


def _marks(record: RunRecord, pid: int, origin: int) -> list[Json]:
    return [
        {"ph": "i", "s": "p", "name": name, "cat": "mark", "pid": pid, "tid": _TRACKS["target"]}
        | {"ts": _us(mark.time_ns - origin)}
        for name, mark in record.marks.items()
    ]


def _counters(record: RunRecord, info: TimelineInfo, pid: int, origin: int) -> list[Json]:
    """Candidates ready at each boundary, and every sensor; a reading that failed is left out, never 0."""
    out = []

    def counter(name: str, unit: str, time_us: float, value: float) -> None:
        event = {"ph": "C", "name": f"{name} ({unit})", "pid": pid, "tid": 0, "ts": time_us}
        out.append(event | {"args": {unit: value}})

    if info.drafts and not info.serial:
        for item, ready in zip(record.rounds, info.rounds.ready.tolist(), strict=True):
            counter("Ready", "candidates", _us(item.start_ns - origin), ready)
    for sensor in series(record.telemetry, origin):
        for time_ms, value in zip(sensor.time_ms.tolist(), sensor.values.tolist(), strict=True):
            if value == value:  # noqa: PLR0124 - NaN: not read
                counter(sensor.name, sensor.unit, round(time_ms * 1e3, 3), value)
    return out


def _event(item: _Slice, pid: int, origin: int) -> Json:
    return {
        "ph": "X",
        "name": item.name,
        "cat": item.category,
        "pid": pid,
        "tid": item.tid,
        "ts": _us(item.start_ns - origin),
        "dur": _us(item.end_ns - item.start_ns),
        "args": item.args,
    }


def _meta(pid: int, name: str, args: Json, tid: int = 0) -> Json:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}


def _texts(record: RunRecord, tokens: Sequence[int]) -> list[str]:
    shown = [text.alone(token, record.pieces) for token in tokens[:MOST_TOKENS]]
    return shown if len(tokens) <= MOST_TOKENS else [*shown, f"and {len(tokens) - MOST_TOKENS} more"]


def _us(time_ns: int) -> float:
    """Nanoseconds as microseconds; three decimals keep every nanosecond of a run of days."""
    return time_ns / 1e3
