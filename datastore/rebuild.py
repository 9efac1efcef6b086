"""How does a lost or damaged database come back? It is made anew from the logs and swapped in at once.

The logs bring runs, figures and self-tests; the files beside them tags, notes and profiles. Whatever
else the old database holds is copied where it can still be read.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from datastore.annotations import Annotations, meta_path, replace_rows, write_meta
from datastore.engine import Cursor, Engine, create, set_aside, swap_in, transaction, wal
from datastore.errors import StoreBusyError
from datastore.faults import is_damage_at_open, translate
from datastore.files import remove_quietly
from datastore.ingest import LOG_SUFFIX
from datastore.library import insert_profile
from datastore.locations import Folders, data_folder
from datastore.lock import FolderLock
from datastore.notebooks import insert_notebook
from datastore.opening import is_open_here
from datastore.recovery import reconcile
from datastore.store import Store

_FOREIGN = ("foreign_results", "power_traces", "power_counters")


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What the new database holds, and where the old one lies."""

    runs: int
    in_bin: int
    profiles: int
    self_tests: int
    set_aside: Path | None
    """The old file, when it is damaged or holds runs whose logs are gone; ``None`` when it was replaced."""
    notices: tuple[str, ...]


@dataclass(slots=True)
class _Old:
    """What was read from the old database."""

    readable: bool = False
    lost_runs: list[str] = field(default_factory=list)
    binned: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[tuple[Any, ...]] = field(default_factory=list)
    tags: list[tuple[Any, ...]] = field(default_factory=list)
    profiles: list[tuple[Any, ...]] = field(default_factory=list)
    self_tests: list[tuple[Any, ...]] = field(default_factory=list)
    notebooks: list[tuple[Any, ...]] = field(default_factory=list)
    foreign: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """Rows of the tables of other programs' results, which no file of ours has."""
    notices: list[str] = field(default_factory=list)


def rebuild(folder: Path | str | None = None) -> RebuildReport:
    """Make a new database of ``folder`` (default: ``locations.data_folder()``) from its logs.

    Nothing is replaced before the new file is complete; a damaged old file is set aside, not removed.

    Raises:
        StoreBusyError: this process has the store open.
        StoreLockedError: another process has.
        DiskFullError, StoreFolderError: there is no room for a second database; the old one is untouched.
    """
    folders = Folders(Path(data_folder() if folder is None else folder).absolute())
    if is_open_here(folders.root):
        raise StoreBusyError(f"The store in {folders.root} is open in this program; close it, then rebuild.")
    folders.create()
    lock = FolderLock(folders.lock)
    try:
        old = _read_old(folders)
        new = folders.database.with_name(folders.database.name + ".rebuilt")
        try:
            remove_quietly(wal(new))
            create(new)
            report = _fill(folders, new, old)
            return _swap(folders, new, old, report)
        finally:
            for leftover in (new, wal(new)):
                remove_quietly(leftover)
    finally:
        lock.release()


def _read_old(folders: Folders) -> _Old:
    old = _Old()
    if not folders.database.exists():
        return old
    try:
        connection = duckdb.connect(folders.database, read_only=True)
    except duckdb.Error as error:
        if not is_damage_at_open(error):
            raise translate(error, folders.database) from error
        old.notices.append(f"The old database could not be read ({' '.join(str(error).split())}).")
        return old

    def read(what: str, sql: str) -> list[tuple[Any, ...]]:
        try:
            return connection.execute(sql).fetchall()
        except duckdb.Error as error:
            old.readable = False
            old.notices.append(f"The old database's {what} could not be read ({' '.join(str(error).split())}).")
            return []

    try:
        old.readable = True
        logs = {p.name for place in (folders.runs, folders.bin) for p in place.glob("*" + LOG_SUFFIX)}
        runs = read("runs", "SELECT run_id, log_name FROM runs WHERE binned_at IS NULL")
        old.lost_runs = [run_id for run_id, name in runs if name not in logs]
        old.binned = read("bin", "SELECT run_id, binned_at FROM runs WHERE binned_at IS NOT NULL")
        old.notes = read("notes", "SELECT run_id, notes FROM runs WHERE notes IS NOT NULL")
        old.tags = read("tags", "SELECT run_id, tag FROM tags")
        old.profiles = read("profiles", "SELECT profile_id, created_at, device_key, body_json FROM profiles")
        old.self_tests = read("self-tests", "SELECT * FROM self_tests")
        tables = {row[0] for row in read("tables", "SELECT table_name FROM duckdb_tables()")}
        if "notebooks" in tables:  # older databases have none of these
            old.notebooks = read("notebooks", "SELECT * FROM notebooks ORDER BY notebook_id, version")
        for table in _FOREIGN:
            if table in tables:
                old.foreign[table] = read("results of other programs", f"SELECT * FROM {table}")  # noqa: S608
    finally:
        with suppress(duckdb.Error):
            connection.close()
    return old


