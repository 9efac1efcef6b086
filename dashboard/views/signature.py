"""What was chosen for a figure, printed into it, so that a saved picture still says what it shows."""

import plotly.graph_objects as go

from dashboard.views.text import label
from dashboard.views.theme import Theme, caption

LINE_PX = 18


def signed(figure: go.Figure, theme: Theme, said: str) -> go.Figure:
    """The figure with a line of plain text below everything else, at the right."""
    below = (figure.layout.margin.b or 48) + LINE_PX
    figure.update_layout(margin_b=below, height=(figure.layout.height or 400) + LINE_PX)
    corner = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"}
    figure.add_annotation(caption(theme, label(said, 120), **corner, yshift=-below))
    return figure
