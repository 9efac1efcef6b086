"""Is the same budget best on every device? Gain over target-only against budget b, one small panel a device."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from as2d_core.replay.budgets import BudgetTable
from dashboard.views import numbers
from dashboard.views.text import label, lines
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, faded, keep_look

MOST_PANELS = 8
COLUMNS = 4
PANEL_PX, TOP_PX, BOTTOM_PX, GAP_X, GAP_Y = 190, 40, 50, 0.035, 0.16
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


@dataclass(frozen=True, slots=True)
class Curve:
    """One drafter on one device."""

    drafter: str
    budgets: tuple[int, ...]
    gain: tuple[float, ...]
    """Percent of pooled TPS over target-only."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One device."""

    profile: str
    name: str
    curves: tuple[Curve, ...]
    oracle_gain: float | None
    best: tuple[str, int, float] | None
    """Drafter, budget and gain of the fastest fixed pair."""


@dataclass(frozen=True, slots=True)
class DevicesComparedInfo:
    """Several devices over the same windows."""

    panels: tuple[Panel, ...]
    sentence: str
    left_out: int
    """Devices for which there is no room."""


def devices_compared_info(tables: Sequence[tuple[str, str, BudgetTable]]) -> DevicesComparedInfo:
    """Prepare the tables of several devices.

    Args:
        tables: id and name of a profile, and its budgets over the same windows.
    """
    panels = tuple(_panel(*item) for item in tables[:MOST_PANELS])
    known = [p for p in panels if p.best is not None]
    pairs = {p.best[:2] for p in known if p.best is not None}
    if not known:
        said = "No device can run any of the budgets."
    elif len(pairs) == 1 and len(known) > 1:
        said = f"{known[0].best[0]}, b = {known[0].best[1]} is the fastest fixed choice on all of them."  # type: ignore[index]
    else:
        found = [f"{p.name}: b = {p.best[1]}, {numbers.signed_percent(p.best[2])}" for p in known if p.best is not None]
        said = f"Fastest fixed budget here. {'; '.join(found)}."
    return DevicesComparedInfo(panels, said, max(len(tables) - MOST_PANELS, 0))


def _panel(profile: str, name: str, table: BudgetTable) -> Panel:
    alone = table.target_only_tps
    if not alone:
        return Panel(profile, name, (), None, None)

    def gain(tps: float) -> float:
        return 100 * (tps / alone - 1)

    curves = []
    for drafter in dict.fromkeys(row.drafter for row in table.rows):
        rows = [row for row in table.rows if row.drafter == drafter and row.tps is not None]
        if rows:
            curves.append(
                Curve(
                    drafter,
                    tuple(row.budget for row in rows),
                    tuple(gain(row.tps or 0.0) for row in rows),
                    tuple(gain(row.tps_low if row.tps_low is not None else row.tps or 0.0) for row in rows),
                    tuple(gain(row.tps_high if row.tps_high is not None else row.tps or 0.0) for row in rows),
                    tuple(
                        lines(
                            [
                                f"<b>{label(name)}</b>",
                                f"{label(drafter)}, b = {row.budget}",
                                f"{numbers.tps(row.tps)}, {numbers.signed_percent(gain(row.tps or 0.0))}",
                                "uses a width whose cost is extrapolated" if row.extrapolated else "",
                            ]
                        )
                        for row in rows
                    ),
                )
            )
    best = table.best
    return Panel(
        profile,
        name,
        tuple(curves),
        None if table.oracle_tps is None else gain(table.oracle_tps),
        None if best is None or best.tps is None else (best.drafter, best.budget, gain(best.tps)),
    )


