"""How do the costs of two devices differ? Ratios with their spread, and how one device's costs moved over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from as2d_core.profiles.comparison import BY_WIDTH, ComparedCost, compare_profiles
from as2d_core.profiles.profile import Profile
from dashboard.views import numbers
from dashboard.views.profile_table import cost_name
from dashboard.views.text import label, lines, visible
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, empty_layout, width_axis

HEIGHT_PX = 320
SAME_SHARE = 0.01
"""Costs without a spread that differ by less count as equal."""
SIGMAS = 2.0
"""With a spread of both: by how many standard deviations of the ratio they must differ."""
_STYLE = {"verify_idle_ms": ("alone", "target", "circle", "solid"),
          "verify_concurrent_ms": ("beside the drafter", "drafter", "square", "dash")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairInfo:
    """Two profiles, cost by cost."""

    first: str
    second: str
    rows: tuple[ComparedCost, ...]
    differing: tuple[ComparedCost, ...]
    sentence: str
    """What stands out (plain text)."""


def differs(row: ComparedCost) -> bool:
    """Whether two costs are further apart than their calls scatter, or than a hundredth where that is not known.

    A cost that only one of them holds differs.
    """
    ratio, sd = row.ratio, row.ratio_sd
    if ratio is None:
        return row.first.value_ms != row.second.value_ms
    return abs(ratio - 1) > (SAME_SHARE if sd is None else SIGMAS * sd)


def pair_info(first: Profile, second: Profile) -> PairInfo:
    """Every cost that at least one of both holds; the ratio is second over first."""
    rows = compare_profiles(first, second)
    differing = tuple(row for row in rows if differs(row))
    return PairInfo(first.name, second.name, rows, differing, _sentence(rows, differing))


def _sentence(rows: Sequence[ComparedCost], differing: Sequence[ComparedCost]) -> str:
    known = [row for row in rows if row.ratio is not None]
    one = len(rows) - len(known)
    wide = [row.ratio for row in known if row.first.name == "verify_idle_ms" and row.ratio is not None]
    parts = [f"{len(differing)} of {numbers.counted(len(rows), 'cost')} differ"]
    if wide:
        parts.append(f"verification alone costs {min(wide):.2f} to {max(wide):.2f} times as much in the second")
    if one:
        parts.append(f"{numbers.counted(one, 'cost')} only one of them holds, or one holds as zero")
    return "; ".join(parts) + "."


def pair_figure(info: PairInfo, theme: Theme) -> go.Figure:
    """Second over first by width; bars are one standard deviation of the ratio from the calls of both."""
    figure = go.Figure(layout=base_layout(theme))
    widest = 0
    for name in BY_WIDTH:
        shown, role, symbol, dash = _STYLE[name]
        rows = [row for row in info.rows if row.first.name == name and row.ratio is not None]
        if not rows:
            continue
        widest = max(widest, *(row.first.width or 0 for row in rows))
        colour, shift = theme.role(role), -0.1 if role == "target" else 0.1
        figure.add_scatter(
            name=shown,
            x=[(row.first.width or 0) + shift for row in rows],
            y=[row.ratio for row in rows],
            error_y={
                "type": "data",
                "array": [row.ratio_sd or 0.0 for row in rows],
                "arrayminus": [min(row.ratio_sd or 0.0, row.ratio or 0.0) for row in rows],
                "color": colour,
                "thickness": 1.2,
            },
            mode="lines+markers",
            line={"color": colour, "width": 1.5, "dash": dash},
            marker={
                "size": 8,
                "symbol": symbol,
                "color": [theme.background if _loose(row) else colour for row in rows],
                "line": {"color": colour, "width": 1.5},
            },
            hovertext=[_hover(row, info) for row in rows],
            hoverinfo="text",
        )
    if not widest:
        return go.Figure(layout=empty_layout(theme, "The two profiles have no width in common."))
    figure.add_hline(y=1, line={"color": theme.role("reference"), "dash": "dash", "width": 1}, layer="below")
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False}
    figure.update_layout(
        height=HEIGHT_PX,
        showlegend=True,
        legend={**legend, "font": {"size": SMALL_PX, "color": theme.text}},
        margin={"l": 64, "r": 24, "t": 34, "b": 48},
        xaxis=width_axis(theme, widest),
        yaxis=axis(theme, "second over first (ratio)", tickformat=".3~g"),
    )
    return figure


def _loose(row: ComparedCost) -> bool:
    kinds = [None if cost.provenance is None else cost.provenance.kind for cost in (row.first, row.second)]
    firm = all(kind in ("measured", "published") for kind in kinds)
    return row.first.extrapolated or row.second.extrapolated or not firm


def _hover(row: ComparedCost, info: PairInfo) -> str:
    spread = "" if row.ratio_sd is None else f" ± {row.ratio_sd:.3f}"
    return lines(
        [
            f"<b>K = {row.first.width}: {row.ratio:.3f}{spread}</b>",
            f"{label(info.first, 30)}: {numbers.duration(row.first.value_ms)} ({_origin(row, second=False)})",
            f"{label(info.second, 30)}: {numbers.duration(row.second.value_ms)} ({_origin(row, second=True)})",
        ]
    )


def _origin(row: ComparedCost, *, second: bool) -> str:
    cost = row.second if second else row.first
    kind = "n/a" if cost.provenance is None else cost.provenance.kind
    return f"{kind}, width not measured" if cost.extrapolated else kind


def pair_table(info: PairInfo, only_differing: bool = False) -> pd.DataFrame:
    """One row a cost: numbers, NaN for n/a."""
    rows = info.differing if only_differing else info.rows
    columns = ["Cost", "K", "First (ms)", "Second (ms)", "Ratio", "± SD", "First is", "Second is", "Differs"]
    return pd.DataFrame(
        [
            (
                cost_name(row.first.name),
                row.first.width,
                row.first.value_ms,
                row.second.value_ms,
                row.ratio,
                row.ratio_sd,
                _origin(row, second=False),
                _origin(row, second=True),
                "yes" if differs(row) else "no",
            )
            for row in rows
        ],
        columns=columns,
    )


@dataclass(frozen=True, slots=True)
class DriftInfo:
    """One device's costs at several times; the order is that of time."""

    times: tuple[str, ...]
    """ISO, as the runner wrote them."""
    costs: tuple[tuple[str, tuple[tuple[float | None, float | None], ...]], ...]
    """Name, and for each time the value over that of the first time with its standard deviation."""
    verdicts: tuple[str, ...]
    sentence: str


