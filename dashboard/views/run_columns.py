"""What happened in a run, column by column? Spans, rounds and publications as arrays, from events or from tables.

Events of a record that was just read come one by one; a stored run comes as Arrow tables, so that one of 200,000 spans
is there in a tenth of a second. Times are nanoseconds of the run's clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from as2d_core.accounting import DRAFTER_WORK, TARGET_WORK
from as2d_core.records import RunRecord
from dashboard.views import moves

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Lists:
    """A list of whole numbers in every row, one behind the other."""

    values: Ints
    offsets: Ints
    """One more than there are rows."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        return tuple(self.values[self.offsets[row] : self.offsets[row + 1]].tolist())

    @property
    def lengths(self) -> Ints:
        """How many numbers each row has."""
        counts: Ints = np.diff(self.offsets)
        return counts

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Lists":
        """Lay rows out."""
        counts = np.array([len(row) for row in rows], np.int64).reshape(len(rows))
        flat = np.array([value for row in rows for value in row], np.int64).reshape(int(counts.sum()))
        return cls(flat, np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))


@dataclass(frozen=True, eq=False, slots=True)
class RunColumns:
    """One row a span, a round and a publication, each in record order."""

    span_start_ns: Ints
    span_end_ns: Ints
    span_round: Ints
    """-1: belongs to no round."""
    span_target: Flags
    """Whether the span is on the target's lane."""
    span_operations: Ints
    span_works: tuple[str, ...]
    span_draft_work: Flags
    """Whether it counts as drafting (D)."""
    span_target_work: Flags
    """Whether it counts as verification or decoding (V)."""
    round_index: Ints
    round_start_ns: Ints
    round_end_ns: Ints
    width: Ints
    proposed: Ints
    accepted: Ints
    reused: Ints
    visible: Ints
    chain_start: Ints
    reasons: tuple[str, ...]
    committed: Lists
    batch_time_ns: Ints
    batch_offset: Ints
    batch_count: Ints


def columns_of_record(record: RunRecord) -> RunColumns:
    """Columns of the events of a record."""
    spans, rounds, batches = record.spans, record.rounds, record.publications

    def whole(values: Sequence[int]) -> Ints:
        return np.array(values, np.int64).reshape(len(values))

    target = np.array([s.lane == "target" for s in spans], np.bool_).reshape(len(spans))
    works = tuple(s.work for s in spans)
    accepted = [min(r.accepted, r.proposed) for r in rounds]
    reused = [r.origins.count("r", 0, r.accepted) if r.origins else 0 for r in rounds]
    return RunColumns(
        span_start_ns=whole([s.start_ns for s in spans]),
        span_end_ns=whole([s.end_ns for s in spans]),
        span_round=whole([s.round if isinstance(s.round, int) else -1 for s in spans]),
        span_target=target,
        span_operations=whole([s.operations for s in spans]),
        span_works=works,
        span_draft_work=np.array([s.lane == "drafter" and s.work in DRAFTER_WORK for s in spans], np.bool_),
        span_target_work=target & np.array([work in TARGET_WORK for work in works], np.bool_).reshape(len(works)),
        round_index=whole([r.index for r in rounds]),
        round_start_ns=whole([r.start_ns for r in rounds]),
        round_end_ns=whole([r.end_ns for r in rounds]),
        width=whole([r.width for r in rounds]),
        proposed=whole([r.proposed for r in rounds]),
        accepted=whole(accepted),
        reused=np.minimum(whole(reused), whole(accepted)),
        visible=whole([r.visible for r in rounds]),
        chain_start=whole([moves.chain_start(r) for r in rounds]),
        reasons=tuple(r.width_reason for r in rounds),
        committed=Lists.of([r.committed for r in rounds]),
        batch_time_ns=whole([b.time_ns for b in batches]),
        batch_offset=whole([b.offset for b in batches]),
        batch_count=whole([len(b.tokens) for b in batches]),
    )


