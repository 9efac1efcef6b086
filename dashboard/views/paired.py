"""How much faster is one setting than another on the same work? Paired differences with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from as2d_core.replay.pooling import Bootstrap, Interval, Slowdown, slowdown
from dashboard.views import numbers, text
from dashboard.views.run_groups import RunGroup, Work, pooled_tps, work
from dashboard.views.run_stability import judge_runs
from dashboard.views.runs import Row, tokens
from dashboard.views.text import label
from dashboard.views.theme import FONT_PX, Theme, axis, base_layout, caption, empty_layout, faded, keep_look

WINDOWS, REPETITIONS = "window", "repetition"
MOST_DOTS = 60
MOST_DRAWN = 24
"""Rows of a figure; the table holds all of them."""
ROW_PX = 36


@dataclass(frozen=True, eq=False, slots=True)
class Pair:
    """One setting against the reference, over the work that both have finished."""

    group: RunGroup
    reference: bool
    """Whether it is the reference itself."""
    unit: str
    """What is paired: windows, or, on a single window, repetitions."""
    units: tuple[str, ...]
    """Names of the shared ones."""
    gains: tuple[float, ...]
    """Percent of TPS above the reference, unit by unit."""
    gain: float | None
    """Of pooled TPS over the shared units; ``None`` without any."""
    interval: tuple[float, float] | None
    """95 % over resampled units; ``None`` for fewer than two."""
    slower: Slowdown | None
    accepted: int | None
    proposed: int | None
    equal: int
    """Runs with the tokens of target-only."""
    different: int
    stability: str
    """A verdict with its reason."""


@dataclass(frozen=True, eq=False, slots=True)
class PairedInfo:
    """Rows in drawing order: the reference first, then the fastest."""

    reference: str
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    empty: str | None = None

    @property
    def against(self) -> str:
        """How the differences are called."""
        return numbers.AGAINST if self.reference == "Target-only" else f"Against {self.reference}"


def default_reference(groups: Sequence[RunGroup]) -> str:
    """Target-only where there is one that finished (the one on most work, then the fastest), else the first group."""

    def rank(group: RunGroup) -> tuple[bool, int, float]:
        return group.method == "target-only", len({work(row) for row in group.pooled}), group.tps or 0.0

    finished = [group for group in groups if group.pooled]
    alone = [group for group in finished if group.method == "target-only"]
    return max(alone, key=rank).name if alone else next((group.name for group in finished), "")


def paired_info(groups: Sequence[RunGroup], reference: str = "") -> PairedInfo:
    """Hold every group against one of them.

    Args:
        groups: see ``run_groups``.
        reference: name of one of them; one that is not there means the default.
    """
    names = [group.name for group in groups]
    chosen = reference if reference in names else default_reference(groups)
    base = next((group for group in groups if group.name == chosen), None)
    if base is None:
        return PairedInfo("", tuple(_pair(g, None) for g in groups), (), "No run has finished, so nothing is compared.")
    pairs = [_pair(group, base) for group in groups]
    pairs.sort(key=lambda pair: (not pair.reference, -(pair.group.tps or 0.0), pair.group.name))
    return PairedInfo(chosen, tuple(pairs), _notes(pairs, base))


def _pair(group: RunGroup, base: RunGroup | None) -> Pair:
    unit, units, mine, theirs = WINDOWS, (), np.empty((0, 2)), np.empty((0, 2))
    if base is not None:
        unit, units, mine, theirs = _shared(group, base)
    gains: tuple[float, ...] = ()
    gain, interval, slower = None, None, None
    if len(units):
        ratio = (mine[:, 0] / mine[:, 1]) / (theirs[:, 0] / theirs[:, 1])
        gains = tuple(((ratio - 1) * 100).tolist())
        gain = numbers.gain(mine[:, 0].sum() / mine[:, 1].sum(), theirs[:, 0].sum() / theirs[:, 1].sum())
        slower = slowdown(ratio)
        if group is not base:
            interval = _interval(mine, theirs)
    proposed = sum(row.get("proposed") or 0 for row in group.pooled)
    accepted = sum(row.get("accepted") or 0 for row in group.pooled)
    same = [row.get("matches_target_only") for row in group.pooled]
    return Pair(
        group=group,
        reference=group is base,
        unit=unit,
        units=units,
        gains=gains,
        gain=gain,
        interval=None if interval is None else (interval.low, interval.high),
        slower=slower,
        accepted=accepted if proposed else None,
        proposed=proposed or None,
        equal=sum(value is True for value in same),
        different=sum(value is False for value in same),
        stability=judge_runs(group.pooled),
    )


def _interval(mine: np.ndarray, theirs: np.ndarray) -> Interval | None:
    return Bootstrap(mine[:, 0]).gain_over(mine[:, 1], Bootstrap(theirs[:, 0]), theirs[:, 1])


def _shared(group: RunGroup, base: RunGroup) -> tuple[str, tuple[str, ...], np.ndarray, np.ndarray]:
    """Unit, names and (tokens, time in ms) of both on what both have finished."""
    mine, theirs = _by_work(group.pooled), _by_work(base.pooled)
    both = [key for key in mine if key in theirs]
    if len(both) == 1 and min(len(mine[both[0]]), len(theirs[both[0]])) > 1:
        a, b = (sorted(found[both[0]], key=_turn) for found in (mine, theirs))
        n = min(len(a), len(b))
        names = tuple(f"repetition {i + 1}" for i in range(n))
        return REPETITIONS, names, _figures([[row] for row in a[:n]]), _figures([[row] for row in b[:n]])
    names = tuple(str(key[0]) for key in both)
    return WINDOWS, names, _figures([mine[key] for key in both]), _figures([theirs[key] for key in both])


def _by_work(rows: Sequence[Row]) -> dict[Work, list[Row]]:
    found: dict[Work, list[Row]] = {}
    for row in rows:
        found.setdefault(work(row), []).append(row)
    return found


def _turn(row: Row) -> tuple[Any, ...]:
    return row.get("repetition") or 0, str(row.get("created_at") or ""), str(row.get("run_id"))


def _figures(parts: Sequence[Sequence[Row]]) -> np.ndarray:
    """[n, 2] tokens and time in ms; repeated runs of one work are pooled."""
    values = [(sum(tokens(row) or 0 for row in rows), sum(row["elapsed_ms"] for row in rows)) for rows in parts]
    return np.array(values, np.float64).reshape(len(values), 2)


def _notes(pairs: Sequence[Pair], base: RunGroup) -> tuple[str, ...]:
    notes = []
    apart = [pair.group.name for pair in pairs if pair.group.pooled and not pair.units]
    if apart:
        notes.append(f"{base.name} has no finished work in common with {_few(apart)}; nothing is paired there.")
    whole = {len(pair.units) for pair in pairs if pair.units and not pair.reference and pair.unit == WINDOWS}
    if len(whole) > 1:
        notes.append(f"The pairs rest on {min(whole)} to {max(whole)} windows; compare rows with the same n only.")
    if len({pair.group.kind.removesuffix(", emulated") for pair in pairs if pair.group.pooled}) > 1:
        notes.append("The rows mix kinds of numbers; a measured one does not compare with a replayed one.")
    return tuple(notes)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def paired_table(info: PairedInfo, everything: bool = True) -> pd.DataFrame:
    """One row a setting, as text; settings whose runs all failed keep theirs.

    Args:
        everything: all columns, or those that have room on a page 900 px wide; what was left out is never hidden.
    """
    table = pd.DataFrame([_row(pair, info.against) for pair in info.pairs])
    hidden = set() if everything else {"Median loss", "Runs", "Slowest to fastest"}
    if not everything and not any(pair.group.left_out for pair in info.pairs):
        hidden.add("Left out")
    if not everything:
        table["Repeats"] = [said.split(":")[0] for said in table["Repeats"]]
        table["Slower"] = [said.split(" (")[0] for said in table["Slower"]]
    return table[[name for name in table.columns if name not in hidden]]


def _row(pair: Pair, against: str) -> Mapping[str, str]:
    group, slower = pair.group, pair.slower
    n = len(pair.units)
    gain = "reference" if pair.reference else numbers.signed_percent(pair.gain, pair.interval)
    spread = [rate for row in group.pooled if (rate := pooled_tps([row])) is not None]
    few = numbers.NA if slower is None or pair.reference else numbers.part(slower.slower, slower.windows)
    return {
        "Setting": text.visible(group.name, spaces=False),
        "Pooled TPS": numbers.tps(group.tps),
        against: gain,
        "n": numbers.NA if not n else numbers.counted(n, pair.unit),
        "Slower": few,
        "Median loss": numbers.NA if pair.reference or slower is None else numbers.percent(slower.median_loss),
        "Runs": numbers.count(len(group.pooled)),
        "Left out": ", ".join(f"{count} {why}" for why, count in group.left_out) or "none",
        "Accepted": numbers.NA if pair.proposed is None else numbers.part(pair.accepted, pair.proposed),
        "Output": _output(pair),
        "Repeats": pair.stability,
        "Slowest to fastest": numbers.NA if not spread else f"{min(spread):,.2f} to {numbers.tps(max(spread))}",
    }  # fmt: skip


def _output(pair: Pair) -> str:
    if not pair.equal + pair.different:
        return numbers.NA
    if not pair.different:
        return "equal" if pair.equal == 1 else f"all {pair.equal:,} equal"
    return f"{pair.different:,} of {pair.equal + pair.different:,} different"


def paired_frame(info: PairedInfo) -> pd.DataFrame:
    """The same for files: plain numbers, every unit's gain in a list."""
    rows = []
    for pair in info.pairs:
        low, high = pair.interval or (None, None)
        slower = pair.slower
        rows.append(
            {
                "setting": pair.group.name,
                "device": pair.group.device,
                "kind": pair.group.kind,
                "reference": info.reference,
                "pooled_tps": pair.group.tps,
                "gain_percent": pair.gain,
                "gain_low_percent": low,
                "gain_high_percent": high,
                "paired_by": pair.unit,
                "n": len(pair.units),
                "slower": None if slower is None else slower.slower,
                "median_loss_percent": None if slower is None else slower.median_loss,
                "runs": len(pair.group.pooled),
                "accepted": pair.accepted,
                "proposed": pair.proposed,
                "output_equal": pair.equal,
                "output_different": pair.different,
                "repeats": pair.stability,
                "left_out": ", ".join(f"{count} {why}" for why, count in pair.group.left_out),
                "units": list(pair.units),
                "gains_percent": [round(gain, 6) for gain in pair.gains],
                "run_ids": [str(row.get("run_id")) for row in pair.group.rows],
            }
        )
    return pd.DataFrame(rows)


