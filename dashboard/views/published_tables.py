"""How do our figures compare with the paper's tables? Cell by cell, with why they differ where that is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from as2d_core.published.comparison import ComparedCell, ComparedTable
from dashboard.views import numbers
from dashboard.views.text import element, escape, label, lines, paragraph
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, empty_layout, faded

OVERVIEW_ROW_PX, DEVIATIONS_PX = 34, 300
NEAR = 5.0
"""Percent within which a cell counts as near."""
FIRST_WITH_METHODS = "8"
SOLVED_METHOD = "target_only"
"""Tokens and steps of the corpus were solved from these rows: they agree by construction and prove nothing."""


def table_name(compared: ComparedTable) -> str:
    """``Table 8``, ``Section D.5``."""
    number = compared.table.id
    return f"Table {number}" if number.isdecimal() else f"Section {number}"


def kind_of(item: ComparedCell) -> str:
    """What our figure is: ``solved`` where the printed one went into it, else ``replayed``."""
    key = item.cell.key
    return "solved" if key.method == SOLVED_METHOD and key.quantity == "tps" else "replayed"


def in_points(compared: ComparedTable, item: ComparedCell) -> bool:
    """Whether a figure is itself a percentage, so that its difference is one of points."""
    return "%" in compared.table.unit or "%" in item.cell.row or "%" in item.cell.column


@dataclass(frozen=True, slots=True)
class TableSummary:
    """One table in short."""

    id: str
    name: str
    title: str
    cells: int
    agree: int
    near: int
    """Cells within ``NEAR`` percent, agreeing ones included."""
    missing: int
    median_percent: float | None
    """Median of the absolute deviations, percent of the printed figure."""
    largest: ComparedCell | None


def table_summary(compared: ComparedTable) -> TableSummary:
    """Count a table's cells."""
    known = [item for item in compared.cells if item.deviation_percent is not None]
    sizes = [abs(item.deviation_percent or 0.0) for item in known]
    return TableSummary(
        compared.table.id,
        table_name(compared),
        compared.table.title,
        len(compared.cells),
        sum(item.verdict == "agrees" for item in compared.cells),
        sum(item.verdict == "agrees" or abs(item.deviation_percent or 1e9) <= NEAR for item in compared.cells),
        sum(item.replayed is None for item in compared.cells),
        median(sizes) if sizes else None,
        max(known, key=lambda item: abs(item.deviation_percent or 0.0), default=None),
    )


def tables_sentence(tables: Sequence[ComparedTable]) -> str:
    """All tables in one sentence."""
    found = [table_summary(compared) for compared in tables]
    cells = sum(item.cells for item in found)
    missing = sum(item.missing for item in found)
    return (
        f"{sum(item.agree for item in found)} of {cells} cells agree to the printed digit, "
        f"{sum(item.near for item in found)} lie within {NEAR:g} %, {cells - sum(item.near for item in found)} do not"
        + (f"; {numbers.counted(missing, 'cell')} could not be replayed." if missing else ".")
    )


def summary_table(tables: Sequence[ComparedTable]) -> pd.DataFrame:
    """One row a table."""
    found = [table_summary(compared) for compared in tables]
    return pd.DataFrame(
        [
            {
                "Table": item.name,
                "What": item.title,
                "Cells": item.cells,
                "Agree": item.agree,
                f"Within {NEAR:g} %": item.near,
                "n/a": item.missing,
                "Median off (%)": item.median_percent,
                "Largest off": _largest(item),
            }
            for item in found
        ]
    )


def summary_texts(tables: Sequence[ComparedTable]) -> pd.DataFrame:
    """The same as a page shows it; a column of nothing but zeros says nothing."""
    table = summary_table(tables)
    off = [numbers.percent(value) for value in table["Median off (%)"]]
    shown = table.assign(**{"Median off (%)": off}).rename(columns={"Median off (%)": "Median off"})
    return shown if shown["n/a"].any() else shown.drop(columns="n/a")


def _largest(item: TableSummary) -> str:
    if item.largest is None:
        return numbers.NA
    cell = item.largest
    return f"{numbers.signed_percent(cell.deviation_percent)} ({cell.cell.row}, {cell.cell.column})"


