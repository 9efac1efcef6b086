"""Did a setting become slower since it was measured before? TPS of every run over its date, and the newest day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.run_groups import RunGroup, Work, pooled_tps, work
from dashboard.views.runs import Row
from dashboard.views.text import label
from dashboard.views.theme import Theme, axis, base_layout, empty_layout
from dashboard.views.window_speed import DASHES

MOST_SERIES, MOST_POINTS = 9, 1_800
NOTABLE = 5.0
"""Percent of TPS from which a change is pointed out."""


@dataclass(frozen=True, slots=True)
class Series:
    """One setting on one device."""

    name: str
    method: str
    runs: tuple[tuple[datetime, float, str], ...]
    """Date, TPS and window of every finished run, the oldest first."""
    days: tuple[tuple[datetime, float], ...]
    """Noon of a day, and pooled TPS."""
    change: float | None
    """Percent of TPS of the newest day over the days before, on the windows that both have; ``None`` without any."""
    shared: int
    """Windows that the change rests on."""


@dataclass(frozen=True, slots=True)
class OverTimeInfo:
    """Settings with the most runs first."""

    series: tuple[Series, ...]
    empty: str | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What changed on the newest day."""
        out = []
        for item in self.series:
            if item.change is not None and abs(item.change) >= NOTABLE:
                was = "faster" if item.change > 0 else "slower"
                out.append(
                    f"{item.name} is {was} on its newest day: {numbers.signed_percent(item.change)} TPS on "
                    f"{numbers.counted(item.shared, 'window')} that ran before, too."
                )
        if not out and any(item.change is not None for item in self.series):
            out.append(f"On its newest day, no setting changed by {NOTABLE:g} % or more on windows that ran before.")
        return tuple(out)


def over_time_info(groups: Sequence[RunGroup]) -> OverTimeInfo:
    """Put the finished runs of every group in order of time; runs without a date are left out."""
    series = [found for group in groups if (found := _series(group)) is not None]
    series.sort(key=lambda item: -len(item.runs))
    if not any(len(item.days) > 1 for item in series):
        return OverTimeInfo(tuple(series[:MOST_SERIES]), "All of these runs are of one day; there is no trend to show.")
    return OverTimeInfo(tuple(series[:MOST_SERIES]))


def _series(group: RunGroup) -> Series | None:
    dated = [row for row in group.pooled if isinstance(row.get("created_at"), datetime)]
    if not dated:
        return None
    dated.sort(key=lambda row: row["created_at"])
    days: dict[str, list[Row]] = {}
    for row in dated:
        days.setdefault(f"{row['created_at']:%Y-%m-%d}", []).append(row)
    noons = tuple((datetime.fromisoformat(f"{day}T12:00:00"), pooled_tps(rows) or 0.0) for day, rows in days.items())
    runs = tuple((row["created_at"].replace(tzinfo=None), pooled_tps([row]) or 0.0, str(work(row)[0])) for row in dated)
    *before, newest = days.values()
    change, shared = _change([row for rows in before for row in rows], newest)
    return Series(group.name, group.method, runs, noons, change, shared)


def _change(before: Sequence[Row], newest: Sequence[Row]) -> tuple[float | None, int]:
    old: dict[Work, list[Row]] = {}
    new: dict[Work, list[Row]] = {}
    for found, rows in ((old, before), (new, newest)):
        for row in rows:
            found.setdefault(work(row), []).append(row)
    both = [key for key in new if key in old]
    if not both:
        return None, 0
    # One rate a window on each side: a window that ran often must not weigh more on one of them.
    ratios = [(pooled_tps(new[key]) or 0.0) / (pooled_tps(old[key]) or np.inf) for key in both]
    return float(np.median(ratios) - 1) * 100, len(both)


def over_time_figure(info: OverTimeInfo, theme: Theme) -> go.Figure:
    """Runs as dots, pooled days as lines."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    figure = go.Figure()
    total = sum(len(item.runs) for item in info.series)
    step = -(-total // MOST_POINTS)
    used: dict[str, int] = {}
    for item in info.series:
        colour = theme.method(item.method)
        dash = DASHES[used.get(item.method, 0) % len(DASHES)]
        used[item.method] = used.get(item.method, 0) + 1
        shown = item.runs[::step]
        figure.add_trace(
            go.Scatter(
                name=f"runs:{item.method}", legendgroup=item.name, showlegend=False, mode="markers",
                x=[when for when, _, _ in shown], y=[tps for _, tps, _ in shown],
                marker={"size": 4, "color": colour, "opacity": 0.35},
                hovertext=[
                    f"{label(item.name)}<br>{label(window)}, {numbers.moment(when)}: {numbers.tps(tps)}"
                    for when, tps, window in shown
                ],
                hoverinfo="text",
            )
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                name=label(item.name, 44), legendgroup=item.name, mode="lines+markers",
                x=[when for when, _ in item.days], y=[tps for _, tps in item.days],
                line={"color": colour, "width": 2, "dash": dash}, marker={"size": 8, "color": colour},
                hovertext=[
                    f"<b>{label(item.name)}</b><br>{when:%Y-%m-%d}: pooled {numbers.tps(tps)}"
                    for when, tps in item.days
                ],
                hoverinfo="text",
            )
        )  # fmt: skip
    rows = -(-len(info.series) // 2)
    figure.update_layout(
        {
            **base_layout(theme),
            "height": 330 + 20 * rows,
            "margin": {"l": 70, "r": 24, "t": 16, "b": 62 + 20 * rows},
            "showlegend": True,
            "legend": {
                "orientation": "h", "y": -0.22, "yanchor": "top", "x": 0, "font": {"size": 12},
                "entrywidth": 0.5, "entrywidthmode": "fraction",
            },
            "xaxis": axis(theme, "when it ran (UTC)"),
            "yaxis": axis(theme, "TPS (tok/s)", rangemode="tozero"),
        }
    )  # fmt: skip
    return figure


def over_time_frame(info: OverTimeInfo) -> pd.DataFrame:
    """Every run that is drawn, for files."""
    return pd.DataFrame(
        [(item.name, when, tps, window) for item in info.series for when, tps, window in item.runs],
        columns=["Setting", "When (UTC)", "TPS (tok/s)", "Window"],
    )
