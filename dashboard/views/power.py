"""What did other counters say about the power while a run ran? A trace's battery and rails beside the run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.services.power import NotBeside, PowerBeside
from dashboard.views import numbers
from dashboard.views.text import label, shortened, visible
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, faded

HEIGHT_PX = 280
MOST_RAILS = 5
MOST_POINTS = 2_000
"""Points of one line; more readings are thinned to every second, third ... one."""
MOST_LISTED = 8
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


@dataclass(frozen=True, eq=False, slots=True)
class PowerLine:
    """One line of the figure."""

    name: str
    time_ms: np.ndarray
    """float64, from the origin of the run."""
    watts: np.ndarray
    """float64; of rails the mean between two readings, drawn as steps."""
    steps: bool


@dataclass(frozen=True, eq=False, slots=True)
class PowerInfo:
    """One trace beside one run."""

    file: str
    lines: tuple[PowerLine, ...]
    window_ms: tuple[float, float]
    """Request, and both models at rest."""
    sentences: tuple[str, ...]
    """Battery energy with its check, coverage, and what is odd about the trace (plain text)."""


def power_info(beside: PowerBeside, origin_ns: int) -> PowerInfo:
    """Prepare a trace.

    Args:
        beside: trace and run.
        origin_ns: where the run's figures begin, usually the start of decoding.
    """
    lines = [line for line in (_battery(beside, origin_ns), *_rails(beside, origin_ns)) if line is not None]
    ends = ((beside.start_ns - origin_ns) / 1e6, (beside.end_ns - origin_ns) / 1e6)
    return PowerInfo(visible(beside.trace.file_name, spaces=False), tuple(lines), ends, _sentences(beside))


def _sentences(beside: PowerBeside) -> tuple[str, ...]:
    said = []
    energy = beside.battery
    if energy.joules is None:
        said.append(f"Battery by this trace: energy {energy.reason}.")
    else:
        said.append(
            f"Battery by this trace: {numbers.significant(energy.joules)} J at {numbers.power(energy.mean_w)} on "
            "average, from the request until both models had finished (whole phone, display included)."
        )
        said.append("The charge counter moved too little for a comparison." if beside.check is None
                    else beside.check.sentence())  # fmt: skip
    if beside.rails:
        said.append("Rails may contain each other; their sum is not the phone's.")
    if beside.covered < 1:
        said.append(f"The trace covers {numbers.share(beside.covered)} of the run.")
    if beside.trace.build:
        said.append(f"Recorded on {shortened(visible(beside.trace.build, spaces=False), 120)}; whether that is the "
                    "run's phone only its boot time says.")  # fmt: skip
    return (*said, *(visible(note, spaces=False) for note in beside.trace.notes))


def _battery(beside: PowerBeside, origin_ns: int) -> PowerLine | None:
    gauge = {item.name: item for item in beside.counters if item.kind == "battery"}
    current, voltage = gauge.get("current"), gauge.get("voltage")
    if current is None or voltage is None:
        return None
    when = np.array(current.time_ns, np.float64)
    volts = np.interp(when, np.array(voltage.time_ns, np.float64), np.array(voltage.values)) / 1e6
    # As everywhere here: a current beyond what any phone draws in mA is in microamperes.
    amperes = np.abs(np.array(current.values))
    amperes = amperes / (1e6 if np.median(amperes) > 20_000 else 1e3)
    return _thinned("battery", (when - origin_ns) / 1e6, amperes * volts, steps=False)


def _rails(beside: PowerBeside, origin_ns: int) -> list[PowerLine]:
    counters = {item.name: item for item in beside.counters if item.kind == "rail"}
    out = []
    for rail in [rail for rail in beside.rails if rail.joules is not None][:MOST_RAILS]:
        item = counters[rail.name]
        when = np.array(item.time_ns, np.float64)
        watts = np.diff(np.array(item.values)) / 1e6 / (np.diff(when) / 1e9)
        watts = np.where(watts < 0, np.nan, watts)
        out.append(_thinned(rail.name, (when[1:] - origin_ns) / 1e6, watts, steps=True))
    return out


def _thinned(name: str, time_ms: np.ndarray, watts: np.ndarray, *, steps: bool) -> PowerLine:
    every = -(-len(time_ms) // MOST_POINTS) or 1
    return PowerLine(name, time_ms[::every], watts[::every], steps)


def power_figure(info: PowerInfo, theme: Theme) -> go.Figure:
    """Watts over the run's time; the shaded part is what the energies are of."""
    if not info.lines:
        return go.Figure(layout=empty_layout(theme, "The trace has neither battery current with voltage nor a rail."))
    figure = go.Figure(layout=base_layout(theme))
    figure.add_vrect(
        x0=info.window_ms[0], x1=info.window_ms[1], fillcolor=faded(theme.role("target"), 0.1), line_width=0,
        layer="below",
    )  # fmt: skip
    for i, line in enumerate(info.lines):
        battery = not line.steps
        figure.add_scatter(
            name=label(line.name, 30),
            x=line.time_ms,
            y=[None if np.isnan(value) else float(value) for value in line.watts],
            mode="lines",
            line={
                "color": theme.text if battery else theme.role("target"),
                "width": 2 if battery else 1.5,
                "dash": "solid" if battery else _DASHES[i % len(_DASHES)],
                "shape": "vh" if line.steps else "linear",
            },
            hovertemplate=label(line.name, 30) + "<br>%{x:,.0f} ms: %{y:.3g} W<extra></extra>",
        )
    highest = max((float(np.nanmax(line.watts)) for line in info.lines if np.isfinite(line.watts).any()), default=1.0)
    room = 0.15 * (info.window_ms[1] - info.window_ms[0])
    figure.update_layout(
        height=HEIGHT_PX,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom",
                "font": {"size": SMALL_PX, "color": theme.text}},
        margin={"l": 64, "r": 24, "t": 34, "b": 48},
        xaxis=axis(theme, "from the start of decoding (ms)", tickformat=",~r",
                   range=[info.window_ms[0] - room, info.window_ms[1] + room]),
        yaxis=axis(theme, "power (W)", range=[0, 1.15 * highest], tickformat=",~g"),
        annotations=[caption(theme, "request to rest", x=info.window_ms[0], y=1, yref="paper", xanchor="left",
                             yanchor="top")],
    )  # fmt: skip
    return figure


def rails_table(beside: PowerBeside) -> pd.DataFrame:
    """One row a rail: numbers (NaN: n/a) with the reason where there is none."""
    return pd.DataFrame(
        [(visible(rail.name, spaces=False), rail.joules, rail.mean_w, rail.reason) for rail in beside.rails],
        columns=["Rail", "Energy (J)", "Mean power (W)", "Why not"],
    )


def left_sentence(left: Sequence[NotBeside]) -> str:
    """Why traces are not shown beside the run; empty when there are none."""
    if not left:
        return ""
    said = [f"{visible(item.trace.file_name, spaces=False)}: {item.reason}" for item in left[:MOST_LISTED]]
    more = f"; and {len(left) - MOST_LISTED:,} more" if len(left) > MOST_LISTED else ""
    return f"Not laid beside this run: {'; '.join(said)}{more}."
