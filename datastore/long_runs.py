"""What does a run look like whose events are too many to be read for every picture of it?

As much of a window of time as a picture needs: its events themselves while they are few, and for all else an outline of
the whole run, made once, in which neighbours are one row. Only regular runs have one: every event fits its columns and
rounds are numbered in their order. Times are nanoseconds of the run's clock.
"""

from dataclasses import dataclass

import pyarrow as pa

from as2d_core.accounting import DRAFTER_WORK, TARGET_WORK
from as2d_core.records import RunRecord
from datastore.lookup import find_run
from datastore.store import Reader, Store
from datastore.timeline import PICTURE_COLUMNS, RECORD_S, read_parts

MOST_ROWS = 20_000
"""Rounds of an outline, and of a window that is read event by event."""

_SPAN_FITS = " AND ".join(
    ["raw_json IS NULL", *(f"{name} IS NOT NULL" for name in ("lane", "work", "start_ns", "end_ns", "operations"))]
)
_ROUND_FITS = " AND ".join(
    [
        "round = ordinal", "raw_json IS NULL", "coalesce(list_min(list_concat(move_before, move_after)), 0) >= 0",
        *(
            f"{name} IS NOT NULL"
            for name in (
                "start_ns", "end_ns", "width", "proposed", "accepted", "visible", "cursor_before", "origins",
                "width_reason", "committed", "move_after",
            )
        ),
    ]
)  # fmt: skip
_BATCH_FITS = "raw_json IS NULL AND time_ns IS NOT NULL AND start_offset IS NOT NULL AND tokens IS NOT NULL"

_CHAIN = "coalesce(move_after[-1], cursor_before)"
"""The cursor once it is aligned: where the candidates of a round begin."""

_KEPT = "left(origins, accepted)"

_MERGED_ROUNDS = f"""
    WITH target AS (
        SELECT round, min(start_ns) AS first_ns, max(end_ns) AS last_ns FROM spans
        WHERE run_no = {{run}} AND lane = 'target' AND round IS NOT NULL GROUP BY round
    ), every AS (
        SELECT
            r.round, r.start_ns AS boundary_ns, proposed, least(accepted, proposed) AS accepted,
            least(len({_KEPT}) - len(replace({_KEPT}, 'r', '')), accepted, proposed) AS reused,
            len(committed) AS committed, greatest(visible - {_CHAIN}, 0) AS ready,
            coalesce(t.first_ns, r.start_ns) AS first_ns, coalesce(t.last_ns, r.end_ns) AS last_ns
        FROM rounds r LEFT JOIN target t USING (round) WHERE run_no = {{run}}
    )
    SELECT
        min(round) AS round, count(*) AS members, arg_min(boundary_ns, round) AS boundary_ns,
        arg_min(first_ns, round) AS start_ns, arg_max(last_ns, round) AS end_ns,
        sum(last_ns - first_ns)::BIGINT AS time_ns,
        coalesce(sum(last_ns - first_ns) FILTER (proposed = 0), 0)::BIGINT AS alone_ns,
        count(*) FILTER (proposed = 0) AS alone, min(round) FILTER (proposed > 0) AS proposing,
        sum(proposed)::BIGINT AS proposed, sum(accepted)::BIGINT AS accepted, sum(reused)::BIGINT AS reused,
        sum(committed)::BIGINT AS committed, min(ready) AS ready_low, max(ready) AS ready_high,
        arg_min(boundary_ns, ready) AS low_ns, arg_max(boundary_ns, ready) AS high_ns,
        arg_min(round, ready) AS low_round, arg_max(round, ready) AS high_round
    FROM every GROUP BY round // {{size}} ORDER BY 1
"""  # noqa: S608

_LANE = """CASE WHEN lane <> 'target' THEN 'drafting' WHEN start_ns < {origin} AND end_ns <= {origin} THEN 'before'
    WHEN round BETWEEN 0 AND {rounds} - 1 THEN NULL ELSE 'orphan' END"""

