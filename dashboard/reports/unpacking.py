"""What is in a bundle, an archive of logs, or another store's folder? Read with care: it may come from anybody."""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core.reading import parse_json
from dashboard.notebook.cells import Notebook, notebook_from_json
from dashboard.notebook.errors import NotebookError
from dashboard.reports.bundle import EVENTS, KIND, MANIFEST, NOTEBOOK
from datastore.archives import MOST_BYTES, MOST_MEMBER_BYTES, Archive
from datastore.errors import ArchiveError

_LOG = re.compile(r"runs/[^/]+\.ndjson")
_META = ".meta.json"
_TAKEN = re.compile(
    rf"{re.escape(NOTEBOOK)}|notebooks/[^/]+\.notebook\.json|((?:earlier-)?profiles|foreign)/[^/]+\.json|(corpora|power)/[^/]+\.parquet"
)
"""Members beside the logs that are read."""
MOST_NOTES, MOST_NOTE = 20, 1_000
"""Sentences of a manifest that are shown, and characters of each."""


@dataclass(frozen=True, slots=True)
class PackedRun:
    """One run's log, and what people wrote about it."""

    name: str
    """Run id, or the name of the file it came from."""
    log: bytes
    tags: tuple[str, ...] = ()
    notes: str | None = None
    sha256: str | None = None
    """What the log should be."""


@dataclass(slots=True)
class Packed:
    """What else is in it, small enough to hold at once."""

    notebooks: list[Notebook] = field(default_factory=list)
    profiles: list[tuple[str, Any]] = field(default_factory=list)
    earlier: list[tuple[str, Any]] = field(default_factory=list)
    """What was kept before under the same ids."""
    corpora: list[tuple[str, bytes]] = field(default_factory=list)
    power: list[tuple[str, bytes]] = field(default_factory=list)
    """Power counters of traces."""
    foreign: list[tuple[str, bytes]] = field(default_factory=list)
    """Rates of other programs."""
    notes: list[str] = field(default_factory=list)
    """What was not taken along, in sentences of whoever packed it."""
    problems: list[str] = field(default_factory=list)


def packed_runs(archive: Archive) -> Iterator[PackedRun]:
    """Every run, one after the other.

    Raises:
        ArchiveError: it is no archive of ours, is damaged, or expands too far.
    """
    manifest = _manifest(archive)
    said = {str(run.get("run_id")): run for run in manifest.get("runs", []) if isinstance(run, dict)}
    logs = [name for name in archive.names if _LOG.fullmatch(name)]
    if EVENTS in archive.names:
        for run_id, log in _logs(archive):
            yield _packed(run_id, log, said.get(run_id, {}))
    elif logs:
        by_file = {run.get("file"): run for run in said.values()}
        for name in logs:
            yield _packed(name, archive.read(name), by_file.get(name) or _meta(archive, name))
    elif not any(name in archive.names for name in (MANIFEST, NOTEBOOK)):
        raise ArchiveError(f"{archive.path} is no bundle, archive of logs or data folder: it holds no runs.")


def packed_rest(archive: Archive) -> Packed:
    """Notebooks, profiles, trajectory sets and power counters; what cannot be read is a sentence, not the end.

    Raises:
        ArchiveError: the archive is damaged, or expands too far.
    """
    out = Packed()
    manifest = _manifest(archive)
    files, notes = manifest.get("files"), manifest.get("notes")
    said = files if isinstance(files, dict) else {}
    if isinstance(notes, list):
        out.notes += [note[:MOST_NOTE] for note in notes[:MOST_NOTES] if isinstance(note, str)]
    for name in archive.names:
        if not _TAKEN.fullmatch(name):
            continue
        if not _as_said(archive, name, said):
            out.problems.append(f"{name} is not what the archive's manifest says and was not taken; export it again.")
        elif name == NOTEBOOK or re.fullmatch(r"notebooks/[^/]+\.notebook\.json", name):
            try:
                out.notebooks.append(notebook_from_json(_parsed(archive, name)))
            except (ArchiveError, NotebookError) as error:
                out.problems.append(f"The notebook {name} was not taken: {error}")
        elif re.fullmatch(r"(earlier-)?profiles/[^/]+\.json", name):
            kept = out.earlier if name.startswith("earlier-") else out.profiles
            try:
                kept.append((name, _parsed(archive, name)))
            except ArchiveError as error:
                out.problems.append(f"The profile {name} was not taken: {error}")
        elif re.fullmatch(r"corpora/[^/]+\.parquet", name):
            out.corpora.append((name, archive.read(name)))
        elif re.fullmatch(r"power/[^/]+\.parquet", name):
            out.power.append((name, archive.read(name)))
        elif re.fullmatch(r"foreign/[^/]+\.json", name):
            out.foreign.append((name, archive.read(name)))
    return out


