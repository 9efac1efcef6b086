"""Which notebooks are there, and how do they change? Every change is saved at once, as a version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from as2d_core.errors import As2dError
from dashboard.notebook.cells import Cell, Notebook, figure_cell, new_id, notebook_from_json, notebook_to_json
from dashboard.notebook.edits import with_cell, with_changes
from dashboard.notebook.source import Source
from dashboard.reports.templates import overview
from dashboard.services.importing import Imported, as_copy, import_bytes, import_path
from datastore import notebooks
from datastore.notebooks import SavedVersion
from datastore.store import Store


def list_notebooks(store: Store) -> list[SavedVersion]:
    """The newest version of every notebook, the last saved first."""
    return notebooks.list_notebooks(store)


def open_notebook(store: Store, notebook_id: str, version: int | None = None) -> Notebook:
    """A notebook as it was saved last, or as a version.

    Raises:
        UnknownNameError, StoreError: there is no such notebook or version.
        NotebookError: it was written by something else and cannot be read.
    """
    return notebook_from_json(notebooks.load_notebook(store, notebook_id, version))


def save(store: Store, notebook: Notebook, said: str) -> SavedVersion:
    """Keep a notebook as a whole; ``said`` says in a few words what was done.

    Raises:
        NotebookError: it cannot be kept.
        StoreError: it cannot be written.
    """
    kept = _edited(notebook, said)
    return notebooks.save_notebook(store, notebook.id, kept.title, kept.body, kept.change)


def change(store: Store, notebook_id: str, edit: Callable[[Notebook], Notebook], said: str) -> Notebook:
    """Change a notebook as it is kept now: what another tab or person did to it meanwhile stays.

    Args:
        said: in a few words what is done.

    Raises:
        UnknownNameError, NotebookError: the notebook or the cell is gone, or it cannot be kept like that.
        StoreError: it cannot be written.
    """
    made: list[Notebook] = []

    def act(body: dict[str, Any]) -> notebooks.Edited:
        made.append(edit(notebook_from_json(body)))
        return _edited(made[-1], said)

    notebooks.change_notebook(store, notebook_id, act)
    return made[-1]


def change_cell(store: Store, notebook_id: str, cell: Cell, body: Mapping[str, Any], said: str) -> SavedVersion | None:
    """Keep what somebody made of a cell that they had seen as ``cell``.

    Returns:
        The version that this overwrote something of which they had not seen; ``None`` when nothing was.

    Raises:
        As ``change``.
    """
    over: list[bool] = []

    def act(kept: dict[str, Any]) -> notebooks.Edited:
        made, lost = with_changes(notebook_from_json(kept), cell.id, cell.body, body)
        over.append(lost)
        # Said otherwise, so that it does not become one version with what it overwrites.
        return _edited(made, f"{said}, over a change made elsewhere" if lost else said)

    saved = notebooks.change_notebook(store, notebook_id, act)
    if not over[-1]:
        return None
    return next(
        (item for item in notebooks.notebook_versions(store, notebook_id) if item.version < saved.version), None
    )


def _edited(notebook: Notebook, said: str) -> notebooks.Edited:
    body = notebook_to_json(notebook)
    notebook_from_json(body)  # what could not be read again is not written
    return notebooks.Edited(notebook.title, body, said)


def new_notebook(store: Store, title: str = "Untitled") -> Notebook:
    """An empty notebook, or for the first of a store one that shows what there is."""
    first = not notebooks.list_notebooks(store)
    made = overview(Source(store)) if first else Notebook(new_id(), title)
    save(store, made, "begun")
    return made


def send(store: Store, notebook_id: str | None, view: str, settings: dict[str, Any]) -> Notebook:
    """Put a figure at the end of a notebook, or (``None``) of a new one.

    Raises:
        UnknownNameError, NotebookError: the notebook is not there, or is full.
    """
    return add_cells(store, notebook_id, [figure_cell(view, **settings)], "figure sent")


def add_cells(store: Store, notebook_id: str | None, cells: Sequence[Cell], said: str) -> Notebook:
    """Put cells at the end of a notebook, or of a new one."""

    def added(notebook: Notebook) -> Notebook:
        for cell in cells:
            notebook = with_cell(notebook, cell)
        return notebook

    if notebook_id is not None:
        return change(store, notebook_id, added, said)
    notebook = added(Notebook(new_id(), "Sent figures"))
    save(store, notebook, said)
    return notebook


def import_file(store: Store, source: Path | bytes, name: str = "") -> Imported:
    """Take in what somebody shared, notebooks included; one that differs from ours becomes a copy.

    Args:
        source: a file or folder, or what a page was handed with the name of its file.

    Raises:
        ArchiveError, StoreError: see ``importing.import_path``.
    """
    found = import_path(store, source) if isinstance(source, Path) else import_bytes(store, source, name)
    kept: list[Notebook] = []
    for notebook in found.notebooks:
        try:
            kept.append(_keep(store, notebook))
        except As2dError as error:
            found.refused.append(f"The notebook {notebook.title!r} was not taken: {error}")
    return replace(found, notebooks=kept)


def _keep(store: Store, notebook: Notebook) -> Notebook:
    """Keep a notebook of somebody else beside ours; the same one twice is once."""
    known = {item.notebook_id for item in notebooks.list_notebooks(store)}
    if notebook.id in known:
        copy = as_copy(notebook, new_id())
        for kept in (open_notebook(store, name) for name in known):
            if kept == notebook or replace(kept, id=copy.id) == copy:
                return kept
        notebook = copy
    save(store, notebook, "imported")
    return notebook
