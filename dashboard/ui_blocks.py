"""How does a page show what came out of a cell? Each block as the Streamlit element that fits it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from as2d_core.errors import As2dError
from dashboard import ui, ui_export
from dashboard.notebook.cells import Cell, Notebook
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence, length, written
from dashboard.notebook.running import Result, run_cell
from dashboard.notebook.source import Source
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.figure_help import view_help
from dashboard.views.grids import column_widths, grid_height
from dashboard.views.theme import CONFIG, PICTURE_CONFIG

_RESULTS = "cell-results"
MOST_RESULTS = 64
MOST_ROWS = 13


@dataclass(slots=True)
class _Kept:
    print_: str
    """Of everything that the result depends on."""
    found: Result
    bytes: int | None = None


def result(
    workspace: Workspace, notebook: Notebook, cell: Cell, *, again: bool = False, place: str | None = None
) -> Result:
    """What came out of a cell: as it was, until the cell, a parameter or the theme changes (or ``again``).

    Args:
        place: what the result is remembered by; default: the cell's id.
    """
    if cell.kind == "text":  # as quickly made as found
        return run_cell(cell, notebook.parameters, Source(workspace.store), ui.theme())
    kept: dict[str, _Kept] = st.session_state.setdefault(_RESULTS, {})
    print_ = json.dumps([dict(cell.body), notebook.parameters, ui.theme().name], sort_keys=True, default=str)
    place = place or cell.id
    known = kept.get(place)
    if known is not None and known.print_ == print_ and not again:
        return known.found
    with st.spinner("Running the cell"):
        found = run_cell(cell, notebook.parameters, Source(workspace.store), ui.theme())
    while len(kept) >= MOST_RESULTS:
        kept.pop(next(iter(kept)))
    kept[place] = _Kept(print_, found)
    return found


def bytes_of(cell: Cell, found: Result) -> int:
    """About how many bytes a result takes to send; counted once for each."""
    kept = st.session_state.get(_RESULTS, {}).get(cell.id)
    if kept is None or kept.found is not found:
        return length(found.blocks)
    if kept.bytes is None:
        kept.bytes = length(found.blocks)
    return int(kept.bytes)


def forget_results() -> None:
    """All cells are run anew when they are shown next."""
    st.session_state.pop(_RESULTS, None)


def blocks(found: Sequence[Block], key: str, about: Mapping[str, Any] | None = None) -> None:
    """Show what came out of a cell.

    Args:
        about: what its tables were asked for with; they are offered as files then.
    """
    for number, block in enumerate(found):
        match block:
            case Markup(html):
                st.html(html)
            case Sentence(said, kind):
                ui.box("error", said) if kind == "error" else ui.sentence(said)
            case Drawing(figure, note):
                ui.chart(figure, f"{key}-{number}", config=PICTURE_CONFIG if block.strip else CONFIG)
                if note:
                    ui.sentence(note)
            case Grid():
                frame = _grid(block)
                if about is not None:
                    ui_export.table(frame, f"{key}-{number}", about)


def how_to_read(cell: Cell, found: Sequence[Block]) -> None:
    """Help of the figure that a cell shows."""
    said = view_help(str(cell.body.get("view"))) if cell.kind == "figure" else ""
    if said and any(isinstance(block, Drawing) for block in found):
        ui.how_to_read(said)


def _grid(grid: Grid) -> pd.DataFrame:
    names = [name or f"column {i}" for i, name in enumerate(grid.columns, 1)]
    unique = [f"{name} ({names[:i].count(name) + 1})" if name in names[:i] else name for i, name in enumerate(names)]
    frame = pd.DataFrame([list(row) for row in grid.rows], columns=unique)
    widths = column_widths({name: list(frame[name]) for name in frame.columns})
    shown = dict.fromkeys(frame.select_dtypes("number").columns, written)
    st.dataframe(
        frame.style.format(shown),
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(frame), MOST_ROWS),
        column_config={name: st.column_config.Column(width=width) for name, width in widths.items()},
    )
    if grid.note:
        ui.sentence(grid.note)
    return frame


def guarded_download(label: str, make: object, name: str, mime: str, *, key: str, help_: str = "") -> None:
    """A file that is made only when it is asked for; what keeps it from being made is the file's text."""

    def data() -> bytes:
        try:
            return make()  # type: ignore[operator]
        except As2dError as error:
            return str(error).encode()

    st.download_button(label, data, name, mime, icon=":material/download:", key=key, help=help_ or None)