def overview_figure(tables: Sequence[ComparedTable], theme: Theme) -> go.Figure:
    """Deviation of every cell, one line a table; a click gives ``customdata = [table id]``."""
    if not tables:
        return go.Figure(layout=empty_layout(theme, "No table was compared."))
    figure = go.Figure(layout=base_layout(theme))
    names = [table_name(compared) for compared in tables]
    figure.add_vrect(x0=-NEAR, x1=NEAR, fillcolor=faded(theme.role("target"), 0.1), line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": theme.role("reference"), "dash": "dash", "width": 1}, layer="below")
    for kind, symbol, colour in (("replayed", "circle", theme.role("target")), ("solved", "square", theme.muted)):
        rows = [
            (place, count, len(compared.cells), compared, item)
            for place, compared in enumerate(tables)
            for count, item in enumerate(compared.cells)
            if kind_of(item) == kind and item.deviation_percent is not None
        ]
        figure.add_scatter(
            name=kind,
            x=[item.deviation_percent for *_, item in rows],
            y=[place + 0.6 * ((count + 0.5) / total - 0.5) for place, count, total, _, _ in rows],
            mode="markers",
            marker={"size": 6, "symbol": symbol, "color": faded(colour, 0.7), "line": {"width": 0}},
            customdata=[[compared.table.id] for _, _, _, compared, _ in rows],
            hovertext=[_hover(compared, item) for _, _, _, compared, item in rows],
            hoverinfo="text",
        )
    figure.update_layout(
        height=90 + OVERVIEW_ROW_PX * len(tables),
        showlegend=True,
        legend=_legend(theme),
        margin={"l": 110, "r": 24, "t": 30, "b": 48},
        xaxis=axis(theme, "ours against the printed figure (%)", tickformat="~g"),
        yaxis=axis(
            theme, tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.5, -0.5], showgrid=False
        ),
    )
    return figure


def _legend(theme: Theme) -> dict[str, object]:
    font = {"size": SMALL_PX, "color": theme.text}
    place = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"}
    return {**place, "font": font, "itemclick": False, "itemdoubleclick": False}


def _hover(compared: ComparedTable, item: ComparedCell) -> str:
    return lines(
        [
            f"<b>{label(item.cell.row)}, {label(item.cell.column)}</b> ({table_name(compared)})",
            f"{label(item.cell.printed)} published, {_ours(item)} {kind_of(item)}: {difference(compared, item)}",
            paragraph(item.why),
        ]
    )


def deviations_figure(compared: ComparedTable, theme: Theme) -> go.Figure:
    """How far every cell is off against the printed figure; in the band it is 5 % of it at most."""
    known = [item for item in compared.cells if item.deviation_percent is not None]
    if not known:
        return go.Figure(layout=empty_layout(theme, "No cell of this table could be replayed."))
    figure = go.Figure(layout=base_layout(theme))
    figure.add_hrect(y0=-NEAR, y1=NEAR, fillcolor=faded(theme.role("target"), 0.1), line_width=0, layer="below")
    figure.add_hline(y=0, line={"color": theme.role("reference"), "dash": "dash", "width": 1}, layer="below")
    colour = theme.role("target")
    for verdict, symbol in (("agrees", "circle"), ("differs", "circle-open")):
        rows = [item for item in known if item.verdict == verdict]
        figure.add_scatter(
            name=f"{verdict}: {len(rows)}",
            x=[item.published for item in rows],
            y=[item.deviation_percent for item in rows],
            mode="markers",
            marker={"size": 8, "symbol": symbol, "color": colour, "line": {"width": 1.5, "color": colour}},
            hovertext=[_hover(compared, item) for item in rows],
            hoverinfo="text",
        )
    figure.update_layout(
        height=DEVIATIONS_PX,
        showlegend=True,
        legend=_legend(theme),
        margin={"l": 64, "r": 24, "t": 30, "b": 48},
        xaxis=axis(theme, f"published ({compared.table.unit or 'as printed'})", rangemode="tozero"),
        yaxis=axis(theme, "ours against it (%)", tickformat="~g"),
    )
    return figure


def difference(compared: ComparedTable, item: ComparedCell) -> str:
    """How far ours is off: in percent of the printed figure, or in points where that is a percentage itself."""
    if item.deviation is None:
        return numbers.NA
    if in_points(compared, item):
        digits = max(len(item.cell.printed.partition(".")[2]), 1)
        return f"{numbers.decimals(item.deviation, digits, signed=True)} points"
    if item.deviation_percent is None:  # the printed figure is 0
        return numbers.decimals(item.deviation, 0, signed=True)
    return numbers.signed_percent(item.deviation_percent)


def _ours(item: ComparedCell) -> str:
    digits = len(item.cell.printed.partition(".")[2])
    return numbers.decimals(item.replayed, digits)


def reasons_of(compared: ComparedTable) -> tuple[str, ...]:
    """Every reason of a table once, in the order of its cells; their numbers are their places."""
    return tuple(dict.fromkeys(sentence for item in compared.cells for sentence in item.reasons))


