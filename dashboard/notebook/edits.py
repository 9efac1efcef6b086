"""How does a notebook change? Every edit takes a notebook and gives a new one; nothing is changed in place."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dashboard.notebook.cells import MAX_CELLS, Cell, Notebook, check_cell, new_id
from dashboard.notebook.errors import NotebookError

MOST_NAME = 35
"""Letters of a parameter's name that its copy keeps; a number comes behind them."""


def with_cell(notebook: Notebook, cell: Cell, behind: str | None = None) -> Notebook:
    """A cell added behind another one, or at the end.

    Raises:
        NotebookError: the cell cannot be kept, or the notebook is full.
    """
    check_cell(cell)
    if len(notebook.cells) >= MAX_CELLS:
        raise NotebookError(f"A notebook has at most {MAX_CELLS} cells; begin another one.")
    at = len(notebook.cells) if behind is None else _place(notebook, behind) + 1
    return replace(notebook, cells=(*notebook.cells[:at], cell, *notebook.cells[at:]))


def without_cell(notebook: Notebook, cell_id: str) -> Notebook:
    """A cell taken out."""
    at = _place(notebook, cell_id)
    return replace(notebook, cells=(*notebook.cells[:at], *notebook.cells[at + 1 :]))


def moved(notebook: Notebook, cell_id: str, steps: int) -> Notebook:
    """A cell moved down (or, below 0, up) by ``steps``; not beyond the ends."""
    at = _place(notebook, cell_id)
    rest = [cell for cell in notebook.cells if cell.id != cell_id]
    rest.insert(min(max(at + steps, 0), len(rest)), notebook.cells[at])
    return replace(notebook, cells=tuple(rest))


def duplicated(notebook: Notebook, cell_id: str) -> Notebook:
    """A copy of a cell right behind it; a parameter's gets a name of its own, of two with one name only one counts."""
    cell = notebook.cell(cell_id)
    body = dict(cell.body)
    if cell.kind == "parameter":
        name, taken = str(body["name"])[:MOST_NAME], set(notebook.parameters)
        body["name"] = next(f"{name}_{n}" for n in range(2, MAX_CELLS + 3) if f"{name}_{n}" not in taken)
        if body.get("label") == cell.body["name"]:
            body["label"] = body["name"]
    return with_cell(notebook, replace(cell, id=new_id(), body=body), cell_id)


def changed(notebook: Notebook, cell_id: str, **body: Any) -> Notebook:
    """Parts of a cell's body replaced.

    Raises:
        NotebookError: there is no such cell, or it cannot be kept like that.
    """
    return with_body(notebook, cell_id, {**notebook.cell(cell_id).body, **body})


def with_body(notebook: Notebook, cell_id: str, body: Mapping[str, Any]) -> Notebook:
    """A cell's whole body replaced.

    Raises:
        NotebookError: there is no such cell, or it cannot be kept like that.
    """
    at = _place(notebook, cell_id)
    cell = check_cell(replace(notebook.cells[at], body=dict(body)))
    return replace(notebook, cells=(*notebook.cells[:at], cell, *notebook.cells[at + 1 :]))


def with_changes(
    notebook: Notebook, cell_id: str, seen: Mapping[str, Any], body: Mapping[str, Any]
) -> tuple[Notebook, bool]:
    """What somebody changed in a cell, put into the cell as it is now, which may not be what they had seen.

    Args:
        seen: the body that they changed.
        body: what they made of it.

    Returns:
        The notebook, and whether something that another had changed meanwhile was overwritten.

    Raises:
        NotebookError: there is no such cell, or it cannot be kept like that.
    """
    made, over = _merged(seen, body, notebook.cell(cell_id).body)
    return with_body(notebook, cell_id, made), over


def _merged(seen: Mapping[str, Any], body: Mapping[str, Any], kept: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """``kept`` with what changed from ``seen`` to ``body``; settings of a figure are told apart one by one."""
    out, over = dict(kept), False
    for name in dict.fromkeys([*seen, *body]):
        old, new, now = (given.get(name) for given in (seen, body, kept))
        if new == old:
            continue
        if isinstance(new, Mapping) and isinstance(now, Mapping):
            out[name], lost = _merged(old if isinstance(old, Mapping) else {}, new, now)
            over = over or lost
            continue
        over = over or now not in (old, new)
        if name in body:
            out[name] = new
        else:
            out.pop(name, None)
    return out, over


def copied(notebook: Notebook, title: str) -> Notebook:
    """The whole notebook under another id, as one written by hand."""
    return replace(notebook, id=new_id(), title=title)


def _place(notebook: Notebook, cell_id: str) -> int:
    return notebook.cells.index(notebook.cell(cell_id))
