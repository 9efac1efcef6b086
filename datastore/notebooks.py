"""How are notebooks kept? Every version in the database, the newest in a file beside it as well.

What is typed comes in many small changes: those of one kind that follow each other within ``MERGE_S`` are one version.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from as2d_core.errors import unknown_name
from as2d_core.reading import read_json
from datastore.engine import Cursor, transaction
from datastore.errors import StoreError
from datastore.files import remove_quietly, safe_name, write_durably
from datastore.locations import Folders
from datastore.rows import ascii_json
from datastore.store import Store

NOTEBOOK_SUFFIX = ".notebook.json"
MOST_VERSIONS = 200
"""Kept of one notebook; the oldest go first."""
MERGE_S = 20.0
_COLUMNS = "notebook_id, version, saved_at, title, change, undoes"


@dataclass(frozen=True, slots=True)
class SavedVersion:
    """One version, without its body."""

    notebook_id: str
    version: int
    saved_at: datetime
    """With time zone, UTC."""
    title: str
    change: str
    """What was done, in a few words."""
    undoes: int | None
    """The version whose content an undo brought back."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What a notebook becomes, and in a few words what was done."""

    title: str
    body: Mapping[str, Any]
    change: str


def save_notebook(
    store: Store, notebook_id: str, title: str, body: Mapping[str, Any], change: str, now: datetime | None = None
) -> SavedVersion:
    """Keep a notebook as its newest version; saving what is kept already changes nothing.

    Raises:
        StoreError: ``body`` is not JSON, or cannot be written.
    """
    when = (now or datetime.now(UTC)).astimezone(UTC).replace(tzinfo=None)
    text = _written(title, body)

    def job(cursor: Cursor) -> SavedVersion:
        newest = _newest(cursor, notebook_id)
        if newest is not None and newest[1] == text:
            return newest[0]
        return _append(cursor, store.folders, (notebook_id, when, title, change, None, text), newest)

    return store.write(job)


def change_notebook(
    store: Store, notebook_id: str, edit: Callable[[dict[str, Any]], Edited], now: datetime | None = None
) -> SavedVersion:
    """Change a notebook as it is kept at that moment, whatever whoever asks for the change has seen of it.

    Args:
        edit: gets the newest body and gives what it becomes; nothing else is written in between.

    Raises:
        UnknownNameError: there is no such notebook (any more).
        StoreError: the new body is not JSON, or cannot be written.
        Whatever ``edit`` raises; nothing is changed then.
    """
    when = (now or datetime.now(UTC)).astimezone(UTC).replace(tzinfo=None)

    def job(cursor: Cursor) -> SavedVersion:
        newest = _newest(cursor, notebook_id)
        if newest is None:
            ids = cursor.execute("SELECT DISTINCT notebook_id FROM notebooks").fetchall()
            raise unknown_name("notebook", notebook_id, [row[0] for row in ids])
        edited = edit(json.loads(newest[1]))
        text = _written(edited.title, edited.body)
        if newest[1] == text:
            return newest[0]
        row = (notebook_id, when, edited.title, edited.change, None, text)
        return _append(cursor, store.folders, row, newest)

    return store.write(job)


def _written(title: str, body: Mapping[str, Any]) -> str:
    try:
        return ascii_json(dict(body))
    except (TypeError, ValueError) as error:
        raise StoreError(f"The notebook {title!r} is not JSON ({error}) and was not saved.") from error


def load_notebook(store: Store, notebook_id: str, version: int | None = None) -> dict[str, Any]:
    """The body of a notebook: its newest version, or the one asked for.

    Raises:
        UnknownNameError: there is no such notebook.
        StoreError: it has no such version.
    """
    rows = store.read(
        "SELECT body_json FROM notebooks WHERE notebook_id = ? AND (version = ? OR ? IS NULL) "
        "ORDER BY version DESC LIMIT 1",
        [notebook_id, version, version],
    )
    if not rows:
        known = [item.notebook_id for item in list_notebooks(store)]
        if notebook_id in known:
            raise StoreError(f"The notebook has no version {version}; it may have been too old to be kept.")
        raise unknown_name("notebook", notebook_id, known)
    body: dict[str, Any] = json.loads(rows[0][0])
    return body


def list_notebooks(store: Store) -> list[SavedVersion]:
    """The newest version of every notebook, the last saved first."""
    rows = store.read(
        f"SELECT {_COLUMNS} FROM notebooks "  # noqa: S608
        "QUALIFY row_number() OVER (PARTITION BY notebook_id ORDER BY version DESC) = 1 "
        "ORDER BY saved_at DESC, notebook_id"
    )
    return [_version(row) for row in rows]


