"""Where did the faster of two runs win? Both under each other by time or by token, and the lead between them."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.views import numbers
from dashboard.views.text import label
from dashboard.views.theme import Theme, axis, base_layout, caption, empty_layout, faded, lane_name
from dashboard.views.timeline import Lane, bar_trace
from dashboard.views.timeline_detail import Bars, detail
from dashboard.views.timeline_info import TimelineInfo
from dashboard.views.timeline_overview import LEFT_PX

BY = ("time", "token")
TARGET_PX, DRAFTER_PX, RUN_PX, LEAD_PX, RIGHT_PX = 40, 14, 82, 92, 24
MAX_BARS_A_RUN = 700
MAX_LEAD_POINTS = 2_000
STRETCHES = 8
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Clock:
    """When each token of a run was committed: within a round, tokens are spread evenly over its time."""

    time_ms: Floats
    """Decode start, then the end of every round."""
    tokens: Floats
    """Tokens committed by then."""

    def at_token(self, tokens: Floats) -> Floats:
        """Time in ms by which that many tokens were committed."""
        return np.interp(tokens, self.tokens, self.time_ms)

    def at_time(self, time_ms: Floats) -> Floats:
        """Tokens committed by then."""
        return np.interp(time_ms, self.time_ms, self.tokens)


@dataclass(frozen=True, slots=True)
class Stretch:
    """One part of the output in both runs."""

    first_token: int
    last_token: int
    time_ms: tuple[float, float]
    rounds: tuple[int, int]
    accepted: tuple[int, int]
    proposed: tuple[int, int]

    @property
    def won_ms(self) -> float:
        """Time by which the first run was faster on it."""
        return self.time_ms[1] - self.time_ms[0]


@dataclass(frozen=True, eq=False, slots=True)
class AlignedInfo:
    """Two runs; the lead is positive where the first one is ahead. ``empty`` is the reason when there is nothing."""

    first: TimelineInfo
    second: TimelineInfo
    by: str
    clocks: tuple[Clock, Clock] | None
    lead_x: Floats
    """ms from decode start, or tokens."""
    lead: Floats
    """Tokens by which the first is ahead at that time, or ms at that token."""
    stretches: tuple[Stretch, ...]
    sentence: str
    notes: tuple[str, ...]
    empty: str | None = None

    @property
    def names(self) -> tuple[str, str]:
        """How the two are called."""
        return tuple(f"{run.method_label}, run {run.run_id[-8:]}" for run in (self.first, self.second))  # type: ignore[return-value]

    @property
    def table(self) -> pd.DataFrame:
        """The stretches, one row each."""
        a, b = self.names
        return pd.DataFrame(
            {
                "Tokens": [f"{s.first_token:,} to {s.last_token:,}" for s in self.stretches],
                f"{a} (ms)": [round(s.time_ms[0], 3) for s in self.stretches],
                f"{b} (ms)": [round(s.time_ms[1], 3) for s in self.stretches],
                "Won by the first (ms)": [round(s.won_ms, 3) for s in self.stretches],
                "Rounds": [f"{s.rounds[0]} / {s.rounds[1]}" for s in self.stretches],
                "Accepted": [
                    " / ".join(
                        numbers.part(s.accepted[k], s.proposed[k]) if s.proposed[k] else numbers.NA for k in (0, 1)
                    )
                    for s in self.stretches
                ],
            }
        )

    @property
    def styled(self) -> Any:
        """The same as a grid shows it: text that still sorts by the numbers."""
        times = [f"{name} (ms)" for name in self.names]
        won = {"Won by the first (ms)": partial(numbers.decimals, digits=1, signed=True)}
        return self.table.style.format(dict.fromkeys(times, partial(numbers.decimals, digits=1)) | won)


def aligned_info(first: TimelineInfo, second: TimelineInfo, by: str = "time") -> AlignedInfo:
    """Lay two runs over each other.

    Args:
        first, second: of the same audio, if their tokens are to be compared.
        by: ``time`` (from decode start) or ``token`` (of the output, the prefill's first token being number 1).
    """
    none = np.empty(0)
    for run in (first, second):
        if run.empty is not None or not len(run.rounds):
            reason = f"Run {run.run_id} has no rounds to align. {run.empty or ''}".strip()
            return AlignedInfo(first, second, by, None, none, none, (), reason, (), reason)
    clocks = _clock(first), _clock(second)
    shared = float(min(clock.tokens[-1] for clock in clocks))
    if by == "token":
        x = np.unique(np.concatenate([clock.tokens[clock.tokens <= shared] for clock in clocks]))
        lead = clocks[1].at_token(x) - clocks[0].at_token(x)
    else:
        end = max(clock.time_ms[-1] for clock in clocks)
        x = np.unique(np.concatenate([*(clock.time_ms for clock in clocks), [end]]))
        lead = clocks[0].at_time(x) - clocks[1].at_time(x)
    if len(x) > MAX_LEAD_POINTS:
        kept = np.linspace(0, len(x) - 1, MAX_LEAD_POINTS).astype(np.int64)
        x, lead = x[kept], lead[kept]
    stretches = _stretches((first, second), clocks, shared)
    return AlignedInfo(
        first, second, by, clocks, x, lead, stretches, _sentence(stretches), _notes(first, second, clocks)
    )


def _clock(info: TimelineInfo) -> Clock:
    rounds = info.rounds
    first = max(info.tokens - int(rounds.committed.sum()), 0)
    time = np.concatenate([[0.0], np.maximum.accumulate(rounds.end_ms)])
    return Clock(time, first + np.concatenate([[0.0], np.cumsum(rounds.committed, dtype=np.float64)]))


def _stretches(
    runs: tuple[TimelineInfo, TimelineInfo], clocks: tuple[Clock, Clock], shared: float
) -> tuple[Stretch, ...]:
    start = max(float(clock.tokens[0]) for clock in clocks)
    if shared <= start:
        return ()
    edges = np.unique(np.linspace(start, shared, STRETCHES + 1).round())
    out = []
    for low, high in pairwise(edges.tolist()):
        counts = [_counts(run, clock, low, high) for run, clock in zip(runs, clocks, strict=True)]
        times = [float(np.diff(clock.at_token(np.array([low, high])))[0]) for clock in clocks]
        pairs = [(a, b) for a, b in zip(*counts, strict=True)]
        out.append(Stretch(int(low) + 1, int(high), (times[0], times[1]), pairs[0], pairs[1], pairs[2]))
    return tuple(out)


def _counts(run: TimelineInfo, clock: Clock, low: float, high: float) -> tuple[int, int, int]:
    """Rounds whose last token lies in a stretch, and their accepted and proposed candidates."""
    inside = (clock.tokens[1:] > low) & (clock.tokens[1:] <= high)
    return int(inside.sum()), int(run.rounds.accepted[inside].sum()), int(run.rounds.proposed[inside].sum())


def _sentence(stretches: tuple[Stretch, ...]) -> str:
    total = sum(s.won_ms for s in stretches)
    if not stretches or abs(total) < 1e-6:
        return "Both runs took the same time for the tokens that both have."
    sign = 1 if total > 0 else -1
    won = [s for s in stretches if sign * s.won_ms > 0]
    lost = [s for s in stretches if sign * s.won_ms < 0]
    best = max(won, key=lambda s: sign * s.won_ms)
    who = "The first run" if sign > 0 else "The second run"
    said = f"{who} was faster by {numbers.duration(abs(total))} on the tokens that both have"
    most = f"{numbers.duration(sign * best.won_ms)} of it between tokens {best.first_token:,} and {best.last_token:,}"
    if not lost:
        return f"{said}; {most}."
    gained, given = (numbers.duration(abs(sum(s.won_ms for s in part))) for part in (won, lost))
    parts, others = numbers.counted(len(won), "part"), numbers.counted(len(lost), "part")
    return f"{said}: it won {gained} on {parts}, {most}, and lost {given} on {others}."


def _notes(first: TimelineInfo, second: TimelineInfo, clocks: tuple[Clock, Clock]) -> tuple[str, ...]:
    notes = []
    if first.window != second.window:
        notes.append("These runs are of different windows; token for token they do not compare.")
    if clocks[0].tokens[-1] != clocks[1].tokens[-1]:
        notes.append(
            f"The outputs have {clocks[0].tokens[-1]:,.0f} and {clocks[1].tokens[-1]:,.0f} tokens; what only one has "
            "is left out of the comparison."
        )
    if first.device != second.device:
        notes.append("These runs are of different devices.")
    if first.label != second.label:
        notes.append("These runs mix kinds of numbers; a measured time does not compare with a replayed one.")
    return tuple(notes)


def aligned_figure(info: AlignedInfo, theme: Theme) -> go.Figure:
    """Both runs' lanes and, below them, the lead of the first as an area around zero."""
    if info.empty is not None or info.clocks is None:
        return go.Figure(layout=empty_layout(theme, label(info.empty or "", 160)))
    figure = go.Figure()
    names = []
    top = LEAD_PX + 26.0
    for run, clock, bottom in zip((info.first, info.second), info.clocks, (top + RUN_PX, top), strict=True):
        lanes = {
            "target": Lane("Target", "", bottom + DRAFTER_PX + 5, TARGET_PX),
            "drafter": Lane("Drafter", "", bottom, DRAFTER_PX),
        }
        shown = detail(run, None, MAX_BARS_A_RUN)
        crowd = 2 * shown.rounds_in_view // shown.rounds_a_bar
        for bars in shown.bars:
            moved = bars if info.by == "time" else _by_token(bars, clock)
            if len(moved):
                trace = bar_trace(moved, lanes[bars.lane], theme, crowd)
                figure.add_trace({**trace, "text": None, "textposition": "none"})
        middle = bottom + (DRAFTER_PX + 5 + TARGET_PX) / 2
        names.append(lane_name(theme, LEFT_PX, label(run.method_label, 18), label(f"run {run.run_id[-8:]}"), y=middle))
    peak = max(float(np.abs(info.lead).max(initial=0.0)), 1e-9)
    figure.add_traces(_lead(info, peak, theme))
    middle = LEAD_PX / 2
    unit, digits = ("ms", 0) if info.by == "token" else ("tokens", 0)
    names.append(lane_name(theme, LEFT_PX, "Lead", f"of the first, {unit}", y=middle))
    side = {"xref": "paper", "x": 0, "xshift": -6, "xanchor": "right", "yanchor": "middle"}
    names += [
        caption(theme, f"{sign}{peak:,.{digits}f}", y=y, **side)
        for sign, y in (("+", LEAD_PX - 6.0), (numbers.MINUS, 6.0))
    ]
    end = float(info.lead_x[-1]) if len(info.lead_x) else 1.0
    title = "place in the output (tokens)" if info.by == "token" else "time from decode start (ms)"
    height = top + 2 * RUN_PX
    zero = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": middle, "y1": middle}
    figure.layout = {
        **base_layout(theme),
        "height": round(height + 62),
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 8, "b": 54},
        "xaxis": axis(theme, title, range=[0, end * 1.002], tickformat=",~f"),
        "yaxis": {"visible": False, "range": [-4, height - 6], "fixedrange": True},
        "annotations": names,
        "shapes": [zero | {"line": {"width": 1, "color": theme.muted}}],
    }
    return figure


