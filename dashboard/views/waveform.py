"""What does a recording look like? Its loudness over its seconds, with the part that the models hear."""

from dataclasses import dataclass
from math import log10

import numpy as np
import plotly.graph_objects as go

from as2d_core.envelope import Envelope
from dashboard.views import numbers, text
from dashboard.views.theme import Theme, axis, base_layout, caption, empty_layout, faded

COLUMNS = 800
"""Stretches that are drawn: two points each, well below the 2,000 marks of a figure of this kind."""
HEIGHT_PX = 96
_QUIET = 0.02
"""Below this peak the axis is not stretched further: what would be seen is the noise of the microphone."""


@dataclass(frozen=True, slots=True, eq=False)
class WaveformInfo:
    """A recording as it is drawn."""

    duration_s: float
    lows: np.ndarray
    """Shape [n], of stretches of equal length; full scale is 1."""
    highs: np.ndarray
    heard_s: tuple[float, float]
    """The part that the models hear."""
    sentence: str
    """Length, channels, rate, loudness. Plain text."""
    empty: str | None
    """Why there is nothing to draw."""

    @property
    def whole(self) -> bool:
        """Whether the models hear all of it."""
        return self.heard_s[0] <= 0.0 and self.heard_s[1] >= self.duration_s


def waveform_info(
    found: Envelope, rate: int, channels: int, heard_s: tuple[float, float | None] = (0.0, None)
) -> WaveformInfo:
    """Make a recording's envelope into what a figure shows.

    Args:
        rate: samples a second of the file.
        heard_s: start and end of the part that the models hear; ``None``: to the end.
    """
    duration_s = found.frames / rate if rate > 0 else 0.0
    start = min(max(heard_s[0], 0.0), duration_s)
    end = duration_s if heard_s[1] is None else min(max(heard_s[1], start), duration_s)
    mixed = f"{channels} channels, mixed to one" if channels > 1 else "1 channel"
    said = f"{duration_s:.1f} s, {mixed}, {rate / 1000:g} kHz, {loudness(found.peak)}"
    empty = "The recording holds no samples." if not found.frames else None
    return WaveformInfo(duration_s, found.lows, found.highs, (start, end), said, empty)


def loudness(peak: float) -> str:
    """The loudest sample against full scale, in decibels."""
    if peak <= 0:
        return "silent throughout"
    return f"peak {numbers.decimals(20 * log10(peak), 1, signed=True)} dB of full scale"


def heard_text(info: WaveformInfo) -> str:
    """Which part of the recording the models hear, in words."""
    if info.whole:
        return "heard: all of it"
    start, end = info.heard_s
    last = f", the last {end - start:.1f} s" if end >= info.duration_s else ""
    return f"heard: {start:.1f} to {end:.1f} s{last}"


def waveform_figure(info: WaveformInfo, theme: Theme, *, movable: bool = False) -> go.Figure:
    """One filled outline over the seconds of the recording; what the models do not hear is dimmed.

    Args:
        movable: a drag over it chooses another part.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, text.label(info.empty, 160)))
    count = len(info.lows)
    edges = np.linspace(0.0, info.duration_s, count + 1)
    middle = np.round((edges[:-1] + edges[1:]) / 2, 4)
    reach = max(float(max(info.highs.max(), -info.lows.min())), _QUIET) * 1.05
    start, end = info.heard_s
    dim = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "fillcolor": faded(theme.background, 0.65),
           "line": {"width": 0}, "layer": "above"}  # fmt: skip
    shapes = []
    notes = []
    if not info.whole:
        shapes = [{**dim, "x0": a, "x1": b} for a, b in ((0.0, start), (end, info.duration_s)) if b > a]
        frame = {"fillcolor": "rgba(0,0,0,0)", "line": {"color": theme.text, "width": 2}, "layer": "above"}
        shapes.append({**dim, **frame, "x0": start, "x1": end})
        notes = [caption(theme, heard_text(info), x=(start + end) / 2, y=1, yref="paper", yanchor="bottom")]
    outline = {
        "type": "scatter",
        "name": "recording",
        "x": np.concatenate((middle, middle[::-1])),
        "y": np.round(np.concatenate((info.highs, info.lows[::-1])), 4),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": theme.role("alone"),
        "line": {"color": theme.role("target"), "width": 1},
        "hoverinfo": "skip",
    }
    layout = {
        **base_layout(theme),
        "height": HEIGHT_PX + (14 if notes else 0),
        "margin": {"l": 8, "r": 8, "t": 18 if notes else 4, "b": 24},
        "shapes": shapes,
        "annotations": notes,
        "xaxis": axis(theme, range=[0.0, info.duration_s], fixedrange=True, tickformat="~g", ticksuffix=" s", nticks=8),
        "yaxis": {"visible": False, "range": [-reach, reach], "fixedrange": True},
        "dragmode": "select" if movable else False,
        "selectdirection": "h",
    }
    return go.Figure([outline], layout)
