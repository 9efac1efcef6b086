"""Where did the time of a run go? Lanes over time: target, buffer, drafter and the device's sensors.

``timeline_info`` turns a run into columns, ``timeline_figure`` draws a window of them, ``overview_figure`` draws the
whole run as a strip to choose a window from. A click on a bar gives ``customdata = (round index, merged rounds)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.views import numbers, text
from dashboard.views.parts import PartInfo
from dashboard.views.telemetry import Series
from dashboard.views.theme import (
    SMALL_PX,
    Theme,
    Trace,
    as_it_is,
    axis,
    bar_marker,
    base_layout,
    caption,
    empty_layout,
    faded,
    keep_look,
    lane_name,
)
from dashboard.views.thinning import MAX_LINE_POINTS, merged_starts, thinned
from dashboard.views.timeline_columns import Floats
from dashboard.views.timeline_detail import MAX_BARS, Bars, Detail, detail
from dashboard.views.timeline_info import TimelineInfo, timeline_info
from dashboard.views.timeline_overview import LEFT_PX, RIGHT_PX, overview_figure

__all__ = ["TimelineInfo", "overview_figure", "timeline_figure", "timeline_info"]

TOP_PX, BOTTOM_PX, NOTE_PX = 46, 56, 18
TARGET_PX, BUFFER_PX, DRAFTER_PX, SENSOR_PX, GAP_PX, PART_PX = 92, 58, 34, 40, 22, 26
MAX_PART_BARS = 600
"""Bars that point out a part of T, in its own lane and through the others together."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A strip of the figure: y coordinates are pixels above the x axis."""

    name: str
    caption: str
    bottom: float
    height: float
    low: float = 0.0
    high: float = 1.0

    @property
    def top(self) -> float:
        return self.bottom + self.height

    def y(self, values: Floats) -> Floats:
        """Pixels above the axis of values between ``low`` and ``high``."""
        return self.bottom + (values - self.low) / ((self.high - self.low) or 1.0) * self.height


