"""Do the paper's figures follow from each other? The ledger as a figure and a table."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from as2d_core.published.ledger import VERDICTS, Recomputed
from dashboard.views import numbers
from dashboard.views.text import label, lines, paragraph
from dashboard.views.theme import Theme, axis, base_layout, caption, empty_layout, faded

HEIGHT_PX = 260
EXACT, ROUNDED, DIFFERS = VERDICTS
_MARKS = {EXACT: ("circle", "target"), ROUNDED: ("diamond-open", "drafter"), DIFFERS: ("x", "rejected")}


@dataclass(frozen=True, slots=True)
class LedgerInfo:
    """All figures that follow from others."""

    figures: tuple[Recomputed, ...]
    counts: dict[str, int]
    sentence: str

    @property
    def not_exact(self) -> tuple[Recomputed, ...]:
        """Those that do not come out as printed."""
        return tuple(found for found in self.figures if found.verdict != EXACT)


def ledger_info(figures: Sequence[Recomputed]) -> LedgerInfo:
    """Count the verdicts."""
    counts = Counter(found.verdict for found in figures)
    good = counts[EXACT] + counts[ROUNDED]
    sentence = (
        f"{good} of {len(figures)} published figures that follow from others do: {counts[EXACT]} come out as printed, "
        f"{counts[ROUNDED]} within the rounding of the figures that they are made of, "
        + (f"{counts[DIFFERS]} contradict them." if counts[DIFFERS] else "none contradicts them.")
    )
    return LedgerInfo(tuple(figures), {name: counts[name] for name in VERDICTS}, sentence)


def ledger_figure(info: LedgerInfo, theme: Theme) -> go.Figure:
    """Deviation of every figure in halves of its last printed digit; inside the band it comes out as printed."""
    if not info.figures:
        return go.Figure(layout=empty_layout(theme, "The ledger is empty."))
    figure = go.Figure(layout=base_layout(theme))
    figure.add_hrect(y0=-1, y1=1, fillcolor=faded(theme.role("target"), 0.12), line_width=0, layer="below")
    for verdict in VERDICTS:
        found = [(i, item) for i, item in enumerate(info.figures) if item.verdict == verdict]
        symbol, role = _MARKS[verdict]
        if found:
            figure.add_scatter(
                name=f"{verdict}: {len(found)}",
                x=[i + 1 for i, _ in found],
                y=[in_half_units(item) for _, item in found],
                mode="markers",
                marker={
                    "size": 7,
                    "symbol": symbol,
                    "color": theme.role(role),
                    "line": {"width": 1, "color": theme.role(role)},
                },
                hovertext=[_hover(item) for _, item in found],
                hoverinfo="text",
            )
    figure.add_annotation(caption(theme, "as printed", x=1, xref="paper", xanchor="right", y=1, yanchor="bottom"))
    figure.update_layout(
        height=HEIGHT_PX,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
        margin={"l": 64, "r": 24, "t": 34, "b": 48},
        xaxis=axis(
            theme, "figure (in the order of the paper's arguments)", showgrid=False, range=[0, len(info.figures) + 1]
        ),
        yaxis=axis(theme, "off (halves of the last digit)", tickformat="~g"),
    )
    return figure


def in_half_units(item: Recomputed) -> float:
    """Deviation over half a unit of the last printed digit; a count that is off by one is off by two halves."""
    return item.deviation / (item.figure.within or 0.5)


def _hover(item: Recomputed) -> str:
    return lines(
        [
            f"<b>{label(item.figure.name, 90)}</b>",
            f"{label(item.figure.where)}: {label(item.figure.published)} printed, "
            f"{numbers.general(item.value, 7)} recomputed",
            label(item.verdict),
            paragraph(item.why),
        ]
    )


def ledger_table(info: LedgerInfo, only_inexact: bool = False) -> pd.DataFrame:
    """One row a figure."""
    rows = info.not_exact if only_inexact else info.figures
    columns = ["Where", "Figure", "Published", "Recomputed", "Off by", "Verdict", "By", "Why not exact"]
    return pd.DataFrame(
        [
            (
                item.figure.where,
                item.figure.name,
                item.figure.published,
                float(f"{item.value:.7g}"),
                0.0 if abs(item.deviation) < 1e-9 else float(f"{item.deviation:.2g}"),
                item.verdict,
                item.figure.function or item.figure.formula,
                item.why,
            )
            for item in rows
        ],
        columns=columns,
    )


LEDGER_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "Recomputed": partial(numbers.general, digits=7),
    "Off by": partial(numbers.general, digits=2),
}
LEDGER_HELP = {
    "Published": "As printed.",
    "Recomputed": "From the other printed figures that it is made of.",
    "By": "This project's own accounting function where there is one, else the formula.",
    "Verdict": "exact: within half a unit of the last printed digit. within rounding: once the rounding of its inputs "
    "is carried through. differs: not even then.",
}


def counted(info: LedgerInfo) -> str:
    """The score in short (``190 of 190``)."""
    return f"{numbers.count(info.counts[EXACT] + info.counts[ROUNDED])} of {numbers.count(len(info.figures))}"
