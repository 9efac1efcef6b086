"""How is the store opened, asked and written to?

``Store.open`` gives every caller a handle of its own on the one database of this process, safe to
use from any number of threads. Questions and changes with a meaning of their own are functions in
``ingest``, ``queries``, ``timeline``, ``annotations``, ``recycling``, ``library``, ``export`` and
``rebuild``; each takes the store first.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import pyarrow as pa

from datastore.engine import Cursor, Engine
from datastore.errors import QueryError, StoreBusyError, StoreClosedError
from datastore.locations import Folders, data_folder
from datastore.lookup import askable

T = TypeVar("T")

READ_S = 30.0
WRITE_S = 120.0
OPEN_S = 120.0

_engines: dict[Path, Engine] = {}
_opening = threading.Lock()


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query a user has typed."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    """There were more rows than were asked for."""


class Reader:
    """Questions to one snapshot of the database; see ``Store.snapshot``. Not for several threads."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of ours."""
        return self.cursor.execute(sql, askable(parameters)).fetchall()

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
        """The same as an Arrow table, for many rows."""
        return self.cursor.sql(sql, params=askable(parameters)).to_arrow_table()


class Store:
    """A handle on the open store. Close it, or use it as a context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._closed = False
        self.folders = engine.folders

    @classmethod
    def open(cls, folder: Path | str | None = None, timeout_s: float = OPEN_S) -> Self:
        """Open the store of ``folder`` (default: ``locations.data_folder()``), made when it is not there.

        The first handle of a process opens the file, checks it and takes in run logs that are not in
        it yet (what a crash left, what was copied there); later ones share it. ``notices`` says in
        sentences what was found.

        Raises:
            StoreLockedError: another process holds it.
            StoreDamagedError: the file is damaged and was set aside, or is gone while its logs are there.
            SchemaTooNewError: a newer program has written it.
            StoreFolderError, DiskFullError: the folder cannot be used.
            StoreBusyError: another thread is opening it and takes longer than ``timeout_s``.
        """
        from datastore.recovery import reconcile

        folders = Folders(Path(data_folder() if folder is None else folder).absolute())
        key = Path(os.path.realpath(folders.root))
        with _hold(timeout_s):
            engine = _engines.get(key)
            if engine is None:
                engine = Engine(folders)
                try:
                    engine.start()
                    findings = reconcile(cls(engine))
                    engine.notices += [*findings.done, *findings.left]
                except BaseException:
                    engine.close()
                    raise
                _engines[key] = engine
            engine.users += 1
            return cls(engine)

    @property
    def notices(self) -> list[str]:
        """What opening found and did, in sentences; empty when there was nothing to say."""
        return list(self._engine.notices)

    def read(self, sql: str, parameters: Sequence[Any] = (), timeout_s: float = READ_S) -> list[tuple[Any, ...]]:
        """All rows of a query of ours.

        Raises:
            StoreError: what went wrong, in a sentence.
        """
        with self._cursor(timeout_s) as cursor:
            return Reader(cursor).read(sql, parameters)

    def arrow(self, sql: str, parameters: Sequence[Any] = (), timeout_s: float = READ_S) -> pa.Table:
        """The same as an Arrow table, for many rows."""
        with self._cursor(timeout_s) as cursor:
            return Reader(cursor).arrow(sql, parameters)

    @contextmanager
    def snapshot(self, timeout_s: float = READ_S) -> Iterator[Reader]:
        """Several questions to the same state of the database, whatever is written meanwhile.

        Raises:
            StoreError: what went wrong inside the block, in a sentence.
        """
        with self._cursor(timeout_s) as cursor:
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield Reader(cursor)

    def query(
        self,
        sql: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        limit: int = 10_000,
        timeout_s: float = READ_S,
    ) -> QueryResult:
        """Answer one SELECT that a user has typed; nothing can be changed and no other file be read by it.

        Raises:
            QueryError: it is not one SELECT, or DuckDB refuses it (DuckDB's words, with its "did you mean").
            StoreBusyError: it took longer than ``timeout_s``.
        """
        with self._cursor(timeout_s) as cursor:
            kinds = [statement.type for statement in cursor.extract_statements(sql)]
            if len(kinds) != 1 or kinds[0] not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
                raise QueryError("A query is one SELECT (or EXPLAIN); anything that changes the store is refused.")
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            values = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
            found = cursor.execute(sql, values)
            columns = tuple(str(column[0]) for column in found.description or ())
            rows = found.fetchmany(limit + 1)
            return QueryResult(columns, rows[:limit], len(rows) > limit)

    def write(self, job: Callable[[Cursor], T], timeout_s: float = WRITE_S) -> T:
        """Run ``job`` on the store's writer thread; it begins its own ``engine.transaction``.

        Raises:
            StoreBusyError: it was not done by the deadline; the message says whether it was begun.
        """
        if self._closed:
            raise self._closed_error()
        return self._engine.write(job, timeout_s)

    def close(self) -> None:
        """Give the handle back; the last one closes the file. May be called twice."""
        with _hold(OPEN_S):
            if self._closed:
                return
            self._closed = True
            self._engine.users -= 1
            if self._engine.users > 0:
                return
            for key in [k for k, engine in _engines.items() if engine is self._engine]:
                del _engines[key]
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cursor(self, timeout_s: float) -> AbstractContextManager[Cursor]:
        if self._closed:
            raise self._closed_error()
        return self._engine.cursor(timeout_s)

    def _closed_error(self) -> StoreClosedError:
        return StoreClosedError(f"This handle on the store in {self.folders.root} was closed; open it again.")


@contextmanager
def _hold(timeout_s: float) -> Iterator[None]:
    """One thread at a time opens or closes stores."""
    lock = _opening
    if not lock.acquire(timeout=timeout_s):
        raise StoreBusyError(f"Another thread has been opening or closing a store for {timeout_s:g} s; try again.")
    try:
        yield
    finally:
        lock.release()


def is_open_here(folder: Path) -> bool:
    """Whether this process has the store of ``folder`` open."""
    return Path(os.path.realpath(folder)) in _engines


def _close_all() -> None:
    """At exit: finish the write-ahead log of stores nobody closed."""
    for engine in list(_engines.values()):
        engine.close()


def _forget_after_fork() -> None:
    """A forked child must not touch its parent's file: the engines are kept out of reach, never destroyed."""
    global _engines, _opening
    _parents.append(_engines)
    _engines, _opening = {}, threading.Lock()


atexit.register(_close_all)
_parents: list[dict[Path, Engine]] = []
with suppress(AttributeError):  # not on Windows
    os.register_at_fork(after_in_child=_forget_after_fork)
