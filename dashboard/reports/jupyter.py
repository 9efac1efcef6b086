"""How does a notebook look in Jupyter? Text as Markdown; queries, figures and parameters as code that runs again.

The code needs this project installed, and the bundle around the notebook; nothing else is asked for.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from as2d_core import __version__
from dashboard.notebook.cells import Cell, Notebook

_ID = re.compile(r"[^A-Za-z0-9_-]")


def jupyter_notebook(notebook: Notebook, run_ids: Sequence[str]) -> dict[str, Any]:
    """The notebook in Jupyter's format 4.5, without outputs."""
    about = [f"# {_plain(notebook.title)}"]
    for name, said in (("Hypothesis", notebook.hypothesis), ("Conclusion", notebook.conclusion)):
        if said.strip():
            about.append(f"**{name}.** {_plain(said)}")
    about.append(
        f"Runs again where as2d {__version__} or newer is installed (`pip install .` in its folder), from the unpacked "
        f"bundle that this file lies in. It holds {len(run_ids)} runs."
    )
    start = 'from dashboard.reports.rerun import open_bundle\n\nbundle = open_bundle(".")'
    cells = [_markdown("about", "\n\n".join(about)), _code("start", start)]
    parameters = [cell for cell in notebook.cells if cell.kind == "parameter"]
    others = [cell for cell in notebook.cells if cell.kind != "parameter"]
    cells += [_cell(cell) for cell in (*parameters, *others)]
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    body = cell.body
    match cell.kind:
        case "text":
            return _markdown(cell.id, body["text"])
        case "parameter":
            return _code(cell.id, f"bundle.parameter({_python(body['name'])}, {_python(body['value'])})")
        case "query":
            return _code(cell.id, f"bundle.query({_python(body['sql'])})")
        case _:
            settings = {str(name): value for name, value in body.get("settings", {}).items()}
            return _code(cell.id, f"bundle.show({_python(body['view'])}, **{_python(settings)})")


def _python(value: Any) -> str:
    """A JSON value as Python; long SQL over several lines."""
    if isinstance(value, str) and "\n" in value:
        return "(\n" + "\n".join(f"    {line!r}" for line in value.splitlines(keepends=True)) + "\n)"
    return repr(json.loads(json.dumps(value)))


def _plain(said: str) -> str:
    """Plain text in Markdown, without markup of its own."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$&])", r"\\\1", said)


def _markdown(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _id(name), "metadata": {}, "source": source}


def _code(name: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": _id(name),
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _id(name: str) -> str:
    return _ID.sub("-", name)[:64] or "cell"
