"""How is a sentence shown that a page wants noticed? A box whose text is always text, never markup."""

from dashboard.views.text import element, escape, visible
from dashboard.views.theme import FONT, Theme, faded

KINDS = ("error", "warning", "note", "empty")

_ROLE = {"error": "rejected", "warning": "drafter", "note": "target", "empty": "retired"}
_MARK = {"error": "✕", "warning": "!", "note": "i", "empty": "○"}
_LONGEST = 2_000


def box_html(kind: str, sentence: str, theme: Theme, detail: str = "") -> str:
    """One sentence, and a second one in smaller letters; told apart by a mark, not by colour alone."""
    colour = theme.role(_ROLE[kind])
    mark = element(
        "span", _MARK[kind], {"flex": "0 0 16px", "font-weight": "700", "color": colour, "text-align": "center"}
    )
    lines = [element("div", _safe(sentence))]
    if detail:
        lines.append(element("div", _safe(detail), {"color": theme.muted, "font-size": "13px", "margin-top": "2px"}))
    body = element("div", "".join(lines), {"min-width": "0", "overflow-wrap": "anywhere"})
    style = {
        "display": "flex",
        "gap": "10px",
        "padding": "10px 14px",
        "border-radius": "6px",
        "border": f"1px solid {faded(colour, 0.45)}",
        "background": faded(colour, 0.08),
        "font-family": FONT,
        "font-size": "14px",
        "line-height": "1.5",
        "color": theme.text,
    }
    return element("div", mark + body, style, role="alert" if kind == "error" else "note")


def sentence_html(sentence: str, theme: Theme, muted: bool = True, size_px: int = 14) -> str:
    """A line of foreign or own text without a box."""
    style = {
        "font-family": FONT,
        "font-size": f"{size_px}px",
        "line-height": "1.5",
        "color": theme.muted if muted else theme.text,
        "overflow-wrap": "anywhere",
        "font-variant-numeric": "tabular-nums",
    }
    return element("div", _safe(sentence), style)


def _safe(text: str) -> str:
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return escape(visible(shown, spaces=False))
