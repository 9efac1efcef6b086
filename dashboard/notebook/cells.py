"""What is in a notebook? Cells of text, queries, figures and parameters, in order; and the same as JSON.

A notebook is a value: every change makes a new one (see ``edits``), so that undo is keeping the old one.
"""

import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.notebook.errors import NotebookError

FORMAT = 1
KINDS = ("text", "query", "figure", "parameter")
PARAMETER_TYPES = ("text", "number", "whole", "choice")
MAX_CELLS, MAX_CHARACTERS, MAX_TAGS = 400, 200_000, 40
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. What ``body`` holds depends on ``kind``:

    - ``text``: ``text`` (Markdown);
    - ``query``: ``sql``;
    - ``figure``: ``view`` (see ``figures.VIEWS``) and ``settings``, by name;
    - ``parameter``: ``name``, ``type`` (one of ``PARAMETER_TYPES``), ``value``, ``label``, ``options`` (of a choice).
    """

    id: str
    kind: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook. All texts are plain text but those of text cells, which are Markdown."""

    id: str
    title: str
    cells: tuple[Cell, ...] = ()
    hypothesis: str = ""
    conclusion: str = ""
    tags: tuple[str, ...] = ()
    template: str | None = None
    """Name of the template that filled it in; ``None`` for one that was written by hand."""
    runs: tuple[str, ...] = ()
    """Ids of the runs that it is about: what it states of devices, models and settings is theirs."""

    def cell(self, cell_id: str) -> Cell:
        """One of its cells.

        Raises:
            NotebookError: it has no such cell.
        """
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise NotebookError(f"The notebook {self.title!r} has no cell {cell_id!r}; it may have been removed.")

    @property
    def parameters(self) -> dict[str, Any]:
        """Name and value of every parameter cell; of two with one name, the first."""
        named = [(cell.body.get("name"), cell.body.get("value")) for cell in self.cells if cell.kind == "parameter"]
        return {str(name): value for name, value in reversed(named) if name}


def new_id() -> str:
    """An id for a notebook or a cell."""
    return secrets.token_hex(6)


def text_cell(text: str) -> Cell:
    """A cell of Markdown."""
    return Cell(new_id(), "text", {"text": text})


def query_cell(sql: str) -> Cell:
    """A cell with one SELECT over the store."""
    return Cell(new_id(), "query", {"sql": sql})


def figure_cell(view: str, **settings: Any) -> Cell:
    """A cell with one of the views; a setting ``{name}`` takes the value of that parameter."""
    return Cell(new_id(), "figure", {"view": view, "settings": {k: v for k, v in settings.items() if v is not None}})


def parameter_cell(name: str, kind: str, value: Any, label: str = "", options: Sequence[str] = ()) -> Cell:
    """A cell with a widget, whose value queries know as ``$name`` and figures as ``{name}``."""
    body = {"name": name, "type": kind, "value": value, "label": label or name}
    return Cell(new_id(), "parameter", body | ({"options": list(options)} if options else {}))


def notebook_to_json(notebook: Notebook) -> dict[str, Any]:
    """A notebook as a JSON object; ``notebook_from_json`` gives the same notebook back."""
    return {
        "format": FORMAT,
        "id": notebook.id,
        "title": notebook.title,
        "hypothesis": notebook.hypothesis,
        "conclusion": notebook.conclusion,
        "tags": list(notebook.tags),
        "template": notebook.template,
        "runs": list(notebook.runs),
        "cells": [{"id": cell.id, "kind": cell.kind, "body": dict(cell.body)} for cell in notebook.cells],
    }