_MERGED_SPANS = f"""
    SELECT
        {_LANE} AS part, work, min(start_ns) AS start_ns, max(end_ns) AS end_ns, sum(operations)::BIGINT AS operations,
        count(*) AS members, sum(end_ns - start_ns)::BIGINT AS busy_ns
    FROM spans WHERE run_no = {{run}} AND part IS NOT NULL
    GROUP BY part, work, start_ns < {{origin}}, (start_ns - {{origin}}) // {{length}} ORDER BY part, 3
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class RunOutline:
    """A whole run in few rows."""

    record: RunRecord
    """Header, marks, readings, pieces and end."""
    round_count: int
    last_ns: int | None
    """End of the last event; ``None`` without any."""
    rounds: pa.Table
    """Neighbouring rounds as one row: sums, the first one's start, the last one's end."""
    spans: pa.Table
    """Spans that begin in the same stretch of time as one row, by ``part`` (drafting, before, orphan) and work."""
    drafting: pa.Table
    """``start_ns`` and ``end_ns`` of every span that counts as D of T = D + V - O + H; nothing is merged,"""
    verifying: pa.Table
    """and of every one that counts as V: the account stays exact."""


@dataclass(frozen=True, slots=True)
class WindowTables:
    """The events of a window of time, in the columns of ``RunTables``."""

    spans: pa.Table
    rounds: pa.Table
    publications: pa.Table


def load_outline(store: Store, run_id: str, most: int = MOST_ROWS) -> RunOutline | None:
    """A run in about ``most`` rows of each kind; ``None`` for a run that has to be read whole.

    Raises:
        RunNotFoundError: no such run.
    """
    with store.snapshot(RECORD_S) as reader:
        run_no = find_run(reader.read, run_id).run_no
        size = _regular(reader, run_no)
        record = read_parts(reader, run_id, run_no, dict.fromkeys(("marks", "telemetry", "pieces"), ""))
        start = record.marks.get("decode_start")
        if size is None or start is None:
            return None
        rounds, last_ns = size
        length_ns = -(-max((last_ns or 0) - start.time_ns, 1) // most)
        work = {
            lane: reader.arrow(
                "SELECT start_ns, end_ns FROM spans WHERE run_no = ? AND lane = ? "  # noqa: S608
                f"AND work IN ({', '.join('?' * len(works))})",
                [run_no, lane, *sorted(works)],
            )
            for lane, works in (("drafter", DRAFTER_WORK), ("target", TARGET_WORK))
        }
        return RunOutline(
            record,
            rounds,
            last_ns,
            reader.arrow(_MERGED_ROUNDS.format(run=run_no, size=max(-(-rounds // most), 1))),
            reader.arrow(_MERGED_SPANS.format(run=run_no, origin=start.time_ns, rounds=rounds, length=length_ns)),
            work["drafter"],
            work["target"],
        )


def load_window(
    store: Store, run_id: str, start_ns: int, end_ns: int, most: int | None = MOST_ROWS
) -> WindowTables | None:
    """The events that touch ``[start_ns, end_ns]`` of a run that has an outline.

    Rounds come with all of the target's spans in them, and with the batches that they are the first to use.

    Returns:
        ``None`` when there are more than ``most`` rounds or other spans, for which the
        outline is fine enough.

    Raises:
        RunNotFoundError: no such run.
    """
    with store.snapshot(RECORD_S) as reader:
        found = find_run(reader.read, run_id)
        touched = "run_no = ? AND end_ns >= ? AND start_ns <= ?"
        values = [found.run_no, start_ns, end_ns]
        rounds, first, last = reader.read(
            f"SELECT count(*), coalesce(min(ordinal), 0), coalesce(max(ordinal), -1) FROM rounds WHERE {touched}",  # noqa: S608
            values,
        )[0]
        others = reader.read(f"SELECT count(*) FROM spans WHERE lane <> 'target' AND {touched}", values)[0][0]  # noqa: S608
        if most is not None and max(rounds, others) > most:
            return None
        # A batch that an earlier round has reached into already was used before the window.
        before, reach = reader.read(
            f"SELECT coalesce(max({_CHAIN} + proposed) FILTER (ordinal < ?), 0), coalesce(max({_CHAIN} + proposed), 0) "  # noqa: S608
            "FROM rounds WHERE run_no = ? AND ordinal <= ? AND proposed > 0",
            [first, found.run_no, last],
        )[0]
        total = reader.read("SELECT count(*) FROM rounds WHERE run_no = ?", [found.run_no])[0][0]
        parts = {
            "rounds": f"ordinal BETWEEN {int(first)} AND {int(last)}",
            "spans": f"(lane = 'target' AND round BETWEEN {int(first)} AND {int(last)} OR "
            f"end_ns >= {int(start_ns)} AND start_ns <= {int(end_ns)} AND "
            f"(lane <> 'target' OR coalesce(round NOT BETWEEN 0 AND {int(total) - 1}, true)))",
            "publications": f"start_offset >= {int(before)} AND start_offset < {int(reach)}",
        }
        tables = {
            name: reader.arrow(
                f"SELECT {PICTURE_COLUMNS[name]} FROM {name} WHERE run_no = ? AND {part} ORDER BY ordinal",  # noqa: S608
                [found.run_no],
            )
            for name, part in parts.items()
        }
        return WindowTables(**tables)


def _regular(reader: Reader, run_no: int) -> tuple[int, int | None] | None:
    """Number of rounds and last end of a regular run; ``None`` for any other.

    Without spans of a drafter its lane is told from the publications, all of which have to be read for that.
    """
    rounds, odd, last = reader.read(
        f"SELECT count(*), count(*) FILTER (({_ROUND_FITS}) IS NOT TRUE), max(end_ns) FROM rounds WHERE run_no = ?",  # noqa: S608
        [run_no],
    )[0]
    odd_spans, drafting, end = reader.read(
        f"SELECT count(*) FILTER (({_SPAN_FITS}) IS NOT TRUE), count(*) FILTER (lane <> 'target'), max(end_ns) "  # noqa: S608
        "FROM spans WHERE run_no = ?",
        [run_no],
    )[0]
    batches, odd_batches = reader.read(
        f"SELECT count(*), count(*) FILTER (({_BATCH_FITS}) IS NOT TRUE) FROM publications WHERE run_no = ?",  # noqa: S608
        [run_no],
    )[0]
    if odd or odd_spans or odd_batches or (batches and not drafting):
        return None
    return int(rounds), max((int(ns) for ns in (last, end) if ns is not None), default=None)
