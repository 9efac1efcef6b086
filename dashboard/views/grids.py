"""How high is a table on a page, and how wide a column of text, so that nothing is cut off and no empty row is left?"""

from collections.abc import Iterable, Mapping, Sequence

from dashboard.views.numbers import NA

ROW_PX = 33
"""A row of Streamlit's grid, its head included: 2.1875 rem at this project's 15 px."""
FRAME_PX = 2
LEAST_LETTERS, MOST_LETTERS = 12, 26
"""Lengths of texts that are worth a width of their own."""
_WIDE_PX, _LETTER_PX, _ROOM_PX = 7.6, 6.5, 22
PAGE_PX = 868
"""Room for a grid on a page 900 px wide."""
NARROW_PX = 516
"""Room for a grid beside a form on such a page."""
TICK_PX = 34
"""The column in which rows are ticked."""


def grid_height(rows: int, most_rows: int) -> int:
    """Height in px of a grid that shows all of its rows, or the first ``most_rows`` and half of the next."""
    shown = rows if rows <= most_rows else most_rows + 0.5
    return round(ROW_PX * (shown + 1)) + FRAME_PX


def column_width(texts: Iterable[str], *, widest: int = 320) -> int:
    """Width in px of a column that shows its longest text; Streamlit guesses it from the first rows alone.

    Args:
        texts: the head and every cell.
        widest: where a text is cut off all the same.
    """
    longest = max((sum(map(_wide, text)) for text in texts), default=0)
    return min(round(longest) + _ROOM_PX, widest)


def column_widths(columns: Mapping[str, Sequence[object]]) -> dict[str, int]:
    """Widths of the columns of short texts (times, names, ids), which a narrow grid would cut off.

    Numbers and long texts are left to the grid.
    """
    found = {}
    for name, values in columns.items():
        texts = [value for value in values if isinstance(value, str)]
        if texts and LEAST_LETTERS <= max(map(len, texts)) <= MOST_LETTERS:
            found[name] = column_width([name, *texts])
    return found


def fitting(columns: Mapping[str, Sequence[str]], importance: Sequence[str], room_px: int = PAGE_PX) -> list[str]:
    """Columns that a grid shows without scrolling sideways, in the table's order; the others are asked for.

    Args:
        columns: every cell of each column as it reads.
        importance: of whatever still fits, the columns named first are taken first; others never are. A column in which
            nothing stands takes no room from one that says something.
    """
    taken, left = set(), room_px
    for name in importance:
        needed = column_width([name, *columns[name]], widest=room_px)
        if needed <= left and any(text not in ("", NA) for text in columns[name]):
            taken.add(name)
            left -= needed
    return [name for name in columns if name in taken]


def _wide(letter: str) -> float:
    return _WIDE_PX if letter.isdigit() or letter.isupper() else _LETTER_PX
