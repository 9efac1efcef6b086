"""A store of any size in seconds: a few runs are taken in as always, and their rows are multiplied."""

from dataclasses import replace
from pathlib import Path

import duckdb

from as2d_core.profiles import load_profile
from as2d_core.protocol import Writer, decode
from as2d_core.records import RunHeader, Span
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from datastore.ingest import ingest_run
from datastore.locations import Folders
from datastore.opening import open_store
from datastore.run_row import CHECKED_COLUMNS, COUNTED_TABLES, checksum
from datastore.store import Store

METHODS = {"target-only": {}, "sd": {"width": 5}, "specasr": {}, "as2d": {"budget": 7}}
BASE_WINDOWS = ("clean_00", "long_00", "fast_01")


def many_runs(folder: Path, runs: int, events_each: int = 0) -> None:
    """Fill a data folder with that many runs, each of at least so many events."""
    with open_store(folder) as store:
        base = _take_base_in(store, folder, events_each)
    copies = -(-runs // base) - 1
    connection = duckdb.connect(str(Folders(folder).database))
    try:
        _multiply(connection, Folders(folder), base, copies)
    finally:
        connection.close()


def _take_base_in(store: Store, folder: Path, events_each: int) -> int:
    corpus, profile = load_corpus("demo"), load_profile("k70")
    taken = 0
    for window in BASE_WINDOWS:
        for method, settings in METHODS.items():
            path = folder / "one.ndjson"
            replayed = replay_window(corpus, window, profile, method, **settings)
            path.write_text("".join(_lines(replayed.lines, events_each)))
            ingest_run(store, path)
            path.unlink()
            taken += 1
    return taken


def _lines(lines: tuple[str, ...], events: int) -> list[str]:
    """The same run as if it had been measured, with its last span said again until there are enough lines."""
    out: list[str] = []
    writer = Writer(out.append)
    found = [decode(line) for line in lines[:-1]]
    spare = next(event for event in reversed(found) if isinstance(event, Span))
    for event in found:
        if isinstance(event, RunHeader):
            writer.add(replace(event, source="measured", clock="CLOCK_BOOTTIME"))
            continue
        writer.add(event)
    for _ in range(events - len(out)):
        writer.add(spare)
    end = decode(lines[-1])
    writer.end(end.status, end.tokens, end.text, None)
    return out


def _multiply(connection: duckdb.DuckDBPyConnection, folders: Folders, base: int, copies: int) -> None:
    connection.execute("BEGIN")
    for table in COUNTED_TABLES:
        connection.execute(
            f"INSERT INTO {table} SELECT t.* REPLACE (t.run_no + c.n * {base} AS run_no) "  # noqa: S608
            f"FROM {table} t CROSS JOIN (SELECT range AS n FROM range(1, {copies + 1})) c ORDER BY c.n, t.run_no"
        )
    names = [row[0] for row in connection.execute("SELECT * FROM runs LIMIT 0").description]
    rows = connection.execute("SELECT * FROM runs ORDER BY run_no").fetchall()
    made = []
    for copy in range(1, copies + 1):
        for row in rows:
            values = dict(zip(names, row, strict=True))
            log = folders.runs / values["log_name"]
            values["run_no"] += copy * base
            values["run_id"] = f"{values['run_id']}-{copy}"
            values["log_name"] = f"{log.stem}-{copy}.ndjson"
            values["group_id"] = f"group-{copy}"
            values["checksum"] = checksum([values[name] for name in CHECKED_COLUMNS])
            (folders.runs / values["log_name"]).hardlink_to(log)
            made.append(tuple(values.values()))
    import pandas as pd

    frame = pd.DataFrame(made, columns=names)  # noqa: F841 - DuckDB reads it by its name
    connection.execute("INSERT INTO runs SELECT * FROM frame")
    connection.execute("COMMIT")
    connection.execute("CHECKPOINT")
