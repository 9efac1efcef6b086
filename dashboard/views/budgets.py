"""Which budget is fastest, and what does it cost? Pooled TPS and slowdowns against budget b, with all baselines."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from as2d_core.replay.budgets import BudgetRow, BudgetTable
from as2d_core.replay.pooling import Interval
from dashboard.views import numbers
from dashboard.views.labels import spread
from dashboard.views.text import label, lines
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, faded, keep_look

HEIGHT_PX, TOP_PX, BOTTOM_PX, LEFT_PX, RIGHT_PX = 400, 28, 54, 66, 24
SPLIT = 0.56
"""Right end of the TPS panel as a share of the figure; the slowdown panel begins after its labels."""
SECOND = 0.76
DASHES = ("solid", "dot", "dashdot", "longdash", "dash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


@dataclass(frozen=True, slots=True)
class Series:
    """One drafter under every budget that can run."""

    drafter: str
    rows: tuple[BudgetRow, ...]
    """Feasible budgets only, rising."""
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal reference line."""

    name: str
    kind: str
    """``oracle``, ``target-only`` or ``sd``."""
    tps: float


@dataclass(frozen=True, slots=True)
class BudgetsInfo:
    """A budget table, ready to be drawn."""

    corpus: str
    profile: str
    label: str
    windows: int
    series: tuple[Series, ...]
    levels: tuple[Level, ...]
    sd: tuple[tuple[str, tuple[tuple[int, float], ...]], ...]
    """For each drafter, standard SD as (K - 1, TPS): as many candidates as a budget of that size."""
    not_feasible: tuple[int, ...]
    """Budgets that cannot run on this profile with any drafter."""
    selected: BudgetRow | None
    sentence: str
    """What the selected pair achieves (plain text)."""
    notes: tuple[str, ...]
    empty: str | None = None

    @property
    def budgets(self) -> tuple[int, ...]:
        """All budgets on the x axis."""
        return tuple(sorted({row.budget for s in self.series for row in s.rows} | set(self.not_feasible)))


def budgets_info(
    table: BudgetTable, selected: tuple[str, int] | None = None, gap_interval: Interval | None = None
) -> BudgetsInfo:
    """Prepare a budget table.

    Args:
        table: every fixed pair of one corpus on one profile.
        selected: (drafter, budget) to point out; ``None``: the fastest.
        gap_interval: 95 % interval of the selected pair's gap in percent, where it was computed.
    """
    names = tuple(dict.fromkeys(row.drafter for row in table.rows))
    series = tuple(_series(table, name) for name in names)
    series = tuple(s for s in series if s.rows)
    chosen = (
        table.best
        if selected is None
        else next((row for row in table.rows if (row.drafter, row.budget) == selected), None)
    )
    runnable = {row.budget for s in series for row in s.rows}
    levels = [Level(f"oracle {table.oracle_tps:.2f}", "oracle", table.oracle_tps)] if table.oracle_tps else []
    if table.target_only_tps:
        levels.append(Level(f"target-only {table.target_only_tps:.2f}", "target-only", table.target_only_tps))
    for mean in table.sd_means:
        if mean.tps is not None:
            name = f" {mean.drafter}" if len(names) > 1 else ""
            span = f"K = {min(mean.widths)} to {max(mean.widths)}"
            levels.append(Level(f"SD{name} {span}: {mean.tps:.2f}", "sd", mean.tps))
    return BudgetsInfo(
        corpus=table.corpus,
        profile=table.profile,
        label=table.label,
        windows=table.windows,
        series=series,
        levels=tuple(levels),
        sd=tuple((name, _sd(table, name)) for name in names),
        not_feasible=tuple(sorted({row.budget for row in table.rows} - runnable)),
        selected=chosen,
        sentence=_sentence(chosen, gap_interval),
        notes=_notes(table, runnable),
        empty=None if series else "No budget can run on this profile: it has no cost for the widths they need.",
    )


def _series(table: BudgetTable, drafter: str) -> Series:
    rows = tuple(row for row in table.rows if row.drafter == drafter and row.tps is not None)
    return Series(drafter, rows, tuple(_hover(row, table.windows) for row in rows))


