"""How is a run shown that has too many events for all of them to be read? In outline, and window by window.

The outline has neighbours merged by the store and serves for wide windows as well: it is some times finer than what can
be drawn. Narrow windows are read for themselves.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dashboard.views.parts import Stretches, Work, union
from dashboard.views.run_columns import Lists, columns_of_tables, limits_of
from dashboard.views.timeline_columns import (
    Floats,
    Ints,
    MergedRounds,
    PublicationColumns,
    RoundColumns,
    SpanColumns,
    publications_of,
    rounds_of,
    spans_of,
)
from dashboard.views.timeline_info import Figures, Lanes, TimelineInfo, assembled
from datastore.long_runs import RunOutline, WindowTables


def outlined(outline: RunOutline, figures: Figures) -> TimelineInfo:
    """A whole run from its outline. T = D + V - O + H is as exact as from all events."""
    bounds = limits_of(outline.record, outline.last_ns)
    origin, finish = bounds or (0, 0)
    none = np.empty(0, np.int64)
    lanes = Lanes(
        rounds=_rounds(outline.rounds, origin),
        target_before=_spans(outline.spans, "before", origin),
        target_orphans=_spans(outline.spans, "orphan", origin),
        drafting=_spans(outline.spans, "drafting", origin),
        drafting_derived=False,
        publications=PublicationColumns(np.empty(0), none, none, none),
        work=Work(finish - origin, _work(outline.drafting, origin, finish), _work(outline.verifying, origin, finish)),
    )
    return assembled(outline.record, figures, bounds, lanes, outline.round_count)


def windowed(whole: TimelineInfo, tables: WindowTables, origin_ns: int) -> TimelineInfo:
    """The same run with the events of one window instead of the outline's.

    Args:
        whole: the run in outline.
        tables: the window's events.
        origin_ns: decode start.
    """
    columns = columns_of_tables(tables.spans, tables.rounds, tables.publications)
    rounds, known = rounds_of(columns, origin_ns)
    orphan = columns.span_target & (columns.span_end_ns > origin_ns)
    orphan[np.flatnonzero(columns.span_target)[known]] = False
    return replace(
        whole,
        rounds=rounds,
        target_orphans=spans_of(columns, origin_ns, orphan),
        drafting=spans_of(columns, origin_ns, ~columns.span_target),
        publications=publications_of(columns, origin_ns, rounds),
    )


def _rounds(table: pa.Table, origin: int) -> RoundColumns:
    n = table.num_rows
    boundary = _ms(table, "boundary_ns", origin)
    # The lowest and the highest buffer of each row, whichever came first.
    time = np.stack([_ms(table, "low_ns", origin), _ms(table, "high_ns", origin)], axis=1)
    ready = np.stack([_whole(table, "ready_low"), _whole(table, "ready_high")], axis=1).astype(np.float64)
    which = np.stack([_whole(table, "low_round"), _whole(table, "high_round")], axis=1)
    order = np.argsort(time, axis=1, kind="stable")
    time, ready, which = (np.take_along_axis(part, order, axis=1).ravel() for part in (time, ready, which))
    return RoundColumns(
        index=_whole(table, "round"),
        start_ms=_ms(table, "start_ns", origin),
        end_ms=_ms(table, "end_ns", origin),
        boundary_ms=boundary,
        width=np.zeros(n, np.int64),
        proposed=_whole(table, "proposed"),
        accepted=_whole(table, "accepted"),
        reused=_whole(table, "reused"),
        committed=_whole(table, "committed"),
        ready=_whole(table, "ready_high"),
        chain_start=np.zeros(n, np.int64),
        reasons=("",) * n,
        tokens=Lists(np.empty(0, np.int64), np.zeros(n + 1, np.int64)),
        merged=MergedRounds(
            members=_whole(table, "members"),
            alone=_whole(table, "alone"),
            time_ms=_ms(table, "time_ns"),
            alone_ms=_ms(table, "alone_ns"),
            proposing=_whole(table, "proposing"),
            depth_ms=time,
            depth=ready,
            depth_round=which,
        ),
    )


def _spans(table: pa.Table, part: str, origin: int) -> SpanColumns:
    chosen = table.filter(pa.compute.equal(table["part"], part))
    return SpanColumns(
        start_ms=_ms(chosen, "start_ns", origin),
        end_ms=_ms(chosen, "end_ns", origin),
        operations=_whole(chosen, "operations"),
        works=tuple(chosen["work"].to_pylist()),
        merged=(_whole(chosen, "members"), _ms(chosen, "busy_ns")),
    )


def _work(table: pa.Table, start_ns: int, end_ns: int) -> Stretches:
    begin = np.maximum(_whole(table, "start_ns"), start_ns) - start_ns
    finish = np.minimum(_whole(table, "end_ns"), end_ns) - start_ns
    return union(np.stack([begin, finish], axis=1))


def _whole(table: pa.Table, name: str) -> Ints:
    values: Ints = table[name].fill_null(-1).to_numpy().astype(np.int64, copy=False)
    return values


def _ms(table: pa.Table, name: str, origin: int = 0) -> Floats:
    return (_whole(table, name) - origin) / 1e6
