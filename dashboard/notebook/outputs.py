"""What comes out of a cell? Blocks that a page, a file and a Jupyter notebook can all show."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.views import numbers
from dashboard.views.text import element, escape, visible


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML of ours around escaped text; safe as it is."""

    html: str


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """A figure, and a sentence below it (plain text)."""

    figure: go.Figure
    note: str = ""
    strip: bool = False
    """Whether the mouse wheel scrolls the page, not the figure."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text and numbers; ``None`` is n/a."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Plain text. ``kind``: ``note``, or ``error`` for what could not be done."""

    text: str
    kind: str = "note"


_QUANTITY = re.compile(r"[-+−]?[\d,]+(\.\d+)?( ?(%|µs|ms|s|tok/s))?")
"""Text that is a number with its unit."""

_A_VALUE = 2
"""Bytes that a table takes for each character of its values, as measured."""
Block = Markup | Drawing | Grid | Sentence


def length(blocks: Sequence[Block]) -> int:
    """About how many bytes a page sends to show them; figures are written out for it, which takes a few ms each."""
    total = 0
    for block in blocks:
        match block:
            case Markup(html):
                total += len(html)
            case Sentence(text):
                total += len(text)
            case Drawing(figure, note):
                total += len(figure.to_json()) + len(note)
            case Grid(columns, rows):
                total += _A_VALUE * sum(len(str(value)) for row in (columns, *rows) for value in row)
    return total


def failure(error: Exception) -> tuple[Block, ...]:
    """An error of ours as a block."""
    return (Sentence(str(error), "error"),)


def grid_html(grid: Grid) -> str:
    """A table as HTML; every cell is escaped, numbers are set to the right."""
    head = "".join(element("th", _text(name)) for name in grid.columns)
    body = "".join(element("tr", "".join(_cell(value) for value in row)) for row in grid.rows)
    table = element("table", element("thead", element("tr", head)) + element("tbody", body), class_="grid")
    return element("div", table, class_="wide")


def written(value: Any) -> str:
    """A value as a table shows it: plain text."""
    if value is None or (isinstance(value, float) and numbers.missing(value)):
        return numbers.NA
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return numbers.general(value, 4) if abs(value) < 1000 else numbers.decimals(value, 1)
    if isinstance(value, int | np.integer):
        return numbers.whole(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(written(item) for item in value)
    return str(value)


def _cell(value: Any) -> str:
    shown = written(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number or shown == numbers.NA or _QUANTITY.fullmatch(shown):
        return element("td", _text(shown), class_="number")
    return element("td", _text(written(value)))


def _text(value: str) -> str:
    return escape(visible(value, spaces=False))