DRIFTING = ("target_step_ms", "verify_idle_ms.1", "verify_idle_ms.4", "verify_idle_ms.8", "draft_overlapped_ms")


def drift_info(profiles: Sequence[Profile]) -> DriftInfo:
    """Costs over the dates at which one device was measured, relative to the first of them."""
    ordered = sorted(profiles, key=lambda profile: profile.created_at)
    costs = [(_drift_name(key), tuple(_relative(profile, ordered[0], key) for profile in ordered)) for key in DRIFTING]
    known = [(name, points) for name, points in costs if points and points[-1][0] is not None]
    moved = sorted(known, key=lambda item: -abs((item[1][-1][0] or 1.0) - 1))
    once = "This device was measured once; drift shows from the second time on."
    said = f"Measured {numbers.count(len(ordered))} times." if len(ordered) > 1 else once
    if moved and len(ordered) > 1:
        name, points = moved[0]
        change = numbers.signed_percent(((points[-1][0] or 1.0) - 1) * 100)
        said += f" Since the first time, {name} moved most: {change}."
    return DriftInfo(
        tuple(profile.created_at for profile in ordered),
        tuple(known),
        tuple(profile.stability.verdict for profile in ordered),
        said,
    )


def _drift_name(key: str) -> str:
    name, _, width = key.partition(".")
    return cost_name(name) + (f", K = {width}" if width else "")


def _relative(profile: Profile, first: Profile, key: str) -> tuple[float | None, float | None]:
    now, then = _value(profile, key), _value(first, key)
    if now is None or not then:
        return None, None
    spread = profile.spread.get(key)
    return now / then, None if spread is None or spread.sd_ms is None else spread.sd_ms / then


def _value(profile: Profile, key: str) -> float | None:
    name, _, width = key.partition(".")
    value = getattr(profile, name)
    return value.get(int(width)) if width else value


def drift_figure(info: DriftInfo, theme: Theme) -> go.Figure:
    """Costs relative to the first measurement, against the date."""
    if len(info.times) < 2:
        return go.Figure(layout=empty_layout(theme, label(info.sentence, 160)))
    figure = go.Figure(layout=base_layout(theme))
    dashes, symbols = ("solid", "dash", "dot", "dashdot", "longdash"), ("circle", "square", "diamond", "cross", "x")
    for i, (name, points) in enumerate(info.costs):
        draft = name.startswith("Draft")
        colour = theme.role("drafter" if draft else "target")
        figure.add_scatter(
            name=name,
            x=list(info.times),
            y=[value for value, _ in points],
            error_y={
                "type": "data",
                "array": [sd or 0.0 for _, sd in points],
                "arrayminus": [min(sd or 0.0, value or 0.0) for value, sd in points],
                "color": colour,
                "thickness": 1,
            },
            mode="lines+markers",
            line={"color": colour, "width": 1.5, "dash": dashes[i % len(dashes)]},
            marker={"size": 8, "symbol": symbols[i % len(symbols)], "color": colour},
            hovertext=[
                f"<b>{label(name)}</b><br>{label(when[:19])}, {verdict}<br>"
                + (numbers.NA if value is None else f"{value:.3f} of the first")
                for when, verdict, (value, _) in zip(info.times, info.verdicts, points, strict=True)
            ],
            hoverinfo="text",
        )
    figure.add_hline(y=1, line={"color": theme.role("reference"), "dash": "dash", "width": 1}, layer="below")
    figure.update_layout(
        height=HEIGHT_PX,
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "font": {"size": SMALL_PX, "color": theme.text},
        },
        margin={"l": 64, "r": 24, "t": 52, "b": 40},
        xaxis=axis(theme, type="date"),
        yaxis=axis(theme, "over the first time (ratio)", tickformat=".2~f"),
    )
    return figure


def device_line(profile: Profile) -> str:
    """The device of a profile in one line of plain text."""
    parts = []
    for name in ("model", "soc", "gpu", "cpu", "android", "target_placement", "drafter_placement"):
        value = profile.device.get(name)
        if value not in (None, ""):
            prefix = {"android": "Android ", "target_placement": "target on ", "drafter_placement": "drafter on "}
            parts.append(prefix.get(name, "") + visible(str(value), spaces=False))
    return ", ".join(parts) or numbers.NA
