"""Which marks are drawn for a window of time? At most a fixed number of bars, neighbours merged when there are more.

Coordinates are milliseconds and shares of a lane's height (0 bottom, 1 top); where lanes lie is the figure's business.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.views import numbers, text
from dashboard.views.thinning import merged_starts, thinned
from dashboard.views.timeline_columns import Flags, Floats, Ints, MergedRounds, RoundColumns, SpanColumns
from dashboard.views.timeline_info import TimelineInfo

MAX_BARS = 2_000
"""Bars that a browser draws and zooms without a wait."""
TARGET_SHARE = 0.7
"""Part of the bars that the target's lane may use; the drafter's lane has the rest."""
MAX_ARROWS = 120
MAX_LABELLED = 300
"""Bars that may carry a number of their own."""

PIECES = ("alone", "accepted", "reused", "rejected")
"""What a target bar is made of, from the bottom up."""


@dataclass(frozen=True, eq=False, slots=True)
class Bars:
    """Bars of one role in one lane. ``custom`` rows are (round index or -1, merged rounds or spans)."""

    lane: str
    role: str
    start_ms: Floats
    length_ms: Floats
    bottom: Floats
    height: Floats
    hover: tuple[str, ...]
    custom: Ints
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.start_ms)


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """A step line in data units, thinned to what a screen can show."""

    time_ms: Floats
    values: Floats
    hover: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Detail:
    """Everything that a timeline shows of one window."""

    window_ms: tuple[float, float]
    bars: tuple[Bars, ...]
    corrections_ms: Floats
    """Ends of the rounds that emitted a correction; empty when rounds are merged."""
    depth: Line
    arrows: NDArray[np.float64]
    """Rows of (publication time, start of the first round that used the batch), ms."""
    rounds_a_bar: int
    spans_a_bar: int
    rounds_in_view: int
    note: str
    """What was merged or left out; empty when every round has its own bar."""

    @property
    def bar_count(self) -> int:
        return sum(len(b) for b in self.bars)


def detail(info: TimelineInfo, window_ms: tuple[float, float] | None = None, max_bars: int = MAX_BARS) -> Detail:
    """Choose the marks for a window (``None``: the whole run).

    A run that fits is returned whole even for a narrower window, so that a browser can pan without asking again.
    """
    whole = window_ms is None or window_ms[0] >= window_ms[1]
    window = whole_window(info) if window_ms is None or whole else window_ms
    room = int(max_bars * TARGET_SHARE)
    rows, per_bar = _chosen_rounds(info.rounds, None if whole else window, room)
    others = [
        _span_bars(info.drafting, "drafter", None if whole else window, max_bars - room - 80),
        _span_bars(info.target_before, "target", None, 20),
        _span_bars(info.target_orphans, "target", None, 60),
    ]
    target = _round_bars(info, rows, per_bar)
    largest = max((int(bars.custom[:, 1].max()) for bars in target), default=1)
    seen = _overlapping(info.rounds.start_ms, info.rounds.end_ms, window)
    single = per_bar == 1 and info.rounds.merged is None
    members = info.rounds.members
    arrows, dropped = _arrows(info, None if whole or len(rows) == info.total_rounds else window)
    spans_a_bar = max(others[0][1], 1)
    return Detail(
        window_ms=window,
        bars=(*target, *(bars for group, _ in others for bars in group)),
        corrections_ms=info.rounds.end_ms[rows][info.rounds.corrected[rows]] if single else np.empty(0),
        depth=_depth(info, rows),
        arrows=arrows,
        rounds_a_bar=largest,
        spans_a_bar=spans_a_bar,
        rounds_in_view=int(members[seen].sum()),
        note=_note(int(members[rows].sum()), largest, spans_a_bar, dropped, info),
    )


def whole_window(info: TimelineInfo) -> tuple[float, float]:
    """From decode start to a sliver behind the end, so that the line there can be seen."""
    return 0.0, 1.004 * (info.end_ms or 1.0)


def piece_heights(rounds: RoundColumns, rows: Ints, starts: Ints) -> Floats:
    """Heights of ``PIECES`` for every group of rounds, shape [groups, 4]; each row sums to 1.

    A round alone is pale to the top. A proposing round is split by accepted, reused and refused candidates. In a group
    the pale part is the share of time spent alone, and the rest is split by the pooled candidates.
    """
    time = np.maximum(rounds.time_ms[rows], 1e-9)
    alone_time = np.where(rounds.alone[rows] == rounds.members[rows], time, rounds.alone_ms[rows])
    proposed, accepted, reused = (
        np.add.reduceat(column[rows].astype(np.float64), starts)
        for column in (rounds.proposed, rounds.accepted, rounds.reused)
    )
    pale = np.add.reduceat(alone_time, starts) / np.add.reduceat(time, starts)
    pale = np.where(proposed > 0, pale, 1.0)
    scale = (1 - pale) / np.maximum(proposed, 1)
    return np.stack([pale, (accepted - reused) * scale, reused * scale, (proposed - accepted) * scale], axis=1)


def _overlapping(start: Floats, end: Floats, window: tuple[float, float]) -> Flags:
    return (end > window[0]) & (start < window[1])


def _chosen_rounds(rounds: RoundColumns, window: tuple[float, float] | None, room: int) -> tuple[Ints, int]:
    """Rows to draw and how many of them share a bar."""
    everything, merged = np.arange(len(rounds)), rounds.merged is not None
    if window is not None and (merged or _pieces_needed(rounds, everything) > room):
        everything = np.flatnonzero(_overlapping(rounds.start_ms, rounds.end_ms, window))
    if not merged and _pieces_needed(rounds, everything) <= room:
        return everything, 1
    return everything, max(-(-len(everything) // (room // len(PIECES))), 1)


def _pieces_needed(rounds: RoundColumns, rows: Ints) -> int:
    fresh = rounds.accepted[rows] > rounds.reused[rows]
    pieces = (rounds.proposed[rows] == 0, fresh, rounds.reused[rows] > 0, rounds.corrected[rows])
    return int(sum(p.sum() for p in pieces))


def _round_bars(info: TimelineInfo, rows: Ints, per_bar: int) -> list[Bars]:
    rounds = info.rounds
    if not len(rows):
        return []
    starts = np.arange(0, len(rows), per_bar)
    heights = piece_heights(rounds, rows, starts)
    bottoms = np.cumsum(heights, axis=1) - heights
    stops = np.append(starts[1:], len(rows)) - 1
    begin, finish = rounds.start_ms[rows][starts], rounds.end_ms[rows][stops]
    merged = np.add.reduceat(rounds.members[rows], starts)
    custom = np.stack([rounds.index[rows][starts], merged], axis=1)
    single = per_bar == 1 and rounds.merged is None
    describe = _describe_round(info, rows) if single else _describe_group(rounds, rows, starts, merged)
    hover = [describe(i) for i in range(len(starts))]
    shown = single and len(rows) <= MAX_LABELLED
    out = []
    for k, role in enumerate(PIECES):
        at = np.flatnonzero(heights[:, k] > 1e-12)
        out.append(
            Bars(
                lane="target",
                role=role,
                start_ms=begin[at],
                length_ms=np.maximum(finish[at] - begin[at], 0.0),
                bottom=bottoms[at, k],
                height=heights[at, k],
                hover=tuple(hover[i] for i in at),
                custom=custom[at],
                labels=tuple(_piece_label(rounds, rows[i], role) for i in at) if shown else (),
            )
        )
    return [bars for bars in out if len(bars)]


def _piece_label(rounds: RoundColumns, row: int, role: str) -> str:
    match role:
        case "accepted":
            return str(rounds.accepted[row] - rounds.reused[row])
        case "reused":
            return str(rounds.reused[row])
        case "rejected":
            return str(rounds.proposed[row] - rounds.accepted[row])
    return ""


def _describe_round(info: TimelineInfo, rows: Ints) -> Callable[[int], str]:
    rounds, total = info.rounds, info.total_rounds

    def describe(i: int) -> str:
        row = rows[i]
        start, end = rounds.start_ms[row], rounds.end_ms[row]
        proposed, accepted, reused = rounds.proposed[row], rounds.accepted[row], rounds.reused[row]
        outcome = "target alone"
        if proposed:
            outcome = f"{proposed} proposed, {accepted} accepted" + (f" ({reused} reused)" if reused else "")
        words = text.shortened(text.visible(text.joined(rounds.tokens[row], info.pieces), spaces=False).strip(), 48)
        return text.lines(
            [
                f"<b>round {rounds.index[row]}</b> of {total}",
                f"{numbers.stretch(start, end)} ({numbers.duration(end - start)})",
                f"K = {rounds.width[row]}: {outcome}",
                f"committed “{text.escape(words)}”" if words else "",
                f"width by: {text.label(rounds.reasons[row])}",
            ]
        )

    return describe


def _describe_group(rounds: RoundColumns, rows: Ints, starts: Ints, merged: Ints) -> Callable[[int], str]:
    proposed, accepted, committed, alone = (
        np.add.reduceat(column[rows], starts)
        for column in (rounds.proposed, rounds.accepted, rounds.committed, rounds.alone)
    )
    stops = np.append(starts[1:], len(rows)) - 1

    def describe(i: int) -> str:
        first, last = rows[starts[i]], rows[stops[i]]
        end = rounds.index[last] + rounds.members[last] - 1
        return text.lines(
            [
                f"<b>rounds {rounds.index[first]} to {end}</b>, {merged[i]} merged",
                numbers.stretch(rounds.start_ms[first], rounds.end_ms[last]),
                f"accepted {numbers.part(int(accepted[i]), int(proposed[i]))}",
                f"{alone[i]} rounds alone, {committed[i]} tokens committed",
                "zoom in for single rounds",
            ]
        )

    return describe


def _span_bars(spans: SpanColumns, lane: str, window: tuple[float, float] | None, room: int) -> tuple[list[Bars], int]:
    """Bars of work spans, one role after the other, and the largest number of spans behind one bar."""
    rows = np.arange(len(spans))
    if window is not None and len(rows) > room:
        rows = np.flatnonzero(_overlapping(spans.start_ms, spans.end_ms, window))
    grey = (spans.start_ms[rows] < 0) | (np.asarray(spans.works, object)[rows] == "drain")
    if lane == "target":
        grey[:] = True
    quarter = room // 4
    parts = (("drafter", rows[~grey], room - quarter), ("retired", rows[grey], quarter))
    made = [_bars_of_role(spans, lane, role, chosen, limit) for role, chosen, limit in parts if len(chosen)]
    return [bars for bars, _ in made], max((size for _, size in made), default=1)


def _bars_of_role(spans: SpanColumns, lane: str, role: str, rows: Ints, room: int) -> tuple[Bars, int]:
    starts = merged_starts(len(rows), room)
    stops = np.append(starts[1:], len(rows)) - 1
    merged = np.add.reduceat(spans.members[rows], starts)
    begin, finish = spans.start_ms[rows][starts], spans.end_ms[rows][stops]
    busy = np.add.reduceat(spans.busy_ms[rows], starts)
    share = np.clip(busy / np.maximum(finish - begin, 1e-9), 0.0, 1.0)
    operations = np.add.reduceat(spans.operations[rows], starts)
    labelled = role == "drafter" and spans.merged is None and len(starts) == len(rows) <= MAX_LABELLED
    bars = Bars(
        lane=lane,
        role=role,
        start_ms=begin,
        length_ms=finish - begin,
        bottom=np.zeros(len(starts)),
        height=np.where(merged > 1, share, 1.0),
        hover=tuple(
            _describe_spans(spans, rows[a : b + 1], n, number)
            for a, b, n, number in zip(
                starts.tolist(), stops.tolist(), operations.tolist(), merged.tolist(), strict=True
            )
        ),
        custom=np.stack([np.full(len(starts), -1), merged], axis=1),
        labels=tuple(
            str(n) if spans.works[row] == "draft" else "" for row, n in zip(rows, operations.tolist(), strict=True)
        )
        if labelled
        else (),
    )
    return bars, int(merged.max())


def _describe_spans(spans: SpanColumns, rows: Ints, operations: int, number: int) -> str:
    start, end = spans.start_ms[rows[0]], spans.end_ms[rows[-1]]
    works = sorted(set(map(spans.works.__getitem__, rows.tolist())))
    return text.lines(
        [
            f"<b>{text.label(', '.join(works))}</b>" + (f", {number} merged" if number > 1 else ""),
            f"{numbers.stretch(start, end)} ({numbers.duration(end - start)})",
            numbers.counted(operations, "forward"),
        ]
    )


def _depth(info: TimelineInfo, rows: Ints) -> Line:
    """Candidates ready at every boundary; a serial draft is there from its end until its verification ends."""
    rounds = info.rounds
    if not info.drafts or not len(rows):
        return Line(np.empty(0), np.empty(0))
    if rounds.merged is not None:
        return _merged_depth(rounds.merged, rows)
    ready = rounds.ready[rows].astype(np.float64)
    if info.serial:
        zero = np.zeros(len(rows))
        time = np.stack([rounds.boundary_ms[rows], rounds.start_ms[rows], rounds.end_ms[rows]], axis=1).ravel()
        ready = np.stack([zero, ready, zero], axis=1).ravel()
        rows = np.repeat(rows, 3)
    else:
        time = rounds.boundary_ms[rows]
    keep = thinned(time, ready)
    hover = tuple(_ready(rounds.index[rows[i]], ready[i], time[i]) for i in keep)
    return Line(time[keep], ready[keep], hover)


def _merged_depth(merged: MergedRounds, rows: Ints) -> Line:
    """The fewest and the most candidates that were ready in every row."""
    at = (rows[:, None] * 2 + np.arange(2)).ravel()
    time, ready, which = merged.depth_ms[at], merged.depth[at], merged.depth_round[at]
    keep = thinned(time, ready)
    hover = tuple(_ready(which[i], ready[i], time[i]) for i in keep)
    return Line(time[keep], ready[keep], hover)


def _ready(number: int, ready: float, time_ms: float) -> str:
    counted = numbers.counted(int(ready), "candidate")
    return f"round {number}: {counted} ready<br>at {numbers.decimals(time_ms, 1)} ms"


def _arrows(info: TimelineInfo, window: tuple[float, float] | None) -> tuple[NDArray[np.float64], int]:
    batches = info.publications
    used = batches.first_use >= 0
    start = batches.time_ms[used]
    end = info.rounds.boundary_ms[batches.first_use[used]] if used.any() else np.empty(0)
    pairs = np.stack([start, end], axis=1) if len(start) else np.empty((0, 2))
    dropped = 0
    if window is not None and len(pairs):
        pairs = pairs[(pairs[:, 1] >= window[0]) & (pairs[:, 1] <= window[1])]
        near = pairs[:, 0] >= 2 * window[0] - window[1]  # from further away an arrow is a flat line through all lanes
        dropped, pairs = int((~near).sum()), pairs[near]
    if len(pairs) > MAX_ARROWS:
        return np.empty((0, 2)), dropped + len(pairs)
    return pairs, dropped


def _note(rows: int, per_bar: int, spans_a_bar: int, dropped: int, info: TimelineInfo) -> str:
    unread = info.rounds.merged is not None and info.drafts
    parts: Sequence[str] = [
        f"{rows:,} rounds, up to {per_bar:,} neighbours merged in a bar" if per_bar > 1 else "",
        f"drafts merged by up to {spans_a_bar:,}" if spans_a_bar > 1 else "",
        f"{dropped:,} publication arrows left out" if dropped else "publication arrows left out" if unread else "",
    ]
    shown = "; ".join(p for p in parts if p)
    return f"{shown}. A shorter window shows more." if shown else ""
