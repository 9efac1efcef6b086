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
    """A table as HTML; every cell is escaped, columns of numbers are set to the right."""
    right = [_of_numbers([row[i] for row in grid.rows]) for i in range(len(grid.columns))]
    head = "".join(_cell("th", name, number) for name, number in zip(grid.columns, right, strict=True))
    rows = ("".join(_cell("td", value, number) for value, number in zip(row, right, strict=True)) for row in grid.rows)
    body = "".join(element("tr", row) for row in rows)
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


def _of_numbers(values: Sequence[Any]) -> bool:
    """Whether most of what stands in a column is a number; what is missing decides nothing."""
    known = [value for value in values if written(value) != numbers.NA]
    return 2 * sum(map(_is_number, known)) > len(known)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer) and not isinstance(value, bool)
    return number or _QUANTITY.fullmatch(written(value)) is not None


def _cell(tag: str, value: Any, number: bool) -> str:
    kind = {"class_": "number"} if number else {}
    return element(tag, _text(written(value)), **kind)


def _text(value: str) -> str:
    return escape(visible(value, spaces=False))
