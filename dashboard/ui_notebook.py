"""Which notebook does the page show, and what is done with its cells? Every change is saved before it is drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from as2d_core.errors import As2dError
from dashboard import ui, ui_blocks, ui_notebook_cells, ui_state
from dashboard.notebook import edits
from dashboard.notebook.cells import Cell, Notebook, figure_cell, parameter_cell, query_cell, text_cell
from dashboard.services import notebooks
from dashboard.services.reporting import notebook_html, shared
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from datastore.files import download_name
from datastore.notebooks import delete_notebook, notebook_versions, restore, undo

_SAID, _SHOWN = "notebook-said", "notebook-shown"
FIRST_QUERY = "SELECT method, count(*) AS runs, max(tps) AS fastest\nFROM runs\nGROUP BY method"
MOST_VERSIONS_SHOWN = 30
MOST_SENT = 4_000_000
"""Bytes of cells that are drawn, about; what a page sends stays below 5 MB with it."""


@dataclass(slots=True)
class Room:
    """What the page may still send for the cells of a notebook."""

    first: str
    """Id of the cell that is drawn first; empty: the first one."""
    sent: int = 0
    full: bool = False

    @property
    def why(self) -> str:
        """Why a cell is not drawn."""
        return (
            f"Not drawn: the cells above fill the {MOST_SENT / 1e6:g} MB that are sent at once."
            if self.full
            else "Not drawn: the page begins with a cell further down."
        )

    def is_open(self, cell_id: str) -> bool:
        """Whether a cell may be drawn at all."""
        if cell_id == self.first:
            self.first = ""
        return not self.first and not self.full

    def takes(self, size: int) -> bool:
        """Whether there is room for so many bytes, which are then used; the first cell always has it."""
        self.full = self.full or (self.sent > 0 and self.sent + size > MOST_SENT)
        self.sent += 0 if self.full else size
        return not self.full


def choose(workspace: Workspace) -> Notebook:
    """The notebook that the query string names, or the one that was saved last; when there is none, the page ends."""
    _say()
    kept = notebooks.list_notebooks(workspace.store)
    if not kept:
        ui.box("empty", "There is no notebook yet.", "The first one shows what is in the store; change it as you like.")
        st.button("Begin a notebook", type="primary", on_click=_begin, args=(workspace,))
        st.stop()
    titles = {item.notebook_id: item.title for item in kept}
    left, right = st.columns([8, 2], vertical_alignment="bottom")
    with left:
        asked = ui_state.get("notebook")
        if asked and asked not in titles:
            ui.box("error", f"There is no notebook {asked!r} any more; this is the one that was saved last.")
        chosen = ui_state.one_of(
            st.selectbox, "notebook", "Notebook", list(titles), next(iter(titles)), always=True, told=True,
            format_func=titles.__getitem__,
        )  # fmt: skip
    if st.session_state.get(_SHOWN, chosen) != chosen:
        ui_state.put(edit=None, at=None)  # cells of the other one
    st.session_state[_SHOWN] = chosen
    right.button("New notebook", icon=":material/add:", on_click=_begin, args=(workspace,), width="stretch")
    try:
        return notebooks.open_notebook(workspace.store, chosen)
    except As2dError as error:
        ui.box("error", str(error))
        return st.stop()


def _begin(workspace: Workspace) -> None:
    _attempt(lambda: ui_state.put(notebook=notebooks.new_notebook(workspace.store).id, edit=None))


def head(workspace: Workspace, notebook: Notebook) -> None:
    """Title, and what is done with the whole notebook."""
    _words(workspace, notebook)
    versions = notebook_versions(workspace.store, notebook.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Run all", icon=":material/play_arrow:", on_click=ui_blocks.forget_results)
        st.button(
            "Undo", icon=":material/undo:", disabled=len(versions) < 2, on_click=_undo, args=(workspace, notebook.id)
        )
        _versions(workspace, notebook, versions)
        name = download_name(notebook.title, "notebook")
        make_html, make_zip = _html_of(workspace, notebook), _bundle_of(workspace, notebook)
        ui_blocks.guarded_download("HTML", make_html, f"{name}.html", "text/html", key="as-html", help_="One file "
                                   "that opens anywhere, offline too.")  # fmt: skip
        ui_blocks.guarded_download("Bundle", make_zip, f"{name}.zip", "application/zip", key="as-zip", help_="Jupyter "
                                   "notebook and runs as Parquet; runs again where as2d is installed.")  # fmt: skip
        with st.popover("Delete", icon=":material/delete:"):
            ui.sentence("The notebook goes with all its versions; nothing can bring it back.", muted=False)
            st.button("Delete it", on_click=_delete, args=(workspace, notebook))
    ui.sentence(f"Saved {numbers.moment(versions[0].saved_at)}, version {versions[0].version}.")


def _html_of(workspace: Workspace, notebook: Notebook) -> Callable[[], bytes]:
    return lambda: notebook_html(workspace.store, notebook)


def _bundle_of(workspace: Workspace, notebook: Notebook) -> Callable[[], bytes]:
    return lambda: shared(workspace.store, notebook).data


def _words(workspace: Workspace, notebook: Notebook) -> None:
    key = f"title-{notebook.id}"
    if key not in st.session_state or st.session_state.get(f"{key}:kept") != notebook.title:
        st.session_state[key] = st.session_state[f"{key}:kept"] = notebook.title

    def save() -> None:
        title = st.session_state[key].strip() or "Untitled"
        _change(workspace, notebook.id, lambda kept: replace(kept, title=title), "title")

    st.text_input("Title", key=key, on_change=save, max_chars=200)


def _versions(workspace: Workspace, notebook: Notebook, versions: list[Any]) -> None:
    with st.popover("Versions", icon=":material/history:"):
        for item in versions[:MOST_VERSIONS_SHOWN]:
            left, right = st.columns([5, 2], vertical_alignment="center")
            with left:
                ui.sentence(f"{item.version}: {item.change}, {numbers.moment(item.saved_at)}")
            right.button(
                "Bring back", key=f"version-{item.version}", disabled=item is versions[0],
                on_click=_restore, args=(workspace, notebook.id, item.version),
            )  # fmt: skip


def _undo(workspace: Workspace, notebook_id: str) -> None:
    def act() -> None:
        if undo(workspace.store, notebook_id) is None:
            st.session_state[_SAID] = ("There is nothing before this version.", "")

    _attempt(act)


def _restore(workspace: Workspace, notebook_id: str, version: int) -> None:
    _attempt(lambda: restore(workspace.store, notebook_id, version))


def _delete(workspace: Workspace, notebook: Notebook) -> None:
    _attempt(lambda: delete_notebook(workspace.store, notebook.id))
    ui_state.put(notebook=None, edit=None)


def expect_cell(notebook: Notebook) -> Room:
    """The address may name a cell whose editor is open, and the first one that is drawn."""
    known = {item.id for item in notebook.cells}
    ui_state.expect("edit", "Cell", ui_state.get("edit") in known, "no editor is open")
    first = ui_state.get("at")
    ui_state.expect("at", "First cell", first in known, "the first cell is drawn first")
    return Room(first if first in known else "")


def _not_drawn(item: Cell, said: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.sentence(said, beside=True)
        at: dict[str, Any] = {"at": item.id}
        st.button("Draw from here", key=f"at-{item.id}", type="tertiary", on_click=ui_state.put, kwargs=at)


def cell(workspace: Workspace, notebook: Notebook, item: Cell, number: int, room: Room) -> None:
    """One cell: what it shows, its editor when it is open, and what can be done with it."""
    editing = ui_state.get("edit") == item.id
    with st.container(horizontal=True, key=f"cell-tools-{item.id}", vertical_alignment="center"):
        ui.sentence(f"{number} · {ui_notebook_cells.name(item)}")
        st.space("stretch")
        again = st.button("Run", key=f"run-{item.id}", type="tertiary", help="Run this cell again")
        edit: dict[str, Any] = {"edit": None if editing else item.id}
        said = "Close" if editing else "Edit"
        st.button(said, key=f"edit-{item.id}", type="tertiary", on_click=ui_state.put, kwargs=edit)
        for label, change in (
            ("Up", lambda kept: edits.moved(kept, item.id, -1)),
            ("Down", lambda kept: edits.moved(kept, item.id, 1)),
            ("Duplicate", lambda kept: edits.duplicated(kept, item.id)),
            ("Remove", lambda kept: edits.without_cell(kept, item.id)),
        ):
            arguments = (workspace, notebook.id, change, f"{label.lower()}: cell {number}")
            st.button(label, key=f"{label}-{item.id}", type="tertiary", on_click=_change, args=arguments)

    def keep(body: dict[str, Any]) -> None:
        _attempt(lambda: _keep(workspace, notebook.id, item, body, f"{item.kind} of cell {number}"))

    def set_value(value: Any) -> None:
        edit = partial(edits.changed, cell_id=item.id, value=value)
        _change(workspace, notebook.id, edit, f"parameter {item.body['name']}")

    if editing:
        ui_notebook_cells.editor(workspace, item, list(notebook.parameters), keep)
    if item.kind == "parameter":
        ui_notebook_cells.widget(item, set_value)
    elif not (room.is_open(item.id) or editing):
        _not_drawn(item, room.why)
    else:
        found = ui_blocks.result(workspace, notebook, item, again=again)
        if not (room.takes(ui_blocks.bytes_of(item, found)) or editing):
            _not_drawn(item, room.why)
            return
        asked = {"notebook": notebook.title, **item.body, "parameters": dict(notebook.parameters)}
        ui_blocks.blocks(found.blocks, f"cell-{item.id}", asked)
        ui_blocks.how_to_read(item, found.blocks)


def add_buttons(workspace: Workspace, notebook: Notebook) -> None:
    """A button for each kind of cell."""
    names = set(notebook.parameters)
    free = next(f"p{n}" for n in range(1, 1000) if f"p{n}" not in names)
    kinds: tuple[tuple[str, str, Callable[[], Cell]], ...] = (
        ("text", ":material/notes:", lambda: text_cell("## A heading\n\nWrite here.")),
        ("query", ":material/database:", lambda: query_cell(FIRST_QUERY)),
        ("figure", ":material/show_chart:", lambda: figure_cell("profile", profile="k70")),
        ("parameter", ":material/tune:", lambda: parameter_cell(free, "whole", 7)),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, make in kinds:
            st.button(f"Add {label}", icon=icon, key=f"add-{label}", on_click=_add, args=(workspace, notebook, make))


def _add(workspace: Workspace, notebook: Notebook, make: Callable[[], Cell]) -> None:
    made = make()
    _change(workspace, notebook.id, lambda kept: edits.with_cell(kept, made), f"{made.kind} added")
    ui_state.put(notebook=notebook.id, edit=made.id)


def _change(workspace: Workspace, notebook_id: str, edit: Callable[[Notebook], Notebook], said: str) -> None:
    _attempt(lambda: notebooks.change(workspace.store, notebook_id, edit, said))


def _keep(workspace: Workspace, notebook_id: str, item: Cell, body: dict[str, Any], said: str) -> None:
    before = notebooks.change_cell(workspace.store, notebook_id, item, body, said)
    if before is not None:
        kept = f"This cell had been changed elsewhere meanwhile; that is kept as version {before.version}."
        st.session_state[_SAID] = (kept, "")


def _attempt(act: Callable[[], object]) -> None:
    """Do something in a callback; what goes wrong is said on the page that is drawn next."""
    try:
        act()
    except As2dError as error:
        st.session_state[_SAID] = ("", str(error))


def _say() -> None:
    good, bad = st.session_state.pop(_SAID, ("", ""))
    if good:
        st.toast(good)
    if bad:
        ui.box("error", bad)


def send_replay(workspace: Workspace, key: str, state: Mapping[str, object]) -> None:
    """The same for a replayed window.

    Args:
        state: what the address of its timeline says: corpus, window, profile, b, drafter.
    """
    names = {"corpus": "corpus", "window": "window", "profile": "profile", "b": "budget", "drafter": "drafter"}
    given = {names[name]: value for name, value in state.items() if name in names and value not in (None, "")}
    send_button(workspace, "replay", key, **given)


def send_button(workspace: Workspace, view: str, key: str, **settings: Any) -> None:
    """Puts a figure of a page into the notebook that was saved last, or into a first one."""

    def send() -> None:
        kept = notebooks.list_notebooks(workspace.store)
        try:
            sent = notebooks.send(workspace.store, kept[0].notebook_id if kept else None, view, settings)
        except As2dError as error:
            st.toast(ui.plain(str(error)), icon=":material/error:")
        else:
            st.toast(f"In the notebook {ui.plain(sent.title)}, at its end.", icon=":material/check:")

    st.button("Send to notebook", key=f"send-{key}", icon=":material/note_add:", type="tertiary", on_click=send)