def paired_figure(info: PairedInfo, theme: Theme, about: str = "") -> go.Figure:
    """Gains of pooled TPS with their intervals, every window or repetition as a dot behind them."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    every = [pair for pair in info.pairs if not pair.reference]
    drawn = every[:MOST_DRAWN]
    if len(every) > MOST_DRAWN:
        about = f"the first {MOST_DRAWN} of {len(every):,} rows; {about}"
    if not any(pair.units for pair in drawn):
        said = (
            "There is only the reference." if not drawn else f"Nothing else shares finished work with {info.reference}."
        )
        return go.Figure(layout=empty_layout(theme, label(said, 160)))
    figure = go.Figure()
    places = list(range(len(drawn)))[::-1]
    for y, pair in zip(places, drawn, strict=True):
        if pair.gain is not None:
            figure.add_traces(_traces(pair, y, theme))
    ends = [v for pair in drawn for v in (*pair.gains, *(pair.interval or ()))]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = (high - low or 1.0) * 0.04
    left = min(max(90, round(7.5 * max(len(pair.group.name) for pair in drawn)) + 20), 300)
    figure.update_layout(
        {
            **base_layout(theme),
            "height": ROW_PX * len(drawn) + 104,
            "margin": {"l": left, "r": 238, "t": 28, "b": 54},
            "xaxis": axis(
                theme, f"TPS {info.against[0].lower()}{info.against[1:]} (%)", range=[low - room, high + room],
                tickformat=",~f", fixedrange=True,
            ),
            "yaxis": axis(
                theme, range=[-0.6, len(drawn) - 0.4], fixedrange=True, showgrid=False, tickvals=places,
                ticktext=[label(pair.group.name, 42) for pair in drawn],
                tickfont={"color": theme.text, "size": FONT_PX}, automargin=False,
            ),
            "shapes": [
                {
                    "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": 0, "x1": 0, "layer": "below",
                    "line": {"width": 1.5, "color": theme.methods["target-only"]},
                }
            ],
            "annotations": [*(_result(theme, pair, y) for y, pair in zip(places, drawn, strict=True)),
                            *([_about(theme, about)] if about else [])],
            "dragmode": False,
        }
    )  # fmt: skip
    return figure


def _traces(pair: Pair, y: int, theme: Theme) -> list[go.Scatter]:
    colour = theme.method(pair.group.method)
    step = -(-len(pair.gains) // MOST_DOTS)
    order = np.argsort(pair.gains, kind="stable")[::step].tolist()
    dots = go.Scatter(
        name=f"units:{pair.group.method}",
        x=[pair.gains[i] for i in order],
        y=[y + 0.09 * ((k % 5) - 2) for k in range(len(order))],
        mode="markers",
        marker={"size": 6, "color": faded(colour, 0.6)},
        hovertext=[f"{label(pair.units[i])}: {numbers.signed_percent(pair.gains[i])}" for i in order],
        hoverinfo="text",
        **keep_look(),
    )
    ends = {} if pair.interval is None else {
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 2, "width": 6, "color": theme.text,
            "array": [pair.interval[1] - pair.gain], "arrayminus": [pair.gain - pair.interval[0]],
        }
    }  # fmt: skip
    mark = {"size": 11, "symbol": "diamond", "color": colour, "line": {"width": 1, "color": theme.text}}
    said = f"<b>{label(pair.group.name)}</b><br>pooled {numbers.signed_percent(pair.gain, pair.interval)}"
    pooled = go.Scatter(
        name=f"pooled:{pair.group.method}", x=[pair.gain], y=[y], mode="markers", marker=mark, hovertext=[said],
        hoverinfo="text", **ends, **keep_look(),
    )  # fmt: skip
    return [dots, pooled]


def _result(theme: Theme, pair: Pair, y: int) -> dict[str, Any]:
    n = len(pair.units)
    said = numbers.NA if pair.gain is None else numbers.signed_percent(pair.gain, pair.interval)
    said += f"   {numbers.sample_size(n)}" if n else "   nothing in common"
    failed = sum(count for _, count in pair.group.left_out)
    said += f"   {failed:,} left out" if failed else ""
    place = {"xref": "paper", "x": 1, "xshift": 8, "xanchor": "left", "y": y, "yanchor": "middle"}
    return caption(theme, label(said, 60), **place)


def _about(theme: Theme, about: str) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "yshift": 4}
    return caption(theme, label(about, 120), **place)
