"""What does a wider verification save per position on a device? Figure 8 of the paper, for any profile."""

from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go

from as2d_core.profiles.profile import Profile, Spread
from dashboard.views import numbers
from dashboard.views.theme import Theme, axis, base_layout, caption, empty_layout, width_axis

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
    """0 for a cost that comes without its calls."""
    same_tokens: bool | None
    """Whether every row had the greedy token of single steps; ``None`` = nobody looked."""
    origin: str = "measured"
    """Where the cost comes from; only ``measured`` and ``published`` ones were timed at this width."""


@dataclass(frozen=True, slots=True)
class WidthSavings:
    """All widths of one profile from K = 2 on; empty when it has no cost at K = 1 or none above it."""

    name: str
    savings: tuple[WidthSaving, ...]
    failed_width: int | None
    failed_reason: str


def width_savings_info(profile: Profile) -> WidthSavings:
    """Savings by width: from single calls where the profile keeps them, else from its costs of idle verification."""
    spreads = {int(key.removeprefix(PREFIX)): s for key, s in profile.spread.items() if key.startswith(PREFIX)}
    if 1 in spreads:
        found = [_saving(k, s, spreads[1], profile) for k, s in sorted(spreads.items()) if k > 1]
    else:
        found = _without_calls(profile, profile.verify_idle_ms)
    return WidthSavings(profile.name, tuple(found), profile.failed_width, profile.failed_reason)


def width_savings_figure(info: WidthSavings, theme: Theme) -> go.Figure:
    """Savings with one standard deviation; hollow where a row had another token than single steps."""
    if not info.savings:
        return go.Figure(layout=empty_layout(theme, "This profile has no cost above K = 1."))
    colour = theme.role("target")
    filled = [s.same_tokens is not False and s.origin in ("measured", "published") for s in info.savings]
    figure = go.Figure(layout=base_layout(theme))
    figure.add_scatter(
        x=[s.width for s in info.savings],
        y=[s.saving_percent for s in info.savings],
        error_y={"array": [s.bar_percent or 0.0 for s in info.savings], "color": colour, "thickness": 1},
        mode="lines+markers",
        line={"color": colour, "width": 1.5},
        marker={
            "color": [colour if ok else theme.background for ok in filled],
            "size": 8,
            "line": {"color": colour, "width": 1.5},
        },
        hovertext=[_hover(s) for s in info.savings],
        hoverinfo="text",
        showlegend=False,
    )
    if info.failed_width is not None:
        figure.add_vline(x=info.failed_width, line={"color": theme.role("rejected"), "dash": "dot", "width": 1.5})
        text = f"K = {info.failed_width} failed"
        figure.add_annotation(**caption(theme, text, x=info.failed_width, y=1, yref="paper", xanchor="right"))
    figure.update_layout(
        height=260,
        xaxis=width_axis(theme, max(info.failed_width or 1, *(s.width for s in info.savings))),
        yaxis=axis(theme, "saved per position (%)", rangemode="tozero"),
    )
    return figure


def _hover(item: WidthSaving) -> str:
    calls = f" ({numbers.sample_size(item.calls)})" if item.calls else ""
    differs = "<br>some rows differ from single steps" if item.same_tokens is False else ""
    return f"<b>K = {item.width}</b>: {numbers.percent(item.saving_percent)}{calls}<br>{item.origin}{differs}"


def _without_calls(profile: Profile, costs: Mapping[int, float]) -> list[WidthSaving]:
    """From costs by width alone, with their spread where it is known."""
    base = costs.get(1)
    if base is None:
        return []
    out = []
    for width, cost in sorted(costs.items()):
        key = f"verify_idle_ms.{width}"
        spread, origin = profile.spread.get(key), profile.provenance.get(key)
        scale = 100.0 / (width * base)
        if width > 1:
            bar = None if spread is None or spread.sd_ms is None else scale * spread.sd_ms
            known = profile.argmax_widths
            out.append(
                WidthSaving(
                    width,
                    100.0 - scale * cost,
                    bar,
                    0 if spread is None else spread.n,
                    None if known is None else width in known,
                    "unknown" if origin is None else origin.kind,
                )
            )
    return out


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
