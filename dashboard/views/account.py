"""Where did the time go, in one bar? T = D + V - O + H, and what could be saved at most."""

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from as2d_core.accounting import TimeAccount, summarise
from as2d_core.records import RunRecord
from dashboard.views import numbers, text
from dashboard.views.parts import PARTS, Work, length_ns
from dashboard.views.theme import (
    FONT_PX,
    SMALL_PX,
    Theme,
    Trace,
    axis,
    base_layout,
    caption,
    empty_layout,
    keep_look,
    lane_name,
)
from dashboard.views.timeline_overview import LEFT_PX, RIGHT_PX


@dataclass(frozen=True, slots=True)
class Part:
    """One of D, V, O and H, laid out along T."""

    name: str
    role: str
    start_ms: float
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
        """The account with its numbers, with as many decimals as it takes for them to add up as written."""
        terms = (self.draft_ms, self.verify_ms, -self.overlap_ms, self.idle_ms)
        decimals = next(
            (n for n in range(6) if round(sum(round(t, n) for t in terms) - round(self.total_ms, n), 6) == 0), 6
        )
        d, v, o, h, total = (f"{abs(ms):,.{decimals}f}" for ms in (*terms, self.total_ms))
        return f"T = D + V {numbers.MINUS} O + H = {d} + {v} {numbers.MINUS} {o} + {h} = {total} ms"

    @property
    def sentence(self) -> str:
        """What could be gained if everything but the target's own work disappeared: T / V."""
        if self.empty is not None:
            return self.empty
        gain = self.target_speedup
        if gain is None:
            said = "the target has not worked."
        elif gain < 1.005:
            said = "nothing but the target's own work is left in T; only a cheaper or rarer target call helps."
        else:
            said = f"at most {numbers.times_faster(gain)} faster if nothing but the target remained (T / V)."
        return said[0].upper() + said[1:] if self.complete else f"So far: {said}"

    @property
    def bound_sentence(self) -> str:
        """What could be gained by overlapping the same work perfectly: T / (max(D, V) + H)."""
        gain = self.bound_speedup
        if gain is None or self.verify_ms == 0:
            return ""
        bound = f"No schedule of this work is faster than max(D, V) + H = {numbers.whole_ms(self.bound_ms)}"
        return (
            f"{bound}: this run has reached it." if gain < 1.005 else f"{bound}: {numbers.times_faster(gain)} at most."
        )


def account_frame(account: AccountInfo) -> pd.DataFrame:
    """The account in numbers, for files: T and its parts in ms, and the bound."""
    parts = ("T", "D", "V", "O", "H", "max(D, V) + H")
    values = (account.total_ms, account.draft_ms, account.verify_ms, account.overlap_ms, account.idle_ms)
    return pd.DataFrame({"Part": parts, "Time (ms)": (*values, account.bound_ms)})


def account_info(record: RunRecord) -> AccountInfo:
    """Account for a run, complete or not."""
    return account_of(summarise(record).account, complete=record.status in ("eos", "capped"))


def account_of_work(work: Work | None, *, complete: bool) -> AccountInfo:
    """Account for a run whose spans were merged already; ``None``: decoding never began."""
    if work is None:
        return account_of(None, complete=complete)
    draft, verify, overlap, idle = (length_ns(work.part(name)) for name in PARTS)
    return account_of(TimeAccount(work.total_ns, draft, verify, overlap, idle), complete=complete)


def account_of(whole: TimeAccount | None, *, complete: bool) -> AccountInfo:
    """Lay an account out; ``complete``: whether the run reached the end of its output."""
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
        complete=complete,
        parts=_parts(whole),
    )


def _parts(whole: TimeAccount) -> tuple[Part, ...]:
    """The drafter's row, the target's row and what is in neither, such that rows share exactly O."""
    draft, verify, idle = whole.draft_ns / 1e6, whole.verify_ns / 1e6, whole.idle_ns / 1e6
    overlap = whole.overlap_ns / 1e6
    parts = (
        Part("D", "drafter", 0.0, draft, "drafter working"),
        Part("V", "target", draft - overlap, verify, "target working"),
        Part("H", "retired", draft - overlap + verify, idle, "neither: our own loop, the queue, waiting"),
        Part("O", "reference", draft - overlap, overlap, "both at once"),
    )
    return tuple(part for part in parts if part.length_ms > 0)


_ROWS = {"D": (0.55, 0.9), "V": (-0.55, 0.9), "H": (0.0, 2.0)}
"""Middle and height of each part's bar; O is the stretch where both rows are filled, and gets a bracket."""

SHORT = {"D": "drafter", "V": "target", "O": "both", "H": "neither"}
"""Who works in each part."""


def account_figure(info: AccountInfo, theme: Theme, selected: str | None = None) -> go.Figure:
    """Two rows as long as T: the drafter's time above the target's, a bracket where both work, grey where neither.

    A click gives ``customdata = [name of the part]``; the ``selected`` part is outlined.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, text.escape(info.empty)))
    bars = [_bar(part, info.total_ms, theme, part.name == selected) for part in info.parts if part.name in _ROWS]
    return go.Figure(bars, _layout(info, theme))


def _bar(part: Part, total_ms: float, theme: Theme, outlined: bool) -> Trace:
    middle, height = _ROWS[part.name]
    shown = f"{part.name} {numbers.whole_ms(part.length_ms)}"
    return {
        "type": "bar",
        "name": f"account:{part.name}",
        "orientation": "h",
        "base": [part.start_ms],
        "x": [part.length_ms],
        "y": [middle],
        "width": [height],
        "marker": {"color": theme.role(part.role), "line": {"width": 2 if outlined else 0, "color": theme.text}},
        "customdata": [[part.name]],
        **keep_look(theme.background),
        "text": [f"{shown}, {SHORT[part.name]}"],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "inside",
        "insidetextfont": {"size": FONT_PX, "color": theme.background},
        "hovertext": [f"<b>{shown}</b>, {numbers.share(part.length_ms / total_ms)} of T<br>{part.meaning}"],
        "hoverinfo": "text",
    }


def _layout(info: AccountInfo, theme: Theme) -> dict[str, object]:
    shapes = []
    names = [lane_name(theme, LEFT_PX, "Account", f"T = {numbers.whole_ms(info.total_ms)}", y=0.0)]
    for part in info.parts:
        if part.name == "O":
            x0, x1 = part.start_ms, part.start_ms + part.length_ms
            line = {"color": theme.muted, "width": 1}
            shapes.append({"type": "path", "path": f"M {x0} -1.1 L {x0} -1.3 L {x1} -1.3 L {x1} -1.1", "line": line})
            shown = f"O {numbers.whole_ms(part.length_ms)}, both at once"
            names.append(caption(theme, shown, x=(x0 + x1) / 2, y=-1.3, yanchor="top"))
    low = -2.1 if shapes else -1.1
    return {
        **base_layout(theme),
        "height": 150 if shapes else 124,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 8, "b": 48},
        "uniformtext": {"minsize": SMALL_PX, "mode": "hide"},
        "xaxis": axis(theme, "time after prefill (ms)", range=[0, info.total_ms * 1.004], tickformat=",~f"),
        "yaxis": {"visible": False, "range": [low, 1.1], "fixedrange": True},
        "shapes": shapes,
        "annotations": names,
    }
