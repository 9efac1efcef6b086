"""What does a shared Jupyter notebook call? A bundle, opened as a store of its own that is gone afterwards.

from dashboard.reports.rerun import open_bundle
bundle = open_bundle(".")
bundle.show("timeline", run="20260915-1")
"""

import atexit
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.notebook.cells import Notebook, figure_cell, query_cell
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence, grid_html, written
from dashboard.notebook.running import Result, run_cell, run_notebook
from dashboard.notebook.source import Source
from dashboard.services.importing import Imported, import_path
from dashboard.views.text import element, escape
from dashboard.views.theme import LIGHT, Theme
from datastore.opening import open_store


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """What a cell shows; Jupyter draws it, ``blocks`` hold it."""

    blocks: tuple[Block, ...]

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        for block in self.blocks:
            display(block.figure if isinstance(block, Drawing) else HTML(_html(block)))

    @property
    def text(self) -> str:
        """The same where nothing can be drawn."""
        return "\n".join(_text(block) for block in self.blocks)

    @property
    def table(self) -> pd.DataFrame:
        """Its first table; empty when there is none."""
        for block in self.blocks:
            if isinstance(block, Grid):
                return pd.DataFrame(list(block.rows), columns=list(block.columns))
        return pd.DataFrame()


@dataclass(slots=True)
class Bundle:
    """An opened bundle."""

    source: Source
    imported: Imported
    theme: Theme = LIGHT
    parameters: dict[str, Any] = field(default_factory=dict)

    def parameter(self, name: str, value: Any) -> Any:
        """Set a parameter that later cells use; returns its value."""
        self.parameters[name] = value
        return value

    def show(self, view: str, **settings: Any) -> Shown:
        """One of the views; what is wrong is shown in its place."""
        return self._run(figure_cell(view, **settings))

    def query(self, sql: str) -> Shown:
        """One SELECT over the runs of the bundle."""
        return self._run(query_cell(sql))

    def notebook(self) -> tuple[Notebook, list[Result]]:
        """The bundle's own notebook, and what its cells show."""
        notebook = self.imported.notebooks[0]
        return notebook, run_notebook(notebook, self.source, self.theme)

    def _run(self, cell: Any) -> Shown:
        return Shown(run_cell(cell, self.parameters, self.source, self.theme).blocks)


def open_bundle(path: Path | str = ".") -> Bundle:
    """Open a bundle: a ZIP archive, or the folder it was unpacked to.

    Raises:
        ArchiveError: it is none, is damaged, or would do harm.
    """
    folder = Path(tempfile.mkdtemp(prefix="as2d-bundle-"))
    store = open_store(folder / "store")

    def forget() -> None:
        store.close()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(forget)
    imported = import_path(store, Path(path))
    for sentence in imported.refused:
        print(sentence)
    return Bundle(Source(store), imported)


def _html(block: Block) -> str:
    match block:
        case Markup(html):
            return html
        case Grid():
            return grid_html(block)
        case Sentence(said, _):
            return element("p", escape(said))
        case _:
            return ""


def _text(block: Block) -> str:
    match block:
        case Grid(columns, rows):
            return "\n".join("\t".join(map(written, row)) for row in (columns, *rows))
        case Sentence(said, _):
            return said
        case Drawing(figure, note):
            return f"[figure of {len(figure.data)} traces] {note}".strip()
        case _:
            return "[text]"