def columns_of_tables(spans: pa.Table, rounds: pa.Table, publications: pa.Table) -> RunColumns:
    """Columns of the event tables of the store, in which every event fits its columns (``RunTables.plain``)."""
    lanes, works = spans["lane"], spans["work"]
    drafting = pc.and_(pc.equal(lanes, "drafter"), pc.is_in(works, pa.array(sorted(DRAFTER_WORK))))
    target = pc.equal(lanes, "target")
    verifying = pc.and_(target, pc.is_in(works, pa.array(sorted(TARGET_WORK))))
    proposed, accepted = _whole(rounds["proposed"]), _whole(rounds["accepted"])
    kept = np.minimum(accepted, proposed)
    after = _lists(rounds["move_after"])
    moved = after.lengths > 0
    start = _whole(rounds["cursor_before"]).copy()
    start[moved] = after.values[after.offsets[1:][moved] - 1]
    return RunColumns(
        span_start_ns=_whole(spans["start_ns"]),
        span_end_ns=_whole(spans["end_ns"]),
        span_round=_whole(pc.fill_null(spans["round"], -1)),
        span_target=_flags(target),
        span_operations=_whole(spans["operations"]),
        span_works=_words(works),
        span_draft_work=_flags(drafting),
        span_target_work=_flags(verifying),
        round_index=_whole(rounds["round"]),
        round_start_ns=_whole(rounds["start_ns"]),
        round_end_ns=_whole(rounds["end_ns"]),
        width=_whole(rounds["width"]),
        proposed=proposed,
        accepted=kept,
        reused=np.minimum(_reused(rounds["origins"], accepted), kept),
        visible=_whole(rounds["visible"]),
        chain_start=start,
        reasons=_words(rounds["width_reason"]),
        committed=_lists(rounds["committed"]),
        batch_time_ns=_whole(publications["time_ns"]),
        batch_offset=_whole(publications["start_offset"]),
        batch_count=_lists(publications["tokens"]).lengths,
    )


def limits(record: RunRecord, columns: RunColumns) -> tuple[int, int] | None:
    """Decoding start and the end of everything in ns, as ``accounting.boundaries`` says; the events are in columns."""
    ends = [int(part.max()) for part in (columns.round_end_ns, columns.span_end_ns) if len(part)]
    return limits_of(record, max(ends, default=None))


def limits_of(record: RunRecord, last_ns: int | None) -> tuple[int, int] | None:
    """The same where the end of the last event is known."""
    start = record.marks.get("decode_start")
    if start is None:
        return None
    ends = [m.time_ns for name in ("eos", "drained") if (m := record.marks.get(name)) is not None]
    if not ends and last_ns is not None:
        ends = [last_ns]
    return start.time_ns, max([start.time_ns, *ends])


def _whole(column: pa.ChunkedArray) -> Ints:
    values: Ints = column.to_numpy().astype(np.int64, copy=False)
    return values


def _words(column: pa.ChunkedArray) -> tuple[str, ...]:
    """Texts of which there are a few different ones: each of them is made once."""
    coded = column.combine_chunks().dictionary_encode()
    words = np.array(coded.dictionary.to_pylist(), object)
    return tuple(words[coded.indices.to_numpy()]) if len(words) else ()


def _flags(column: pa.ChunkedArray) -> Flags:
    values: Flags = pc.fill_null(column, False).to_numpy().astype(np.bool_, copy=False)
    return values


def _lists(column: pa.ChunkedArray) -> Lists:
    counts = _whole(pc.fill_null(pc.list_value_length(column), 0))
    return Lists(_whole(pc.list_flatten(column)), np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))


def _reused(origins: pa.ChunkedArray, accepted: Ints) -> Ints:
    """Accepted candidates that an earlier draft left over; most runs have none, and then nothing is counted."""
    out = np.zeros(len(accepted), np.int64)
    for row in np.flatnonzero(_flags(pc.match_substring(origins, "r"))).tolist():
        out[row] = origins[row].as_py().count("r", 0, int(accepted[row]))
    return out
