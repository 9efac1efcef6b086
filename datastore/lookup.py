"""Which run is meant? The one with this id, or the only one whose id begins like this."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from datastore.engine import Cursor
from datastore.errors import RunNotFoundError, run_not_found
from datastore.run_row import clean

Read = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""``Store.read``, or ``of_cursor`` inside a write."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run and where its log is kept."""

    run_no: int
    run_id: str
    log_name: str
    log_sha256: str
    binned_at: datetime | None


def askable(parameters: Sequence[Any]) -> list[Any]:
    """Values as DuckDB takes them: text that is no UTF-8 was never stored, so nothing has to be found by it."""
    return [clean(value) if isinstance(value, str) else value for value in parameters]


def of_cursor(cursor: Cursor) -> Read:
    """Read inside a write job."""
    return lambda sql, parameters: cursor.execute(sql, askable(parameters)).fetchall()


def find_run(read: Read, run_id: str, in_bin: bool = False) -> Found:
    """The run with this id, or the only one that begins with it, among the kept ones or those in the bin.

    Raises:
        RunNotFoundError: there is none (suggests the nearest id), or there are several.
    """
    here, there = ("IS NOT NULL", "IS NULL") if in_bin else ("IS NULL", "IS NOT NULL")
    columns = "SELECT run_no, run_id, log_name, log_sha256, binned_at FROM runs WHERE binned_at"
    rows = read(f"{columns} {here} AND (run_id = ? OR starts_with(run_id, ?))", [run_id, run_id])
    exact = [row for row in rows if row[1] == run_id]
    if run_id and (exact or len(rows) == 1):
        return Found(*(exact or rows)[0])
    elsewhere = read(f"{columns} {there} AND run_id = ?", [run_id])
    if elsewhere and not rows:
        raise RunNotFoundError(
            f"Run {run_id!r} is not in the bin." if in_bin else f"Run {run_id!r} is in the bin; restore it first."
        )
    known = [str(row[0]) for row in read(f"SELECT run_id FROM runs WHERE binned_at {here}", [])]  # noqa: S608
    if in_bin and not known:
        raise RunNotFoundError(f"There is no run {run_id!r} in the bin, which is empty.")
    raise run_not_found(run_id, known)
