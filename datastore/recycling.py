"""How is a run deleted? Into a bin first, from which it can be restored until the bin is emptied.

The log moves before the database changes: where the log lies is what holds after a crash.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from datastore.annotations import meta_path
from datastore.engine import Cursor, transaction
from datastore.errors import LogMissingError, RunConflictError
from datastore.files import move_durably, sync_folder, translated_os
from datastore.ingest import delete_rows
from datastore.lookup import Found, find_run, of_cursor
from datastore.queries import RunFilter, RunRow, list_runs
from datastore.store import Store


def delete_run(store: Store, run_id: str) -> Path:
    """Move a run into the bin: its log goes to ``bin/``, queries no longer see it. Returns where the log lies.

    Raises:
        RunNotFoundError: no such run.
        LogMissingError: its log is gone, so that it could not be restored.
    """

    def job(cursor: Cursor) -> Path:
        found = find_run(of_cursor(cursor), run_id)
        return _move(cursor, found, store.folders.runs, store.folders.bin, _now())

    return store.write(job)


def restore_run(store: Store, run_id: str) -> Path:
    """Take a run out of the bin. Returns where its log lies.

    Raises:
        RunNotFoundError: no such run in the bin.
        RunConflictError: another log has taken its place.
    """

    def job(cursor: Cursor) -> Path:
        found = find_run(of_cursor(cursor), run_id, in_bin=True)
        return _move(cursor, found, store.folders.bin, store.folders.runs, None)

    return store.write(job)


def list_bin(store: Store) -> list[RunRow]:
    """Runs in the bin, the last one thrown away first."""
    return list_runs(store, RunFilter(bin="only"), order_by="binned_at", limit=None)


def empty_bin(store: Store, run_ids: Sequence[str] | None = None) -> int:
    """Remove runs in the bin for good (all of them, or those named); returns how many.

    Raises:
        RunNotFoundError: one of them is not in the bin; nothing was removed.
        StoreError: a file cannot be removed.
    """

    def job(cursor: Cursor) -> int:
        read = of_cursor(cursor)
        if run_ids is None:
            rows = read("SELECT run_id FROM runs WHERE binned_at IS NOT NULL", [])
            found = [find_run(read, row[0], in_bin=True) for row in rows]
        else:
            found = list({run.run_no: run for run in (find_run(read, name, in_bin=True) for name in run_ids)}.values())
        for run in found:
            log = store.folders.bin / run.log_name
            with translated_os(log):
                log.unlink(missing_ok=True)
                meta_path(store.folders, run.run_id).unlink(missing_ok=True)
        with translated_os(store.folders.bin):
            sync_folder(store.folders.bin)
        purge(cursor, found)
        return len(found)

    return store.write(job)


def purge(cursor: Cursor, runs: Sequence[Found]) -> None:
    """Remove runs from the database for good."""
    with transaction(cursor):
        for run in runs:
            delete_rows(cursor, run.run_no)
            cursor.execute("DELETE FROM tags WHERE run_id = ?", [run.run_id])


def _move(cursor: Cursor, run: Found, source: Path, target: Path, binned_at: datetime | None) -> Path:
    log, new = source / run.log_name, target / run.log_name
    if not log.exists():
        raise LogMissingError(
            f"The log {log} of run {run.run_id!r} is gone; put it back first, or leave the run out for good "
            "with 'as2d store rebuild'."
        )
    if new.exists():
        raise RunConflictError(f"{new} lies there already; move it away and try again.")
    move_durably(log, new)
    with transaction(cursor):
        cursor.execute("UPDATE runs SET binned_at = ? WHERE run_no = ?", [binned_at, run.run_no])
    return new


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
