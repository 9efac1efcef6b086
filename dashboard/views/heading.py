"""What stands above a run's figures: which run this is, what it achieved, and what kind of number that is."""

from dataclasses import dataclass

from dashboard.views import numbers
from dashboard.views.run_labels import ended
from dashboard.views.text import element, escape, label
from dashboard.views.theme import FONT, SMALL_PX, Theme
from dashboard.views.timeline_info import TimelineInfo


@dataclass(frozen=True, slots=True)
class HeadingInfo:
    """One line about a run; all entries are plain text."""

    facts: tuple[str, ...]
    tps: str
    against_target_only: str
    """Gain over target-only's TPS with these words, or ``n/a``."""
    status: str
    """Empty for a run that reached the end of its output."""
    badges: tuple[numbers.Badge, ...]
    notes: tuple[str, ...]


def heading_info(info: TimelineInfo, target_only_tps: float | None = None) -> HeadingInfo:
    """Line above a timeline.

    Args:
        info: the run.
        target_only_tps: TPS of target-only on the same window and device, where it is known.
    """
    audio = "" if info.audio_s is None else f" ({numbers.duration(info.audio_s * 1e3)})"
    facts = (
        f"run {info.run_id}",
        info.method_label,
        info.device or "",
        f"window {info.window}{audio}" if info.window else "",
    )
    gain = numbers.gain(info.tps, target_only_tps)
    return HeadingInfo(
        facts=tuple(fact for fact in facts if fact),
        tps=numbers.tps(info.tps),
        against_target_only=numbers.against_target_only(gain),
        status="" if info.status == "eos" else ended(info.status),
        badges=badges(info.label, info.clock, info.emulated, info.virtual),
        notes=info.notes,
    )


def heading_text(heading: HeadingInfo) -> str:
    """The line as plain text, for a saved picture (``run r1 · As²d b=7 · ... · measured``)."""
    kinds = ", ".join(badge.label for badge in heading.badges)
    return " · ".join(part for part in (*heading.facts, heading.tps, heading.status, kinds) if part)


def badges(source: str, clock: str = "", emulated: bool = False, virtual: bool = False) -> tuple[numbers.Badge, ...]:
    """Badges of a run: where its numbers come from, and what keeps it from being a plain measurement."""
    labels = [source]
    if virtual or (clock == "virtual" and source == "measured"):
        labels.append("virtual")
    if emulated:
        labels.append("emulated")
    return tuple(numbers.badge(item) for item in labels)


def heading_html(heading: HeadingInfo, theme: Theme) -> str:
    """The line as HTML."""
    gap = {"margin-right": "18px", "display": "inline-block"}
    first, *others = heading.facts
    parts = [element("b", label(first), gap)]
    parts += [element("span", label(fact), gap) for fact in others]
    parts.append(element("span", element("b", escape(heading.tps)), gap))
    if heading.against_target_only != numbers.NA:
        parts.append(element("span", element("b", escape(heading.against_target_only)), gap))
    if heading.status:
        parts.append(element("span", label(heading.status), {"color": theme.role("rejected"), **gap}))
    parts += [badge_html(badge, theme) for badge in heading.badges]
    line = element("div", "".join(parts), {"font-variant-numeric": "tabular-nums"})
    notes = "".join(element("div", label(note, 400), {"color": theme.muted}) for note in heading.notes)
    return element("div", line + notes, {"font-family": FONT, "font-size": "14px", "color": theme.text})


def badge_html(badge: numbers.Badge, theme: Theme) -> str:
    """A small label; its meaning is the tooltip."""
    return element(
        "span",
        label(badge.label),
        {
            "display": "inline-block",
            "font-size": f"{SMALL_PX}px",
            "line-height": "16px",
            "padding": "0 7px",
            "margin-right": "6px",
            "border-radius": "9px",
            "border": f"1px solid {theme.muted}",
            "color": theme.muted,
            "vertical-align": "1px",
        },
        title=badge.meaning,
    )
