"""How is one round shown? As rows of chips and sentences; every token is escaped, and told apart without colour."""

from collections.abc import Sequence
from itertools import groupby

from dashboard.views import numbers
from dashboard.views.rounds import Chip, RoundDetails
from dashboard.views.text import element, escape
from dashboard.views.theme import FONT, MONO, SMALL_PX, Theme, faded

_ROLES = {
    "accepted": "accepted",
    "reused": "reused",
    "matched": "accepted",
    "rejected": "rejected",
    "set aside": "rejected",
    "correction": "rejected",
    "retired": "retired",
    "bonus": "target",
    "next token": "target",
}
_BORDERS = {"rejected": "solid", "set aside": "dotted", "retired": "dotted", "matched": "dotted", "reused": "dashed"}
_STRUCK = ("rejected", "retired")


def round_details_html(details: RoundDetails, theme: Theme) -> str:
    """The details of one round as HTML that is safe whatever the tokens hold."""
    rows = [_heading(details, theme), _tokens(details, theme)]
    if details.passed:
        rows.append(_row("cursor passed", _groups(details.passed, theme), theme))
    if details.cursor is not None:
        rows.append(_row("cursor", _moves(details, theme), theme))
    rows.append(_row("width", _width(details), theme))
    rows.append(_row("cost", _cost(details), theme))
    return element(
        "div",
        "".join(rows),
        {"font-family": FONT, "font-size": "14px", "line-height": "1.5", "color": theme.text, "padding": "4px 0"},
    )


def chip_html(chip: Chip, theme: Theme) -> str:
    """One token; its fate, confidence and place are in the tooltip."""
    colour = theme.role(_ROLES.get(chip.fate, "target"))
    base = theme.roles["target"] if colour.startswith("rgba") else colour
    facts = [
        chip.fate,
        "" if chip.index is None else f"candidate {chip.index}",
        "" if chip.confidence is None else f"confidence {chip.confidence:.2f}",
        chip.note,
    ]
    return element(
        "span",
        element("bdi", escape(chip.text)),
        {
            "display": "inline-block",
            "font-family": MONO,
            "font-size": "13px",
            "padding": "0 6px",
            "margin": "2px 3px 2px 0",
            "border-radius": "5px",
            "border": f"1px {_BORDERS.get(chip.fate, 'solid')} {colour}",
            "background": faded(base, 0.14),
            "color": theme.text,
            "text-decoration": "line-through" if chip.fate in _STRUCK else None,
            "white-space": "pre",
        },
        title=", ".join(fact for fact in facts if fact),
    )


def _heading(details: RoundDetails, theme: Theme) -> str:
    facts = [
        f"t {numbers.stretch(details.start_ms, details.end_ms)}",
        f"K = {details.width}",
        f"{details.proposed} proposed, {details.accepted} accepted" if details.proposed else "target alone",
    ]
    if details.physical_width != details.width:
        facts.append(f"computed at width {details.physical_width}")
    title = element("b", f"round {details.index}") + f" of {details.total:,}"
    shown = "".join(element("span", escape(fact), {"margin-left": "18px", "color": theme.muted}) for fact in facts)
    return element("div", title + shown, {"margin-bottom": "6px", "font-variant-numeric": "tabular-nums"})


def _tokens(details: RoundDetails, theme: Theme) -> str:
    root = "not in the record" if details.root is None else chip_html(details.root, theme)
    parts = [_labelled("root", root, theme)]
    if details.chips:
        parts.append(_groups(details.chips, theme))
    if details.next is not None:
        parts.append(element("span", "→", {"color": theme.muted, "margin-right": "8px"}))
        parts.append(_labelled(details.outcome, chip_html(details.next, theme), theme))
    else:
        parts.append(element("span", "the output ended inside the chain", {"color": theme.muted}))
    return _row("tokens", "".join(parts), theme)


def _groups(chips: Sequence[Chip], theme: Theme) -> str:
    """Neighbours of one fate, with the fate's name below them."""
    runs = ((fate, list(run)) for fate, run in groupby(chips, key=lambda chip: chip.fate))
    return "".join(_labelled(fate, "".join(chip_html(c, theme) for c in run), theme) for fate, run in runs)


def _labelled(name: str, content: str, theme: Theme) -> str:
    colour = theme.role(_ROLES[name]) if name in _ROLES else theme.muted
    label = element(
        "span",
        escape(name),
        {
            "display": "block",
            "font-size": f"{SMALL_PX}px",
            "line-height": "1.3",
            "color": theme.muted,
            "border-top": f"2px {_BORDERS.get(name, 'solid')} {colour}",
            "margin-right": "3px",
        },
    )
    return element("span", content + label, {"display": "inline-block", "vertical-align": "top", "margin-right": "8px"})


def _row(name: str, content: str, theme: Theme) -> str:
    label = element("div", escape(name), {"flex": "0 0 128px", "color": theme.muted})
    body = element("div", content, {"flex": "1 1 0", "min-width": "0"})
    return element("div", label + body, {"display": "flex", "margin": "3px 0"})


def _moves(details: RoundDetails, theme: Theme) -> str:
    if details.cursor is None:
        return ""
    before, after = details.cursor
    lines: list[str] = []
    for (rule, explanation), run in groupby(details.moves, key=lambda move: (move.rule, move.explanation)):
        steps = list(run)
        first, last = steps[0].before, steps[-1].after
        lines.append(
            escape(f"{first} → {last} " if last != first else f"stays at {first} ")
            + element("b", escape(rule + (f" × {len(steps)}" if len(steps) > 1 else "")), {"font-weight": "600"})
            + element("span", escape(f": {explanation}"), {"color": theme.muted})
        )
    shown = "".join(element("div", line) for line in lines) or element(
        "div", "nothing to align before this round", {"color": theme.muted}
    )
    return escape(f"{before} → {after} over the whole round") + shown


def _width(details: RoundDetails) -> str:
    running = ", the drafter was running" if details.source_running else ""
    return escape(f"K = {details.width}: {details.width_reason} ({details.ready} ready{running})")


def _cost(details: RoundDetails) -> str:
    shown = f"{numbers.duration(details.cost_ms)}"
    if abs(details.cost_ms - details.target_ms) > 0.5e-3:
        shown += f", the target's part {numbers.duration(details.target_ms)}"
    shown += f"; {numbers.duration(details.call_ms)} inside model calls"
    if details.profile_cost_ms is None:
        return escape(f"{shown}; by profile {numbers.NA}: {details.profile_note}")
    difference = numbers.signed_percent(details.cost_difference)
    return escape(f"{shown}; {numbers.duration(details.profile_cost_ms)} for {details.profile_note} ({difference})")
