"""How do runs leave the store? As their own logs, byte for byte, or as a table in three formats.

What was asked for travels with the answer:

- ``ndjson``: of one run, exactly the bytes of its log; of several, a ZIP archive with every log, byte
  for byte, and ``manifest.json`` with the filters and each log's SHA-256.
- ``csv``: the first line is a comment, ``# `` and a JSON object with the filters (read the rest with
  ``skiprows=1``); the second line names the columns; text that a spreadsheet would calculate gets an apostrophe.
- ``parquet``: the JSON object is the file's ``as2d`` metadata.
- ``json``: one object, ``about`` and ``rows``.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core.errors import unknown_name
from as2d_core.reading import check_regular
from datastore.csv_cells import csv_cell
from datastore.errors import ExportError, LogMissingError, QueryError
from datastore.files import write_durably
from datastore.queries import RunFilter, RunRow, list_runs, row_as_json, where_clause
from datastore.store import Store

TABLES = ("runs", "rounds")
ABOUT = "as2d"
"""Spreadsheets calculate what begins like this; an apostrophe before it makes it text again."""


@dataclass(frozen=True, slots=True)
class Export:
    """A file to hand out."""

    name: str
    mime: str
    data: bytes


def export_runs(store: Store, where: RunFilter | None = None, file_format: str = "csv", table: str = "runs") -> Export:
    """Runs that match ``where``, as one file.

    Args:
        file_format: ``ndjson`` (the logs; ``table`` does not matter), ``csv``, ``parquet`` or ``json``.
        table: ``runs`` (one row a run) or ``rounds`` (one row a round).

    Raises:
        UnknownNameError: no such format, table or filter value.
        ExportError: no run matches.
        LogMissingError: the log of a run is gone or was changed.
    """
    where = where or RunFilter()
    if file_format != "ndjson" and file_format not in TABLE_FORMATS:
        raise unknown_name("export format", file_format, ["ndjson", "zip", *TABLE_FORMATS])
    if table not in TABLES:
        raise unknown_name("table", table, list(TABLES))
    about = {
        "program": "as2d",
        "table": table,
        "filters": where.as_json(),
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if file_format == "ndjson":
        return _logs(store, where, about)
    mime, write = TABLE_FORMATS[file_format]
    rows = _runs(store, where) if table == "runs" else _rounds(store, where)
    return Export(f"as2d-{table}.{file_format}", mime, write(about, rows))


def table_file(rows: pa.Table, name: str, filters: Mapping[str, Any], file_format: str = "csv") -> Export:
    """Rows that were worked out from runs, as one file in the same formats.

    Args:
        rows: what is shown.
        name: what the rows are; also the name of the file.
        filters: what they were made from and with; must be JSON.

    Raises:
        UnknownNameError: no such format.
    """
    if file_format not in TABLE_FORMATS:
        raise unknown_name("export format", file_format, list(TABLE_FORMATS))
    about = {
        "program": "as2d",
        "table": name,
        "filters": dict(filters),
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    mime, write = TABLE_FORMATS[file_format]
    return Export(f"as2d-{name}.{file_format}", mime, write(about, rows))


def export_file(
    store: Store, path: Path, where: RunFilter | None = None, file_format: str | None = None, table: str = "runs"
) -> Path:
    """The same written to a file, which appears complete or not at all; the format follows the suffix if not given.

    Raises:
        As ``export_runs``; StoreFolderError, DiskFullError: ``path`` cannot be written.
    """
    kind = file_format or {".zip": "ndjson"}.get(path.suffix.lower(), path.suffix.lower().lstrip("."))
    write_durably(path, export_runs(store, where, kind, table).data)
    return path


def read_log(store: Store, run: RunRow) -> bytes:
    """The log of a run, byte for byte as it was taken in.

    Raises:
        LogMissingError: it is gone, or is not what was taken in.
    """
    rows = store.read("SELECT log_name, log_sha256, binned_at FROM runs WHERE run_id = ?", [run.run_id])
    if not rows:
        raise LogMissingError(f"Run {run.run_id!r} was deleted a moment ago.")
    name, sha256, binned_at = rows[0]
    path = (store.folders.bin if binned_at else store.folders.runs) / name
    try:
        check_regular(path)
        data: bytes = path.read_bytes()
    except OSError as error:
        raise LogMissingError(
            f"The log {path} of run {run.run_id!r} cannot be read ({error.strerror}); "
            "its figures can still be exported as csv."
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise LogMissingError(f"The log {path} of run {run.run_id!r} was changed after it was taken in; put it back.")
    return data


def _logs(store: Store, where: RunFilter, about: dict[str, Any]) -> Export:
    runs = _matching(store, where)
    if len(runs) == 1:
        return Export(_log_name(store, runs[0]), "application/x-ndjson", read_log(store, runs[0]))
    archive = io.BytesIO()
    manifest: dict[str, Any] = {**about, "table": "logs", "runs": []}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for run in runs:
            name = "runs/" + _log_name(store, run)
            out.writestr(name, read_log(store, run))
            manifest["runs"].append({"run_id": run.run_id, "file": name, "tags": run.tags, "notes": run.notes})
        out.writestr("manifest.json", json.dumps(manifest, indent=1))
    return Export("as2d-logs.zip", "application/zip", archive.getvalue())


def _log_name(store: Store, run: RunRow) -> str:
    return str(store.read("SELECT log_name FROM runs WHERE run_id = ?", [run.run_id])[0][0])


def _matching(store: Store, where: RunFilter) -> list[RunRow]:
    runs = list_runs(store, where, limit=None)
    if not runs:
        raise ExportError("No run matches, so there is nothing to export; ask for less.")
    return runs


def _runs(store: Store, where: RunFilter) -> pa.Table:
    rows = [row_as_json(run) for run in _matching(store, where)]
    return pa.table({item.name: [row[item.name] for row in rows] for item in fields(RunRow)})


def _rounds(store: Store, where: RunFilter) -> pa.Table:
    clause, values = where_clause(store, where)
    _matching(store, where)
    return store.arrow(
        "SELECT r.run_id, r.method, r.device_key, r.label, r.emulated, e.* EXCLUDE (run_no, ordinal) "  # noqa: S608
        f"FROM rounds e JOIN runs r USING (run_no) WHERE {clause} ORDER BY run_no, e.ordinal",
        values,
    )


def _csv(about: dict[str, Any], rows: pa.Table) -> bytes:
    out = io.StringIO(newline="")
    out.write(f"# {json.dumps(about)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows.column_names)
    for row in rows.to_pylist():
        writer.writerow([csv_cell(value) for value in row.values()])
    return out.getvalue().encode()


def _parquet(about: dict[str, Any], rows: pa.Table) -> bytes:
    out = io.BytesIO()
    # A column without a single value has no type of its own; text can be read everywhere.
    schema = pa.schema([f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in rows.schema])
    pq.write_table(rows.cast(schema).replace_schema_metadata({ABOUT: json.dumps(about)}), out)
    data: bytes = out.getvalue()
    return data


def _json(about: dict[str, Any], rows: pa.Table) -> bytes:
    try:
        return json.dumps({"about": about, "rows": rows.to_pylist()}, allow_nan=False).encode()
    except ValueError as error:
        raise QueryError(f"A value cannot be written as JSON ({error}); export as csv or parquet.") from error


TABLE_FORMATS: Mapping[str, tuple[str, Callable[[dict[str, Any], pa.Table], bytes]]] = {
    "csv": ("text/csv", _csv),
    "parquet": ("application/vnd.apache.parquet", _parquet),
    "json": ("application/json", _json),
}
"""Media type and writer of every format of a table."""
