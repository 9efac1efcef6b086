"""Which method is faster over a set of runs? Pooled TPS by method, every single run behind it as a dot."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.run_groups import POOLED, RunGroup, run_groups, work
from dashboard.views.runs import Row, tokens
from dashboard.views.text import label
from dashboard.views.theme import (
    FONT_PX,
    Theme,
    axis,
    base_layout,
    caption,
    empty_layout,
    faded,
    keep_look,
)

__all__ = ["POOLED", "ComparisonInfo", "MethodBar", "comparison_figure", "comparison_info"]


@dataclass(frozen=True, slots=True)
class MethodBar:
    """Runs that were decoded alike, on one device, with one kind of numbers."""

    method: str
    name: str
    device: str
    kind: str
    pooled_tps: float | None
    """Sum of tokens over sum of time."""
    runs: int
    """Runs that are pooled."""
    windows: frozenset[str]
    samples: tuple[float, ...]
    """TPS of each pooled run."""
    left_out: tuple[tuple[str, int], ...]
    """Runs that are not pooled: (status or ``warm-up``, how many)."""
    gain: float | None
    """Percent of pooled TPS above target-only with the same device, kind of numbers and windows."""

    @property
    def caption(self) -> str:
        """What stands beside the bar."""
        parts = [numbers.tps(self.pooled_tps)]
        if self.gain is not None and self.method != "target-only":
            parts.append(numbers.against_target_only(self.gain))
        parts.append(numbers.sample_size(self.runs))
        parts.extend(f"{count} {status}" for status, count in self.left_out)
        return "   ".join(parts)


@dataclass(frozen=True, slots=True)
class ComparisonInfo:
    """Bars in drawing order: target-only first, then the fastest."""

    bars: tuple[MethodBar, ...]
    notes: tuple[str, ...]


def comparison_info(rows: Sequence[Row], by: str = "setting") -> ComparisonInfo:
    """Pool the rows of a store by how they were decoded. Runs that failed are counted, not pooled; nor are warm-ups.

    Args:
        rows: of the store.
        by: see ``run_groups``.
    """
    bars = [_bar(group) for group in run_groups(rows, by)]
    references = {(b.device, b.kind, b.windows): b.pooled_tps for b in bars if b.method == "target-only"}
    bars = [
        _with_gain(bar, references.get((bar.device, bar.kind.removesuffix(", emulated"), bar.windows))) for bar in bars
    ]
    bars.sort(key=lambda b: (b.device, b.method != "target-only", -(b.pooled_tps or 0.0), b.name))
    return ComparisonInfo(tuple(bars), _notes(bars))


def _bar(group: RunGroup) -> MethodBar:
    pooled = group.pooled
    return MethodBar(
        method=group.method,
        name=group.name,
        device=group.device,
        kind=group.kind,
        pooled_tps=group.tps,
        runs=len(pooled),
        windows=frozenset(str(name) for row in pooled if (name := work(row)[0]) is not None),
        samples=tuple((tokens(row) or 0) / row["elapsed_ms"] * 1e3 for row in pooled),
        left_out=group.left_out,
        gain=None,
    )


def _with_gain(bar: MethodBar, reference: float | None) -> MethodBar:
    if not reference or bar.pooled_tps is None:
        return bar
    values = {name: getattr(bar, name) for name in MethodBar.__dataclass_fields__}
    return MethodBar(**{**values, "gain": numbers.gain(bar.pooled_tps, reference)})


def _notes(bars: Sequence[MethodBar]) -> tuple[str, ...]:
    notes = []
    measured = [bar for bar in bars if bar.runs]
    if len({bar.windows for bar in measured}) > 1:
        sizes = ", ".join(f"{bar.name} {numbers.counted(len(bar.windows), 'window')}" for bar in measured)
        notes.append(f"The bars do not cover the same windows ({sizes}); compare only what was run on the same ones.")
    if len({bar.kind for bar in measured}) > 1:
        notes.append("The bars mix kinds of numbers; a measured one does not compare with a replayed one.")
    return tuple(notes)


def comparison_figure(info: ComparisonInfo, theme: Theme) -> go.Figure:
    """One bar a method with its pooled TPS, the single runs as dots on it."""
    if not info.bars:
        return go.Figure(layout=empty_layout(theme, "No run was chosen."))
    rows = list(range(len(info.bars)))[::-1]
    figure = go.Figure()
    for y, bar in zip(rows, info.bars, strict=True):
        colour = theme.method(bar.method)
        if bar.pooled_tps is not None:
            figure.add_trace(
                go.Bar(
                    name=f"pooled:{bar.method}",
                    orientation="h",
                    x=[bar.pooled_tps],
                    y=[y],
                    width=[0.62],
                    marker={"color": faded(colour, 0.55), "line": {"color": colour, "width": 1}},
                    hovertext=[f"<b>{label(bar.name)}</b><br>pooled {label(bar.caption, 120)}<br>{label(bar.kind)}"],
                    hoverinfo="text",
                )
            )
        if len(bar.samples) > 1:
            figure.add_trace(_dots(bar, y, colour, theme))
    notes = [
        caption(
            theme, label(bar.caption, 120), x=max((bar.pooled_tps or 0.0, *bar.samples)), xshift=10, y=y, xanchor="left"
        )
        for y, bar in zip(rows, info.bars, strict=True)
    ]
    longest = max((max((bar.pooled_tps or 0.0, *bar.samples)) for bar in info.bars), default=0.0) or 1.0
    left = min(max(90, 8 * max(len(bar.name) for bar in info.bars) + 20), 320)
    figure.layout = {
        **base_layout(theme),
        "height": 34 * len(rows) + 74,
        "margin": {"l": left, "r": 250, "t": 10, "b": 50},
        "xaxis": axis(theme, "pooled TPS (tok/s)", range=[0, longest * 1.03], fixedrange=True, tickformat=",~f"),
        "yaxis": axis(
            theme,
            range=[-0.6, len(rows) - 0.4],
            fixedrange=True,
            showgrid=False,
            tickvals=rows,
            ticktext=[label(bar.name, 40) for bar in info.bars],
            tickfont={"color": theme.text, "size": FONT_PX},
            automargin=False,
        ),
        "annotations": notes,
        "dragmode": False,
    }
    return figure


def _dots(bar: MethodBar, y: int, colour: str, theme: Theme) -> go.Scatter:
    n = len(bar.samples)
    shown = bar.samples if n <= 500 else sorted(bar.samples)[:: -(-n // 500)]
    return go.Scatter(
        name=f"runs:{bar.method}",
        x=list(shown),
        y=[y + 0.12 * ((i % 5) - 2) for i in range(len(shown))],
        mode="markers",
        marker={"size": 5, "color": colour, "line": {"color": theme.background, "width": 1}},
        hovertext=[f"one run: {numbers.tps(value)}" for value in shown],
        hoverinfo="text",
        **keep_look(),
    )
