"""What does an error of DuckDB mean for the store? DuckDB says much of it only in its text."""

import re
from pathlib import Path

import duckdb

from datastore.errors import (
    DiskFullError,
    QueryError,
    SchemaTooNewError,
    StoreError,
    StoreFolderError,
    StoreLockedError,
)
from datastore.lock import command_line

_DAMAGE = (
    "Corrupt database file",
    "Corrupt WAL file",
    "not a valid DuckDB database file",
    "Could not read enough bytes",
    "Failure while replaying WAL",
)
_FULL = ("No space left on device", "Disk quota exceeded", "File too large", "not enough space on the disk")
_REFUSED = ("Permission denied", "Read-only file system", "Access is denied")
_NEWER = ("newer version of DuckDB", "with version number")
_LOCK = ("Could not set lock on file", "being used by another process")
_PID = re.compile(r"\(PID (\d+)\)")


def is_damage(error: duckdb.Error) -> bool:
    """Whether the database file itself is at fault."""
    text = str(error)
    return any(mark in text for mark in _DAMAGE) and not any(mark in text for mark in (*_FULL, *_REFUSED))


def is_damage_at_open(error: duckdb.Error) -> bool:
    """The same for a file that is just being opened: nobody has asked it anything that could be wrong."""
    return is_damage(error) or isinstance(error, duckdb.SerializationException | duckdb.InternalException)


def is_fatal(error: duckdb.Error) -> bool:
    """Whether DuckDB refuses all further work until the file is opened again."""
    return isinstance(error, duckdb.FatalException | duckdb.InternalException) or "has been invalidated" in str(error)


def translate(error: duckdb.Error, database: Path) -> StoreError:
    """The store's error for one of DuckDB's that is no damage."""
    text = str(error)
    if any(mark in text for mark in _LOCK):
        found = _PID.search(text)
        pid = int(found[1]) if found else None
        return StoreLockedError(database.parent, pid, command_line(pid))
    if any(mark in text for mark in _FULL):
        return DiskFullError(
            f"There is no room left on the disk of {database}; the database is as it was before this call. "
            "Free some space and try again."
        )
    if any(mark in text for mark in _REFUSED):
        return StoreFolderError(
            f"{database} cannot be written; give this user the right to, or set AS2D_STORE to another folder."
        )
    if any(mark in text for mark in _NEWER):
        return SchemaTooNewError(
            f"{database} needs a newer DuckDB than {duckdb.__version__}: run pip install -U duckdb, "
            "or set AS2D_STORE to another folder."
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return QueryError("The query needs more memory than there is; ask for fewer columns or runs.")
    return QueryError(_sentence(text))


def _sentence(text: str) -> str:
    """DuckDB's message on one line, without its drawing of the place."""
    lines = [line.strip() for line in text.split("\n\nLINE ", maxsplit=1)[0].splitlines() if line.strip()]
    return "DuckDB refused the query. " + " ".join(lines)
