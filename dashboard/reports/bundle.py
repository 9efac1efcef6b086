"""How does a notebook travel with its runs? As a ZIP archive that other programs can read, too.

- ``manifest.json``: what is in it, the SHA-256 of every run's log, tags and notes;
- ``events.parquet``: every line of every log, byte for byte (``run_id``, ``line``, ``kind``, ``json``);
- ``runs.parquet``, ``rounds.parquet``: the same runs as tables, for pandas and others;
- ``notebook.json`` and ``report.ipynb``: the notebook for this program and for Jupyter;
- ``power/``: power counters of Perfetto traces that were recorded while its runs ran, see ``datastore.power_files``;
- ``foreign/``: rates of other programs, where it shows or asks for them, see ``datastore.foreign_files``;
- ``profiles/``, ``corpora/``: cost profiles and trajectory sets that its figures are replayed with and that are not
  part of this program; ``earlier-profiles/``: what a device whose history is shown was measured with before.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core import __version__
from as2d_core.errors import As2dError, UnknownNameError
from as2d_core.profiles import catalogue
from as2d_core.profiles.codec import profile_to_json
from as2d_core.replay.trajectories import corpus_ids
from dashboard.notebook.cells import Notebook, notebook_to_json
from dashboard.notebook.figures import VIEWS
from dashboard.notebook.running import filled
from dashboard.notebook.source import Source
from dashboard.reports.jupyter import jupyter_notebook
from dashboard.services import profile_shelf
from dashboard.services.power import traces_beside
from datastore.errors import ExportError, RunNotFoundError
from datastore.export import Export, export_runs, read_log
from datastore.files import download_name, safe_name
from datastore.foreign import by_file, list_results
from datastore.foreign_files import results_file
from datastore.power_files import trace_file
from datastore.profile_bin import ProfileFile, earlier_body
from datastore.queries import RunFilter, RunRow

FORMAT, KIND = 1, "as2d bundle"
EVENTS, MANIFEST, NOTEBOOK, JUPYTER = "events.parquet", "manifest.json", "notebook.json", "report.ipynb"
MOST_RUNS = 2_000
MOST_QUERIED = 500
"""A notebook with queries takes along all runs of a store that holds no more."""
SCHEMA = pa.schema([("run_id", pa.string()), ("line", pa.int32()), ("kind", pa.string()), ("json", pa.binary())])
_LINES_A_BATCH = 20_000
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a notebook needs to show the same figures elsewhere."""

    rows: tuple[RunRow, ...]
    profiles: tuple[str, ...]
    earlier: tuple[ProfileFile, ...]
    """What was measured before on the devices whose history is shown."""
    corpora: tuple[str, ...]
    foreign: bool
    """Whether rates of other programs are shown or asked for."""
    notes: tuple[str, ...]
    """Sentences about what is not taken along."""


def contents(source: Source, notebook: Notebook) -> Contents:
    """Runs, profiles and sets that the cells name, and the runs that those are compared with."""
    wanted: dict[str, list[str]] = {
        "runs": list(notebook.runs),
        "profile": [],
        "corpus": [],
        "group": [],
        "history": [],
        "audio": [],
        "device": [],
        "view": [],
    }
    for cell in notebook.cells:
        if cell.kind == "figure":
            _collect(cell.body, notebook, wanted)
    rows: dict[str, RunRow] = {}
    notes = []
    for run_id in wanted["runs"]:
        try:
            row = source.row(run_id)
            rows[row.run_id] = row
            if row.reference_run_id is not None:
                rows.setdefault(row.reference_run_id, source.row(row.reference_run_id))
        except RunNotFoundError as error:
            notes.append(f"A run that the notebook names is not taken along: {error}")
    for group in dict.fromkeys(wanted["group"]):
        try:
            rows |= {row.run_id: row for row in source.matching(RunFilter(groups=(group,)))}
        except UnknownNameError as error:
            notes.append(f"The runs of a group are not taken along: {error}")
    for device in dict.fromkeys(wanted["device"]):
        try:
            rows |= {row.run_id: row for row in source.matching(RunFilter(devices=(device,)))}
        except UnknownNameError as error:
            notes.append(f"The runs of a device are not taken along: {error}")
    queries = any(cell.kind == "query" for cell in notebook.cells)
    if queries:
        everything = source.matching(RunFilter(), limit=MOST_QUERIED + 1)
        if len(everything) <= MOST_QUERIED:
            rows |= {row.run_id: row for row in everything}
        else:
            notes.append(f"The store holds more than {MOST_QUERIED} runs: queries will see only those in the bundle.")
    earlier: dict[str, ProfileFile] = {}
    for name in dict.fromkeys(wanted["history"]):
        try:
            ids, files = profile_shelf.behind_history(source.folders, source.profile(name))
        except As2dError as error:
            notes.append(f"A history is not taken along: {error}")
        else:
            wanted["profile"] += ids
            earlier |= {file.file: file for file in files}
    if wanted["audio"]:
        notes.append(f"Recordings of people are not taken along: {', '.join(dict.fromkeys(wanted['audio']))}.")
    own = [name for name in dict.fromkeys(wanted["profile"]) if name not in catalogue.profile_ids()]
    sets = [name for name in dict.fromkeys(wanted["corpus"]) if name not in corpus_ids()]
    foreign = queries or "foreign" in wanted["view"]
    # Whoever takes them in numbers them in this order, by which ties are broken wherever runs are listed.
    first = sorted(rows.values(), key=lambda row: (row.created_at or row.ingested_at, row.ingested_at, row.run_id))
    return Contents(tuple(first), tuple(own), tuple(earlier.values()), tuple(sets), foreign, tuple(notes))


