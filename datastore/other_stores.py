"""What does another data folder keep in its database alone? Rates of other programs and power counters of traces.

Everything else lies there as files, which are read as those of a bundle are.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from datastore.engine import READING, Cursor
from datastore.errors import ArchiveError
from datastore.foreign import by_file, read_results
from datastore.foreign_benches import ForeignResult
from datastore.locations import Folders
from datastore.perfetto_traces import PowerTrace
from datastore.power_traces import read_counters

Results = list[tuple[str, str, list[ForeignResult]]]
Traces = list[tuple[str, str, PowerTrace]]


def kept_there(folder: Path) -> tuple[Results, Traces]:
    """Hash and name of every file with its rates, and of every trace with its counters; nothing where none are kept.

    Raises:
        ArchiveError: the database is open in another program, is damaged, or is no database.
    """
    database = Folders(folder).database
    if not database.is_file() or database.is_symlink():
        return [], []
    try:
        with duckdb.connect(database, read_only=True, config=READING) as connection:
            tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            results = _results(connection) if "foreign_results" in tables else []
            return results, _traces(connection) if "power_traces" in tables else []
    except (duckdb.Error, OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split("\n\n", maxsplit=1)[0].split())
        raise ArchiveError(
            f"Rates of other programs and power counters that {database} may hold cannot be read ({why}); close the "
            "program that uses it, then take the folder in again."
        ) from error


def _asked(connection: Cursor) -> Callable[..., list[tuple[Any, ...]]]:
    return lambda sql, values=(): connection.execute(sql, list(values)).fetchall()


def _results(connection: Cursor) -> Results:
    return [(digest, name, found) for (digest, name), found in by_file(read_results(_asked(connection))).items()]


def _traces(connection: Cursor) -> Traces:
    read = _asked(connection)
    rows = read(
        "SELECT file_sha256, file_name, boot_ns, build, notes FROM power_traces ORDER BY imported_at, file_sha256"
    )
    return [
        (digest, name, PowerTrace(tuple(read_counters(read, digest)), boot_ns, build, tuple(notes.splitlines())))
        for digest, name, boot_ns, build, notes in rows
    ]