def _by_token(bars: Bars, clock: Clock) -> Bars:
    """The same bars over the tokens that were committed while they lasted; time before decode start has none."""
    begin, end = clock.at_time(bars.start_ms), clock.at_time(bars.start_ms + bars.length_ms)
    keep = np.flatnonzero(end > begin)
    return Bars(
        lane=bars.lane,
        role=bars.role,
        start_ms=begin[keep],
        length_ms=(end - begin)[keep],
        bottom=bars.bottom[keep],
        height=bars.height[keep],
        hover=tuple(bars.hover[i] for i in keep.tolist()),
        custom=bars.custom[keep],
    )


def _lead(info: AlignedInfo, peak: float, theme: Theme) -> list[go.Scatter]:
    middle, room = LEAD_PX / 2, LEAD_PX / 2 - 6
    unit = "ms" if info.by == "token" else "tokens"
    where = "token" if info.by == "token" else "ms"
    hover = [
        f"<b>{numbers.decimals(v, 1, signed=True)} {unit}</b> at {x:,.0f} {where}"
        for x, v in zip(info.lead_x.tolist(), info.lead.tolist(), strict=True)
    ]
    out = []
    for name, part, colour in (
        ("ahead", np.maximum(info.lead, 0), theme.role("target")),
        ("behind", np.minimum(info.lead, 0), theme.role("drafter")),
    ):
        base = go.Scatter(x=info.lead_x, y=np.full(len(part), middle), mode="lines", hoverinfo="skip", name=f"{name}:0")
        base.update(line={"width": 0})
        y = middle + part / peak * room
        area = go.Scatter(name=f"lead:{name}", x=info.lead_x, y=y, mode="lines", fill="tonexty", hoverinfo="text")
        area.update(line={"width": 1, "color": colour}, fillcolor=faded(colour, 0.35), hovertext=hover)
        out += [base, area]
    return out