def _hover(row: BudgetRow, windows: int) -> str:
    interval = ""
    if row.tps_low is not None and row.tps_high is not None:
        interval = f" [{row.tps_low:.2f}, {row.tps_high:.2f}]"
    slower = f"{numbers.count(row.slower_windows)} of {windows:,} windows slower ({numbers.share(row.slower_share)})"
    loss = "" if row.median_loss is None else f"median loss {row.median_loss:.1f} %"
    return lines(
        [
            f"<b>{label(row.drafter)}, b = {row.budget}</b>",
            f"{numbers.tps(row.tps)}{interval}",
            numbers.against_target_only(row.gain),
            f"gap to the oracle {_percent(row.gap)}",
            f"{slower}, {loss}" if loss else slower,
            f"accepted {numbers.part(row.accepted, row.proposed)}" if row.proposed else "",
            "uses a width whose cost is extrapolated" if row.extrapolated else "",
            f"the first drafter stands in on {numbers.counted(row.fallback_windows, 'window')}"
            if row.fallback_windows
            else "",
        ]
    )


def _percent(value: float | None, interval: Interval | None = None) -> str:
    """A percentage without a sign, with its interval."""
    if numbers.missing(value):
        return numbers.NA
    return f"{value:.1f} %" + ("" if interval is None else f" [{interval.low:.1f}, {interval.high:.1f}]")


def _sd(table: BudgetTable, drafter: str) -> tuple[tuple[int, float], ...]:
    found = [(row.width - 1, row.tps) for row in table.sd_rows if row.drafter == drafter and row.tps is not None]
    return tuple(sorted(found))


def _sentence(row: BudgetRow | None, gap: Interval | None) -> str:
    if row is None:
        return "Nothing is selected."
    name = f"selected {row.drafter}, b = {row.budget}: "
    if row.tps is None:
        return f"{name}{numbers.NA}, this pair cannot run on every window of this profile."
    loss = "" if row.median_loss is None else f" (median loss {row.median_loss:.0f} %)"
    parts = [
        numbers.tps(row.tps),
        f"gap to the oracle {_percent(row.gap, gap)}",
        f"{numbers.share(row.slower_share)} of windows slower than target-only{loss}",
    ]
    return name + ", ".join(parts)


def _notes(table: BudgetTable, runnable: set[int]) -> tuple[str, ...]:
    notes = []
    if any(row.extrapolated for row in table.rows):
        notes.append("Hollow marks use a width whose cost was not measured on this device.")
    missing = sorted({row.budget for row in table.rows} - runnable)
    if missing:
        shown = ", ".join(str(b) for b in missing)
        notes.append(f"Not feasible on this profile: b = {shown} (a width without a cost is excluded, never guessed).")
    widths = sorted({width for mean in table.sd_means if mean.tps is not None for width in mean.widths})
    if widths:
        notes.append(f"SD, dotted: the mean of the pooled TPS at K = {widths[0]} to {widths[-1]}.")
    if table.windows < 2:
        notes.append("One window has no interval.")
    if table.label == "synthetic":
        notes.append("The tokens are synthetic; nobody said them.")
    return tuple(notes)


def budgets_figure(info: BudgetsInfo, theme: Theme) -> go.Figure:
    """TPS against budget with its band and baselines; beside it the share of windows that got slower.

    A click gives ``customdata = (drafter, budget)``.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    figure = go.Figure()
    for i, series in enumerate(info.series):
        figure.add_traces(_band(series, theme))
        figure.add_trace(_curve(series, theme, i, "tps"))
        figure.add_trace(_curve(series, theme, i, "slower"))
    figure.add_traces([_sd_curve(name, points, theme) for name, points in info.sd if points])
    if info.selected is not None and info.selected.tps is not None:
        figure.add_traces(_ring(info.selected, theme))
    figure.update_layout(_layout(info, theme))
    return figure


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
    shares = [(row.slower_share or 0) * 100 for s in info.series for row in s.rows]
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
    values = [v for s in info.series for row in s.rows for v in (row.tps, row.tps_low, row.tps_high) if v is not None]
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
    out.append(caption(theme, "windows slower than target-only (%)", x=SECOND, xshift=-24, **above))
    return out