def timeline_figure(
    info: TimelineInfo,
    theme: Theme,
    window: tuple[float, float] | None = None,
    selected: int | None = None,
    max_bars: int = MAX_BARS,
    part: PartInfo | None = None,
) -> go.Figure:
    """Draw a window of a run (ms from decode start; ``None``: the whole run).

    Args:
        info: the run.
        theme: colours.
        window: what to show; a run with few rounds is drawn whole, so that it can be panned.
        selected: index of the round to outline.
        max_bars: bars to draw at most; neighbours are merged when there are more.
        part: one part of T, whose stretches are pointed out in all lanes.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, text.label(info.empty, 160)))
    shown = detail(info, window, max_bars if part is None else max_bars - MAX_PART_BARS)
    crowd = shown.rounds_in_view // shown.rounds_a_bar
    lanes = _lanes(info, shown, part)
    total = max(lane.top for lane in lanes.values()) + 6
    traces = [bar_trace(bars, lanes[bars.lane], theme, crowd) for bars in shown.bars]
    if len(shown.corrections_ms):
        traces.append(_ticks(shown.corrections_ms, lanes["target"], theme))
    if "buffer" in lanes:
        traces.append(depth_trace(shown, lanes["buffer"], theme))
    if len(shown.arrows) and "drafter" in lanes:
        traces += _arrows(shown, lanes, theme)
    traces += [_sensor(series, lanes[series.name], theme) for series in info.telemetry]
    if part is not None and len(part.begin_ms):
        traces += _part(part, shown, lanes, theme)
    layout = _layout(info, theme, shown, lanes, total)
    layout["shapes"] = _shapes(info, theme, lanes, selected)
    layout["annotations"] = _annotations(info, theme, shown, lanes, total)
    return go.Figure(traces, layout)


def bar_trace(bars: Bars, lane: Lane, theme: Theme, crowd: int) -> Trace:
    """Bars of one role as one trace in its lane; the more bars share the figure, the thinner their outline."""
    marker = bar_marker(theme, bars.role)
    marker["line"] = {"width": 1 if crowd <= 160 else 0.5 if crowd <= 320 else 0, "color": theme.background}
    return {
        "type": "bar",
        "name": f"{bars.lane}:{bars.role}",
        "x": bars.start_ms,
        "y": bars.height * lane.height,
        "base": lane.bottom + bars.bottom * lane.height,
        "width": bars.length_ms,
        "offset": 0,
        "marker": marker,
        "customdata": as_it_is(bars.custom),
        "hovertext": as_it_is(bars.hover),
        "hoverinfo": "text",
        "text": list(bars.labels) or None,
        "textposition": "inside" if bars.labels else "none",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "inside",
        "insidetextfont": {"size": SMALL_PX, "color": theme.background},
        **keep_look(theme.background),
    }


def _part(part: PartInfo, shown: Detail, lanes: dict[str, Lane], theme: Theme) -> list[Trace]:
    """The stretches of a part of T: solid in a lane of their own, pale through all lanes; close ones are merged."""
    low, high = shown.window_ms
    rows = np.flatnonzero((part.end_ms > low) & (part.begin_ms < high))
    starts = merged_starts(len(rows), MAX_PART_BARS // 2)
    if not len(starts):
        return []
    stops = np.append(starts[1:], len(rows)) - 1
    begin, end = part.begin_ms[rows][starts], part.end_ms[rows][stops]
    share = np.add.reduceat(part.end_ms[rows] - part.begin_ms[rows], starts) / np.maximum(end - begin, 1e-9)
    merged = stops - starts + 1
    hover = [
        f"<b>{part.name}</b> {numbers.stretch(a, b)} ({numbers.duration((b - a) * s)})"
        + (f"<br>{n} pieces merged" if n > 1 else "")
        for a, b, s, n in zip(begin.tolist(), end.tolist(), share.tolist(), merged.tolist(), strict=True)
    ]
    lane, low_y = lanes["part"], min(other.bottom for other in lanes.values())
    common = {"type": "bar", "x": begin, "width": end - begin, "offset": 0, **keep_look()}
    solid = {"name": f"part:{part.name}", "base": lane.bottom, "y": share * lane.height, "hovertext": hover}
    solid |= {"marker": {"color": theme.text, "line": {"width": 0}}, "hoverinfo": "text"}
    pale = {"name": "part:band", "base": low_y, "y": np.full(len(begin), lane.bottom - low_y), "hoverinfo": "skip"}
    pale["marker"] = {"color": [faded(theme.text, 0.16 * s) for s in share.tolist()], "line": {"width": 0}}
    return [common | pale, common | solid]


def _lanes(info: TimelineInfo, shown: Detail, part: PartInfo | None = None) -> dict[str, Lane]:
    """Lanes from the bottom up; only those the run has something for."""
    lanes: dict[str, Lane] = {}
    bottom = 0.0

    def add(key: str, name: str, caption: str, height: float, low: float = 0.0, high: float = 1.0) -> None:
        nonlocal bottom
        lanes[key] = Lane(name, caption, bottom, height, low, high)
        bottom += height + GAP_PX

    for series in reversed(info.telemetry):
        low, high = series.limits
        room = max((high - low) * 0.1, abs(high) * 0.005, 1e-6)
        add(series.name, series.name, series.unit, SENSOR_PX, low - room, high + room)
    if info.drafts:
        add("drafter", "Drafter", "forwards per draft", DRAFTER_PX)
        peak = float(np.max(shown.depth.values, initial=0.0))
        name, caption = ("Draft", "candidates drafted") if info.serial else ("Buffer", "candidates ready")
        add("buffer", name, caption, BUFFER_PX, 0.0, max(peak, info.cap or 0, 1.0))
    caption = "accepted / proposed" if info.drafts else "one token a step"
    add("target", "Target", caption, TARGET_PX)
    if part is not None:
        add(
            "part",
            part.name,
            {"D": "drafting", "V": "verifying", "O": "both at once"}.get(part.name, "neither"),
            PART_PX,
        )
    return lanes


def _layout(info: TimelineInfo, theme: Theme, shown: Detail, lanes: dict[str, Lane], total: float) -> dict[str, Any]:
    ticks = [(lanes["target"].bottom, "0"), (lanes["target"].top, "1")] if info.drafts else []
    if "buffer" in lanes:
        buffer = lanes["buffer"]
        ticks += [(buffer.bottom, "0"), (buffer.top, f"{buffer.high:,.0f}")]
    for series in info.telemetry:
        lane = lanes[series.name]
        for value in series.limits:
            ticks.append((float(lane.y(np.array(value))), f"{numbers.significant(value)}"))
    ticks.sort()
    bottom = BOTTOM_PX + (NOTE_PX if shown.note else 0)
    return {
        **base_layout(theme),
        "height": round(total + TOP_PX + bottom),
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": bottom},
        "uniformtext": {"minsize": SMALL_PX - 1, "mode": "hide"},
        "xaxis": axis(
            theme,
            "time from decode start (ms)",
            range=list(shown.window_ms),
            tickformat=",~f",
            hoverformat=",.1f",
            showspikes=True,
            spikemode="across",
            spikesnap="cursor",
            spikethickness=1,
            spikedash="dot",
            spikecolor=theme.muted,
            automargin=False,
        ),
        "yaxis": axis(
            theme,
            range=[-2, total],
            fixedrange=True,
            showgrid=False,
            automargin=False,
            tickvals=[y for y, _ in ticks],
            ticktext=[label for _, label in ticks],
        ),
    }


def _ticks(time_ms: Floats, lane: Lane, theme: Theme) -> Trace:
    return {
        "type": "scatter",
        "name": "target:correction",
        "x": time_ms,
        "y": np.full(len(time_ms), lane.top + 4),
        "mode": "markers",
        "marker": {"symbol": "triangle-down", "size": 7, "color": theme.role("rejected")},
        "hoverinfo": "skip",
        **keep_look(),
    }


def depth_trace(shown: Detail, lane: Lane, theme: Theme) -> Trace:
    """Candidates ready at every boundary as a step line in its lane."""
    return {
        "type": "scatter",
        "name": "buffer:ready",
        "x": shown.depth.time_ms,
        "y": lane.y(shown.depth.values),
        "mode": "lines",
        "line": {"shape": "hv", "width": 1.5, "color": theme.role("drafter")},
        "hovertext": as_it_is(shown.depth.hover),
        "hoverinfo": "text",
    }


def _arrows(shown: Detail, lanes: dict[str, Lane], theme: Theme) -> list[Trace]:
    """Lines from every publication up to the round that used it first, and their heads.

    The heads are marks of their own that point straight up: turned marks lose their angle when something is selected.
    """
    n = len(shown.arrows)
    colour = theme.role("drafter")
    low, high = lanes["drafter"].top, lanes["target"].bottom - 8
    x: list[float | None] = []
    for published, used in shown.arrows.tolist():
        x += [published, used, None]
    common = {"type": "scatter", "hoverinfo": "skip", "opacity": 1.0 if n <= 40 else 0.5}
    line = {"name": "publication", "x": x, "y": [low, high, None] * n, "mode": "lines"}
    line["line"] = {"width": 1, "color": colour}
    marker = {"symbol": "triangle-up", "size": 6, "color": colour, "line": {"width": 0}}
    heads = {"name": "publication:use", "x": shown.arrows[:, 1], "y": np.full(n, high + 3), "mode": "markers"}
    heads |= {"marker": marker, **keep_look()}
    return [common | line, common | heads]


def _sensor(series: Series, lane: Lane, theme: Theme) -> Trace:
    keep = thinned(series.time_ms, series.values, MAX_LINE_POINTS)
    values = series.values[keep]
    return {
        "type": "scatter",
        "name": f"sensor:{series.name}",
        "x": series.time_ms[keep],
        "y": [None if np.isnan(v) else v for v in lane.y(values).tolist()],
        "mode": "lines+markers" if len(keep) <= 100 else "lines",
        "line": {"width": 1.5, "color": theme.muted},
        "marker": {"size": 4, "color": theme.muted},
        "connectgaps": False,
        "hovertext": [f"{series.name}: {_reading(float(v), series.unit)}" for v in values],
        "hoverinfo": "text",
        **keep_look(),
    }


def _reading(value: float, unit: str) -> str:
    return numbers.NA if np.isnan(value) else f"{numbers.decimals(value, 2)} {unit}"


def _shapes(info: TimelineInfo, theme: Theme, lanes: dict[str, Lane], selected: int | None) -> list[dict[str, Any]]:
    shapes: list[dict[str, Any]] = [
        {
            "type": "rect",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": lane.bottom,
            "y1": lane.top,
            "fillcolor": theme.surface,
            "line": {"width": 0},
            "layer": "below",
        }
        for lane in lanes.values()
    ]
    if "buffer" in lanes and info.cap is not None:
        y = float(lanes["buffer"].y(np.array(float(info.cap))))
        line = {"color": theme.role("reference"), "width": 1, "dash": "dash"}
        shapes.append(
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line, "layer": "below"}
        )
    top = lanes["target"].top + 4
    for time_ms, _, dash in _instants(info):
        line = {"color": theme.role("reference"), "width": 1, "dash": dash}
        shapes.append({"type": "line", "x0": time_ms, "x1": time_ms, "y0": 0, "y1": top, "line": line})
    at = np.flatnonzero(info.rounds.index == selected) if selected is not None else np.empty(0, np.int64)
    if len(at):
        outline = {"color": theme.text, "width": 2}
        x0, x1 = float(info.rounds.start_ms[at[0]]), float(info.rounds.end_ms[at[0]])
        lane = lanes["target"]
        shapes.append({"type": "rect", "x0": x0, "x1": x1, "y0": lane.bottom - 2, "y1": lane.top + 2, "line": outline})
    return shapes


def _instants(info: TimelineInfo) -> list[tuple[float, str, str]]:
    """Vertical lines: (time, what happened, dash)."""
    if info.eos_ms is None:
        return [(info.end_ms, "the record ends here", "dot")] if info.end_ms else []
    done = {"eos": "output complete", "capped": "output cap reached", "cancelled": "cancelled", "failed": "failed"}
    return [(info.eos_ms, f"{done.get(info.status, 'output ends')} {numbers.whole_ms(info.eos_ms)}", "dash")]


def _annotations(
    info: TimelineInfo, theme: Theme, shown: Detail, lanes: dict[str, Lane], total: float
) -> list[dict[str, Any]]:
    out = [
        lane_name(theme, LEFT_PX, lane.name, lane.caption, y=lane.bottom + lane.height / 2) for lane in lanes.values()
    ]
    if "buffer" in lanes and info.cap is not None:
        y = float(lanes["buffer"].y(np.array(float(info.cap))))
        out.append(caption(theme, info.cap_label, xref="paper", x=1, xshift=6, xanchor="left", y=y, yanchor="middle"))
    for time_ms, label, _ in _instants(info):
        side = "right" if time_ms > sum(shown.window_ms) / 2 else "left"
        out.append(caption(theme, label, x=time_ms, xanchor=side, y=total, yanchor="bottom"))
    paper = {"xref": "paper", "yref": "paper", "yanchor": "bottom"}
    out.append(caption(theme, _key(info, theme), x=0, xanchor="left", y=1, yshift=22, **paper))
    if shown.note:
        out.append(caption(theme, shown.note, x=1, xanchor="right", y=0, yshift=-BOTTOM_PX - NOTE_PX + 4, **paper))
    return out


def _key(info: TimelineInfo, theme: Theme) -> str:
    """What the colours of the target's lane mean, written in those colours."""
    parts = []
    if (info.rounds.proposed == 0).any():
        parts.append(("alone", "■", "target alone, K = 1"))
    if info.drafts:
        parts += [("accepted", "■", "accepted")]
        if info.rounds.reused.any():
            parts += [("reused", "▨", "reused after a rejection")]
        parts += [("rejected", "▩", "rejected"), ("rejected", "▼", "correction")]
    return "   ".join(f'<span style="color:{theme.role(role)}">{mark}</span> {name}' for role, mark, name in parts)
