"""How does a run get into the store? Its log is placed and flushed first, then one transaction takes it in.

Whatever moment the process is killed at: before the log is in ``runs/`` nothing was acknowledged and
the caller's file is untouched; from then on opening the store takes the log in.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from as2d_core.errors import RecordError
from as2d_core.protocol import read_run
from as2d_core.records import RunRecord
from datastore.engine import Cursor, transaction
from datastore.errors import (
    DiskFullError,
    RunConflictError,
    StoreBusyError,
    StoreClosedError,
    StoreFolderError,
)
from datastore.files import (
    copy_to_part,
    digest,
    folder_error,
    move_durably,
    prefix_digest,
    remove_quietly,
    safe_name,
    translated_os,
)
from datastore.library import keep_self_tests
from datastore.locations import Folders
from datastore.rows import event_tables
from datastore.run_row import CHECKED_COLUMNS, COUNTED_TABLES, checksum, run_row
from datastore.store import WRITE_S, Store

LOG_SUFFIX = ".ndjson"


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What came of one run file."""

    run_id: str
    status: str
    """The run's status; ``incomplete`` when its stream has no matching end."""
    added: bool
    """False when the run was there already, with the same content."""
    extended: bool
    """An incomplete run was replaced by a longer part of the same stream."""
    in_bin: bool
    """The run is there, in the bin."""
    problems: tuple[str, ...]
    log: Path
    """The log, in the data folder."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A run file read and turned into rows, with nothing written yet."""

    record: RunRecord
    row: dict[str, Any]
    tables: dict[str, pa.Table]
    sha256: str
    length: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the database says of a run that has the same id."""

    run_no: int
    log_name: str
    sha256: str
    length: int
    status: str
    binned_at: datetime | None
    notes: str | None
    meta_stamp: str | None


def ingest_run(store: Store, path: Path | str, timeout_s: float = WRITE_S) -> IngestResult:
    """Take in one NDJSON run file; ``path`` itself is left as it is.

    The same file again, or a shorter part of it, changes nothing. A longer part of a stream that was stored as
    incomplete replaces it. Any other content under a stored id is refused.

    Raises:
        RecordError: the file does not begin with a run header.
        RunConflictError: the id is stored with other content.
        StoreFolderError: ``path`` cannot be read, or the data folder not be written.
        DiskFullError, StoreBusyError: the message says whether the log is kept.
    """
    path = Path(path)
    folders = store.folders
    try:
        part, sha256, length = copy_to_part(path, folders.runs)
    except OSError as error:
        raise StoreFolderError(f"The run file {path} cannot be read ({error.strerror}); check the path.") from error
    begun = False
    place: Path | None = None
    try:
        prepared = _prepare(part, path, sha256, length)
        place = log = folders.runs / (safe_name(prepared.record.run_id) + LOG_SUFFIX)
        return store.write(lambda cursor: _place(cursor, store, prepared, part, log), timeout_s)
    except (DiskFullError, StoreBusyError, StoreClosedError, StoreFolderError) as error:
        begun = isinstance(error, StoreBusyError) and error.begun
        if begun or place is None or not _lies_there(place, sha256):
            raise
        kept = f" The log is kept as {place} and is taken in when the store is opened next."
        raise type(error)(str(error) + kept) from error
    finally:
        if not begun:  # a write that goes on still needs the copy, and removes it itself
            remove_quietly(part)


def ingest_placed(store: Store, log: Path, in_bin: bool = False, timeout_s: float = WRITE_S) -> IngestResult:
    """Take in a log that lies in ``runs/`` (or ``bin/``) already.

    Raises:
        As ``ingest_run``.
    """
    try:
        sha256, length = digest(log)
    except OSError as error:
        raise folder_error(log, error) from error
    prepared = _prepare(log, log, sha256, length)
    return store.write(lambda cursor: _take_in(cursor, prepared, log, in_bin), timeout_s)


def _prepare(path: Path, shown: Path, sha256: str, length: int) -> _Prepared:
    try:
        record = read_run(path)
        return _Prepared(record, run_row(record), event_tables(record), sha256, length)
    except RecordError as error:
        place = f" line {error.line}" if error.line is not None else ""
        raise RecordError(f"{shown}{place} is no run log: {error}", error.line) from error
    except (ValueError, ArithmeticError) as error:
        raise RecordError(f"{shown} cannot be stored: {error}") from error
    except OSError as error:
        raise folder_error(shown, error) from error


def _place(cursor: Cursor, store: Store, new: _Prepared, part: Path, log: Path) -> IngestResult:
    """On the writer thread: decide, move the finished copy to its name, then the transaction."""
    try:
        old = _stored(cursor, new.record.run_id)
        if old is not None and old.sha256 == new.sha256:
            return _result(new, store.folders.runs / old.log_name, old)
        with translated_os(log):
            if old is not None and _is_part_of(old, new, store.folders):
                return _result(new, store.folders.runs / old.log_name, old)
            if old is not None:
                _check_extends(old, new, part)
                log = store.folders.runs / old.log_name
            elif log.exists() and digest(log)[0] != new.sha256:
                raise RunConflictError(
                    f"{log} lies there already, is not in the database and has other content; "
                    "move it away and try again."
                )
        move_durably(part, log)
        return _insert(cursor, new, log, old, None)
    finally:
        remove_quietly(part)


def _take_in(cursor: Cursor, new: _Prepared, log: Path, in_bin: bool) -> IngestResult:
    old = _stored(cursor, new.record.run_id)
    if old is not None and old.log_name != log.name:
        raise RunConflictError(
            f"{log} has the id {new.record.run_id!r} of a run whose log is {old.log_name}; remove one of the two."
        )
    if old is not None and old.sha256 == new.sha256:
        return _result(new, log, old)
    if old is not None:
        with translated_os(log):
            _check_extends(old, new, log)
    return _insert(cursor, new, log, old, _now() if in_bin else None)


def _lies_there(log: Path, sha256: str) -> bool:
    try:
        return digest(log)[0] == sha256
    except OSError:
        return False


def _is_part_of(old: _Stored, new: _Prepared, folders: Folders) -> bool:
    """Whether all of a stream is stored already, as one that was copied before it had ended is."""
    log = (folders.bin if old.binned_at else folders.runs) / old.log_name
    return new.length < old.length and log.exists() and prefix_digest(log, new.length) == new.sha256


def _check_extends(old: _Stored, new: _Prepared, path: Path) -> None:
    """An incomplete run may be replaced by more of the same stream, never by anything else."""
    if old.status == "incomplete" and old.binned_at is None and prefix_digest(path, old.length) == old.sha256:
        return
    where = " (in the bin)" if old.binned_at else ""
    raise RunConflictError(
        f"A run with the id {new.record.run_id!r} is stored already{where}, with other content; "
        "give the new run another id, or delete the stored one and empty the bin."
    )


def _stored(cursor: Cursor, run_id: str) -> _Stored | None:
    row = cursor.execute(
        "SELECT run_no, log_name, log_sha256, log_bytes, status, binned_at, notes, meta_stamp "
        "FROM runs WHERE run_id = ?",
        [run_id],
    ).fetchone()
    return None if row is None else _Stored(*row)


def _insert(cursor: Cursor, new: _Prepared, log: Path, old: _Stored | None, binned_at: datetime | None) -> IngestResult:
    with transaction(cursor):
        if old is not None:
            delete_rows(cursor, old.run_no)
        found = cursor.execute("SELECT coalesce(max(run_no), 0) + 1 FROM runs").fetchone()
        run_no = int(found[0]) if found else 1
        row = {
            **new.row,
            "run_no": run_no,
            "log_name": log.name,
            "log_sha256": new.sha256,
            "log_bytes": new.length,
            "ingested_at": _now(),
            "binned_at": binned_at,
            "notes": old.notes if old else None,
            "meta_stamp": old.meta_stamp if old else None,
            **{column: new.tables[table].num_rows for table, column in COUNTED_TABLES.items()},
        }
        row["checksum"] = checksum([row[name] for name in CHECKED_COLUMNS])
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        cursor.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608
        for name, table in new.tables.items():
            _append(cursor, name, table, run_no)
        keep_self_tests(cursor, new.record)
    return replace(_result(new, log, None), added=True, extended=old is not None, in_bin=binned_at is not None)


def _append(cursor: Cursor, name: str, table: pa.Table, run_no: int) -> None:
    if table.num_rows:
        cursor.register("incoming_rows", table)
        try:
            cursor.execute(
                f"INSERT INTO {name} BY NAME SELECT CAST(? AS INTEGER) AS run_no, * FROM incoming_rows",  # noqa: S608
                [run_no],
            )
        finally:
            cursor.unregister("incoming_rows")


def delete_rows(cursor: duckdb.DuckDBPyConnection, run_no: int) -> None:
    """Remove everything the database holds of one run, tags excepted; inside a transaction of the caller."""
    for table in (*COUNTED_TABLES, "runs"):
        cursor.execute(f"DELETE FROM {table} WHERE run_no = ?", [run_no])  # noqa: S608


def _result(new: _Prepared, log: Path, old: _Stored | None) -> IngestResult:
    return IngestResult(
        run_id=new.record.run_id,
        status=new.record.status if old is None else old.status,
        added=False,
        extended=False,
        in_bin=old is not None and old.binned_at is not None,
        problems=tuple(new.record.problems),
        log=log,
    )


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