def devices_compared_figure(info: DevicesComparedInfo, theme: Theme, here: str | None = None) -> go.Figure:
    """Small panels with one scale. A click gives ``customdata = (profile, drafter, budget)``.

    Args:
        here: profile whose panel is outlined.
    """
    panels = [panel for panel in info.panels if panel.curves]
    if not panels:
        return go.Figure(layout=empty_layout(theme, label(info.sentence, 160)))
    columns = min(len(panels), COLUMNS)
    rows = -(-len(panels) // columns)
    ends = [v for p in panels for c in p.curves for v in (*c.low, *c.high)]
    ends += [p.oracle_gain for p in panels if p.oracle_gain is not None] + [0.0]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.08 or 1.0
    budgets = sorted({b for p in panels for c in p.curves for b in c.budgets})
    figure = go.Figure()
    layout: dict[str, object] = {
        **base_layout(theme),
        "height": PANEL_PX * rows + TOP_PX + BOTTOM_PX,
        "margin": {"l": 66, "r": 16, "t": TOP_PX, "b": BOTTOM_PX},
        "dragmode": False,
        "annotations": [],
        "shapes": [],
    }
    width, height = (1 - GAP_X * (columns - 1)) / columns, (1 - GAP_Y * (rows - 1)) / rows
    for i, panel in enumerate(panels):
        row, column = divmod(i, columns)
        suffix = "" if i == 0 else str(i + 1)
        left, top = column * (width + GAP_X), 1 - row * (height + GAP_Y)
        layout[f"xaxis{suffix}"] = axis(
            theme,
            "budget b" if row == rows - 1 else None,
            domain=[left, left + width],
            anchor=f"y{suffix}",
            range=[budgets[0] - 0.7, budgets[-1] + 0.7],
            fixedrange=True,
            showgrid=False,
            nticks=7,
        )
        layout[f"yaxis{suffix}"] = axis(
            theme,
            "over target-only (%)" if column == 0 else None,
            domain=[top - height, top],
            anchor=f"x{suffix}",
            range=[low - room, high + room],
            fixedrange=True,
            showticklabels=column == 0,
            tickformat=",~f",
        )
        figure.add_traces(_traces(panel, theme, suffix))
        layout["shapes"] += _shapes(panel, theme, suffix, here)  # type: ignore[operator]
        layout["annotations"] += [  # type: ignore[operator]
            caption(
                theme,
                label(panel.name, 34),
                xref=f"x{suffix} domain",
                yref=f"y{suffix} domain",
                x=0,
                y=1,
                xanchor="left",
                yanchor="bottom",
                yshift=4,
            )
            | {"font": {"size": SMALL_PX + 1, "color": theme.text}}
        ]
    figure.layout = layout
    return figure


def _traces(panel: Panel, theme: Theme, suffix: str) -> list[go.Scatter]:
    colour = theme.method("as2d")
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces = []
    for i, curve in enumerate(panel.curves):
        traces.append(
            go.Scatter(
                name=f"interval:{panel.profile}",
                x=curve.budgets + curve.budgets[::-1],
                y=curve.low + curve.high[::-1],
                fill="toself",
                fillcolor=faded(colour, 0.15),
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                **axes,
            )
        )
        traces.append(
            go.Scatter(
                name=f"gain:{panel.profile}:{curve.drafter}",
                x=curve.budgets,
                y=curve.gain,
                mode="lines+markers",
                line={"color": colour, "width": 2},
                marker={"size": 5, "color": colour, "symbol": SYMBOLS[i % len(SYMBOLS)]},
                customdata=[[panel.profile, curve.drafter, b] for b in curve.budgets],
                hovertext=list(curve.hover),
                hoverinfo="text",
                **axes,
                **keep_look(),
            )
        )
    if panel.best is not None:
        ring = {"symbol": "circle-open", "size": 13, "color": theme.text, "line": {"width": 2, "color": theme.text}}
        traces.append(
            go.Scatter(
                name="best", x=[panel.best[1]], y=[panel.best[2]], mode="markers+text", marker=ring,
                text=[f"b = {panel.best[1]}"], textposition="bottom center", cliponaxis=False,
                textfont={"size": SMALL_PX, "color": theme.text}, hoverinfo="skip", **axes, **keep_look(theme.text),
            )
        )  # fmt: skip
    return traces


def _shapes(panel: Panel, theme: Theme, suffix: str, here: str | None) -> list[dict[str, object]]:
    whole = {"xref": f"x{suffix} domain", "x0": 0, "x1": 1, "layer": "below"}
    grey = {"width": 2, "color": theme.method("target-only")}
    shapes: list[dict[str, object]] = [
        {"type": "line", "yref": f"y{suffix}", "y0": 0, "y1": 0, "line": grey, **whole}  # target-only itself
    ]
    if panel.oracle_gain is not None:
        dashed = {"width": 1.5, "color": theme.role("reference"), "dash": "dash"}
        y = panel.oracle_gain
        shapes.append({"type": "line", "yref": f"y{suffix}", "y0": y, "y1": y, "line": dashed, **whole})
    if panel.profile == here:
        line = {"width": 1.5, "color": theme.text}
        shapes.append({"type": "rect", "yref": f"y{suffix} domain", "y0": 0, "y1": 1, "line": line, **whole})
    return shapes
