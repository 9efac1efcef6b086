"""How do all methods fare on one window? Their timelines under each other from the same zero, and a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd
import plotly.graph_objects as go

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.request import METHODS
from dashboard.views import numbers
from dashboard.views.run_labels import ended, ended_short, same_output
from dashboard.views.text import label
from dashboard.views.theme import FONT_PX, SMALL_PX, Theme, axis, base_layout, caption, empty_layout
from dashboard.views.timeline import Lane, bar_trace
from dashboard.views.timeline_detail import detail
from dashboard.views.timeline_info import TimelineInfo, timeline_info

T = TypeVar("T")

TARGET_PX, DRAFTER_PX, BLOCK_PX = 34, 13, 74
MAX_BARS_A_RUN = 450

EQUAL = ("equal", "different", numbers.NA)


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One run among those compared."""

    name: str
    method: str
    timeline: TimelineInfo
    tps: float | None
    gain: float | None
    """Percent of TPS above target-only's; ``None`` when one of them did not finish."""
    rounds: int
    accepted: int
    proposed: int
    output: str
    """``equal`` to or ``different`` from another target-only run's tokens; ``n/a`` when there is nothing to compare."""
    output_note: str


@dataclass(frozen=True, slots=True)
class MethodsInfo:
    """Runs in the paper's order of methods."""

    rows: tuple[MethodRow, ...]
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """The comparison as text."""
        return pd.DataFrame(
            {
                "Method": [row.name for row in self.rows],
                "TPS": [numbers.tps(row.tps) for row in self.rows],
                numbers.AGAINST: [
                    "reference" if row.method == "target-only" and row.gain == 0 else numbers.signed_percent(row.gain)
                    for row in self.rows
                ],
                "Rounds": [numbers.count(row.rounds) for row in self.rows],
                "Accepted": [
                    numbers.part(row.accepted, row.proposed) if row.proposed else numbers.NA for row in self.rows
                ],
                "Output": [row.output for row in self.rows],
                "Status": [ended_short(row.timeline.status) for row in self.rows],
            }
        )


def in_order(runs: Sequence[T], method: Callable[[T], str | None]) -> list[T]:
    """Runs in the order in which methods are chosen, which is the paper's; those of one method stay as they are."""
    order = {name: place for place, name in enumerate(METHODS)}
    return sorted(runs, key=lambda run: order.get(method(run) or "", len(order)))


def methods_info(records: Sequence[RunRecord], known: Mapping[str, bool | None] | None = None) -> MethodsInfo:
    """Compare runs of one window. The reference is the first target-only run that finished.

    Args:
        records: of the runs.
        known: by run id, whether the store found the tokens equal to those of target-only on the same work; of such
            runs it holds, so that a run reads the same here as in a list of runs, whichever runs are chosen with it.
    """
    ordered = in_order(records, lambda record: record.request.method)
    reference = next((r for r in ordered if r.request.method == "target-only" and r.status in ("eos", "capped")), None)
    base = summarise(reference).tps if reference is not None else None
    return MethodsInfo(tuple(_row(record, reference, base, known or {}) for record in ordered), _notes(ordered))


def _row(
    record: RunRecord, reference: RunRecord | None, base: float | None, known: Mapping[str, bool | None]
) -> MethodRow:
    summary = summarise(record)
    timeline = timeline_info(record)
    output, note = _compare(record, reference)
    if record.run_id in known and output != same_output(known[record.run_id]):
        output, note = same_output(known[record.run_id]), "as the store found"
    return MethodRow(
        name=timeline.method_label,
        method=record.request.method,
        timeline=timeline,
        tps=summary.tps,
        gain=numbers.gain(summary.tps, base),
        rounds=summary.rounds,
        accepted=summary.accepted,
        proposed=summary.proposed,
        output=output,
        output_note=note,
    )


def _compare(record: RunRecord, reference: RunRecord | None) -> tuple[str, str]:
    if reference is None:
        return numbers.NA, "no target-only run has finished"
    if record.status not in ("eos", "capped"):
        return numbers.NA, f"the run is {ended(record.status)}"
    if record is reference:
        return numbers.NA, "it is what the others are compared with"
    mine, theirs = record.tokens, reference.tokens
    if mine == theirs:
        return same_output(True), f"all {len(mine):,} tokens are those of target-only"
    at = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs)))
    return same_output(False), f"the first difference is at token {at}"


