"""How are the rates of all windows spread, method by method? The curves of Figure 5: share of windows up to a TPS."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.text import label
from dashboard.views.theme import SMALL_PX, Theme, as_it_is, axis, base_layout, caption, empty_layout, faded
from dashboard.views.window_set import Floats, Timed, WindowSet

MOST_CURVES = 9
MOST_POINTS = 200
MOST_LETTERS = 30
LETTER_PX, ROOM_PX, LEAST_PLOT_PX = 6.0, 24, 430
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
ORACLE = "Oracle"


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """One setting: its windows from the slowest to the fastest."""

    name: str
    method: str
    dash: str
    tps: Floats
    """Rising."""
    windows: tuple[str, ...]
    """Which window each point is."""

    @property
    def share(self) -> Floats:
        """Share of windows that are no faster, from 1 / n to 1."""
        found: Floats = np.arange(1, len(self.tps) + 1) / max(len(self.tps), 1)
        return found


@dataclass(frozen=True, eq=False, slots=True)
class SpeedInfo:
    """Curves in drawing order. ``left_out`` settings do not fit in."""

    curves: tuple[Curve, ...]
    windows: int
    left_out: tuple[str, ...]
    about: str
    empty: str | None = None


def speed_info(shown: WindowSet, about: str = "") -> SpeedInfo:
    """Order the windows of every setting by TPS.

    Args:
        shown: the windows that are looked at.
        about: filters in words, printed in the figure.
    """
    used: dict[str, int] = {}
    curves = []
    for item in shown.all:
        tps = item.tps
        known = np.flatnonzero(np.isfinite(tps))
        if not len(known):
            continue
        dash = DASHES[used.get(item.method, 0) % len(DASHES)]
        used[item.method] = used.get(item.method, 0) + 1
        curves.append(_curve(item, dash, tps, known, shown))
    kept = curves[:MOST_CURVES]
    if np.isfinite(shown.oracle_ms).any() and shown.settings:
        tokens = next((item.tokens for item in shown.all if np.isfinite(item.tokens).any()), shown.oracle_ms)
        with np.errstate(divide="ignore", invalid="ignore"):
            tps = tokens / shown.oracle_ms * 1e3
        known = np.flatnonzero(np.isfinite(tps))
        if len(known):
            order = known[np.argsort(tps[known], kind="stable")]
            kept.append(Curve(ORACLE, "oracle", "dash", tps[order], tuple(shown.windows[i] for i in order.tolist())))
    empty = None if kept else "No run of these windows has finished, so there is no rate to show."
    return SpeedInfo(tuple(kept), len(shown), tuple(c.name for c in curves[MOST_CURVES:]), about, empty)


def _curve(item: Timed, dash: str, tps: Floats, known: np.ndarray, shown: WindowSet) -> Curve:
    order = known[np.argsort(tps[known], kind="stable")]
    return Curve(item.name, item.method, dash, tps[order], tuple(shown.windows[i] for i in order.tolist()))


def speed_figure(info: SpeedInfo, theme: Theme) -> go.Figure:
    """One curve a setting; farther right is faster. A click gives ``customdata = [window]``."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    figure = go.Figure()
    for curve in info.curves:
        n = len(curve.tps)
        at = np.arange(n) if n <= MOST_POINTS else np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
        at = np.concatenate([at[:1], at])  # a curve begins at none of its windows, also one of a single window
        share = curve.share[at]
        share[0] = 0.0
        named, counted = label(curve.name), numbers.counted(n, "window")
        thick = 2.5 if curve.method == "as2d" else 1.7
        colour = theme.role("reference") if curve.method == "oracle" else theme.method(curve.method)
        figure.add_trace(
            go.Scatter(
                name=label(curve.name, 44),
                meta=curve.name,
                x=curve.tps[at],
                y=100 * share,
                mode="lines+markers" if n <= 40 else "lines",
                marker={"size": 4, "color": colour},
                line={"shape": "hv", "width": thick, "color": colour, "dash": curve.dash},
                customdata=as_it_is([[curve.windows[i]] for i in at.tolist()]),
                hovertext=as_it_is(
                    [
                        f"<b>{named}</b><br>{label(curve.windows[i])}: {numbers.tps(float(curve.tps[i]))}<br>"
                        f"{numbers.share(float(part))} of {counted} no faster"
                        for i, part in zip(at.tolist(), curve.share[at].tolist(), strict=True)
                    ]
                ),
                hoverinfo="text",
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            )
        )
    names, beyond_px = _names(info, theme)
    figure.layout = {
        **base_layout(theme),
        "height": 400,
        "margin": {"l": 64, "r": 24 + beyond_px, "t": 44, "b": 54},
        "xaxis": axis(theme, "TPS of a window (tok/s)", rangemode="tozero", tickformat=",~f"),
        "yaxis": axis(theme, f"windows (%), {_counted(info)}", range=[0, 102], ticksuffix="", fixedrange=True),
        "annotations": [*names, *([_about(theme, info.about)] if info.about else [])],
    }
    return figure


def _counted(info: SpeedInfo) -> str:
    """How many windows a curve has, where all have as many; else each name says it."""
    counts = {len(curve.tps) for curve in info.curves}
    return numbers.sample_size(counts.pop()) if len(counts) == 1 else "n by setting"


def _names(info: SpeedInfo, theme: Theme) -> tuple[list[dict[str, object]], int]:
    """Each name on its curve, no two at one height; and how far the longest reaches beyond the plot, in px.

    Left of the slower half there is room high up, right of the faster half low down; the outermost stand nearest to
    the middle, so that the fewest curves pass behind a name.
    """
    order = sorted(info.curves, key=lambda curve: float(np.median(curve.tps)))
    slower, faster = order[: -(-len(order) // 2)], order[-(-len(order) // 2) :]
    shares = [0.5 + 0.45 * (place + 0.5) / len(slower) for place in range(len(slower))]
    shares += [0.5 - 0.45 * (len(faster) - place - 0.5) / len(faster) for place in range(len(faster))]
    widest = max(float(curve.tps[-1]) for curve in order) or 1.0
    several = len({len(curve.tps) for curve in order}) > 1
    out, beyond_px = [], 0.0
    for curve, share in zip(order, shares, strict=True):
        count = f" ({numbers.sample_size(len(curve.tps))})" if several else ""
        x = float(curve.tps[math.ceil(share * len(curve.tps)) - 1])
        said = f"{label(curve.name, MOST_LETTERS)}{count}"
        at_px, long_px = x / widest * LEAST_PLOT_PX, LETTER_PX * len(said) + ROOM_PX
        left = curve in slower and at_px > long_px
        beyond_px = max(beyond_px, 0.0 if left else at_px + long_px - LEAST_PLOT_PX)
        colour = theme.role("reference") if curve.method == "oracle" else theme.method(curve.method)
        mark = f'<span style="color:{colour}">━</span>'
        place = {"x": x, "y": 100 * share, "yanchor": "middle", "xanchor": "right" if left else "left"}
        note = caption(theme, f"{said} {mark}" if left else f"{mark} {said}", **place)
        font = {"size": SMALL_PX, "color": theme.text}
        out.append(note | {"font": font, "bgcolor": faded(theme.background, 0.8), "borderpad": 0})
    return out, math.ceil(beyond_px)


def _about(theme: Theme, about: str) -> dict[str, object]:
    place = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "yshift": 6}
    return caption(theme, label(about, 110), **place)
