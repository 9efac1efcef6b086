"""What does a notebook show? Every cell run in order, with the parameters filled in; a fault stays in its cell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from as2d_core.errors import As2dError
from dashboard.notebook.cells import Cell, Notebook
from dashboard.notebook.errors import CellError
from dashboard.notebook.figures import build
from dashboard.notebook.markdown import markdown_html
from dashboard.notebook.outputs import Block, Grid, Markup, Sentence, failure
from dashboard.notebook.source import MOST_ROWS, Source
from dashboard.views import numbers
from dashboard.views.theme import Theme
from datastore.errors import ParameterError, QueryError
from datastore.store import QueryResult

_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")
MOST_CHARACTERS = 2_000
"""Of one value of a query's answer that are shown."""
MOST_SHOWN = 1_000_000
"""Characters of all its values together: a page is sent in one piece."""


@dataclass(frozen=True, eq=False, slots=True)
class Result:
    """What came out of one cell."""

    cell: Cell
    blocks: tuple[Block, ...]


def run_notebook(notebook: Notebook, source: Source, theme: Theme) -> list[Result]:
    """Run all cells. No cell's fault keeps another from running."""
    return [run_cell(cell, notebook.parameters, source, theme) for cell in notebook.cells]


def run_cell(cell: Cell, parameters: Mapping[str, Any], source: Source, theme: Theme) -> Result:
    """Run one cell; what goes wrong is a sentence in its place."""
    try:
        return Result(cell, _blocks(cell, parameters, source, theme))
    except As2dError as error:
        return Result(cell, failure(error))


def filled(value: Any, parameters: Mapping[str, Any]) -> Any:
    """A setting with its parameters filled in: ``"{b}"`` is the value itself, ``"x {b}"`` is text.

    Raises:
        CellError: there is no such parameter.
    """
    if isinstance(value, list | tuple):
        return [filled(item, parameters) for item in value]
    if not isinstance(value, str):
        return value
    for name in _SLOT.findall(value):
        _known(name, parameters)
    whole = _SLOT.fullmatch(value)
    return parameters[whole[1]] if whole else _SLOT.sub(lambda found: str(parameters[found[1]]), value)


def _known(name: str, parameters: Mapping[str, Any]) -> Any:
    if name not in parameters:
        raise _unknown(name, parameters)
    return parameters[name]


def _unknown(name: str, parameters: Mapping[str, Any]) -> CellError:
    have = f"; there are {', '.join(parameters)}" if parameters else "; add a parameter cell with that name"
    return CellError(f"There is no parameter {name!r}{have}.")


def _blocks(cell: Cell, parameters: Mapping[str, Any], source: Source, theme: Theme) -> tuple[Block, ...]:
    body = cell.body
    match cell.kind:
        case "text":
            return (Markup(f'<div class="prose">{markdown_html(body["text"])}</div>'),)
        case "query":
            return _query(body["sql"], parameters, source)
        case "figure":
            settings = {key: filled(value, parameters) for key, value in body.get("settings", {}).items()}
            return build(source, theme, body["view"], settings)
        case _:
            return (Sentence(f"{body.get('label') or body['name']}: {body['value']}"),)


def _query(sql: str, parameters: Mapping[str, Any], source: Source) -> tuple[Block, ...]:
    if not sql.strip():
        return (
            Sentence("Write one SELECT; the tables are runs, compared_runs, rounds, spans, publications and more."),
        )
    try:
        found = source.query(sql, dict(parameters))
    except ParameterError as error:
        raise _unknown(error.name, parameters) from error
    except QueryError as error:
        raise CellError(f"The query was not answered: {error}") from error
    rows: list[tuple[Any, ...]] = []
    length = 0
    for row in found.rows:
        shown = tuple(_clipped(_value(item)) for item in row)
        length += sum(len(item) if isinstance(item, str) else 8 for item in shown)
        if length > MOST_SHOWN and rows:
            break
        rows.append(shown)
    return (Grid(found.columns, tuple(rows), _said_of_rows(len(rows), found)),)


def _said_of_rows(shown: int, found: QueryResult) -> str:
    if not found.rows:
        return "The query found nothing."
    if shown == len(found.rows) and not found.truncated:
        return ""
    if shown >= MOST_ROWS:
        return f"Only the first {MOST_ROWS:,} rows are shown."
    first = "first row is" if shown == 1 else f"first {numbers.count(shown)} rows are"
    return f"Only the {first} shown: what they hold is long. Ask for fewer columns, or for parts of them."


def _clipped(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{value[:MOST_CHARACTERS]}… ({len(value):,} characters)"
    return value


def _value(value: Any) -> Any:
    """A value of the database as a table can show and a file can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return value.hex(" ")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(str(_value(item)) for item in value) + "]"
    return str(value)
