"""What do people write about a run? Tags and a note, kept in the database and in a file beside the log.

The file is written first: it survives a lost database, and the next open takes over what a crash
kept out of the database.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from as2d_core.reading import read_json
from datastore.engine import Cursor, transaction
from datastore.errors import StoreError
from datastore.files import safe_name, write_durably
from datastore.locations import Folders
from datastore.lookup import find_run, of_cursor
from datastore.run_row import clean
from datastore.store import Store

META_SUFFIX = ".meta.json"
MAX_TAG_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Annotations:
    """Tags, sorted, and the note of one run."""

    tags: tuple[str, ...] = ()
    notes: str | None = None


def add_tag(store: Store, run_id: str, tag: str) -> Annotations:
    """Tag a run; twice is once.

    Raises:
        RunNotFoundError: no such run.
        StoreError: the tag is empty, too long or has line breaks.
    """
    tag = _checked(tag)
    return _change(store, run_id, lambda old: replace(old, tags=tuple(sorted({*old.tags, tag}))))


def remove_tag(store: Store, run_id: str, tag: str) -> Annotations:
    """Take a tag off a run; one it does not have is no error.

    Raises:
        RunNotFoundError: no such run.
    """
    return _change(store, run_id, lambda old: replace(old, tags=tuple(t for t in old.tags if t != tag.strip())))


def set_notes(store: Store, run_id: str, notes: str | None) -> Annotations:
    """Replace the note of a run; ``None`` or blank removes it.

    Raises:
        RunNotFoundError: no such run.
    """
    text = clean(notes).strip() if notes else ""
    return _change(store, run_id, lambda old: replace(old, notes=text or None))


def get_annotations(store: Store, run_id: str) -> Annotations:
    """Tags and note of a run.

    Raises:
        RunNotFoundError: no such run.
    """
    found = find_run(store.read, run_id)
    tags = store.read("SELECT tag FROM tags WHERE run_id = ? ORDER BY tag", [found.run_id])
    notes = store.read("SELECT notes FROM runs WHERE run_no = ?", [found.run_no])
    return Annotations(tuple(row[0] for row in tags), notes[0][0] if notes else None)


def list_tags(store: Store) -> dict[str, int]:
    """Every tag in use with the number of kept runs that have it, in alphabetical order."""
    rows = store.read(
        "SELECT tag, count(*) FROM tags JOIN runs USING (run_id) WHERE binned_at IS NULL GROUP BY tag ORDER BY tag"
    )
    return {tag: count for tag, count in rows}  # noqa: C416


def meta_path(folders: Folders, run_id: str) -> Path:
    """Where tags and note of a run lie beside its log."""
    return folders.runs / (safe_name(run_id) + META_SUFFIX)


def meta_stamp(path: Path) -> str | None:
    """Time and length of the file as last seen, ``None`` when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return f"{status.st_mtime_ns}:{status.st_size}"


def read_meta(path: Path) -> tuple[str, Annotations] | None:
    """Run id and annotations from a file, ``None`` when it is none of ours."""
    try:
        kept = read_json(path)
        tags = tuple(sorted({_checked(str(t)) for t in kept["tags"]}))
        notes = kept["notes"]
        return str(kept["run_id"]), Annotations(tags, None if notes is None else clean(str(notes)))
    except (OSError, ValueError, KeyError, TypeError, StoreError):
        return None


def write_meta(folders: Folders, run_id: str, kept: Annotations) -> str | None:
    """Write the file beside the log; returns its stamp.

    Raises:
        StoreError: it cannot be written; the old one is unchanged.
    """
    path = meta_path(folders, run_id)
    body = {"run_id": run_id, "tags": kept.tags, "notes": kept.notes}
    write_durably(path, (json.dumps(body, indent=1) + "\n").encode())
    return meta_stamp(path)


def replace_rows(cursor: Cursor, run_id: str, kept: Annotations, stamp: str | None) -> None:
    """Make the database say what the file says; inside a transaction of the caller."""
    cursor.execute("DELETE FROM tags WHERE run_id = ?", [run_id])
    for tag in kept.tags:
        cursor.execute("INSERT INTO tags VALUES (?, ?)", [run_id, tag])
    cursor.execute("UPDATE runs SET notes = ?, meta_stamp = ? WHERE run_id = ?", [kept.notes, stamp, run_id])


def read_rows(cursor: Cursor, run_id: str) -> Annotations:
    """What the database says."""
    tags = cursor.execute("SELECT tag FROM tags WHERE run_id = ? ORDER BY tag", [run_id]).fetchall()
    notes = cursor.execute("SELECT notes FROM runs WHERE run_id = ?", [run_id]).fetchone()
    return Annotations(tuple(row[0] for row in tags), notes[0] if notes else None)


def _change(store: Store, run_id: str, change: Callable[[Annotations], Annotations]) -> Annotations:
    def job(cursor: Cursor) -> Annotations:
        found = find_run(of_cursor(cursor), run_id)
        old = read_rows(cursor, found.run_id)
        new = change(old)
        if new != old:
            stamp = write_meta(store.folders, found.run_id, new)
            with transaction(cursor):
                replace_rows(cursor, found.run_id, new, stamp)
        return new

    return store.write(job)


def _checked(tag: str) -> str:
    tag = tag.strip()
    if not tag or len(tag) > MAX_TAG_CHARACTERS or not tag.isprintable():
        raise StoreError(
            f"{tag[:20]!r} is no tag: use 1 to {MAX_TAG_CHARACTERS} characters, none of them a line break "
            "or control character."
        )
    return tag
