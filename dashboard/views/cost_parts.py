"""What does a token cost under each setting? T = D + V - O + H as four disjoint parts, in ms a committed token."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.run_groups import RunGroup
from dashboard.views.runs import tokens
from dashboard.views.text import label
from dashboard.views.theme import FONT_PX, Theme, axis, base_layout, caption, empty_layout, faded

PARTS = ("target alone", "both", "drafter alone", "neither")
"""V - O, O, D - O and H: together they are T."""
ROW_PX = 36
MOST_DRAWN = 24
"""Bars of the figure; the table holds all of them."""


@dataclass(frozen=True, slots=True)
class CostRow:
    """Times of one setting in ms a committed token; ``None`` where no finished run has an account."""

    name: str
    runs: int
    draft: float | None
    verify: float | None
    overlap: float | None
    idle: float | None

    @property
    def total(self) -> float | None:
        """T."""
        known = None not in (self.draft, self.verify, self.overlap, self.idle)
        return self.draft + self.verify - self.overlap + self.idle if known else None

    @property
    def parts(self) -> tuple[float, ...] | None:
        """In the order of ``PARTS``."""
        if self.total is None:
            return None
        return self.verify - self.overlap, self.overlap, self.draft - self.overlap, self.idle


def cost_rows(groups: Sequence[RunGroup]) -> tuple[CostRow, ...]:
    """Account for every setting over its finished runs, in the given order."""
    return tuple(_row(group) for group in groups)


def _row(group: RunGroup) -> CostRow:
    names = ("draft_ns", "verify_ns", "overlap_ns", "idle_ns")
    known = [row for row in group.pooled if all(row.get(name) is not None for name in names)]
    committed = sum(tokens(row) or 0 for row in known)
    if not committed:
        return CostRow(group.name, 0, None, None, None, None)
    return CostRow(group.name, len(known), *(sum(row[name] for row in known) / 1e6 / committed for name in names))


def cost_table(rows: Sequence[CostRow]) -> pd.DataFrame:
    """The figures as text."""
    return pd.DataFrame(
        {
            "Setting": [row.name for row in rows],
            "T a token": [numbers.duration(row.total) for row in rows],
            "D": [numbers.duration(row.draft) for row in rows],
            "V": [numbers.duration(row.verify) for row in rows],
            "O": [numbers.duration(row.overlap) for row in rows],
            "H": [numbers.duration(row.idle) for row in rows],
            "Drafting hidden": [
                numbers.NA if not row.draft or row.overlap is None else numbers.share(row.overlap / row.draft)
                for row in rows
            ],
            "Runs": [numbers.sample_size(row.runs) for row in rows],
        }
    )


def cost_figure(rows: Sequence[CostRow], theme: Theme) -> go.Figure:
    """One stacked bar a setting."""
    drawn = [row for row in rows if row.parts is not None][:MOST_DRAWN]
    if not drawn:
        return go.Figure(layout=empty_layout(theme, "No finished run has an account of its time."))
    places = list(range(len(drawn)))[::-1]
    figure = go.Figure()
    begins = [0.0] * len(drawn)
    for number, part in enumerate(PARTS):
        lengths = [max(row.parts[number], 0.0) for row in drawn]
        figure.add_trace(
            go.Bar(
                name=part,
                orientation="h",
                y=places,
                x=lengths,
                base=list(begins),
                width=[0.6] * len(drawn),
                marker=_marker(theme, part),
                hovertext=[
                    f"<b>{label(row.name)}</b><br>{part}: {numbers.duration(length)} a token "
                    f"({numbers.share(length / row.total)})"
                    for row, length in zip(drawn, lengths, strict=True)
                ],
                hoverinfo="text",
            )
        )
        begins = [begin + length for begin, length in zip(begins, lengths, strict=True)]
    left = min(max(90, round(7.5 * max(len(row.name) for row in drawn)) + 20), 300)
    notes = [
        caption(
            theme, f"T = {numbers.duration(row.total)}   {numbers.sample_size(row.runs)}",
            x=end, xshift=8, xanchor="left", y=y,
        )
        for row, end, y in zip(drawn, begins, places, strict=True)
    ]  # fmt: skip
    figure.update_layout(
        {
            **base_layout(theme),
            "height": ROW_PX * len(drawn) + 110,
            "margin": {"l": left, "r": 150, "t": 34, "b": 54},
            "showlegend": True,
            "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"size": 12}},
            "xaxis": axis(theme, "time a committed token (ms)", rangemode="tozero", fixedrange=True),
            "yaxis": axis(
                theme, range=[-0.6, len(drawn) - 0.4], fixedrange=True, showgrid=False, tickvals=places,
                ticktext=[label(row.name, 42) for row in drawn], tickfont={"color": theme.text, "size": FONT_PX},
                automargin=False,
            ),
            "annotations": notes,
            "dragmode": False,
        }
    )  # fmt: skip
    return figure


def _marker(theme: Theme, part: str) -> dict[str, object]:
    colours = {
        "target alone": theme.role("target"),
        "both": theme.role("target"),
        "drafter alone": theme.role("drafter"),
        "neither": theme.role("retired"),
    }
    marker: dict[str, object] = {"color": colours[part], "line": {"width": 0}}
    if part == "both":
        stripes = {"shape": "/", "fgcolor": theme.role("drafter"), "size": 7, "solidity": 0.4, "fillmode": "overlay"}
        marker["pattern"] = stripes
    if part == "neither":
        dots = {"shape": ".", "fgcolor": faded(theme.background, 0.6), "size": 5, "fillmode": "overlay"}
        marker["pattern"] = dots
    return marker