def notebook_versions(store: Store, notebook_id: str) -> list[SavedVersion]:
    """All versions of a notebook, newest first."""
    rows = store.read(f"SELECT {_COLUMNS} FROM notebooks WHERE notebook_id = ? ORDER BY version DESC", [notebook_id])  # noqa: S608
    return [_version(row) for row in rows]


def undo(store: Store, notebook_id: str, now: datetime | None = None) -> SavedVersion | None:
    """Bring back what a notebook was before its newest change; again and again, further back.

    Returns:
        The new version, ``None`` when there is nothing before.
    """
    versions = notebook_versions(store, notebook_id)
    if not versions:
        return None
    at = versions[0].undoes or versions[0].version
    before = next((item for item in versions if item.version < at), None)
    return None if before is None else restore(store, notebook_id, before.undoes or before.version, now)


def restore(store: Store, notebook_id: str, version: int, now: datetime | None = None) -> SavedVersion:
    """Bring back a version as the newest one.

    Raises:
        UnknownNameError, StoreError: there is no such notebook or version.
    """
    text = ascii_json(load_notebook(store, notebook_id, version))
    when = (now or datetime.now(UTC)).astimezone(UTC).replace(tzinfo=None)
    title = next((item.title for item in notebook_versions(store, notebook_id) if item.version == version), "")

    def job(cursor: Cursor) -> SavedVersion:
        row = (notebook_id, when, title, f"back to version {version}", version, text)
        return _append(cursor, store.folders, row, _newest(cursor, notebook_id))

    return store.write(job)


def delete_notebook(store: Store, notebook_id: str) -> None:
    """Remove a notebook with all its versions.

    Raises:
        UnknownNameError: there is no such notebook.
    """
    load_notebook(store, notebook_id)

    def job(cursor: Cursor) -> None:
        with transaction(cursor):
            cursor.execute("DELETE FROM notebooks WHERE notebook_id = ?", [notebook_id])
        remove_quietly(notebook_path(store.folders, notebook_id))

    store.write(job)


def notebook_path(folders: Folders, notebook_id: str) -> Path:
    """Where the newest version lies as a file."""
    return folders.notebooks / (safe_name(notebook_id) + NOTEBOOK_SUFFIX)


def read_notebook_file(path: Path) -> tuple[str, str, str] | None:
    """Id, title and body of a notebook's file; ``None`` when it is none."""
    try:
        body = read_json(path)
        return str(body["id"]), str(body["title"]), ascii_json(body)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def insert_notebook(cursor: Cursor, row: tuple[Any, ...]) -> None:
    """Put one version in place: all columns of the table; inside a transaction of the caller."""
    cursor.execute("INSERT INTO notebooks VALUES (?, ?, ?, ?, ?, ?, ?)", list(row))


def _append(
    cursor: Cursor, folders: Folders, row: tuple[Any, ...], newest: tuple[SavedVersion, str] | None
) -> SavedVersion:
    notebook_id, when, title, change, undoes, text = row
    last = None if newest is None else newest[0]
    merged = (
        last is not None
        and undoes is None
        and last.undoes is None
        and last.change == change
        and last.version > 1
        and when - last.saved_at.replace(tzinfo=None) < timedelta(seconds=MERGE_S)
    )
    version = 1 if last is None else last.version if merged else last.version + 1
    folders.notebooks.mkdir(parents=True, exist_ok=True)
    write_durably(notebook_path(folders, notebook_id), text.encode())
    with transaction(cursor):
        if merged:
            cursor.execute("DELETE FROM notebooks WHERE notebook_id = ? AND version = ?", [notebook_id, version])
        insert_notebook(cursor, (notebook_id, version, when, title, change, undoes, text))
        cursor.execute(
            "DELETE FROM notebooks WHERE notebook_id = ? AND version <= ?", [notebook_id, version - MOST_VERSIONS]
        )
    return SavedVersion(notebook_id, version, when.replace(tzinfo=UTC), title, change, undoes)


def _newest(cursor: Cursor, notebook_id: str) -> tuple[SavedVersion, str] | None:
    row = cursor.execute(
        f"SELECT {_COLUMNS}, body_json FROM notebooks WHERE notebook_id = ? ORDER BY version DESC LIMIT 1",  # noqa: S608
        [notebook_id],
    ).fetchone()
    return None if row is None else (_version(row[:-1]), str(row[-1]))


def _version(row: tuple[Any, ...]) -> SavedVersion:
    notebook_id, version, saved_at, title, change, undoes = row
    return SavedVersion(notebook_id, version, saved_at.replace(tzinfo=UTC), title, change, undoes)
