"""What happened inside one run? The whole record again, or as much of it as a picture can show."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from as2d_core.errors import unknown_name
from as2d_core.protocol import decode
from as2d_core.records import End, Round, RunHeader, RunRecord
from datastore.errors import StoreError
from datastore.lookup import find_run
from datastore.rows import EVENT_COLUMNS, read_events, unpack
from datastore.store import Store

PARTS = (*EVENT_COLUMNS, "pieces", "other_events")
"""Lists of a record that can be left out: ``other_events`` are engines, self-tests, samples, trajectories."""

RECORD_S = 120.0
_ORDER = {part: " ORDER BY ordinal" for part in PARTS if part != "pieces"}


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span, or several of the same lane and kind of work drawn as one (``count`` says how many)."""

    lane: str
    work: str
    start_ns: int
    end_ns: int
    round: int | None
    """``None`` where several rounds are drawn as one."""
    operations: int
    count: int
    busy_ns: int
    """Sum of the spans' lengths; less than ``end_ns - start_ns`` where there are gaps between them."""


@dataclass(frozen=True, slots=True)
class SpanWindow:
    """Spans that touch a time range, in order of their start."""

    spans: list[SpanRow]
    total: int
    """How many spans the run has in the range."""
    merged: bool
    """There were more than was asked for, so neighbours were drawn as one."""


@dataclass(frozen=True, slots=True)
class RoundPage:
    """Rounds that touch a time range, in order."""

    rounds: list[Round]
    total: int
    """How many rounds the run has in the range."""


def load_record(store: Store, run_id: str, parts: Collection[str] = PARTS) -> RunRecord:
    """The record as it was parsed from its log, or only some ``parts`` of it (header and end always).

    Figures that need a part that was left out are wrong: take them from ``queries.get_run``.

    Raises:
        RunNotFoundError: no such run.
        UnknownNameError: there is no such part.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part of a record", part, list(PARTS))
    # One snapshot, so that a run deleted or extended meanwhile is never half of one and half of the other.
    with store.snapshot(RECORD_S) as reader:
        found = find_run(reader.read, run_id)
        rows = reader.read(
            "SELECT header_json, end_json, problems_json, unknown_json FROM runs WHERE run_no = ?", [found.run_no]
        )
        tables = {
            part: reader.arrow(f"SELECT * FROM {part} WHERE run_no = ?{_ORDER.get(part, '')}", [found.run_no])  # noqa: S608
            for part in parts
        }
    header_json, end_json, problems_json, unknown_json = rows[0]
    header = decode(unpack(header_json))
    end = None if end_json is None else decode(unpack(end_json))
    if not isinstance(header, RunHeader) or not (end is None or isinstance(end, End)):
        raise StoreError(f"The header of run {found.run_id!r} cannot be read; run 'as2d store rebuild'.")
    record = RunRecord(header)
    for name, table in tables.items():
        if name in EVENT_COLUMNS:
            for event in read_events(name, table):
                record.add(event)
        elif name == "other_events":
            for text in table["raw_json"].to_pylist():
                record.add(decode(unpack(text)))
        else:
            record.pieces.update(zip(table["token"].to_pylist(), table["bytes"].to_pylist(), strict=True))
    record.end = end
    record.problems.extend(json.loads(unpack(problems_json)))
    record.unknown.update(json.loads(unpack(unknown_json)))
    return record


def span_range(store: Store, run_id: str) -> tuple[int, int] | None:
    """First start and last end of a run's spans in nanoseconds, ``None`` when it has none."""
    found = find_run(store.read, run_id)
    row = store.read("SELECT min(start_ns), max(end_ns) FROM spans WHERE run_no = ?", [found.run_no])[0]
    return None if row[0] is None else (int(row[0]), int(row[1]))


def spans_between(
    store: Store, run_id: str, start_ns: int | None = None, end_ns: int | None = None, limit: int = 4000
) -> SpanWindow:
    """At most about ``limit`` spans that touch ``[start_ns, end_ns]`` (default: all of the run).

    Where there are more, the range is cut into equal parts and the spans that begin in one part, on one
    lane, with one kind of work, come as one: a picture of any run costs the same.

    Raises:
        RunNotFoundError: no such run.
    """
    found = find_run(store.read, run_id)
    clause = "run_no = ? AND end_ns >= ? AND start_ns <= ?"
    values = [found.run_no, 0 if start_ns is None else start_ns, 2**63 - 1 if end_ns is None else end_ns]
    total, kinds, first, last = store.read(
        f"SELECT count(*), count(DISTINCT (lane, work)), min(start_ns), max(start_ns) FROM spans WHERE {clause}",  # noqa: S608
        values,
    )[0]
    if total <= limit:
        rows = store.read(
            "SELECT lane, work, start_ns, end_ns, round, operations, 1, end_ns - start_ns "  # noqa: S608
            f"FROM spans WHERE {clause} ORDER BY start_ns, ordinal",
            values,
        )
        return SpanWindow([SpanRow(*row) for row in rows], total, merged=False)
    parts = max(1, limit // max(1, kinds))
    part_ns = max(1, -(-(last - first + 1) // parts))
    rows = store.read(
        "SELECT lane, work, min(start_ns), max(end_ns), CASE WHEN min(round) = max(round) THEN min(round) END, "  # noqa: S608
        "sum(operations)::BIGINT, count(*), sum(end_ns - start_ns)::BIGINT "
        f"FROM spans WHERE {clause} GROUP BY lane, work, (start_ns - ?) // ? ORDER BY 3, 1, 2",
        [*values, first, part_ns],
    )
    return SpanWindow([SpanRow(*row) for row in rows], total, merged=True)


def rounds_between(
    store: Store,
    run_id: str,
    start_ns: int | None = None,
    end_ns: int | None = None,
    limit: int = 500,
    offset: int = 0,
) -> RoundPage:
    """One page of the rounds that touch ``[start_ns, end_ns]`` (default: all of the run).

    Raises:
        RunNotFoundError: no such run.
    """
    found = find_run(store.read, run_id)
    clause = "run_no = ? AND end_ns >= ? AND start_ns <= ?"
    values = [found.run_no, 0 if start_ns is None else start_ns, 2**63 - 1 if end_ns is None else end_ns]
    total = store.read(f"SELECT count(*) FROM rounds WHERE {clause}", values)[0][0]  # noqa: S608
    table = store.arrow(
        f"SELECT * FROM rounds WHERE {clause} ORDER BY ordinal LIMIT {int(limit)} OFFSET {int(offset)}",  # noqa: S608
        values,
    )
    return RoundPage(read_events("rounds", table), total)
