"""Which budget is fastest, and what does it cost? Pooled TPS and slowdowns against budget b, with all baselines."""

from collections.abc import Sequence

import plotly.graph_objects as go

from as2d_core.replay.budgets import BudgetRow
from dashboard.views import numbers
from dashboard.views.budgets_info import BudgetsInfo, Level, Series, budgets_info
from dashboard.views.labels import spread
from dashboard.views.text import label
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, faded, keep_look

HEIGHT_PX, TOP_PX, BOTTOM_PX, LEFT_PX, RIGHT_PX = 400, 28, 54, 66, 24
SPLIT = 0.56
"""Right end of the TPS panel as a share of the figure; the slowdown panel begins after its labels."""
SECOND = 0.76
__all__ = ["BudgetsInfo", "Level", "Series", "budgets_figure", "budgets_info"]

DASHES = ("solid", "dot", "dashdot", "longdash", "dash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


def budgets_figure(info: BudgetsInfo, theme: Theme, drag: bool = False) -> go.Figure:
    """TPS against budget with its band and baselines; beside it the share of windows that got slower.

    A click gives ``customdata = (drafter, budget)``; with ``drag``, a range of budgets can be dragged over.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    figure = go.Figure()
    figure.add_traces([_base_curve(series, theme, second) for series in info.base for second in (False, True)])
    for i, series in enumerate(info.series):
        figure.add_traces(_band(series, theme))
        figure.add_trace(_curve(series, theme, i, "tps"))
        figure.add_trace(_curve(series, theme, i, "slower"))
        figure.add_trace(_losses(series, theme, i))
    figure.add_traces([_sd_curve(name, points, theme) for name, points in info.sd if points])
    if info.selected is not None and info.selected.tps is not None:
        figure.add_traces(_ring(info.selected, theme))
    figure.layout = _layout(info, theme)
    if drag:
        figure.layout.dragmode, figure.layout.selectdirection = "select", "h"
    return figure


def _base_curve(series: Series, theme: Theme, second: bool) -> go.Scatter:
    """The figures as measured, pale behind those of assumed costs."""
    shares = [None if row.slower_share is None else row.slower_share * 100 for row in series.rows]
    return go.Scatter(
        name=f"measured:{series.drafter}",
        x=[row.budget for row in series.rows],
        y=shares if second else [row.tps for row in series.rows],
        xaxis="x2" if second else "x",
        yaxis="y2" if second else "y",
        mode="lines",
        line={"color": theme.muted, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )


def _band(series: Series, theme: Theme) -> list[go.Scatter]:
    rows = [row for row in series.rows if row.tps_low is not None and row.tps_high is not None]
    if len(rows) < 2:
        return []
    budgets = [row.budget for row in rows]
    return [
        go.Scatter(
            name=f"interval:{series.drafter}",
            x=budgets + budgets[::-1],
            y=[row.tps_low for row in rows] + [row.tps_high for row in rows][::-1],
            fill="toself",
            fillcolor=faded(theme.method("as2d"), 0.15),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
        )
    ]


def _curve(series: Series, theme: Theme, i: int, what: str) -> go.Scatter:
    second = what == "slower"
    colour = theme.method("as2d")
    symbol = SYMBOLS[i % len(SYMBOLS)]
    values = [row.slower_share * 100 if row.slower_share is not None else None for row in series.rows]
    return go.Scatter(
        name=f"{what}:{series.drafter}",
        x=[row.budget for row in series.rows],
        y=values if second else [row.tps for row in series.rows],
        xaxis="x2" if second else "x",
        yaxis="y2" if second else "y",
        mode="lines+markers",
        line={"color": colour, "width": 2.5 if not second else 2, "dash": DASHES[i % len(DASHES)]},
        marker={
            "size": 8,
            "color": colour,
            "symbol": [f"{symbol}-open" if row.extrapolated else symbol for row in series.rows],
            "line": {"width": 2, "color": colour},
        },
        cliponaxis=False,
        customdata=[[row.drafter, row.budget] for row in series.rows],
        hovertext=list(series.hover),
        hoverinfo="text",
        **keep_look(),
    )


def _losses(series: Series, theme: Theme, i: int) -> go.Scatter:
    """Median loss over the windows that got slower."""
    colour = theme.role("rejected")
    return go.Scatter(
        name=f"loss:{series.drafter}",
        x=[row.budget for row in series.rows],
        y=[row.median_loss for row in series.rows],
        xaxis="x2",
        yaxis="y2",
        mode="lines+markers",
        line={"color": colour, "width": 1.5, "dash": DASHES[(i + 1) % len(DASHES)]},
        marker={"size": 6, "color": colour, "symbol": "x-thin-open", "line": {"width": 1.5, "color": colour}},
        cliponaxis=False,
        customdata=[[row.drafter, row.budget] for row in series.rows],
        hovertext=list(series.hover),
        hoverinfo="text",
        **keep_look(),
    )


def _sd_curve(drafter: str, points: Sequence[tuple[int, float]], theme: Theme) -> go.Scatter:
    colour = theme.method("sd")
    return go.Scatter(
        name=f"sd:{drafter}",
        x=[x for x, _ in points],
        y=[tps for _, tps in points],
        mode="lines+markers",
        line={"color": colour, "width": 1.5},
        marker={"size": 6, "color": colour},
        hovertext=[f"<b>SD K = {x + 1}</b>, {label(drafter)}<br>{numbers.tps(tps)}" for x, tps in points],
        hoverinfo="text",
        **keep_look(),
    )


def _ring(row: BudgetRow, theme: Theme) -> list[go.Scatter]:
    """The selected pair: an outline in the text colour in both panels."""
    marker = {"symbol": "circle-open", "size": 16, "color": theme.text, "line": {"width": 2, "color": theme.text}}
    common = {
        "name": "selected",
        "x": [row.budget],
        "mode": "markers",
        "marker": marker,
        "hoverinfo": "skip",
        **keep_look(),
    }
    rings = [go.Scatter(y=[row.tps], **common)]
    if row.slower_share is not None:
        rings.append(go.Scatter(y=[row.slower_share * 100], xaxis="x2", yaxis="y2", **common))
    return rings


def _layout(info: BudgetsInfo, theme: Theme) -> dict[str, object]:
    low, high = _tps_range(info)
    budgets = info.budgets
    edge = (budgets[0] - 0.5, budgets[-1] + 0.5)
    ticks = {"tickvals": list(budgets), "range": list(edge), "fixedrange": True, "showgrid": False}
    rows = [row for s in (*info.series, *info.base) for row in s.rows]
    shares = [v for row in rows for v in ((row.slower_share or 0) * 100, row.median_loss or 0)]
    return {
        **base_layout(theme),
        "height": HEIGHT_PX,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        "dragmode": False,
        "xaxis": axis(theme, f"budget b (SD: K {numbers.MINUS} 1)", domain=[0, SPLIT], anchor="y", **ticks),
        "yaxis": axis(theme, "pooled TPS (tok/s)", range=[low, high], fixedrange=True, tickformat=",~f"),
        "xaxis2": axis(theme, "budget b", domain=[SECOND, 1], anchor="y2", **{**ticks, **_sparse(budgets)}),
        "yaxis2": axis(
            theme,
            range=[0, max(*shares, 1.0) * 1.12],
            anchor="x2",
            fixedrange=True,
            tickformat=",~f",
        ),
        "shapes": _lines(info, theme, edge),
        "annotations": _labels(info, theme, low, high),
    }


def _sparse(budgets: Sequence[int]) -> dict[str, object]:
    """Fewer ticks for the narrow panel."""
    step = -(-len(budgets) // 8)
    return {"tickvals": list(budgets[::step])}


def _tps_range(info: BudgetsInfo) -> tuple[float, float]:
    """The range that shows every mark; it starts at 0 only where that costs no more than a third of the height."""
    values = [
        v
        for s in (*info.series, *info.base)
        for row in s.rows
        for v in (row.tps, row.tps_low, row.tps_high)
        if v is not None
    ]
    values += [level.tps for level in info.levels] + [tps for _, points in info.sd for _, tps in points]
    low, high = min(values), max(values)
    room = (high - low) * 0.07 or high * 0.05
    return (0.0 if low < high / 3 else low - room), high + room


def _lines(info: BudgetsInfo, theme: Theme, edge: tuple[float, float]) -> list[dict[str, object]]:
    styles = {
        "oracle": {"color": theme.role("reference"), "width": 1.5, "dash": "dash"},
        "target-only": {"color": theme.method("target-only"), "width": 2},
        "sd": {"color": theme.method("sd"), "width": 1, "dash": "dot"},
    }
    shapes: list[dict[str, object]] = [
        {"type": "line", "x0": edge[0], "x1": edge[1], "y0": level.tps, "y1": level.tps}
        | {"line": styles[level.kind], "layer": "below"}
        for level in info.levels
    ]
    if info.among is not None:
        low, high = info.among
        for x, y in (("x", "y domain"), ("x2", "y2 domain")):
            shapes.append(
                {"type": "rect", "xref": x, "yref": y, "x0": low - 0.5, "x1": high + 0.5, "y0": 0, "y1": 1}
                | {"line": {"width": 1.5, "color": theme.text, "dash": "dot"}, "layer": "below"}
            )
    for budget in info.not_feasible:
        for x, y in (("x", "y domain"), ("x2", "y2 domain")):
            shapes.append(
                {"type": "rect", "xref": x, "yref": y, "x0": budget - 0.5, "x1": budget + 0.5, "y0": 0, "y1": 1}
                | {"fillcolor": faded(theme.role("retired"), 0.35), "line": {"width": 0}, "layer": "below"}
            )
    return shapes


def _labels(info: BudgetsInfo, theme: Theme, low: float, high: float) -> list[dict[str, object]]:
    """Names at the right end of every line, moved apart where they would overlap."""
    colours = {"oracle": theme.text, "target-only": theme.method("target-only"), "sd": theme.method("sd")}
    entries = [(level.tps, level.name, colours[level.kind]) for level in info.levels]
    entries += [(s.rows[-1].tps or 0.0, f"As²d {s.drafter}", theme.method("as2d")) for s in info.series]
    entries += [(s.rows[-1].tps or 0.0, "as measured", theme.muted) for s in info.base[:1]]
    gap = (high - low) / (HEIGHT_PX - TOP_PX - BOTTOM_PX) * (SMALL_PX + 5)
    places = spread([y for y, _, _ in entries], gap)
    out = [
        caption(theme, label(name, 24), xref="paper", x=SPLIT, xshift=6, xanchor="left", y=y, yanchor="middle")
        | {"font": {"size": SMALL_PX, "color": colour}}
        for y, (_, name, colour) in zip(places, entries, strict=True)
    ]
    out += [caption(theme, numbers.NA, x=b, yref="y domain", y=0.02, yanchor="bottom") for b in info.not_feasible]
    above = {"xref": "paper", "yref": "paper", "xanchor": "left", "y": 1, "yanchor": "bottom", "yshift": 6}
    if any(row.extrapolated for s in info.series for row in s.rows):
        out.append(caption(theme, "hollow: extrapolated width", x=0, **above))
    loss = f"<span style='color:{theme.role('rejected')}'><b>×</b> median loss</span>"
    share = f"<span style='color:{theme.method('as2d')}'>●</span> share"
    said = f"slower windows (%): {share}, {loss}"
    out.append(caption(theme, said, **{**above, "x": 1, "xanchor": "right"}))
    return out