def _notes(records: Sequence[RunRecord]) -> tuple[str, ...]:
    notes = []
    windows = {r.request.audio.window_id or r.request.audio.sha256 or r.request.audio.path for r in records}
    if len(windows) > 1:
        notes.append(f"These runs are of {len(windows)} different windows; their times do not compare.")
    if len({r.header.source for r in records}) > 1:
        notes.append("These runs mix kinds of numbers; a measured time does not compare with a replayed one.")
    return tuple(notes)


def methods_figure(info: MethodsInfo, theme: Theme) -> go.Figure:
    """Mini-timelines under each other: the target's bars, the drafter's below them, and what came out at the end."""
    drawn = [row for row in info.rows if row.timeline.empty is None]
    if not drawn:
        return go.Figure(layout=empty_layout(theme, "No run has begun to decode."))
    end = max(row.timeline.end_ms for row in drawn) or 1.0
    figure = go.Figure()
    notes, shapes = [], []
    for place, row in enumerate(reversed(info.rows)):
        bottom = place * BLOCK_PX
        lanes = {
            "target": Lane("Target", "", bottom + DRAFTER_PX + 5.0, TARGET_PX),
            "drafter": Lane("Drafter", "", bottom, DRAFTER_PX),
        }
        middle = bottom + (DRAFTER_PX + 5 + TARGET_PX) / 2
        name = {"xref": "paper", "x": 0, "xshift": -8, "xanchor": "right", "y": middle, "yanchor": "middle"}
        text = {"text": f"<b>{label(row.name)}</b>", "font": {"size": FONT_PX, "color": theme.text}, "showarrow": False}
        notes.append({**text, **name})
        if row.timeline.empty is not None:
            notes.append(caption(theme, label(row.timeline.empty, 120), x=0, xanchor="left", y=middle))
            continue
        shown = detail(row.timeline, None, MAX_BARS_A_RUN)
        count = shown.rounds_in_view // shown.rounds_a_bar
        for bars in shown.bars:
            trace = bar_trace(bars, lanes[bars.lane], theme, count * len(drawn))
            name = f"{row.method}:{trace['name']}"
            figure.add_trace({**trace, "name": name, "text": None, "textposition": "none"})
        shapes.append(_end_line(row.timeline.end_ms, bottom, theme))
        notes.append(
            caption(theme, _result(row), x=row.timeline.end_ms, xshift=6, xanchor="left", y=middle, align="left")
        )
    figure.layout = {
        **base_layout(theme),
        "height": BLOCK_PX * len(info.rows) + 60,
        "margin": {"l": 120, "r": 166, "t": 8, "b": 50},
        "xaxis": axis(theme, "time from decode start (ms)", range=[0, end * 1.002], tickformat=",~f"),
        "yaxis": {"visible": False, "range": [-4, BLOCK_PX * len(info.rows) - 8], "fixedrange": True},
        "annotations": notes,
        "shapes": shapes,
    }
    return figure


def _end_line(time_ms: float, bottom: float, theme: Theme) -> dict[str, object]:
    line = {"color": theme.role("reference"), "width": 1}
    top = bottom + DRAFTER_PX + TARGET_PX + 9
    return {"type": "line", "x0": time_ms, "x1": time_ms, "y0": bottom - 2, "y1": top, "line": line}


def _result(row: MethodRow) -> str:
    """What stands behind the end of a timeline."""
    first = f'<span style="color:inherit">{numbers.whole_ms(row.timeline.end_ms)}</span>'
    if row.timeline.status not in ("eos", "capped"):
        return f"{first}<br>{label(ended(row.timeline.status))}"
    gained = "" if row.gain is None or row.method == "target-only" else numbers.against_target_only(row.gain)
    size = f'<span style="font-size:{SMALL_PX}px">{numbers.tps(row.tps)}{gained and "<br>"}{gained}</span>'
    output = "" if row.output == "equal" or row.method == "target-only" else f"<br>output {row.output}"
    return f"{first}<br>{size}{output}"
