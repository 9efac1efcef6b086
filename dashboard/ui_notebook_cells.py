"""How is a cell edited? Text and queries in a field, figures by their settings, parameters by their widget."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import ui
from dashboard.notebook.cells import PARAMETER_TYPES, Cell
from dashboard.notebook.figures import VIEWS, Setting
from dashboard.services.budgets import list_corpora
from dashboard.services.profiles import profile_ids
from dashboard.services.workspace import Workspace
from dashboard.views.theme import MONO

Save = Callable[[dict[str, Any]], None]
TEXT_PX, QUERY_PX = 180, 160
HELP = {
    "text": "Markdown. Pictures and HTML are left out. Saved when you leave the field, or by Ctrl+Enter.",
    "query": "One SELECT over runs, compared_runs, rounds, spans, publications, telemetry, tags ... ; $name is the "
    "parameter of that name. At most 1,000 rows and 10 seconds; nothing can be changed by it.",
}


def name(cell: Cell) -> str:
    """What a cell is, in a few words."""
    if cell.kind == "figure":
        view = VIEWS.get(cell.body["view"])
        return f"Figure: {view.title}" if view is not None else "Figure"
    return cell.kind.capitalize()


def editor(workspace: Workspace, cell: Cell, parameters: Sequence[str], save: Save) -> None:
    """The fields of a cell; each change is handed to ``save`` as the cell's whole body.

    Args:
        parameters: names of the notebook's, any of which a figure's setting can take.
    """
    match cell.kind:
        case "text":
            _area(cell, "text", TEXT_PX, save)
        case "query":
            _area(cell, "sql", QUERY_PX, save)
        case "figure":
            _figure(workspace, cell, parameters, save)
        case _:
            _parameter(cell, save)


def widget(cell: Cell, save: Callable[[Any], None]) -> None:
    """A parameter as the widget that its type asks for."""
    body = cell.body
    key, value = _seeded(cell, "value", body["value"])
    label = ui.plain(f"{body.get('label') or body['name']} (${body['name']})")

    def changed() -> None:
        if st.session_state[key] is not None:
            save(st.session_state[key])

    options = list(body.get("options", []))
    if body["type"] == "whole":
        st.number_input(label, key=key, step=1, on_change=changed)
    elif body["type"] == "number":
        st.number_input(label, key=key, format="%g", on_change=changed)
    elif body["type"] == "choice" and options:
        st.selectbox(label, options if value in options else [value, *options], key=key, on_change=changed)
    else:
        st.text_input(label, key=key, on_change=changed)


def _area(cell: Cell, field: str, height: int, save: Save) -> None:
    key, _ = _seeded(cell, field, cell.body[field])
    if field == "sql":
        st.html(f"<style>.st-key-{key} textarea {{ font-family: {MONO}; font-size: 13px }}</style>")
    st.text_area(
        name(cell), key=key, height=height, help=HELP[cell.kind],
        on_change=lambda: save({**cell.body, field: st.session_state[key]}),
    )  # fmt: skip


def _figure(workspace: Workspace, cell: Cell, parameters: Sequence[str], save: Save) -> None:
    given: Mapping[str, Any] = cell.body.get("settings", {})
    key, view = _seeded(cell, "view", cell.body["view"])
    names = list(VIEWS) if view in VIEWS else [view, *VIEWS]

    def another() -> None:
        known = VIEWS[st.session_state[key]].settings
        kept = {setting: value for setting, value in given.items() if setting in known}
        save({"view": st.session_state[key], "settings": kept})

    columns = st.columns(3)
    with columns[0]:
        st.selectbox(
            "View", names, key=key, on_change=another, format_func=lambda n: VIEWS[n].title if n in VIEWS else n
        )
    if view not in VIEWS:
        return
    for number, (setting, about) in enumerate(VIEWS[view].settings.items(), 1):
        with columns[number % 3]:
            known = _known(workspace, about, parameters)
            _setting(cell, setting, about, known, lambda changed: save({"view": view, "settings": changed}))


def _known(workspace: Workspace, about: Setting, parameters: Sequence[str]) -> list[str] | None:
    """What can be chosen for a setting, parameters of the notebook included; ``None``: anything can be typed."""
    names = {"profile": profile_ids, "corpus": list_corpora}.get(about.kind)
    return None if names is None else [*names(workspace.folders), *(f"{{{name}}}" for name in parameters)]


def _setting(cell: Cell, setting: str, about: Setting, known: list[str] | None, save: Save) -> None:
    given = dict(cell.body.get("settings", {}))
    value = given.get(setting, "")
    shown = " ".join(value) if isinstance(value, list) else str(value)
    key, _ = _seeded(cell, f"setting-{setting}", shown)

    def changed() -> None:
        typed = str(st.session_state[key] or "").strip()
        rest = {other: kept for other, kept in given.items() if other != setting}
        save({**rest, setting: typed} if typed else rest)

    label = f"{setting} (needed)" if about.required else setting
    if known is not None:
        options = list(dict.fromkeys([shown, "", *known]))
        st.selectbox(label, options, key=key, on_change=changed, help=about.help)
    else:
        st.text_input(label, key=key, on_change=changed, help=f"{about.help}. {{name}} takes a parameter's value.")


def _parameter(cell: Cell, save: Save) -> None:
    body = dict(cell.body)
    columns = st.columns(4)
    fields = {}
    for column, field in zip(columns, ("name", "label", "type", "options"), strict=True):
        kept = "\n".join(body.get("options", [])) if field == "options" else str(body.get(field, ""))
        fields[field] = _seeded(cell, f"parameter-{field}", kept)[0]

        def changed() -> None:
            typed = {name: str(st.session_state[key]) for name, key in fields.items() if key in st.session_state}
            kind = typed["type"]
            value = _converted(body.get("value"), kind)
            options = [line.strip() for line in typed.get("options", "").splitlines() if line.strip()]
            if kind == "choice" and options and value not in options:
                value = options[0]
            save({"name": typed["name"].strip(), "label": typed["label"].strip(), "type": kind, "value": value,
                  "options": options})  # fmt: skip

        with column:
            if field == "type":
                st.selectbox("Type", PARAMETER_TYPES, key=fields[field], on_change=changed)
            elif field == "options":
                st.text_area(
                    "Options", key=fields[field], on_change=changed, height=80, help="Of a choice, one a line."
                )
            else:
                st.text_input(field.capitalize(), key=fields[field], on_change=changed)


def _converted(value: Any, kind: str) -> Any:
    """A parameter's value after its type was changed: kept where that can be, else the plainest one."""
    if kind in ("text", "choice"):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if number != number or abs(number) > 1e15:  # noqa: PLR0124 - NaN
        number = 0.0
    return int(number) if kind == "whole" else number


def _seeded(cell: Cell, field: str, value: Any) -> tuple[str, Any]:
    """Key of a field that shows ``value`` as it is kept, also after an undo or in a second tab."""
    key = f"field-{cell.id}-{field}"
    if key not in st.session_state or st.session_state.get(f"{key}:kept") != value:
        st.session_state[key] = st.session_state[f"{key}:kept"] = value
    return key, value
