"""What was chosen for a figure, printed into it, so that a saved picture still says what it shows."""

import re

import plotly.graph_objects as go

from dashboard.views.text import label, shortened
from dashboard.views.theme import Theme, caption

LINE_PX, NEXT_PX = 18, 14
LINE_LETTERS = 78
"""What fits into a figure beside a form on a page 900 px wide."""
LETTERS = 160
_PART = re.compile(r".+?(?: · |, |; |$)")


def signed(figure: go.Figure, theme: Theme, said: str) -> go.Figure:
    """The figure with plain text below everything else, at the right; a long text is broken between its parts."""
    shown = [label(line, LETTERS) for line in broken(shortened(said, LETTERS))]
    lines_px = LINE_PX + NEXT_PX * (len(shown) - 1)
    below = (figure.layout.margin.b or 48) + lines_px
    figure.update_layout(margin_b=below, height=(figure.layout.height or 400) + lines_px)
    corner = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"}
    figure.add_annotation(caption(theme, "<br>".join(shown), **corner, align="right", yshift=-below))
    return figure


def broken(said: str) -> list[str]:
    """A text in lines that a narrow figure has room for; it breaks after ``·`` (which goes), a comma or a semicolon."""
    found = [""]
    for part in _PART.findall(said):
        if found[-1] and len(found[-1] + part.rstrip()) > LINE_LETTERS:
            found.append("")
        found[-1] += part
    return [line.strip().removesuffix(" ·") for line in found]