def table_html(compared: ComparedTable, only_differing: bool = False) -> str:
    """The paper's table with ours below each figure: published, ours with its difference, and why by number."""
    places = {sentence: i for i, sentence in enumerate(reasons_of(compared), 1)}
    cells: Mapping[tuple[str, str], ComparedCell] = {(i.cell.row, i.cell.column): i for i in compared.cells}
    head = element("tr", "".join(element("th", escape(name)) for name in ("", *compared.table.columns)))
    body = []
    for row in compared.table.rows:
        found = [cells.get((row, column)) for column in compared.table.columns]
        if only_differing and all(item is None or item.verdict == "agrees" for item in found):
            continue
        shown = "".join(_cell(compared, item, places, only_differing) for item in found)
        body.append(element("tr", element("th", escape(row)) + shown))
    table = element("table", element("thead", head) + element("tbody", "".join(body)), class_="paper")
    return element("div", table, class_="wide")


def _cell(compared: ComparedTable, item: ComparedCell | None, places: Mapping[str, int], only_differing: bool) -> str:
    if item is None or (only_differing and item.verdict == "agrees"):
        return element("td", "")
    why = ", ".join(map(str, sorted(places[sentence] for sentence in item.reasons)))
    note = "" if not why else element("sup", escape(f" {why}"))
    parts = [
        element("div", element("b", escape(item.cell.printed))),
        element("div", escape(_ours(item)) + element("span", escape(f" {kind_of(item)}"), class_="whose")),
        element("div", escape("as printed" if item.verdict == "agrees" else difference(compared, item)) + note),
    ]
    return element("td", "".join(parts), title=item.why or "agrees to the printed digit")


def cells_table(tables: Sequence[ComparedTable], only_differing: bool = False) -> pd.DataFrame:
    """One row a cell, for sorting and for export."""
    columns = ["Table", "Row", "Column", "Published", "Ours", "Ours is", "Off by", "Off by (%)", "Verdict", "Why"]
    return pd.DataFrame(
        [
            (
                table_name(compared),
                item.cell.row,
                item.cell.column,
                item.cell.printed,
                item.replayed,
                kind_of(item),
                item.deviation,
                item.deviation_percent,
                item.verdict,
                item.why,
            )
            for compared in tables
            for item in compared.cells
            if not (only_differing and item.verdict == "agrees")
        ],
        columns=columns,
    )


@dataclass(frozen=True, slots=True)
class Headline:
    """One device's pooled TPS by method."""

    device: str
    kind: str
    """``published``, ``replayed``, ``measured``, or ``measured, virtual``."""
    windows: int | None
    tps: Mapping[str, float | None]
    """By method; ``None`` = n/a."""


_ROWS = {"Target-only": "target-only", "Standard SD": "sd", "SpecASR": "specasr", "As²d": "as2d"}


HEADLINE_FORMATS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("Target-only", "SD", "SpecASR", "As²d"), numbers.tps),
    "As²d over target-only (%)": partial(numbers.decimals, digits=1, signed=True),
}
HEADLINE_HELP: Mapping[str, str] = {
    "Target-only": "Of replays: agrees by construction, the corpus was solved from these figures.",
    "SD": "Mean over its widths; the paper's and the replayed ones: K = 5 to 8.",
    "Windows": "Measured: those that every method of the device ran to its end.",
}


def headlines(tables: Sequence[ComparedTable]) -> list[Headline]:
    """All five datasets of Table 8 by phone, printed and replayed; empty when that table was not compared."""
    compared = next((item for item in tables if item.table.id == FIRST_WITH_METHODS), None)
    if compared is None:
        return []
    found: dict[str, dict[str, ComparedCell]] = {}
    for item in compared.cells:
        phone, _, method = item.cell.row.partition(": ")
        if item.cell.column == "All five" and method in _ROWS:
            found.setdefault(phone, {})[_ROWS[method]] = item
    out = []
    for phone, cells in found.items():
        out.append(Headline(phone, "published", 688, {name: item.published for name, item in cells.items()}))
        out.append(Headline(phone, "replayed", 688, {name: item.replayed for name, item in cells.items()}))
    return out


def headline_table(rows: Sequence[Headline]) -> pd.DataFrame:
    """One row a device and kind of figure, with what As²d gains over target-only."""
    names = {"target-only": "Target-only", "sd": "SD", "specasr": "SpecASR", "as2d": "As²d"}
    out = []
    for row in rows:
        alone, ours = row.tps.get("target-only"), row.tps.get("as2d")
        gain = None if not alone or ours is None else (ours / alone - 1) * 100
        out.append(
            {"Device": row.device, "Figures": row.kind, "Windows": row.windows}
            | {shown: row.tps.get(name) for name, shown in names.items()}
            | {"As²d over target-only (%)": gain}
        )
    return pd.DataFrame(out)