def _collect(body: Mapping[str, Any], notebook: Notebook, wanted: dict[str, list[str]]) -> None:
    known = notebook.parameters
    view = VIEWS.get(str(body.get("view")))
    wanted["view"].append(str(body.get("view")))
    for key, value in body.get("settings", {}).items():
        # What a setting names, its kind says: a second run or profile has another name.
        kind = view.settings[key].kind if view is not None and key in view.settings else key
        kind = key if key in ("group", "audio", "device") else kind
        if kind in ("run", "runs", "profile", "corpus", "group", "audio", "device"):
            value = filled(value, known)  # noqa: PLW2901 - the same with its parameters filled in
            many = value if isinstance(value, list) else str(value).split() if kind == "runs" else [str(value)]
            wanted["runs" if kind == "run" else kind] += [str(item) for item in many]
            if kind == "profile" and body.get("view") == "profile drift":
                wanted["history"] += [str(item) for item in many]


def write_bundle(source: Source, notebook: Notebook, now: datetime | None = None) -> Export:
    """A notebook with everything that it shows, as one file.

    Raises:
        ExportError: there are too many runs for one bundle.
        LogMissingError, ProfileError, TrajectoryError: something that belongs in it cannot be read.
    """
    found = contents(source, notebook)
    if len(found.rows) > MOST_RUNS:
        raise ExportError(f"A bundle holds at most {MOST_RUNS:,} runs, not {len(found.rows):,}; choose fewer.")
    files: dict[str, bytes] = {
        NOTEBOOK: _json(notebook_to_json(notebook)),
        JUPYTER: _json(jupyter_notebook(notebook, [row.run_id for row in found.rows])),
    }
    logs: list[dict[str, Any]] = []
    files[EVENTS] = _events(source, found.rows, logs)
    if found.rows:
        where = RunFilter(run_ids=tuple(row.run_id for row in found.rows), bin="with")
        for table in ("runs", "rounds"):
            files[f"{table}.parquet"] = export_runs(source.store, where, "parquet", table).data
    for trace in traces_beside(source.store, found.rows):
        files[f"power/{trace.file_sha256[:16]}.parquet"] = trace_file(source.store, trace)
    for (digest, name), results in by_file(list_results(source.store)).items() if found.foreign else ():
        files[f"foreign/{digest[:16]}.json"] = results_file(digest, name, results)
    for name in found.profiles:
        files[f"profiles/{safe_name(name)}.json"] = _json(profile_to_json(source.profile(name)))
    for kept in found.earlier:
        files[f"earlier-profiles/{kept.file}"] = _json(earlier_body(kept))
    for name in found.corpora:
        files[f"corpora/{safe_name(name)}.parquet"] = (source.folders.corpora / f"{name}.parquet").read_bytes()
    manifest = {
        "kind": KIND,
        "format": FORMAT,
        "version": __version__,
        "exported_at": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "title": notebook.title,
        "runs": logs,
        "notes": list(found.notes),
        "files": {name: {"bytes": len(data), "sha256": _sha256(data)} for name, data in files.items()},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, _json(manifest))
        for name, data in files.items():
            packed = name.endswith(".parquet")
            archive.writestr(name, data, zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED)
    return Export(f"{download_name(notebook.title, 'bundle')}.zip", "application/zip", out.getvalue())


def _events(source: Source, rows: Sequence[RunRow], logs: list[dict[str, Any]]) -> bytes:
    """The logs as one Parquet file; what is said of each in the manifest goes to ``logs``."""
    out = io.BytesIO()
    with pq.ParquetWriter(out, SCHEMA, compression="zstd", use_dictionary=["run_id", "kind"]) as writer:
        for row in rows:
            data = read_log(source.store, row)
            logs.append(
                {"run_id": row.run_id, "sha256": _sha256(data), "bytes": len(data)}
                | {"tags": list(row.tags), "notes": row.notes}
            )
            for batch in _batches(row.run_id, data):
                writer.write_table(batch)
    return out.getvalue()


def _batches(run_id: str, data: bytes) -> Iterator[pa.Table]:
    lines = _LINE.findall(data)
    for first in range(0, len(lines), _LINES_A_BATCH):
        part = lines[first : first + _LINES_A_BATCH]
        columns = [
            [run_id] * len(part),
            list(range(first + 1, first + len(part) + 1)),
            [_kind(line) for line in part],
            part,
        ]
        yield pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def _kind(line: bytes) -> str | None:
    try:
        body = json.loads(line)
    except ValueError:
        return None
    found = body.get("kind") if isinstance(body, dict) else None
    return found if isinstance(found, str) else None


def _json(body: Any) -> bytes:
    return (json.dumps(body, indent=1, allow_nan=False) + "\n").encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
