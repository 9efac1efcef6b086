"""What does a whole run look like at a glance? A strip in time bins, from which a window is chosen by dragging."""

import numpy as np
import plotly.graph_objects as go

from dashboard.views import text
from dashboard.views.theme import Theme, Trace, axis, base_layout, empty_layout, faded, lane_name, solid
from dashboard.views.thinning import mean_heights
from dashboard.views.timeline_columns import Floats
from dashboard.views.timeline_detail import PIECES, piece_heights, whole_window
from dashboard.views.timeline_info import TimelineInfo

LEFT_PX, RIGHT_PX = 132, 56
"""Margins of the strip and of the timeline below it, so that both have the same time under the same pixel."""
STRIP_BINS = 1_200
"""Time bins of the overview: about one for every pixel."""


def overview_figure(info: TimelineInfo, theme: Theme, window: tuple[float, float] | None = None) -> go.Figure:
    """The whole run as a strip, the shown window outlined; a drag selects another one (box selection)."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, text.label(info.empty, 160)))
    low, high = window if window is not None else (0.0, info.end_ms)
    dim = {"fillcolor": faded(theme.background, 0.6), "line": {"width": 0}, "y0": 0, "y1": 1, "layer": "above"}
    outline = {"y0": 0, "y1": 1, "line": {"color": theme.text, "width": 1}, "layer": "above"}
    shapes = [{"type": "rect", "x0": max(low, 0.0), "x1": min(high, info.end_ms), **outline}]
    if window is not None:
        shapes += [
            {"type": "rect", "x0": 0, "x1": max(low, 0.0), **dim},
            {"type": "rect", "x0": min(high, info.end_ms), "x1": info.end_ms, **dim},
        ]
    layout = {
        **base_layout(theme),
        "height": 64,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 4, "b": 20},
        "dragmode": "select",
        "selectdirection": "h",
        "shapes": shapes,
        "xaxis": axis(
            theme, range=list(whole_window(info)), fixedrange=True, tickformat=",", ticksuffix=" ms", nticks=6
        ),
        "yaxis": {"visible": False, "range": [0, 1], "fixedrange": True},
        "annotations": [lane_name(theme, LEFT_PX, "Whole run", "drag to choose", y=0.5)],
    }
    return go.Figure(_strips(info, theme), layout)


def _strips(info: TimelineInfo, theme: Theme) -> list[Trace]:
    """The run in time bins: what the lanes look like on average in each, as WebGL segments."""
    edges = np.linspace(0.0, info.end_ms or 1.0, STRIP_BINS + 1)
    rounds, drafting = info.rounds, info.drafting
    every = np.arange(len(rounds))
    pieces = piece_heights(rounds, every, every) if len(rounds) else np.empty((0, len(PIECES)))
    # Merged rounds fill the time from the first to the last of them only so far.
    pieces = pieces * np.minimum(rounds.time_ms / np.maximum(rounds.end_ms - rounds.start_ms, 1e-9), 1.0)[:, None]
    share = drafting.busy_ms / np.maximum(drafting.end_ms - drafting.start_ms, 1e-9)
    target = mean_heights(rounds.start_ms, rounds.end_ms, pieces, edges)
    busy = mean_heights(drafting.start_ms, drafting.end_ms, np.minimum(share, 1.0)[:, None], edges)
    bottom, height = (0.42, 0.55) if info.drafts else (0.1, 0.8)
    lows = np.cumsum(target, axis=1) - target
    strips = [
        _strip(f"target:{role}", role, edges, bottom + lows[:, k] * height, target[:, k] * height, theme)
        for k, role in enumerate(PIECES)
    ]
    strips.append(_strip("drafter:drafter", "drafter", edges, np.full(STRIP_BINS, 0.05), busy[:, 0] * 0.27, theme))
    return [strip for strip in strips if len(strip["x"])]


def _strip(name: str, role: str, edges: Floats, low: Floats, height: Floats, theme: Theme) -> Trace:
    at = np.flatnonzero(height > 1e-6)
    x, y = np.full(len(at) * 3, np.nan, np.float32), np.full(len(at) * 3, np.nan, np.float32)
    x[0::3] = x[1::3] = ((edges[:-1] + edges[1:]) / 2)[at]
    y[0::3], y[1::3] = low[at], (low + height)[at]
    return {
        "type": "scattergl",
        "name": name,
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"width": 2, "color": solid(theme.role(role), theme)},
        "connectgaps": False,
        "hoverinfo": "skip",
    }
