"""How is the open store asked and written to?

``opening.open_store`` gives every caller a handle of its own on the one database of this process, safe
to use from any number of threads. Questions and changes with a meaning of their own are functions in
``ingest``, ``queries``, ``timeline``, ``annotations``, ``recycling``, ``library``, ``export`` and
``rebuild``; each takes the store first.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import pyarrow as pa

from datastore.engine import Cursor, Engine
from datastore.errors import ParameterError, QueryError, StoreClosedError
from datastore.lookup import askable

T = TypeVar("T")

READ_S = 30.0
MOST_READ = 4_000_000
"""Characters of an answer to a query that a user has typed, about; the row that passes it is the last."""
_EXPLAIN = re.compile(r"\s*EXPLAIN(?:\s+ANALYZE|\s*\(\s*(?:ANALYZE|FORMAT)[^()]*\))?", re.IGNORECASE)
WRITE_S = 120.0


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

    def __init__(self, engine: Engine, give_back: Callable[[], None]) -> None:
        self._engine = engine
        self._give_back = give_back
        self._closed = False
        self.folders = engine.folders

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

        Rows end at ``limit``, or where they hold more than ``MOST_READ`` characters.

        Args:
            parameters: values in order, or by name; of those, any number more than the query names.

        Raises:
            ParameterError: the query names a parameter that is not given.
            QueryError: it is not one SELECT, or DuckDB refuses it (DuckDB's words, with its "did you mean").
            StoreBusyError: it took longer than ``timeout_s``.
        """
        with self._cursor(timeout_s) as cursor:
            named = _names(cursor, sql)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            values: dict[str, Any] | list[Any]
            if isinstance(parameters, Mapping):
                missing = sorted(named - parameters.keys())
                if missing:
                    raise ParameterError(missing[0])
                values = {name: parameters[name] for name in named}
            else:
                values = list(parameters)
            found = cursor.execute(sql, values)
            columns = tuple(str(column[0]) for column in found.description or ())
            return QueryResult(columns, *_rows(found, limit))

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
        if not self._closed:
            self._closed = True
            self._give_back()

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


def _names(cursor: Cursor, sql: str) -> set[str]:
    """Parameters that one SELECT names; what is text, comment or a quoted name in it, DuckDB knows best."""
    statements = cursor.extract_statements(sql)
    if len(statements) == 1 and statements[0].type == duckdb.StatementType.EXPLAIN:
        # EXPLAIN ANALYZE carries out what it explains, settings and checkpoints among it.
        begins = _EXPLAIN.match(sql)
        explained = cursor.extract_statements(sql[begins.end() :] if begins is not None else sql)
        kinds = [statement.type for statement in explained]
    else:
        kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        raise QueryError("A query is one SELECT (or its EXPLAIN); anything that changes the store is refused.")
    return set(statements[0].named_parameters)


def _rows(found: Cursor, limit: int) -> tuple[list[tuple[Any, ...]], bool]:
    """So many rows, one after the other, and whether there are more: each may be as large as memory allows."""
    rows: list[tuple[Any, ...]] = []
    read = 0
    while (row := found.fetchone()) is not None:
        if len(rows) >= limit or read > MOST_READ:
            return rows, True
        rows.append(row)
        read += sum(map(_size, row))
    return rows, False


def _size(value: Any) -> int:
    """About how many characters a value takes to write."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(item) for pair in value.items() for item in pair)
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 8
