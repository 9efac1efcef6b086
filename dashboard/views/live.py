"""What is a run saying right now? The text so far by who settled it, the drafter's own text, and two growing lanes.

Works on a record that is still growing, on a whole one and on one that broke off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from as2d_core.records import RunRecord
from dashboard.views import numbers
from dashboard.views.run_labels import ended
from dashboard.views.text import element, escape, token_texts, visible
from dashboard.views.theme import FONT, SMALL_PX, Theme, axis, base_layout, caption, empty_layout, lane_name
from dashboard.views.timeline import Lane, bar_trace, depth_trace
from dashboard.views.timeline_detail import detail
from dashboard.views.timeline_info import TimelineInfo, timeline_info

KINDS = ("first", "alone", "accepted", "correction", "bonus", "end")
"""Who settled a token: prefill; the target alone; the target agreeing with a candidate; the target refusing one; the
target's own token behind a fully accepted chain; the end of text."""

MAX_LIVE_BARS = 400
LEFT_PX = 118


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring tokens of one kind, as plain text."""

    kind: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class LiveInfo:
    """A run as it stands."""

    status: str
    stretches: tuple[Stretch, ...]
    """The output so far."""
    drafter: tuple[Stretch, ...]
    """The drafter's own text: ``used`` (behind the cursor) and ``ahead``. Empty without a drafter."""
    drafter_note: str
    tokens: int
    elapsed_ms: float | None
    """From decode start to the last event."""
    tps: float | None
    """Tokens so far over the time so far; ``None`` for a run that was cut off, as everywhere else."""
    against_target_only: float | None
    """Percent of TPS so far above target-only's; ``None`` while either is unknown."""
    ready: int | None
    """Candidates ready at the last boundary."""
    timeline: TimelineInfo


def live_info(record: RunRecord, target_only_tps: float | None = None) -> LiveInfo:
    """A run as it stands; ``target_only_tps`` is target-only's TPS on the same window and device."""
    timeline = timeline_info(record)
    elapsed = timeline.end_ms if timeline.empty is None and timeline.end_ms > 0 else None
    status = "running" if record.end is None and not record.problems else record.status
    tps = timeline.tokens / elapsed * 1e3 if elapsed and status in ("running", "eos", "capped") else None
    drafter, note = _drafter(record)
    return LiveInfo(
        status=status,
        stretches=_output(record),
        drafter=drafter,
        drafter_note=note,
        tokens=timeline.tokens,
        elapsed_ms=elapsed,
        tps=tps,
        against_target_only=numbers.gain(tps, target_only_tps),
        ready=int(timeline.rounds.ready[-1]) if timeline.drafts and len(timeline.rounds) else None,
        timeline=timeline,
    )


def _output(record: RunRecord) -> tuple[Stretch, ...]:
    tokens: list[int] = []
    kinds: list[str] = []
    start = record.marks.get("decode_start")
    if start is not None and start.token is not None:
        tokens.append(start.token)
        kinds.append("first")
    for item in record.rounds:
        own = "alone" if item.proposed == 0 else "correction" if item.accepted < item.proposed else "bonus"
        tokens.extend(item.committed)
        kinds.extend("accepted" if i < item.accepted else own for i in range(len(item.committed)))
    if record.status == "eos" and tokens:
        kinds[-1] = "end"
    return _stretches(token_texts(tokens, record.pieces), kinds)


def _drafter(record: RunRecord) -> tuple[tuple[Stretch, ...], str]:
    """The drafter's text, split where the cursor stands; a serial drafter has only its last draft."""
    if record.request.method == "as2d":
        tokens, used = record.candidates, record.rounds[-1].cursor_after if record.rounds else 0
        note = "drafter's own text"
    elif record.rounds and record.rounds[-1].candidates:
        last = record.rounds[-1]
        tokens, used, note = list(last.candidates), last.accepted, "last draft"
    else:
        return (), ""
    kinds = ["used" if i < used else "ahead" for i in range(len(tokens))]
    return _stretches(token_texts(tokens, record.pieces), kinds), note


def _stretches(texts: Sequence[str], kinds: Sequence[str]) -> tuple[Stretch, ...]:
    pairs = groupby(zip(kinds, texts, strict=True), key=lambda pair: pair[0])
    out = []
    for kind, run in pairs:
        parts = [text for _, text in run]
        out.append(Stretch(kind, "".join(parts), len(parts)))
    return tuple(out)


def live_text_html(info: LiveInfo, theme: Theme) -> str:
    """The output and, paler, the drafter's own text below it; text is escaped and cannot change the page."""
    output = "".join(_stretch(item, theme) for item in info.stretches)
    waiting = element(
        "span", "waiting for the first token" if info.status == "running" else "no token came", {"color": theme.muted}
    )
    parts = [element("div", output or waiting, {"font-size": "17px", "color": theme.text}, dir="auto")]
    if info.drafter:
        name = element("span", escape(f"{info.drafter_note}: "), {"font-size": "12px"})
        text = "".join(_stretch(item, theme) for item in info.drafter)
        parts.append(element("div", name + text, {"color": theme.muted, "margin-top": "8px", "font-size": "15px"}))
        parts.append(_key(theme))
    style = {"font-family": FONT, "line-height": "1.7", "overflow-wrap": "anywhere", "white-space": "pre-wrap"}
    return element("div", "".join(parts), style)


