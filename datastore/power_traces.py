"""How are power counters of traces kept? Beside the runs, each trace once, found again by the time that it covers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from datastore.engine import Cursor, transaction
from datastore.perfetto_traces import PowerCounter, PowerTrace
from datastore.run_row import clean
from datastore.store import Store

_NS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class KeptTrace:
    """A trace without its readings."""

    file_sha256: str
    file_name: str
    imported_at: datetime
    """With time zone, UTC."""
    boot_ns: int | None
    build: str | None
    notes: tuple[str, ...]
    counters: int
    first_ns: int
    """Boot-time clock, of its first reading."""
    last_ns: int


def keep_trace(store: Store, file_name: str, file_sha256: str, trace: PowerTrace) -> bool:
    """Keep the counters of a trace; returns whether it is new (the same file twice is once)."""
    now = datetime.now(UTC).replace(tzinfo=None)
    counters = _storable(trace)

    def job(cursor: Cursor) -> bool:
        if cursor.execute("SELECT 1 FROM power_traces WHERE file_sha256 = ?", [file_sha256]).fetchone():
            return False
        with transaction(cursor):
            cursor.execute(
                "INSERT INTO power_traces VALUES (?, ?, ?, ?, ?, ?)",
                [file_sha256, clean(file_name), now, trace.boot_ns, trace.build, "\n".join(trace.notes)],
            )
            for ordinal, item in enumerate(counters):
                cursor.execute(
                    "INSERT INTO power_counters VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [file_sha256, ordinal, item.kind, item.name, item.unit, list(item.time_ns), list(item.values)],
                )
        return True

    return store.write(job)


def holds_trace(store: Store, file_sha256: str, trace: PowerTrace) -> bool:
    """Whether these very readings are what is kept under the hash of a file."""
    rows = store.read("SELECT boot_ns FROM power_traces WHERE file_sha256 = ?", [file_sha256])
    return rows == [(trace.boot_ns,)] and load_counters(store, file_sha256) == _storable(trace)


def _storable(trace: PowerTrace) -> list[PowerCounter]:
    """Counters whose times fit into the database's whole numbers."""
    return [replace(item, time_ns=tuple(min(max(when, -_NS), _NS) for when in item.time_ns)) for item in trace.counters]


def list_traces(store: Store) -> list[KeptTrace]:
    """All of them, the last imported first."""
    rows = store.read(
        "SELECT t.file_sha256, t.file_name, t.imported_at, t.boot_ns, t.build, t.notes, count(*), "
        "min(c.time_ns[1]), max(c.time_ns[len(c.time_ns)]) FROM power_traces t "
        "JOIN power_counters c USING (file_sha256) GROUP BY ALL ORDER BY t.imported_at DESC, t.file_sha256"
    )
    return [
        KeptTrace(row[0], row[1], row[2].replace(tzinfo=UTC), row[3], row[4], tuple(row[5].splitlines()), *row[6:])
        for row in rows
    ]


def load_counters(store: Store, file_sha256: str) -> list[PowerCounter]:
    """The counters of one trace with their readings."""
    return read_counters(store.read, file_sha256)


def read_counters(read: Callable[[str, list[Any]], list[tuple[Any, ...]]], file_sha256: str) -> list[PowerCounter]:
    """The same from whatever database ``read`` asks."""
    rows = read(
        "SELECT kind, name, unit, time_ns, reading FROM power_counters WHERE file_sha256 = ? ORDER BY ordinal",
        [file_sha256],
    )
    return [PowerCounter(row[0], row[1], row[2], tuple(row[3]), tuple(row[4])) for row in rows]


def forget_trace(store: Store, file_sha256: str) -> None:
    """Remove a trace and its counters."""

    def job(cursor: Cursor) -> None:
        with transaction(cursor):
            cursor.execute("DELETE FROM power_counters WHERE file_sha256 = ?", [file_sha256])
            cursor.execute("DELETE FROM power_traces WHERE file_sha256 = ?", [file_sha256])

    store.write(job)
