"""What does one verification cost by width, alone and beside the drafter, and how sure is each value?

The single calls behind every mean are drawn too. A width that was not measured is hollow, one that has no cost is
marked as such, and the first one that failed ends the figure visibly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import plotly.graph_objects as go

from as2d_core.profiles.comparison import BY_WIDTH, cost_rows, missing_widths
from as2d_core.profiles.profile import Profile
from dashboard.views import numbers
from dashboard.views.text import label, lines, shortened, visible
from dashboard.views.theme import SMALL_PX, Theme, axis, base_layout, caption, empty_layout, faded, width_axis

HEIGHT_PX, RATIO_HEIGHT_PX, TOP_PX = 380, 260, 34
MOST_SVG_MARKS = 2_000
FIRM = ("measured", "published")
"""Origins that are drawn filled: somebody timed exactly this."""
_LINES = {
    "verify_idle_ms": ("alone", "target", "circle", -0.12),
    "verify_concurrent_ms": ("beside the drafter", "drafter", "square", 0.12),
}
"""Name, role, symbol and shift in K of each line, so that bars do not cover each other."""


@dataclass(frozen=True, slots=True)
class WidthPoint:
    """What one verification of one width costs, in ms."""

    width: int
    value_ms: float
    sd_ms: float | None
    n: int | None
    samples_ms: tuple[float, ...]
    origin: str
    note: str
    extrapolated: bool

    @property
    def firm(self) -> bool:
        """Whether exactly this was timed, here or by the paper."""
        return self.origin in FIRM and not self.extrapolated


@dataclass(frozen=True, slots=True)
class WidthLine:
    """One of both conditions."""

    field: str
    name: str
    points: tuple[WidthPoint, ...]
    missing: tuple[int, ...]
    """Widths below the widest one without a cost."""


@dataclass(frozen=True, slots=True)
class WidthsInfo:
    """Both conditions of one profile."""

    name: str
    lines: tuple[WidthLine, ...]
    failed_width: int | None
    failed_reason: str
    same: bool
    """Whether both conditions hold the same costs, as in a profile that assumes a ratio of 1."""
    notes: tuple[str, ...]
    """Sentences (plain text) on where the values come from and what is not there."""


def widths_info(profile: Profile) -> WidthsInfo:
    """Verification costs by width with the single calls that the profile keeps."""
    found = []
    rows = [row for row in cost_rows(profile) if row.width is not None and row.value_ms is not None]
    for name in BY_WIDTH:
        points = tuple(
            WidthPoint(
                row.width or 0,
                row.value_ms or 0.0,
                None if row.spread is None else row.spread.sd_ms,
                None if row.spread is None else row.spread.n,
                () if row.spread is None else row.spread.samples_ms,
                "unknown" if row.provenance is None else row.provenance.kind,
                "" if row.provenance is None else row.provenance.note,
                row.extrapolated,
            )
            for row in rows
            if row.name == name
        )
        found.append(WidthLine(name, _LINES[name][0], points, tuple(missing_widths(getattr(profile, name)))))
    same = dict(profile.verify_idle_ms) == dict(profile.verify_concurrent_ms)
    notes = _notes(found, profile, same)
    return WidthsInfo(profile.name, tuple(found), profile.failed_width, profile.failed_reason, same, notes)


def _notes(found: Sequence[WidthLine], profile: Profile, same: bool) -> tuple[str, ...]:
    notes = [f"Cost {line.name}: {origins(line.points)}." for line in found if line.points]
    if same:
        notes.append("Both lines lie on each other: the cost beside the drafter is assumed to be the cost alone.")
    notes += [
        f"No cost {line.name} at K = {spans(line.missing)}: never guessed, so no budget may need it."
        for line in found
        if line.missing
    ]
    if profile.failed_width is not None:
        said = visible(profile.failed_reason, spaces=False).rstrip(".")
        notes.append(f"K = {profile.failed_width} failed" + (f": {shortened(said, 200)}." if said else "."))
    return tuple(notes)


def origins(points: Sequence[WidthPoint]) -> str:
    """Which widths are of which origin (``published at K = 8, 12; guessed at K = 2 to 3``)."""
    kinds: dict[str, list[int]] = {}
    for point in points:
        kind = f"{point.origin}, width not measured" if point.extrapolated else point.origin
        kinds.setdefault(kind, []).append(point.width)
    return "; ".join(f"{kind} at K = {spans(widths)}" for kind, widths in kinds.items())


def spans(widths: Sequence[int]) -> str:
    """Widths with runs written as ranges (``1 to 4, 8``)."""
    out: list[list[int]] = []
    for width in sorted(widths):
        if out and out[-1][1] == width - 1:
            out[-1][1] = width
        else:
            out.append([width, width])
    return ", ".join(f"{a}" if a == b else f"{a}, {b}" if b == a + 1 else f"{a} to {b}" for a, b in out)


def widths_figure(info: WidthsInfo, theme: Theme, with_calls: bool = True) -> go.Figure:
    """Milliseconds against width; bars are one standard deviation of the calls, small marks the calls themselves."""
    if not any(line.points for line in info.lines):
        return go.Figure(layout=empty_layout(theme, "This profile has no verification cost at any width."))
    figure = go.Figure()
    calls = [(line, point, ms) for line in info.lines for point in line.points for ms in point.samples_ms]
    if with_calls and calls:
        kind = go.Scattergl if len(calls) > MOST_SVG_MARKS else go.Scatter
        for line in info.lines:
            own = [(point, i, ms) for point in line.points for i, ms in enumerate(point.samples_ms)]
            if own:
                figure.add_trace(_calls(kind, line, own, theme))
    for line in info.lines:
        figure.add_trace(_line(line, theme))
    figure.layout = _layout(info, theme, top_ms(info, with_calls))
    return figure


def top_ms(info: WidthsInfo, with_calls: bool = True) -> float:
    """Upper end of the figure: every mean with its bar, and all calls but those far outside."""
    points = [point for line in info.lines for point in line.points]
    top = 1.1 * max((p.value_ms + (p.sd_ms or 0.0) for p in points), default=1.0)
    calls = sorted(ms for p in points for ms in p.samples_ms) if with_calls else []
    return max(top, calls[int(0.98 * (len(calls) - 1))]) if calls else top


def above_sentence(info: WidthsInfo) -> str:
    """How many calls lie above the figure; empty when all are in it."""
    top = top_ms(info)
    calls = [ms for line in info.lines for p in line.points for ms in p.samples_ms]
    above = [ms for ms in calls if ms > top]
    if not above:
        return ""
    longest = numbers.duration(max(above))
    return f"{len(above):,} of {numbers.counted(len(calls), 'call')} lie above the figure, the longest at {longest}."


def _calls(kind: type, line: WidthLine, own: list[tuple[WidthPoint, int, float]], theme: Theme) -> go.Scatter:
    _, role, _, shift = _LINES[line.field]
    return kind(
        name=f"calls:{line.name}",
        # Side by side in the order in which they were taken, so that drift within a width can be seen.
        x=[point.width + shift + 0.18 * ((i + 0.5) / max(point.n or 1, 1) - 0.5) for point, i, _ in own],
        y=[ms for _, _, ms in own],
        mode="markers",
        marker={"size": 3, "color": faded(theme.role(role), 0.45)},
        hoverinfo="skip",
        showlegend=False,
    )


def _line(line: WidthLine, theme: Theme) -> go.Scatter:
    name, role, symbol, shift = _LINES[line.field]
    colour = theme.role(role)
    # A width without a cost breaks the line: nothing is known there.
    found = {p.width: p for p in line.points}
    points = [found.get(width) for width in range(min(found, default=1), max(found, default=0) + 1)]
    return go.Scatter(
        name=name,
        x=[width + shift for width, _ in enumerate(points, min(found, default=1))],
        y=[None if p is None else p.value_ms for p in points],
        error_y={
            "type": "data",
            "array": [0.0 if p is None else p.sd_ms or 0.0 for p in points],
            "arrayminus": [0.0 if p is None else min(p.sd_ms or 0.0, p.value_ms) for p in points],
            "color": colour,
            "thickness": 1.2,
            "width": 3,
        },
        mode="lines+markers",
        line={"color": colour, "width": 1.5, "dash": "solid" if role == "target" else "dash"},
        marker={
            "size": 8,
            "symbol": symbol,
            "color": [colour if p is not None and p.firm else theme.background for p in points],
            "line": {"color": colour, "width": 1.5},
        },
        hovertext=["" if p is None else _hover(name, p) for p in points],
        hoverinfo="text",
    )


def _hover(name: str, point: WidthPoint) -> str:
    many = point.n is not None and bool(point.samples_ms)
    return lines(
        [
            f"<b>K = {point.width}, {name}</b>",
            numbers.duration(point.value_ms)
            + ("" if point.sd_ms is None else f" ± {numbers.duration(point.sd_ms)} ({numbers.sample_size(point.n)})"),
            f"least {numbers.duration(min(point.samples_ms))}, greatest {numbers.duration(max(point.samples_ms))}"
            if many
            else "",
            label(point.origin) + (", width not measured" if point.extrapolated else ""),
            label(point.note, 90),
        ]
    )


def _layout(info: WidthsInfo, theme: Theme, top: float) -> dict[str, object]:
    widest = max((p.width for line in info.lines for p in line.points), default=1)
    end = max(widest, info.failed_width or 0) + 0.6
    return {
        **base_layout(theme),
        "height": HEIGHT_PX,
        "margin": {"l": 64, "r": 24, "t": TOP_PX, "b": 48},
        "showlegend": True,
        "legend": {
            "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left",
            "font": {"size": SMALL_PX, "color": theme.text}, "itemclick": False, "itemdoubleclick": False,
        },
        "xaxis": width_axis(theme, max(widest, info.failed_width or 0)),
        "yaxis": axis(theme, "one verification (ms)", range=[0, top], tickformat=",~g"),
        "shapes": _bands(info, theme, end),
        "annotations": _marks(info, theme),
    }  # fmt: skip


def _bands(info: WidthsInfo, theme: Theme, end: float) -> list[dict[str, object]]:
    ends = [(k - 0.5, k + 0.5, "retired") for k in _without(info)]
    if info.failed_width is not None:
        ends.append((info.failed_width - 0.5, end, "rejected"))
    return [
        {"type": "rect", "x0": low, "x1": high, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
        | {"fillcolor": faded(theme.role(role), 0.18), "line": {"width": 0}}
        for low, high, role in ends
    ]


def _marks(info: WidthsInfo, theme: Theme) -> list[dict[str, object]]:
    above = {"yref": "paper", "y": 0.98, "yanchor": "top"}
    out = [caption(theme, numbers.NA, x=k, **above) for k in _without(info)]
    if info.failed_width is not None:
        out.append(
            caption(theme, f"K = {info.failed_width} failed", x=info.failed_width - 0.5, xanchor="right", **above)
        )
    if any(not p.firm for line in info.lines for p in line.points):
        right = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 8}
        out.append(caption(theme, "hollow: neither measured nor published", **right))
    return out


def _without(info: WidthsInfo) -> list[int]:
    return sorted({k for line in info.lines for k in line.missing})


@dataclass(frozen=True, slots=True)
class RatioPoint:
    """Cost beside the drafter over cost alone, of one width."""

    width: int
    ratio: float
    sd: float | None
    """From the calls of both, to first order; ``None`` without them."""
    measured: bool


@dataclass(frozen=True, slots=True)
class RatiosInfo:
    """The concurrent ratio of one profile by width."""

    points: tuple[RatioPoint, ...]
    extremes: tuple[float, float] | None
    sentence: str


def ratios_info(profile: Profile) -> RatiosInfo:
    """Concurrent over idle verification (Appendix D.2.3), width by width."""
    out = []
    for width in sorted(set(profile.verify_idle_ms) & set(profile.verify_concurrent_ms)):
        idle, beside = profile.verify_idle_ms[width], profile.verify_concurrent_ms[width]
        a, b = (profile.spread.get(f"{name}.{width}") for name in BY_WIDTH)
        sd = None
        if a is not None and b is not None and a.sd_ms is not None and b.sd_ms is not None and a.mean_ms and b.mean_ms:
            sd = beside / idle * ((a.sd_ms / a.mean_ms) ** 2 + (b.sd_ms / b.mean_ms) ** 2) ** 0.5
        kind = profile.provenance.get(f"verify_concurrent_ms.{width}")
        timed = kind is not None and kind.kind == "measured" and width not in profile.extrapolated_concurrent
        out.append(RatioPoint(width, beside / idle, sd, timed))
    extremes = profile.concurrent_ratio_extremes
    return RatiosInfo(tuple(out), extremes, _ratio_sentence(out, extremes))


def _ratio_sentence(points: Sequence[RatioPoint], extremes: tuple[float, float] | None) -> str:
    timed = sorted(point.ratio for point in points if point.measured)
    if timed:
        count = numbers.counted(len(timed), "width")
        return f"Measured at {count}: {timed[0]:.2f} to {timed[-1]:.2f}, median {median(timed):.2f}."
    if extremes is not None:
        return f"Assumed at every width; measured ratios are published as {extremes[0]:g} to {extremes[1]:g}."
    return "Assumed at every width."


def ratios_figure(info: RatiosInfo, theme: Theme) -> go.Figure:
    """Ratio against width with a line at 1: above it, the drafter slows the target down."""
    if not info.points:
        return go.Figure(layout=empty_layout(theme, "No width has both costs."))
    colour = theme.role("drafter")
    figure = go.Figure(layout=base_layout(theme))
    figure.add_scatter(
        name="ratio",
        x=[p.width for p in info.points],
        y=[p.ratio for p in info.points],
        error_y={
            "type": "data",
            "array": [p.sd or 0.0 for p in info.points],
            "arrayminus": [min(p.sd or 0.0, p.ratio) for p in info.points],
            "color": colour,
            "thickness": 1.2,
        },
        mode="lines+markers",
        line={"color": colour, "width": 1.5, "dash": "dash"},
        marker={
            "size": 8,
            "symbol": "square",
            "color": [colour if p.measured else theme.background for p in info.points],
            "line": {"color": colour, "width": 1.5},
        },
        hovertext=[
            f"<b>K = {p.width}</b><br>{p.ratio:.3f}"
            + ("" if p.sd is None else f" ± {p.sd:.3f}")
            + ("" if p.measured else "<br>assumed")
            for p in info.points
        ],
        hoverinfo="text",
    )
    figure.add_hline(y=1, line={"color": theme.role("reference"), "dash": "dash", "width": 1}, layer="below")
    if info.extremes is not None:
        figure.add_hrect(
            y0=info.extremes[0], y1=info.extremes[1], fillcolor=faded(colour, 0.12), line_width=0, layer="below"
        )
    figure.update_layout(
        height=RATIO_HEIGHT_PX,
        xaxis=width_axis(theme, max(p.width for p in info.points)),
        yaxis=axis(theme, "beside over alone (ratio)", tickformat=".2~f", range=_ratio_range(info)),
    )
    return figure


def _ratio_range(info: RatiosInfo) -> list[float]:
    """Every ratio with its bar, and at least a tenth on both sides of 1."""
    ends = [(max(p.ratio - (p.sd or 0.0), 0.0), p.ratio + (p.sd or 0.0)) for p in info.points]
    low, high = min(0.9, *(end[0] for end in ends)), max(1.1, *(end[1] for end in ends))
    room = 0.04 * (high - low)
    return [max(low - room, 0.0), high + room]