def _key(theme: Theme) -> str:
    """What the marks of the text mean; struck through is not wrong, only used already."""
    words = {
        "accepted": "proposed by the drafter and accepted",
        "correction": "the target's correction",
        "used": "drafted and used already, right or wrong",
    }
    marks = [element("span", word, {**_marked(kind, theme), "margin-right": "16px"}) for kind, word in words.items()]
    return element("div", "".join(marks), {"color": theme.muted, "margin-top": "8px", "font-size": "12px"})


def _marked(kind: str, theme: Theme) -> dict[str, str | None]:
    green, orange = theme.role("accepted"), theme.role("rejected")
    styles: dict[str, dict[str, str | None]] = {
        "accepted": {"border-bottom": f"2px solid {green}"},
        "correction": {"color": orange, "font-weight": "600", "border-bottom": f"2px dotted {orange}"},
        "end": {"color": theme.muted, "font-size": "12px"},
        "used": {"text-decoration": "line-through", "opacity": "0.7"},
    }
    return styles.get(kind, {})


def _stretch(item: Stretch, theme: Theme) -> str:
    meaning = {
        "first": "selected by prefill",
        "alone": "the target alone",
        "accepted": f"{item.tokens} accepted",
        "correction": "the target's correction",
        "bonus": "the target's own token behind an accepted chain",
        "end": "end of text",
        "used": f"{item.tokens} behind the cursor",
        "ahead": f"{item.tokens} not used yet",
    }[item.kind]
    return element("span", escape(visible(item.text, spaces=False)), _marked(item.kind, theme), title=meaning)


def live_figures_html(info: LiveInfo, theme: Theme) -> str:
    """TPS so far, against target-only once both are known, tokens, time and buffer depth, in one line."""
    gap = {"margin-right": "20px", "display": "inline-block"}
    parts = [element("b", escape(numbers.tps(info.tps)), gap)]
    if info.against_target_only is not None:
        parts.append(element("span", escape(numbers.against_target_only(info.against_target_only)), gap))
    parts.append(element("span", escape(numbers.counted(info.tokens, "token")), gap))
    parts.append(element("span", escape(numbers.duration(info.elapsed_ms)), gap))
    if info.ready is not None and info.status == "running":  # what is left of it at the end was of no use
        parts.append(element("span", escape(f"{numbers.counted(info.ready, 'candidate')} ready"), gap))
    parts.append(element("span", escape(ended(info.status)), {"color": theme.muted}))
    style = {"font-family": FONT, "font-size": "15px", "color": theme.text, "font-variant-numeric": "tabular-nums"}
    return element("div", "".join(parts), style)


def live_figure(info: LiveInfo, theme: Theme, last_s: float | None = None) -> go.Figure:
    """Two growing lanes and the buffer between them, over the last ``last_s`` seconds or the whole run."""
    timeline = info.timeline
    if timeline.empty is not None:
        sentence = "Waiting for decoding to begin." if info.status == "running" else timeline.empty
        return go.Figure(layout=empty_layout(theme, escape(visible(sentence, spaces=False))))
    end = max(timeline.end_ms, 1.0)
    low = max(end - last_s * 1e3, 0.0) if last_s is not None else 0.0
    shown = detail(timeline, (low, end), MAX_LIVE_BARS)
    lanes = {"target": Lane("Target", "accepted share", 98.0 if timeline.drafts else 0.0, 56.0)}
    if timeline.drafts:
        lanes["drafter"] = Lane("Drafter", "drafts", 0.0, 24.0)
        peak = max(float(np.max(shown.depth.values, initial=0.0)), timeline.cap or 0, 1.0)
        lanes["buffer"] = Lane("Buffer", "candidates ready", 40.0, 42.0, 0.0, peak)
    top = lanes["target"].top
    figure = go.Figure()
    figure.add_traces([bar_trace(b, lanes[b.lane], theme, shown.rounds_in_view) for b in shown.bars if b.lane in lanes])
    notes = [lane_name(theme, LEFT_PX, n.name, n.caption, y=n.bottom + n.height / 2) for n in lanes.values()]
    if "buffer" in lanes:
        figure.add_trace(depth_trace(shown, lanes["buffer"], theme))
        ready = "" if info.ready is None else f"{info.ready}"
        y = float(lanes["buffer"].y(np.array(float(info.ready or 0))))
        notes.append(caption(theme, ready, xref="paper", x=1, xshift=4, xanchor="left", y=y, yanchor="middle"))
    room = max(end - low, 1.0)
    figure.layout = {
        **base_layout(theme),
        "height": round(top + 60),
        "margin": {"l": LEFT_PX, "r": 30, "t": 8, "b": 46},
        "dragmode": False,
        "uniformtext": {"minsize": SMALL_PX - 2, "mode": "hide"},
        "uirevision": "live",
        "xaxis": axis(theme, "time from decode start (ms)", range=[low, low + room], tickformat=",~f", nticks=6),
        "yaxis": {"visible": False, "range": [-2, top + 6], "fixedrange": True},
        "annotations": notes,
    }
    return figure
