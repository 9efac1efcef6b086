"""What does a wider verification save per position on a device? Figure 8 of the paper, for any measured profile."""

from dataclasses import dataclass

import plotly.graph_objects as go

from as2d_core.profiles.profile import Profile, Spread
from dashboard.views.theme import Theme, axis, base_layout, caption, empty_layout

PREFIX = "width_ms."


@dataclass(frozen=True, slots=True)
class WidthSaving:
    """One width against the width-1 verification: equation 2 of Appendix B.2."""

    width: int
    saving_percent: float
    """100 (1 - V(K) / (K V(1)))."""
    bar_percent: float | None
    """Standard deviation of the calls on the same scale; ``None`` for a single call."""
    calls: int
    same_tokens: bool | None
    """Whether every row had the greedy token of single steps; ``None`` = nobody looked."""


@dataclass(frozen=True, slots=True)
class WidthSavings:
    """All measured widths of one profile from K = 2 on; empty when the profile holds no single calls."""

    name: str
    savings: tuple[WidthSaving, ...]
    failed_width: int | None
    failed_reason: str


def width_savings_info(profile: Profile) -> WidthSavings:
    """Savings by width from the single calls that the profile keeps."""
    spreads = {int(key.removeprefix(PREFIX)): s for key, s in profile.spread.items() if key.startswith(PREFIX)}
    base = spreads.get(1)
    found = [] if base is None else [_saving(k, s, base, profile) for k, s in sorted(spreads.items()) if k > 1]
    return WidthSavings(profile.name, tuple(found), profile.failed_width, profile.failed_reason)


def width_savings_figure(info: WidthSavings, theme: Theme) -> go.Figure:
    """Savings with one standard deviation; hollow where a row had another token than single steps."""
    if not info.savings:
        return go.Figure(layout=empty_layout(theme, "This profile keeps no single calls by width."))
    colour = theme.role("target")
    same = [s.same_tokens is not False for s in info.savings]
    notes = ["" if ok else "; some rows differ from single steps" for ok in same]
    figure = go.Figure(layout=base_layout(theme))
    figure.add_scatter(
        x=[s.width for s in info.savings],
        y=[s.saving_percent for s in info.savings],
        error_y={"array": [s.bar_percent or 0.0 for s in info.savings], "color": colour, "thickness": 1},
        mode="lines+markers",
        line={"color": colour, "width": 1.5},
        marker={
            "color": [colour if ok else theme.background for ok in same],
            "size": 8,
            "line": {"color": colour, "width": 1.5},
        },
        customdata=[[s.calls, note] for s, note in zip(info.savings, notes, strict=True)],
        hovertemplate="K = %{x}: %{y:.1f} % (n = %{customdata[0]}%{customdata[1]})<extra></extra>",
        showlegend=False,
    )
    if info.failed_width is not None:
        figure.add_vline(x=info.failed_width, line={"color": theme.role("rejected"), "dash": "dot", "width": 1.5})
        text = f"K = {info.failed_width} failed"
        figure.add_annotation(**caption(theme, text, x=info.failed_width, y=1, yref="paper", xanchor="right"))
    figure.update_layout(
        height=260,
        xaxis=axis(theme, "width K", dtick=1),
        yaxis=axis(theme, "saved per position, %", rangemode="tozero"),
    )
    return figure


def _saving(width: int, spread: Spread, base: Spread, profile: Profile) -> WidthSaving:
    scale = 100.0 / (width * base.mean_ms)
    known = profile.argmax_widths
    return WidthSaving(
        width,
        100.0 - scale * spread.mean_ms,
        None if spread.sd_ms is None else scale * spread.sd_ms,
        spread.n,
        None if known is None else width in known,
    )
