"""How do throughput, work and temperature move along a sweep? Panels over one axis (Figures 5 and 9)."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from as2d_core.sustained import TRAILING
from dashboard.views.labels import spread
from dashboard.views.sweep_info import BLOCKS, POSITIONS, SUSTAINED, Line, SweepInfo, sweep_info
from dashboard.views.text import label
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, keep_look

__all__ = ["SweepInfo", "sweep_figure", "sweep_info"]

FIRST_PX, PANEL_PX, GAP_PX, TOP_PX, BOTTOM_PX, LEFT_PX, RIGHT_PX = 240, 110, 34, 28, 52, 66, 120
MOST_SVG = 1_500
"""Marks that are drawn as SVG; more of them in WebGL."""
SYMBOLS = {"target-only": "square", "sd": "triangle-up", "specasr": "diamond", "as2d": "circle"}
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class _Panel:
    title: str
    lines: tuple[tuple[Line, Floats], ...]
    series: tuple[tuple[str, Floats, Floats], ...] = ()
    """Name of a sensor, x and values."""
    level: float | None = None
    """A dotted reference line."""
    from_zero: bool = True


def sweep_figure(info: SweepInfo, theme: Theme) -> go.Figure:
    """The panels of a sweep. A click on a point gives ``customdata = run id``."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    panels = _panels(info)
    heights = [FIRST_PX, *[PANEL_PX] * (len(panels) - 1)]
    whole = sum(heights) + GAP_PX * (len(panels) - 1)
    layout: dict[str, object] = {
        **base_layout(theme),
        "height": whole + TOP_PX + BOTTOM_PX,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        "dragmode": "zoom",
        "annotations": [],
        "shapes": [],
        "xaxis": axis(theme, info.x_title, anchor=f"y{len(panels)}" if len(panels) > 1 else "y", range=_x_range(info)),
    }
    figure = go.Figure()
    top = 1.0
    for i, (panel, height) in enumerate(zip(panels, heights, strict=True)):
        suffix = "" if i == 0 else str(i + 1)
        low, high = _y_range(panel)
        bottom = max(top - height / whole, 0.0)
        layout[f"yaxis{suffix}"] = axis(theme, domain=[bottom, top], range=[low, high], tickformat=",~f", nticks=6)
        figure.add_traces(_traces(panel, info, theme, suffix, first=i == 0))
        layout["annotations"] += _captions(panel, theme, suffix, top, (low, high), height, first=i == 0)  # type: ignore[operator]
        if panel.level is not None:
            dotted = {"width": 1.5, "color": theme.role("reference"), "dash": "dot"}
            level = {"yref": f"y{suffix}", "y0": panel.level, "y1": panel.level, "line": dotted, "layer": "below"}
            layout["shapes"] += [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, **level}]  # type: ignore[operator]
        top = bottom - GAP_PX / whole
    if info.failures:
        figure.add_trace(_failures(info, theme, _y_range(panels[0])))
    figure.update_layout(layout)
    return figure


def _panels(info: SweepInfo) -> list[_Panel]:
    found = info.lines
    panels = [_Panel("throughput (tok/s)", tuple((item, item.tps) for item in found))]
    if info.kind == POSITIONS:
        panels.append(_Panel("response, preparation left out (s)", _known(found, "response_s")))
    if info.kind == BLOCKS:
        panels.append(_Panel("encoding and prefill (s)", _known(found, "preparation_s")))
        panels.append(
            _Panel("work per second of audio", tuple((item, _trailing_rtf(item, info)) for item in found), level=1.0)
        )
        panels.append(
            _Panel("lag after a block, in real time (s, solved)", tuple((i, info.paces[i.name].lag_s) for i in found))
        )
    if info.kind == SUSTAINED:
        panels.append(_Panel("response, preparation left out (s)", _known(found, "response_s")))
        names = {"°C": "battery temperature (°C)", "MHz": "fastest core (MHz)"}
        panels += [
            _Panel(names[unit], (), ((name, x, values),), from_zero=unit == "MHz")
            for name, unit, x, values in info.sensors
        ]
    return [panel for panel in panels if panel.lines or panel.series] or panels[:1]


def _known(found: tuple[Line, ...], what: str) -> tuple[tuple[Line, Floats], ...]:
    return tuple((item, getattr(item, what)) for item in found if np.isfinite(getattr(item, what)).any())


