"""Where did the time go, in one bar? T = D + V - O + H, and what could be saved at most."""

from dataclasses import dataclass

import plotly.graph_objects as go

from as2d_core.accounting import TimeAccount, summarise
from as2d_core.records import RunRecord
from dashboard.views import numbers, text
from dashboard.views.theme import (
    FONT_PX,
    SMALL_PX,
    Theme,
    axis,
    bar_marker,
    base_layout,
    caption,
    empty_layout,
    lane_name,
)
from dashboard.views.timeline_overview import LEFT_PX, RIGHT_PX


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of T that no other part covers."""

    name: str
    role: str
    length_ms: float
    meaning: str


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """Time after prefill, in ms. ``empty`` is the reason when there is none."""

    total_ms: float
    draft_ms: float
    verify_ms: float
    overlap_ms: float
    idle_ms: float
    bound_ms: float
    """max(D, V) + H: the least time of the same work under any schedule (equation 9)."""
    complete: bool
    """Whether the run reached the end of its output; otherwise all times are "so far"."""
    parts: tuple[Part, ...]
    empty: str | None = None

    @property
    def bound_speedup(self) -> float | None:
        """How many times faster the same work could be if drafting and verification overlapped perfectly."""
        return self.total_ms / self.bound_ms if self.bound_ms > 0 else None

    @property
    def target_speedup(self) -> float | None:
        """How many times faster the run would be if nothing but the target's own work remained: T / V."""
        return self.total_ms / self.verify_ms if self.verify_ms > 0 else None

    @property
    def equation(self) -> str:
        """The account with its numbers."""
        d, v, o, h, total = (
            numbers.whole_ms(ms).removesuffix(" ms")
            for ms in (self.draft_ms, self.verify_ms, self.overlap_ms, self.idle_ms, self.total_ms)
        )
        return f"T = D + V {numbers.MINUS} O + H = {d} + {v} {numbers.MINUS} {o} + {h} = {total} ms"

    @property
    def sentence(self) -> str:
        """What could be gained at most, without promising more than the account holds."""
        if self.empty is not None:
            return self.empty
        so_far = "" if self.complete else "So far: "
        target, bound = self.target_speedup, self.bound_speedup
        if target is None or bound is None:
            return f"{so_far}the target has not worked yet."
        alone = f"{so_far}at most {numbers.times_faster(target)} as fast if nothing but the target's own work remained"
        return f"{alone}; the same work, overlapped perfectly, at most {numbers.times_faster(bound)}."


def account_info(record: RunRecord) -> AccountInfo:
    """Account for a run, complete or not."""
    summary = summarise(record)
    whole = summary.account
    if whole is None or whole.total_ns <= 0:
        return AccountInfo(
            0.0, 0.0, 0.0, 0.0, 0.0, 0.0, complete=False, parts=(), empty="There is no decoding time yet."
        )
    return AccountInfo(
        total_ms=whole.total_ns / 1e6,
        draft_ms=whole.draft_ns / 1e6,
        verify_ms=whole.verify_ns / 1e6,
        overlap_ms=whole.overlap_ns / 1e6,
        idle_ms=whole.idle_ns / 1e6,
        bound_ms=whole.bound_ns / 1e6,
        complete=record.status in ("eos", "capped"),
        parts=_parts(whole),
    )


def _parts(whole: TimeAccount) -> tuple[Part, ...]:
    """T cut into what was going on; the order keeps D and V in one piece each."""
    parts = (
        Part(
            "drafter alone",
            "drafter",
            (whole.draft_ns - whole.overlap_ns) / 1e6,
            f"D {numbers.MINUS} O: the target waits",
        ),
        Part("both", "reused", whole.overlap_ns / 1e6, "O: drafting and verifying at the same time"),
        Part(
            "target alone",
            "target",
            (whole.verify_ns - whole.overlap_ns) / 1e6,
            f"V {numbers.MINUS} O: nothing is drafted",
        ),
        Part("neither", "retired", whole.idle_ns / 1e6, "H: our own loop, the queue, waiting"),
    )
    return tuple(part for part in parts if part.length_ms > 0)


def account_figure(info: AccountInfo, theme: Theme) -> go.Figure:
    """One bar as long as T; brackets over it show D and V, which share the part where both work."""
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, text.escape(info.empty)))
    figure = go.Figure(layout=_layout(info, theme))
    start = 0.0
    for part in info.parts:
        share = numbers.share(part.length_ms / info.total_ms)
        figure.add_trace(
            go.Bar(
                name=f"account:{part.role}",
                orientation="h",
                base=[start],
                x=[part.length_ms],
                y=[0.0],
                width=[0.5],
                marker=_marker(theme, part),
                text=[f"{part.name} {numbers.whole_ms(part.length_ms)}"],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                constraintext="inside",
                insidetextfont={"size": FONT_PX, "color": theme.background},
                hovertext=[f"<b>{part.name}</b><br>{numbers.whole_ms(part.length_ms)}, {share} of T<br>{part.meaning}"],
                hoverinfo="text",
            )
        )
        start += part.length_ms
    return figure


def _marker(theme: Theme, part: Part) -> dict[str, object]:
    """Both at once is hatched in the colours of drafter and target."""
    if part.name != "both":
        marker = bar_marker(theme, part.role)
        marker.pop("pattern", None)
        return marker
    pattern = {
        "shape": "/",
        "bgcolor": theme.role("target"),
        "fgcolor": theme.role("drafter"),
        "size": 9,
        "solidity": 0.3,
    }
    return {"color": theme.role("target"), "pattern": pattern, "line": {"width": 0}}


def _layout(info: AccountInfo, theme: Theme) -> dict[str, object]:
    verify_start = info.draft_ms - info.overlap_ms
    brackets = [("D", 0.0, info.draft_ms, 0.42), ("V", verify_start, verify_start + info.verify_ms, -0.42)]
    shapes, notes = [], []
    for name, x0, x1, y in brackets:
        if x1 <= x0:
            continue
        tip = y - 0.1 if y > 0 else y + 0.1
        line = {"color": theme.muted, "width": 1}
        shapes.append({"type": "path", "path": f"M {x0} {tip} L {x0} {y} L {x1} {y} L {x1} {tip}", "line": line})
        notes.append(
            caption(
                theme,
                f"{name} {numbers.whole_ms(x1 - x0)}",
                x=(x0 + x1) / 2,
                y=y,
                yanchor="bottom" if y > 0 else "top",
                bgcolor=theme.background,
            )
        )
    return {
        **base_layout(theme),
        "height": 150,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 8, "b": 44},
        "uniformtext": {"minsize": SMALL_PX, "mode": "hide"},
        "xaxis": axis(theme, "time (ms)", range=[0, info.total_ms * 1.004], tickformat=",~f", automargin=False),
        "yaxis": {"visible": False, "range": [-0.85, 0.85], "fixedrange": True},
        "shapes": shapes,
        "annotations": [*notes, lane_name(theme, LEFT_PX, "Account", f"T = {numbers.whole_ms(info.total_ms)}", y=0.0)],
    }