def _as_said(archive: Archive, name: str, files: dict[str, Any]) -> bool:
    """Whether a member is the one that the manifest lists. Archives of logs and data folders list no members."""
    if not files:
        return True
    said = files.get(name)
    return isinstance(said, dict) and sha256(archive.read(name)) == said.get("sha256")


def _manifest(archive: Archive) -> dict[str, Any]:
    if MANIFEST not in archive.names:
        return {}
    body = _parsed(archive, MANIFEST)
    if not isinstance(body, dict):
        raise ArchiveError(f"{MANIFEST} in {archive.path} is no JSON object.")
    if EVENTS in archive.names and (body.get("kind") != KIND or body.get("format") != 1):
        raise ArchiveError(
            f"{archive.path} is a bundle of format {body.get('format')!r}, and this program reads 1; "
            "install the newest as2d."
        )
    return body


def _packed(name: str, log: bytes, said: Any) -> PackedRun:
    said = said if isinstance(said, dict) else {}
    tags = said.get("tags")
    kept = tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
    notes = said.get("notes")
    sha256 = said.get("sha256")
    return PackedRun(
        name,
        log,
        kept,
        notes if isinstance(notes, str) else None,
        sha256 if isinstance(sha256, str) else None,
    )


def _meta(archive: Archive, log: str) -> Any:
    name = log.removesuffix(".ndjson") + _META
    try:
        return _parsed(archive, name) if name in archive.names else {}
    except ArchiveError:
        return {}


def _logs(archive: Archive) -> Iterator[tuple[str, bytes]]:
    """Logs put together again from their lines, which are told apart by their run and come in order."""
    data = archive.read(EVENTS)
    try:
        kinds = {item.name: item.type for item in pq.read_schema(io.BytesIO(data))}
        if not ({"run_id", "line", "json"} <= kinds.keys() and _is_text(kinds["run_id"]) and _is_text(kinds["json"])):
            raise ArchiveError(f"{EVENTS} in {archive.path} lacks its columns; export it again.")
        # As a dictionary, a line that is said a million times is held once.
        file = pq.ParquetFile(io.BytesIO(data), read_dictionary=["run_id", "json"])
        run_id, lines, expected, size, before = None, [], 1, 0, 0
        for batch in file.iter_batches(batch_size=4_096, columns=["run_id", "line", "json"]):
            named, column = batch.column("run_id"), batch.column("json")
            names, texts, places = named.dictionary.to_pylist(), column.dictionary, column.indices.to_pylist()
            ids = (None if place is None else names[place] for place in named.indices.to_pylist())
            for found, number, place in zip(ids, batch.column("line").to_pylist(), places, strict=True):
                if found != run_id:
                    if run_id is not None:
                        yield run_id, b"".join(lines)
                    run_id, lines, expected, before = found, [], 1, size
                line = None if place is None else texts[place].as_py()
                if number != expected or line is None or not isinstance(found, str):
                    shown = found[:80] if isinstance(found, str) else found
                    raise ArchiveError(f"A line of run {shown!r} is missing in {archive.path}; export it again.")
                size += len(line)
                if size > MOST_BYTES or size - before > MOST_MEMBER_BYTES:
                    raise ArchiveError(
                        f"The logs in {archive.path} expand to more than {MOST_BYTES / 1e9:g} GB, or one of them to "
                        f"more than {MOST_MEMBER_BYTES / 1e6:g} MB; no bundle of ours does."
                    )
                lines.append(line if isinstance(line, bytes) else str(line).encode())
                expected += 1
        if run_id is not None:
            yield run_id, b"".join(lines)
    except (pa.ArrowException, OSError) as error:
        raise ArchiveError(f"{EVENTS} in {archive.path} is damaged ({error}); export it again.") from error


def _is_text(kind: Any) -> bool:
    """Whether a column holds texts or bytes, each by itself or once for many rows."""
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    return str(held) in ("string", "large_string", "binary", "large_binary")


def _parsed(archive: Archive, name: str) -> Any:
    try:
        return parse_json(archive.read(name).decode("utf-8"))
    except ValueError as error:
        raise ArchiveError(f"{name!r} in {archive.path} is no JSON ({error}).") from error


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
