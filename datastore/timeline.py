"""What happened inside one run? The whole record again, or as much of it as a picture can show."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from as2d_core.errors import unknown_name
from as2d_core.protocol import decode
from as2d_core.records import End, Round, RunHeader, RunRecord
from datastore.errors import StoreError
from datastore.lookup import find_run
from datastore.rows import EVENT_COLUMNS, read_events, unpack
from datastore.store import Reader, Store

PARTS = (*EVENT_COLUMNS, "pieces", "other_events")
"""Lists of a record that can be left out: ``other_events`` are engines, self-tests, samples, trajectories."""

PICTURE_COLUMNS = {
    "spans": "* EXCLUDE (run_no, extra_json)",
    "rounds": "* EXCLUDE (run_no, physical_width, candidates, cursor_after, source_running, move_rules, call_ns, "
    "extra_json)",
    "publications": "* EXCLUDE (run_no, source, confidences, received_ns, extra_json)",
}
"""What a picture of many events needs of each; the rest is most of what they hold."""

RECORD_S = 120.0
_ORDER = {part: " ORDER BY ordinal" for part in PARTS if part != "pieces"}


@dataclass(frozen=True, slots=True)
class RunTables:
    """A run with its many events as Arrow tables: what a picture needs of the columns of ``rows.EVENT_COLUMNS``."""

    record: RunRecord
    """Everything but spans, rounds, publications and what ``PARTS`` calls other events."""
    spans: pa.Table
    rounds: pa.Table
    publications: pa.Table
    plain: bool
    """Whether every event fits its columns; where one does not, only ``load_record`` has it."""


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
        run_no = find_run(reader.read, run_id).run_no
        return read_parts(reader, run_id, run_no, dict.fromkeys(parts, ""))


def load_tables(store: Store, run_id: str) -> RunTables:
    """A run for a picture of all of it: the events that there are many of stay tables.

    Raises:
        RunNotFoundError: no such run.
    """
    with store.snapshot(RECORD_S) as reader:
        run_no = find_run(reader.read, run_id).run_no
        record = read_parts(reader, run_id, run_no, dict.fromkeys(("marks", "telemetry", "pieces"), ""))
        spans, rounds, publications = (
            reader.arrow(f"SELECT {columns} FROM {name} WHERE run_no = ? ORDER BY ordinal", [run_no])  # noqa: S608
            for name, columns in PICTURE_COLUMNS.items()
        )
    return RunTables(record, spans, rounds, publications, all(map(_plain, (spans, rounds, publications))))


def load_round(store: Store, run_id: str, index: int) -> tuple[RunRecord, int] | None:
    """What one round needs to be told: the rounds around it, its spans, the batches behind its candidates.

    Earlier rounds go back to the last one that committed a token, later ones to the first that had passed all of its
    candidates.

    Returns:
        The record with these events only, and how many rounds the run has; ``None`` when it has no such round.

    Raises:
        RunNotFoundError: no such run.
    """
    with store.snapshot(RECORD_S) as reader:
        run_no = find_run(reader.read, run_id).run_no
        found = reader.read(
            "SELECT ordinal, coalesce(list_min(move_before), cursor_before), "
            "coalesce(list_max(move_after), cursor_before) + proposed FROM rounds "
            "WHERE run_no = ? AND round = ? ORDER BY ordinal LIMIT 1",
            [run_no, index],
        )
        if not found:
            return None
        ordinal, low, high = found[0]
        first, last, total = reader.read(
            "SELECT coalesce(max(ordinal) FILTER (ordinal < ? AND len(committed) > 0), 0), "
            "coalesce(min(ordinal) FILTER (ordinal > ? AND cursor_before >= ?), max(ordinal)), count(*) "
            "FROM rounds WHERE run_no = ?",
            [ordinal, ordinal, high, run_no],
        )[0]
        parts = {
            "marks": "",
            "pieces": "",
            "rounds": f" AND ordinal BETWEEN {int(first)} AND {int(last)}",
            "spans": f" AND round = {int(index)}",
            "publications": f" AND start_offset < {int(high)} AND start_offset + len(tokens) > {int(low)}",
        }
        return read_parts(reader, run_id, run_no, parts), int(total)


def _plain(table: pa.Table) -> bool:
    """Whether no event stands as JSON for want of fitting, and none lacks a value that a picture needs."""
    needed = ("lane", "work", "start_ns", "end_ns", "operations", "time_ns", "start_offset", "proposed", "accepted")
    moves = [table[name] for name in ("move_before", "move_after") if name in table.column_names]
    odd = any(pc.any(pc.less(pc.list_flatten(column), 0)).as_py() for column in moves)
    gaps = any(table[name].null_count for name in (*needed, *_ROUND_NEEDS) if name in table.column_names)
    return table["raw_json"].null_count == len(table) and not gaps and not odd


_ROUND_NEEDS = ("width", "visible", "cursor_before", "origins", "width_reason", "committed", "move_after", "tokens")


def read_parts(reader: Reader, run_id: str, run_no: int, parts: Mapping[str, str]) -> RunRecord:
    """Header and end of a run with some of its events: the names of ``PARTS`` and a condition for each."""
    rows = reader.read("SELECT header_json, end_json, problems_json, unknown_json FROM runs WHERE run_no = ?", [run_no])
    tables = {
        part: reader.arrow(f"SELECT * FROM {part} WHERE run_no = ?{more}{_ORDER.get(part, '')}", [run_no])  # noqa: S608
        for part, more in parts.items()
    }
    header_json, end_json, problems_json, unknown_json = rows[0]
    header = decode(unpack(header_json))
    end = None if end_json is None else decode(unpack(end_json))
    if not isinstance(header, RunHeader) or not (end is None or isinstance(end, End)):
        raise StoreError(f"The header of run {run_id!r} cannot be read; run 'as2d store rebuild'.")
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
