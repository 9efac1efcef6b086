"""How does a report get from the store to a file?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboard.notebook.cells import Notebook
from dashboard.notebook.running import run_notebook
from dashboard.notebook.source import Source
from dashboard.reports.bundle import write_bundle
from dashboard.reports.html import report_html
from dashboard.reports.templates import Words, fill
from dashboard.views.theme import LIGHT
from datastore.export import Export
from datastore.files import write_durably
from datastore.store import Store


def make_report(
    store: Store, template: str, run_ids: Sequence[str] = (), words: Words | None = None, **chosen: Any
) -> Notebook:
    """Fill in a template; ``chosen`` are ``profile``, ``corpus``, ``split``, ``drafter`` and ``budget``.

    Raises:
        UnknownNameError, RunNotFoundError, NotebookError: a sentence about what is not there or not chosen.
    """
    return fill(Source(store), template, run_ids, words, **chosen)


def notebook_html(store: Store, notebook: Notebook) -> bytes:
    """A notebook as one HTML file. A cell that cannot be run is a sentence in its place."""
    return report_html(notebook, run_notebook(notebook, Source(store), LIGHT)).encode()


def write_html(store: Store, notebook: Notebook, path: Path) -> int:
    """The same written to a file, which appears complete or not at all; returns its length in bytes.

    Raises:
        StoreFolderError, DiskFullError: it cannot be written.
    """
    data = notebook_html(store, notebook)
    write_durably(path, data)
    return len(data)


def shared(store: Store, notebook: Notebook) -> Export:
    """A notebook with its runs, as a bundle.

    Raises:
        ExportError, LogMissingError, ProfileError, TrajectoryError: a sentence about what cannot be taken along.
    """
    return write_bundle(Source(store), notebook)


def write_shared(store: Store, notebook: Notebook, path: Path) -> int:
    """The same written to a file, which appears complete or not at all; returns its length in bytes.

    Raises:
        As ``shared``; StoreFolderError, DiskFullError: it cannot be written.
    """
    data = shared(store, notebook).data
    write_durably(path, data)
    return len(data)
