"""How are rates of other programs kept? Beside the runs, never among them, each with what is odd about it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from datastore.engine import Cursor, transaction
from datastore.foreign_benches import ForeignResult
from datastore.run_row import clean
from datastore.store import Store


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A rate, and the file it came from."""

    file_name: str
    file_sha256: str
    imported_at: datetime
    """With time zone, UTC."""
    result: ForeignResult


def keep_results(store: Store, file_name: str, file_sha256: str, results: Sequence[ForeignResult]) -> bool:
    """Keep what a file holds; returns whether it is new (the same file twice is once)."""
    now = datetime.now(UTC).replace(tzinfo=None)

    def job(cursor: Cursor) -> bool:
        if cursor.execute("SELECT 1 FROM foreign_results WHERE file_sha256 = ?", [file_sha256]).fetchone():
            return False
        with transaction(cursor):
            for ordinal, item in enumerate(results):
                cursor.execute(
                    "INSERT INTO foreign_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        file_sha256, ordinal, clean(file_name), now, item.tool, item.model, item.device, item.backend,
                        item.threads, item.test, item.prompt_tokens, item.generated_tokens, item.tps, item.sd_tps,
                        item.samples, json.dumps(item.settings), "\n".join(_lines(item.notes)),
                    ],
                )  # fmt: skip
        return True

    return store.write(job)


def list_results(store: Store) -> list[KeptResult]:
    """All of them, the last imported first, in the order of their files."""
    return read_results(store.read)


def read_results(read: Callable[[str], list[tuple[Any, ...]]]) -> list[KeptResult]:
    """The same from whatever database ``read`` asks."""
    rows = read(
        "SELECT file_name, file_sha256, imported_at, tool, model, device, backend, threads, test, prompt_tokens, "
        "generated_tokens, tps, sd_tps, samples, settings_json, notes FROM foreign_results "
        "ORDER BY imported_at DESC, file_sha256, ordinal"
    )
    return [
        KeptResult(
            row[0],
            row[1],
            row[2].replace(tzinfo=UTC),
            _result(row[3:]),
        )
        for row in rows
    ]


def by_file(kept: Sequence[KeptResult]) -> dict[tuple[str, str], list[ForeignResult]]:
    """The same by hash and name of the file that they came from."""
    found: dict[tuple[str, str], list[ForeignResult]] = {}
    for item in kept:
        found.setdefault((item.file_sha256, item.file_name), []).append(item.result)
    return found


def holds_results(store: Store, file_sha256: str, results: Sequence[ForeignResult]) -> bool:
    """Whether these very rates are what is kept under the hash of a file."""
    kept = [item.result for item in list_results(store) if item.file_sha256 == file_sha256]
    return kept == [replace(item, notes=_lines(item.notes)) for item in results]


def forget_file(store: Store, file_sha256: str) -> None:
    """Remove everything that came from one file."""
    store.write(lambda cursor: cursor.execute("DELETE FROM foreign_results WHERE file_sha256 = ?", [file_sha256]))


def _result(row: Sequence[Any]) -> ForeignResult:
    values: list[Any] = [*row[:11], json.loads(row[11]), tuple(row[12].splitlines())]
    return ForeignResult(*values)


def _lines(notes: Sequence[str]) -> tuple[str, ...]:
    """Sentences as they are kept: a line each."""
    return tuple(line for note in notes for line in note.splitlines())
