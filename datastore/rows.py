"""How does a run record become rows, and rows the same record again?

Every event table has typed columns, ``extra_json`` for fields this version does not know, and
``raw_json`` with the whole event when a foreign value does not fit its column: nothing is rounded,
cut or dropped to make it fit.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import pyarrow as pa

from as2d_core.event import Event
from as2d_core.protocol import decode, encode
from as2d_core.records import Mark, Publication, Round, RunRecord, Span, Telemetry

TEXT, WHOLE, REAL, TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()
WHOLES, REALS, TEXTS = pa.list_(WHOLE), pa.list_(REAL), pa.list_(TEXT)

_DOES_NOT_FIT = (TypeError, ValueError, OverflowError)  # Arrow's own errors are subclasses of these
_HEX = "hex:"


@dataclass(frozen=True, slots=True)
class Column:
    """One typed column and where its value comes from."""

    name: str
    type: Any
    get: Callable[[Any], Any]


def _column(name: str, kind: Any, field: str = "") -> Column:
    return Column(name, kind, attrgetter(field or name))


def _move_column(name: str, kind: Any, part: int) -> Column:
    def get(item: Round) -> list[Any]:
        if not isinstance(item.moves, tuple) or any(len(move) != 3 for move in item.moves):
            raise ValueError("a move has a rule, a cursor before and a cursor after")
        return [move[part] for move in item.moves]

    return Column(name, kind, get)


EVENT_COLUMNS: dict[str, tuple[Column, ...]] = {
    "spans": (
        _column("lane", TEXT),
        _column("work", TEXT),
        _column("start_ns", WHOLE),
        _column("end_ns", WHOLE),
        _column("round", WHOLE),
        _column("operations", WHOLE),
    ),
    "rounds": (
        _column("round", WHOLE, "index"),
        _column("start_ns", WHOLE),
        _column("end_ns", WHOLE),
        _column("width", WHOLE),
        _column("physical_width", WHOLE),
        _column("proposed", WHOLE),
        _column("accepted", WHOLE),
        _column("committed", WHOLES),
        _column("candidates", WHOLES),
        _column("origins", TEXT),
        _column("cursor_before", WHOLE),
        _column("cursor_after", WHOLE),
        _column("visible", WHOLE),
        _column("source_running", TRUTH),
        _column("width_reason", TEXT),
        _move_column("move_rules", TEXTS, 0),
        _move_column("move_before", WHOLES, 1),
        _move_column("move_after", WHOLES, 2),
        _column("call_ns", WHOLE),
    ),
    "publications": (
        _column("source", TEXT),
        _column("start_offset", WHOLE, "offset"),
        _column("tokens", WHOLES),
        _column("confidences", REALS),
        _column("time_ns", WHOLE),
        _column("received_ns", WHOLE),
    ),
    "marks": (
        _column("name", TEXT),
        _column("time_ns", WHOLE),
        _column("token", WHOLE),
    ),
    "telemetry": (
        _column("time_ns", WHOLE),
        _column("battery_temperature_c", REAL),
        _column("battery_current_ma", REAL),
        _column("battery_voltage_mv", REAL),
        _column("charging", TRUTH),
        _column("thermal_status", WHOLE),
        _column("core_mhz", REALS),
        _column("online_mask", WHOLE),
    ),
}
"""Typed columns of every event table, in the order of the event's own fields."""


def ascii_json(value: Any) -> str:
    """JSON any program can read, whatever text is inside."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def pack(text: str) -> str:
    """JSON as the database keeps it. Bytes that were not UTF-8 cannot be text there: such JSON is kept as hex."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HEX + text.encode("utf-8", "surrogatepass").hex()
    return text


def unpack(text: str) -> str:
    """What ``pack`` was given."""
    return bytes.fromhex(text[len(_HEX) :]).decode("utf-8", "surrogatepass") if text.startswith(_HEX) else text