def _trailing_rtf(item: Line, info: SweepInfo) -> Floats:
    """Work over audio of at most 15 blocks up to each."""
    work = np.nan_to_num(item.preparation_s) + item.decode_s
    audio = float(work.sum()) / info.paces[item.name].active_rtf / len(work)
    return np.array([work[max(i - TRAILING + 1, 0) : i + 1].mean() / audio for i in range(len(work))])


def _traces(panel: _Panel, info: SweepInfo, theme: Theme, suffix: str, *, first: bool) -> list[go.Scatter]:
    kind = go.Scatter if sum(len(item.x) for item in info.lines) <= MOST_SVG else go.Scattergl
    traces = []
    steady = info.kind != POSITIONS
    for item, values in panel.lines:
        colour = theme.method(item.method)
        thick = 2.5 if item.method == "as2d" else 1.5
        trailing = first and steady
        traces.append(
            kind(
                name=f"{panel.title}:{item.name}",
                x=item.x,
                y=_gaps(values),
                yaxis=f"y{suffix}",
                mode="markers" if trailing else "lines+markers",
                line={"color": colour, "width": thick},
                marker={
                    "size": 5 if steady else 7,
                    "color": colour,
                    "opacity": 0.7 if trailing else 1,
                    "symbol": SYMBOLS.get(item.method, "cross"),
                },
                customdata=list(item.run_ids),
                hovertext=list(item.hover),
                hoverinfo="text",
                **({} if trailing else keep_look()),
            )
        )
        if trailing:
            traces.append(
                kind(
                    name=f"trailing:{item.name}",
                    x=item.x,
                    y=_gaps(item.trailing),
                    yaxis=f"y{suffix}",
                    mode="lines",
                    line={"color": colour, "width": thick},
                    hoverinfo="skip",
                )
            )
    for name, x, values in panel.series:
        traces.append(
            go.Scattergl(
                name=name,
                x=x,
                y=values,
                yaxis=f"y{suffix}",
                mode="lines",
                line={"color": theme.muted, "width": 1.5},
                hovertemplate="%{x:.2f}: %{y:,.1f}<extra></extra>",
            )
        )
    return traces


def _failures(info: SweepInfo, theme: Theme, limits: tuple[float, float]) -> go.Scatter:
    colour = theme.role("rejected")
    return go.Scatter(
        name="not complete",
        x=[item.x for item in info.failures],
        y=[limits[0] + (limits[1] - limits[0]) * 0.03] * len(info.failures),
        mode="markers",
        marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": colour}},
        customdata=[item.run_id for item in info.failures],
        hovertext=[item.hover for item in info.failures],
        hoverinfo="text",
        cliponaxis=False,
        **keep_look(),
    )


def _gaps(values: Floats) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in values]


def _captions(
    panel: _Panel, theme: Theme, suffix: str, top: float, limits: tuple[float, float], height: int, *, first: bool
) -> list[dict[str, object]]:
    """What a panel shows, above it; at the right end of the first one the names of the methods."""
    above = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": top, "yanchor": "bottom", "yshift": 4}
    out = [caption(theme, panel.title, **above)]
    if not first or not panel.lines:
        return out
    ends = [float(values[np.isfinite(values)][-1]) for _, values in panel.lines]
    places = spread(ends, (limits[1] - limits[0]) / height * (SMALL_PX + 5))
    out += [
        caption(
            theme, label(item.name, 20), xref="paper", x=1, xshift=8, xanchor="left", yref=f"y{suffix}", y=y,
            yanchor="middle",
        )
        | {"font": {"size": SMALL_PX, "color": theme.method(item.method)}}
        for (item, _), y in zip(panel.lines, places, strict=True)
    ]  # fmt: skip
    return out


def _x_range(info: SweepInfo) -> list[float]:
    places = [x for item in info.lines for x in item.x.tolist()] + [item.x for item in info.failures]
    places += [float(x) for _, _, xs, _ in info.sensors for x in (xs[0], xs[-1])]
    low, high = min(places), max(places)
    room = (high - low) * 0.02 or 1.0
    return [low - room, high + room]


def _y_range(panel: _Panel) -> tuple[float, float]:
    """From 0 where the panel says so: what is a rate or a time must not look halved by its axis."""
    values = [v for _, vs in panel.lines for v in vs[np.isfinite(vs)].tolist()]
    values += [v for _, _, vs in panel.series for v in vs.tolist()] + ([] if panel.level is None else [panel.level])
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = (high - low) * 0.08 or abs(high) * 0.05 or 1.0
    return (0.0 if panel.from_zero and low >= 0 else low - room), high + room
