"""How do many threads share one DuckDB file? One connection, one cursor per call, one writer thread.

A DuckDB connection used by two threads at once gives wrong rows, so no call ever sees the
connection: each gets a cursor of its own (a snapshot of its own) and gives it back. Writes stand in
one queue. Every wait has a deadline, and a call that outlives its deadline is interrupted.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import duckdb

from as2d_core.reading import check_regular
from datastore.errors import StoreBusyError, StoreClosedError, StoreDamagedError, StoreError
from datastore.faults import is_damage, is_damage_at_open, is_fatal, translate
from datastore.files import move_durably, sync_folder, translated_os
from datastore.integrity import quick_check
from datastore.locations import Folders
from datastore.lock import FolderLock
from datastore.migrations import migrate

T = TypeVar("T")
Cursor = duckdb.DuckDBPyConnection

DRAIN_S = 10.0
"""How long a restart or a close waits for running calls, which are interrupted meanwhile."""
JOB_LIMIT_S = 900.0
"""A write that runs longer is interrupted and undone, so that it cannot hold up all others."""
_WATCH_S = 0.05
READING: dict[str, str | bool | int | float | list[str]] = {
    # A query typed by a user must not read or write other files, or fetch extensions.
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "lock_configuration": True,
}


@dataclass(slots=True)
class _Call:
    cursor: Cursor
    ends_at: float
    generation: int
    expired: bool = False


class Engine:
    """One open database of this process. ``Store`` objects share it."""

    def __init__(self, folders: Folders, database: Path | None = None) -> None:
        self.folders = folders
        self.database = database or folders.database
        self.notices: list[str] = []
        self.users = 0
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._calls: dict[int, _Call] = {}
        self._paused = False
        self._generation = 0
        self._fault: Callable[[], StoreError] | None = None
        self._connection: Cursor | None = None
        self._lock: FolderLock | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="as2d-store-writer")
        self._stop = threading.Event()

    def start(self) -> None:
        """Take the folder's lock, open the database (or make an empty one) and check it.

        Raises:
            StoreError: another process holds it, it is damaged, too new, or the disk does not let us.
        """
        self.folders.create()
        self._lock = FolderLock(self.folders.lock)
        if self.database.exists():
            with translated_os(self.database):
                check_regular(self.database)  # DuckDB would wait for the writer of a pipe
        else:
            self._refuse_to_forget()
            create(self.database)
        self.open_database()

    def open_database(self) -> None:
        """Open the file for somebody who holds the folder's lock.

        Raises:
            StoreError: it is damaged, too new, or the disk does not let us.
        """
        with self._changed:
            self._ready()
        threading.Thread(target=self._watch, name="as2d-store-watch", daemon=True).start()

    @contextmanager
    def cursor(self, timeout_s: float) -> Iterator[Cursor]:
        """A cursor for one call on this thread.

        Raises:
            StoreError: what DuckDB's error inside the block means.
        """
        call = self._enter(timeout_s)
        failure: duckdb.Error | None = None
        try:
            yield call.cursor
        except duckdb.Error as error:
            failure = error
        finally:
            self._leave(call)
        if failure is not None:
            raise self._explain(failure, call, timeout_s) from failure

    def write(self, job: Callable[[Cursor], T], timeout_s: float) -> T:
        """Run ``job`` on the writer thread and wait for it.

        Raises:
            StoreBusyError: the deadline passed; the message says whether the job was begun.
            StoreError: what went wrong inside.
        """
        self._check()
        try:
            future = self._writer.submit(self._run, job)
        except RuntimeError as error:
            raise StoreClosedError(f"The store in {self.folders.root} is closed; open it again.") from error
        try:
            return future.result(timeout_s)
        except TimeoutError:
            if future.done():  # in this very moment
                return future.result()
            if future.cancel():
                raise StoreBusyError(
                    f"Other writes kept the store busy for {timeout_s:g} s; nothing was changed, try again."
                ) from None
            raise StoreBusyError(
                f"The write did not finish within {timeout_s:g} s; it goes on and will be there when it is done.",
                begun=True,
            ) from None

    def close(self) -> None:
        """Finish the queue, close the file, free the folder. May be called twice, and after a failed start."""
        if self._pid != os.getpid():
            return
        with self._changed:
            if self._fault is None:
                self._fault = self._closed
        with suppress(RuntimeError, TimeoutError):
            self._writer.submit(lambda: None).result(DRAIN_S)
        self._writer.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            self._drain()
            self._disconnect()
        self._stop.set()
        if self._lock is not None:
            self._lock.release()

    # -- calls

    def _run(self, job: Callable[[Cursor], T]) -> T:
        with self.cursor(JOB_LIMIT_S) as cursor:
            return job(cursor)

    def _check(self) -> None:
        if self._pid != os.getpid():
            raise StoreClosedError("This store belongs to the parent process; open it again in this one.")
        if self._fault is not None:
            raise self._fault()

    def _enter(self, timeout_s: float) -> _Call:
        ends_at = time.monotonic() + timeout_s
        writer = threading.current_thread().name.startswith("as2d-store-writer")
        with self._changed:
            while True:
                # Writes that were accepted before a close are still done.
                if not (writer and self._fault == self._closed):
                    self._check()
                if not self._paused:
                    break
                if not self._changed.wait(max(0.0, ends_at - time.monotonic())):
                    raise StoreBusyError(f"The store was busy for {timeout_s:g} s; try again.")
            call = _Call(self._ready().cursor(), ends_at, self._generation)
            self._calls[id(call)] = call
            return call

    def _leave(self, call: _Call) -> None:
        with self._changed:
            del self._calls[id(call)]
            with suppress(duckdb.Error):
                call.cursor.close()
            self._changed.notify_all()

    def _explain(self, error: duckdb.Error, call: _Call, timeout_s: float) -> StoreError:
        if isinstance(error, duckdb.InterruptException):
            if call.expired:
                return StoreBusyError(f"The store had no answer after {timeout_s:g} s; ask for less, or try again.")
            return StoreClosedError("The store was closed or restarted during this call; try again.")
        if is_damage(error):
            return self._condemn(error)
        if is_fatal(error):
            self._restart(call.generation)
        return translate(error, self.database)

    def _watch(self) -> None:
        """Interrupt calls that outlive their deadline; again and again, an interrupt before a query is lost."""
        while not self._stop.wait(_WATCH_S):
            with self._changed:
                now = time.monotonic()
                for call in self._calls.values():
                    if now > call.ends_at:
                        call.expired = True
                        call.cursor.interrupt()

    # -- the file

    def _refuse_to_forget(self) -> None:
        logs = sum(1 for folder in (self.folders.runs, self.folders.bin) for _ in folder.glob("*.ndjson"))
        if logs:
            raise StoreDamagedError(
                f"{self.database} is gone, but {logs} run logs lie in {self.folders.runs} and {self.folders.bin}; "
                "make a new database from them with 'as2d store rebuild'."
            )

    def _connect(self) -> Cursor:
        try:
            connection = duckdb.connect(self.database, config=READING)
        except duckdb.Error as error:
            if is_damage_at_open(error):
                raise self._set_aside(error) from error
            raise translate(error, self.database) from error
        try:
            migrate(connection, self.database)
            problems = quick_check(connection)
        except duckdb.Error as error:
            connection.close()
            if is_damage_at_open(error):
                raise self._set_aside(error) from error
            raise translate(error, self.database) from error
        except BaseException:
            connection.close()
            raise
        if problems:
            connection.close()
            raise self._set_aside(" ".join(problems[:3]))
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(duckdb.Error):  # a last checkpoint may fail; the write-ahead log keeps what it had
                self._connection.close()
            self._connection = None

    def _drain(self) -> None:
        """Wait, with the condition held, until no call runs; interrupt those that do."""
        ends_at = time.monotonic() + DRAIN_S
        while self._calls and time.monotonic() < ends_at:
            for call in self._calls.values():
                call.cursor.interrupt()
            self._changed.wait(_WATCH_S)

    def _ready(self) -> Cursor:
        """The connection, opened when there is none (at first, and after a restart)."""
        if self._connection is None:
            try:
                self._connection = self._connect()
            except StoreDamagedError as error:
                self._fail(error)
                raise
        return self._connection

    def _restart(self, generation: int) -> None:
        """Close the file after DuckDB gave up on it (a checkpoint met a full disk, say); the next call reopens it."""
        with self._changed:
            if generation != self._generation or self._fault is not None:
                return
            self._paused = True
            self._generation += 1
            self._drain()
            self._disconnect()
            self._paused = False
            self._changed.notify_all()

    def _condemn(self, error: duckdb.Error) -> StoreError:
        """Stop all work on a file that turned out damaged, and set it aside."""
        with self._changed:
            if self._fault is None:
                self._paused = True
                self._drain()
                self._disconnect()
                self._fail(self._set_aside(error))
                self._paused = False
                self._changed.notify_all()
            return self._fault() if self._fault is not None else translate(error, self.database)

    def _fail(self, error: StoreDamagedError) -> None:
        """Answer every later call with the same sentence."""
        text, path = str(error), error.set_aside
        self._fault = lambda: StoreDamagedError(text, path)

    def _closed(self) -> StoreError:
        return StoreClosedError(f"The store in {self.folders.root} is closed; open it again.")

    def _set_aside(self, why: object) -> StoreDamagedError:
        path = set_aside(self.database, "damaged")
        reason = " ".join(str(why).split())
        return StoreDamagedError(
            f"{self.database} is damaged ({reason}). It was set aside as {path}, nothing in it was changed; the run "
            f"logs in {self.folders.runs} make a new database with 'as2d store rebuild'.",
            path,
        )


@contextmanager
def transaction(cursor: Cursor) -> Iterator[None]:
    """All or nothing: commit at the end of the block, undo when it raises."""
    cursor.execute("BEGIN TRANSACTION")
    try:
        yield
        cursor.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a failed commit has rolled back already
            cursor.execute("ROLLBACK")
        raise


def create(database: Path) -> None:
    """Make an empty database with the newest schema; it appears under its name complete or not at all.

    Raises:
        StoreError: the disk does not let us.
    """
    new = database.with_name(database.name + ".new")
    with translated_os(new):
        for leftover in (new, wal(new)):
            leftover.unlink(missing_ok=True)
    try:
        connection = duckdb.connect(new)
        try:
            migrate(connection, new)
        finally:
            connection.close()
    except duckdb.Error as error:
        raise translate(error, database) from error
    swap_in(new, database)


def swap_in(new: Path, database: Path) -> None:
    """Put a finished database file in its place in one step.

    Raises:
        StoreError: it cannot be renamed.
    """
    with translated_os(database):
        if wal(database).exists():  # of a file that is gone: it must not be replayed on this one
            set_aside(database, "leftover")
        with new.open("rb") as data:
            os.fsync(data.fileno())
    move_durably(new, database)


def set_aside(database: Path, why: str) -> Path:
    """Rename a database and its write-ahead log; returns the new name.

    Raises:
        StoreError: it cannot be renamed.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    path = database.with_name(f"{database.stem}.{why}-{stamp}{database.suffix}")
    with translated_os(database):
        if database.exists():
            database.rename(path)
        if wal(database).exists():
            wal(database).rename(wal(path))
        sync_folder(database.parent)
    return path


def wal(database: Path) -> Path:
    """DuckDB's write-ahead log of a database."""
    return database.with_name(database.name + ".wal")
