"""On which windows is a setting faster than target-only, and with what does that go along? One mark a window."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.text import label
from dashboard.views.theme import SMALL_PX, Theme, as_it_is, axis, base_layout, caption, empty_layout
from dashboard.views.window_set import Floats, Timed, WindowSet

RANK = "rank"
AXES: Mapping[str, str] = {
    RANK: "windows (the slowest first)",
    "audio": "audio length (s)",
    "tokens": "output (committed tokens)",
    "acceptance": "accepted candidates (%)",
    "rounds": "progress (tokens a round)",
}
"""What the marks can be laid out by, with the title of the axis."""
MOST_SVG = 1_500
"""Marks from which on WebGL draws them."""


@dataclass(frozen=True, eq=False, slots=True)
class GainInfo:
    """Windows that have a gain, the slowest first."""

    name: str
    by: str
    windows: tuple[str, ...]
    subsets: tuple[str, ...]
    x: Floats
    """NaN: n/a, not drawn."""
    gain: Floats
    """Percent of TPS above target-only."""
    tps: Floats
    selected: str
    """A window to ring."""
    about: str
    empty: str | None = None

    @property
    def slower(self) -> int:
        """Windows below target-only."""
        return int((self.gain < 0).sum())

    @property
    def missing(self) -> int:
        """Windows that have a gain, but nothing to lay them out by."""
        return int(np.isnan(self.x).sum())


def gain_info(shown: WindowSet, item: Timed, by: str = RANK, selected: str = "", about: str = "") -> GainInfo:
    """Gains of one setting over target-only, window by window.

    Args:
        shown: the windows that are looked at.
        item: the setting.
        by: one of ``AXES``.
        selected: window to ring.
        about: filters in words, printed in the figure.
    """
    gain = shown.gain(item)
    known = np.flatnonzero(np.isfinite(gain))
    order = known[np.argsort(gain[known], kind="stable")]
    with np.errstate(divide="ignore", invalid="ignore"):
        columns: dict[str, Floats] = {
            "audio": shown.audio_s,
            "tokens": item.tokens,
            "acceptance": 100 * item.acceptance,
            "rounds": (item.tokens - 1) / item.rounds,
        }
    x = np.arange(1, len(order) + 1, dtype=np.float64) if by == RANK else columns[by][order]
    empty = None if len(order) else f"{item.name} and target-only have no window in common, so there is no gain."
    if empty is None and np.isnan(x).all():
        empty = f"Of {item.name}, {AXES[by].split(' (')[0]} is not known."
    return GainInfo(
        name=item.name,
        by=by,
        windows=tuple(shown.windows[i] for i in order.tolist()),
        subsets=tuple(shown.subsets[i] for i in order.tolist()),
        x=np.where(np.isfinite(x), x, np.nan),
        gain=gain[order],
        tps=item.tps[order],
        selected=selected,
        about=about,
        empty=empty,
    )


def gain_figure(info: GainInfo, theme: Theme) -> go.Figure:
    """Marks above and below zero, of two forms. A click gives ``customdata = [window]``."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    drawn = np.isfinite(info.x)
    kind = go.Scattergl if int(drawn.sum()) > MOST_SVG else go.Scatter
    figure = go.Figure()
    for name, mask, role, symbol in (
        ("faster", info.gain >= 0, "accepted", "circle"),
        ("slower", info.gain < 0, "rejected", "x"),
    ):
        at = np.flatnonzero(mask & drawn).tolist()
        if not at:
            continue
        figure.add_trace(
            kind(
                name=name,
                x=info.x[at],
                y=info.gain[at],
                mode="markers",
                marker={"size": 7, "color": theme.role(role), "symbol": symbol, "opacity": 0.75},
                customdata=as_it_is([[info.windows[i]] for i in at]),
                hovertext=as_it_is([_hover(info, i) for i in at]),
                hoverinfo="text",
                selected={"marker": {"opacity": 0.75}},
                unselected={"marker": {"opacity": 0.75}},
            )
        )
    if info.selected in info.windows:
        at = info.windows.index(info.selected)
        ring = {"size": 15, "color": "rgba(0,0,0,0)", "line": {"width": 2, "color": theme.text}}
        figure.add_trace(
            go.Scatter(
                name="selected", x=[info.x[at]], y=[info.gain[at]], mode="markers", marker=ring, hoverinfo="skip"
            )
        )
    title = AXES[info.by]
    figure.layout = {
        **base_layout(theme),
        "height": 400,
        "margin": {"l": 70, "r": 78, "t": 44, "b": 54},
        "xaxis": axis(theme, title, tickformat=",~f", rangemode="tozero" if info.by != RANK else "normal"),
        "yaxis": axis(theme, "TPS against target-only (%)", tickformat=",~f"),
        "shapes": [
            {
                "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "layer": "below",
                "line": {"width": 1.5, "color": theme.methods["target-only"]},
            }
        ],
        "annotations": _annotations(info, theme),
    }  # fmt: skip
    return figure


def _annotations(info: GainInfo, theme: Theme) -> list[dict[str, object]]:
    place = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "yshift": 6}
    said = f"{info.name}: {info.slower:,} of {len(info.windows):,} slower"
    if info.missing:
        said += f"; {info.missing:,} not drawn (n/a)"
    notes = [caption(theme, label(said, 110), **place)]
    if info.about:
        notes = [
            caption(theme, label(said, 110), **{**place, "yshift": 20}),
            caption(theme, label(info.about, 110), **place),
        ]
    line = {"xref": "paper", "x": 1, "xshift": 4, "xanchor": "left", "y": 0, "yanchor": "middle"}
    line["font"] = {"size": SMALL_PX, "color": theme.methods["target-only"]}
    return [*notes, caption(theme, "target-only", **line)]


def _hover(info: GainInfo, i: int) -> str:
    at = "" if info.by == RANK else f"<br>{AXES[info.by].split(' (')[0]}: {numbers.decimals(float(info.x[i]), 1)}"
    subset = f" ({label(info.subsets[i])})" if info.subsets[i] else ""
    gain = numbers.against_target_only(float(info.gain[i]))
    return f"<b>{label(info.windows[i])}</b>{subset}<br>{numbers.tps(float(info.tps[i]))}, {gain}{at}"