def notebook_from_json(body: Any) -> Notebook:
    """Read a notebook from foreign JSON.

    Raises:
        NotebookError: what is wrong, and in which cell.
    """
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        found = body.get("format") if isinstance(body, dict) else None
        raise NotebookError(f"This is no notebook of format {FORMAT} (it says {found!r}); export it again.")
    cells = body.get("cells")
    if not isinstance(cells, list) or len(cells) > MAX_CELLS:
        raise NotebookError(f"A notebook has a list of at most {MAX_CELLS} cells.")
    if not isinstance(body.get("id"), str) or not _ID.fullmatch(body["id"]):
        raise NotebookError("A notebook's id is 1 to 64 letters, digits, dots, dashes or underscores.")
    tags, runs = _texts(body, "tags", MAX_TAGS), _texts(body, "runs", 10_000)
    template = body.get("template")
    read = tuple(_cell(item, number) for number, item in enumerate(cells, 1))
    if len({cell.id for cell in read}) != len(read):
        raise NotebookError("Two cells of the notebook have the same id.")
    return Notebook(
        id=body["id"],
        title=_text(body, "title", "notebook"),
        cells=read,
        hypothesis=_text(body, "hypothesis", "notebook"),
        conclusion=_text(body, "conclusion", "notebook"),
        tags=tags,
        template=template if isinstance(template, str) else None,
        runs=runs,
    )


def check_cell(cell: Cell, place: str = "The cell") -> Cell:
    """The same cell, when it can be kept.

    Raises:
        NotebookError: what is wrong with it.
    """
    if cell.kind not in KINDS:
        raise NotebookError(f"{place} is of kind {cell.kind!r}; known are {', '.join(KINDS)}.")
    try:
        length = len(json.dumps(dict(cell.body), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise NotebookError(f"{place} holds what JSON cannot ({error}).") from error
    if length > MAX_CHARACTERS:
        raise NotebookError(f"{place} has {length:,} characters; at most {MAX_CHARACTERS:,} can be kept.")
    wanted = {"text": "text", "query": "sql", "figure": "view", "parameter": "name"}[cell.kind]
    if not isinstance(cell.body.get(wanted), str):
        raise NotebookError(f"{place} of kind {cell.kind} lacks the text {wanted!r}.")
    if cell.kind == "figure" and not isinstance(cell.body.get("settings", {}), dict):
        raise NotebookError(f"{place} has settings that are no JSON object.")
    if cell.kind == "parameter":
        _check_parameter(cell, place)
    return cell


def _check_parameter(cell: Cell, place: str) -> None:
    name, kind, value = cell.body["name"], cell.body.get("type"), cell.body.get("value")
    if not _NAME.fullmatch(name):
        raise NotebookError(f"{place}: a parameter's name is lower-case letters, digits and underscores, not {name!r}.")
    if kind not in PARAMETER_TYPES:
        raise NotebookError(f"{place}: a parameter is {', '.join(PARAMETER_TYPES)}, not {kind!r}.")
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind in ("number", "whole") and not (number and (kind == "number" or float(value).is_integer())):
        raise NotebookError(f"{place}: the parameter {name} is no {kind} number: {value!r}.")
    if kind in ("text", "choice") and not isinstance(value, str):
        raise NotebookError(f"{place}: the parameter {name} is no text: {value!r}.")
    options = cell.body.get("options", [])
    if not isinstance(options, list) or not all(isinstance(item, str) for item in options):
        raise NotebookError(f"{place}: the options of {name} are no list of texts.")


def _cell(item: Any, number: int) -> Cell:
    place = f"Cell {number}"
    if not isinstance(item, dict) or not isinstance(item.get("body"), dict) or not isinstance(item.get("kind"), str):
        raise NotebookError(f"{place} is no object with a kind and a body.")
    cell_id = item.get("id")
    if not isinstance(cell_id, str) or not _ID.fullmatch(cell_id):
        raise NotebookError(f"{place} has no usable id.")
    return check_cell(Cell(cell_id, item["kind"], item["body"]), place)


def _text(body: Mapping[str, Any], name: str, place: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise NotebookError(f"The {name} of a {place} is text of at most {MAX_CHARACTERS:,} characters.")
    return value


def _texts(body: Mapping[str, Any], name: str, most: int) -> tuple[str, ...]:
    value = body.get(name, [])
    if not isinstance(value, list) or len(value) > most or not all(isinstance(item, str) for item in value):
        raise NotebookError(f"The {name} of a notebook are a list of at most {most:,} texts.")
    return tuple(value)