def _fill(folders: Folders, new: Path, old: _Old) -> RebuildReport:
    engine = Engine(folders, new)
    try:
        engine.open_database()
        store = Store(engine, lambda: None)
        findings = reconcile(store, tolerant=False)
        store.write(lambda cursor: _copy(cursor, folders, old))

        def count(table: str, where: str = "TRUE") -> int:
            return int(store.read(f"SELECT count(*) FROM {table} WHERE {where}")[0][0])  # noqa: S608

        return RebuildReport(
            runs=count("runs", "binned_at IS NULL"),
            in_bin=count("runs", "binned_at IS NOT NULL"),
            profiles=count("profiles"),
            self_tests=count("self_tests"),
            set_aside=None,
            notices=(*old.notices, *findings.left),
        )
    finally:
        engine.close()


def _copy(cursor: Cursor, folders: Folders, old: _Old) -> None:
    """What the files do not say: when runs went into the bin, annotations without a file, profiles, self-tests."""
    runs = {row[0] for row in cursor.execute("SELECT run_id FROM runs").fetchall()}
    profiles = {row[0] for row in cursor.execute("SELECT profile_id FROM profiles").fetchall()}
    notes = dict(old.notes)
    with transaction(cursor):
        for run_id, binned_at in old.binned:
            cursor.execute(
                "UPDATE runs SET binned_at = ? WHERE run_id = ? AND binned_at IS NOT NULL", [binned_at, run_id]
            )
        for run_id in sorted({*notes, *(run for run, _ in old.tags)} & runs):
            if not meta_path(folders, run_id).exists():
                kept = Annotations(tuple(sorted(tag for run, tag in old.tags if run == run_id)), notes.get(run_id))
                replace_rows(cursor, run_id, kept, write_meta(folders, run_id, kept))
        for profile in old.profiles:
            if profile[0] not in profiles:
                insert_profile(cursor, *profile)
        if old.notebooks:  # with all their versions, in place of the newest that the files brought
            for name in {row[0] for row in old.notebooks}:
                cursor.execute("DELETE FROM notebooks WHERE notebook_id = ?", [name])
            for row in old.notebooks:
                insert_notebook(cursor, row)
        for table, rows in old.foreign.items():
            for row in rows:
                cursor.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", list(row))  # noqa: S608
        for test in old.self_tests:
            cursor.execute(
                "INSERT INTO self_tests VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "tested_at = excluded.tested_at, raw_json = excluded.raw_json "
                "WHERE excluded.tested_at >= self_tests.tested_at",
                list(test),
            )


def _swap(folders: Folders, new: Path, old: _Old, report: RebuildReport) -> RebuildReport:
    database = folders.database
    notices = list(report.notices)
    keep = not old.readable or bool(old.lost_runs)
    aside: Path | None = None
    if database.exists() and (keep or wal(database).exists()):
        aside = set_aside(database, "replaced" if old.readable else "damaged")
    swap_in(new, database)
    if aside is not None and not keep:
        for leftover in (aside, wal(aside)):
            remove_quietly(leftover)
        aside = None
    if old.lost_runs:
        notices.append(
            f"The logs of {len(old.lost_runs)} runs are gone ({', '.join(old.lost_runs[:5])}); "
            f"their figures are only in the old database, kept as {aside}."
        )
    return replace(report, set_aside=aside, notices=tuple(notices))