def kept_json(value: Any) -> str:
    """A value as the database keeps it; ``json.loads(unpack(…))`` gives exactly it."""
    return pack(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def event_json(event: Event) -> str:
    """One event as the protocol writes it, packed; ``decode(unpack(…))`` gives exactly it."""
    return pack(encode(event))


def event_tables(record: RunRecord) -> dict[str, pa.Table]:
    """All events of a run as Arrow tables, one for each table of the database, ``run_no`` left out.

    Raises:
        ValueError: a token id in ``pieces`` is no 64-bit number.
    """
    lists: dict[str, Sequence[Event]] = {
        "spans": record.spans,
        "rounds": record.rounds,
        "publications": record.publications,
        "marks": list(record.marks.values()),
        "telemetry": record.telemetry,
    }
    tables = {name: _event_table(events, EVENT_COLUMNS[name]) for name, events in lists.items()}
    try:
        tokens = pa.array(list(record.pieces), WHOLE)
    except OverflowError as error:
        raise ValueError("a token id in pieces is larger than 64 bits") from error
    tables["pieces"] = pa.table({"token": tokens, "bytes": pa.array(list(record.pieces.values()), pa.binary())})
    others = _other_events(record)
    tables["other_events"] = pa.table(
        {
            "ordinal": pa.array(range(len(others)), WHOLE),
            "kind": pa.array([e.kind for e in others], TEXT),
            "raw_json": pa.array([event_json(e) for e in others], TEXT),
        }
    )
    return tables


def _other_events(record: RunRecord) -> list[Event]:
    """Events of every list the record has and no table of ours does, whatever kinds are added to it."""
    out: list[Event] = []
    for item in fields(record):
        value = getattr(record, item.name)
        if item.name not in EVENT_COLUMNS and isinstance(value, list | dict):
            events = value.values() if isinstance(value, dict) else value
            out += [event for event in events if isinstance(event, Event)]
    return out


def _event_table(events: Sequence[Event], columns: Sequence[Column]) -> pa.Table:
    table = pa.concat_tables(_fitted(events, columns))
    return table.add_column(0, "ordinal", pa.array(range(len(events)), WHOLE))


def _fitted(events: Sequence[Event], columns: Sequence[Column]) -> list[pa.Table]:
    """Tables of consecutive events; one that does not fit its columns stands alone with its ``raw_json``.

    Almost always all fit. Halving finds the odd ones without a test of every value in Python.
    """
    try:
        return [pa.table(_arrays(events, columns, fits=True))]
    except _DOES_NOT_FIT:
        if len(events) == 1:
            return [pa.table(_arrays(events, columns, fits=False))]
        middle = len(events) // 2
        return [*_fitted(events[:middle], columns), *_fitted(events[middle:], columns)]


def _arrays(events: Sequence[Event], columns: Sequence[Column], fits: bool) -> dict[str, pa.Array]:
    out: dict[str, pa.Array] = {}
    for column in columns:
        try:
            out[column.name] = _array(list(map(column.get, events)), column.type)
        except _DOES_NOT_FIT:
            if fits:
                raise
            out[column.name] = pa.nulls(len(events), column.type)
    extras: list[Mapping[str, Any]] = [e.extra for e in events]  # type: ignore[attr-defined]
    out["extra_json"] = pa.array([kept_json(x) if x else None for x in extras], TEXT)
    out["raw_json"] = pa.nulls(len(events), TEXT) if fits else pa.array(list(map(event_json, events)), TEXT)
    return out


def _array(values: list[Any], kind: Any) -> pa.Array:
    if kind in (WHOLES, REALS, TEXTS) and not all(v is None or isinstance(v, tuple | list) for v in values):
        raise TypeError("not a list")
    if kind in (WHOLE, WHOLES):
        # Arrow would cut 1.5 to 1 without a word.
        flat = values if kind is WHOLE else (x for v in values if v is not None for x in v)
        if any(type(x) is float for x in flat):
            raise TypeError("not a whole number")
    return pa.array(values, kind)


def read_events(name: str, table: pa.Table) -> list[Any]:
    """Rows of one event table as events, in the order of the rows."""
    columns = EVENT_COLUMNS[name]
    values = [table[c.name].to_pylist() for c in columns]
    for place, column in enumerate(columns):
        if column.type in (WHOLES, REALS):
            values[place] = [None if v is None else tuple(v) for v in values[place]]
    extras = [{} if text is None else json.loads(unpack(text)) for text in table["extra_json"].to_pylist()]
    if name == "rounds":
        events: list[Any] = _read_rounds(values, extras)
    else:
        cls = {"spans": Span, "publications": Publication, "marks": Mark, "telemetry": Telemetry}[name]
        events = list(map(cls, *values, extras))
    for place, text in enumerate(table["raw_json"].to_pylist()):
        if text is not None:
            events[place] = decode(unpack(text))
    return events


def _read_rounds(values: list[list[Any]], extras: list[Any]) -> list[Round]:
    first = [c.name for c in EVENT_COLUMNS["rounds"]].index("move_rules")
    rules, before, after = values[first : first + 3]
    moves = [
        () if None in (r, b, a) else tuple(zip(r, b, a, strict=True))
        for r, b, a in zip(rules, before, after, strict=True)
    ]
    return list(map(Round, *values[:first], moves, *values[first + 3 :], extras))
