"""How do runs of somebody else get into the store? From a bundle, an archive of logs, another data folder, or a log.

What is there already is not taken twice, what differs under the same name is refused with a sentence, and nothing
that is refused keeps the rest from coming in.
"""

import json
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from as2d_core.errors import As2dError
from as2d_core.profiles import catalogue
from as2d_core.profiles.codec import profile_from_json, profile_to_json
from as2d_core.reading import check_regular
from dashboard.notebook.cells import Notebook
from dashboard.reports.unpacking import Packed, PackedRun, packed_rest, packed_runs, sha256
from dashboard.services.corpora import import_set
from datastore.annotations import add_tag, get_annotations, set_notes
from datastore.archives import opened
from datastore.errors import ArchiveError, ForeignError, RunNotFoundError, StoreFolderError
from datastore.foreign import holds_results, keep_results
from datastore.foreign_benches import ForeignResult, read_benches
from datastore.foreign_files import read_results_file
from datastore.ingest import ingest_run
from datastore.library import put_profile
from datastore.other_stores import kept_there
from datastore.perfetto_traces import PowerTrace, looks_like_trace, read_power_trace
from datastore.power_files import read_trace_file
from datastore.power_traces import forget_trace, holds_trace, keep_trace
from datastore.profile_bin import keep_earlier
from datastore.run_row import device_key
from datastore.store import Store

TRACE_SUFFIXES = (".pftrace", ".perfetto-trace", ".ptrace")
_LOG = re.compile(rb'\s*\{[^\n]{0,200}"kind"\s*:\s*"run"')


@dataclass(slots=True)
class Imported:
    """What came of an import."""

    added: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    """Runs that were there already, with the same content."""
    extended: list[str] = field(default_factory=list)
    """Incomplete runs of which more came in."""
    refused: list[str] = field(default_factory=list)
    """Sentences about what was not taken."""
    profiles: list[str] = field(default_factory=list)
    earlier_profiles: list[str] = field(default_factory=list)
    """What was measured before, by id and time."""
    corpora: list[str] = field(default_factory=list)
    notebooks: list[Notebook] = field(default_factory=list)
    """Notebooks that were in it; whoever called keeps them."""
    foreign: list[ForeignResult] = field(default_factory=list)
    """Rates of other programs."""
    counters: list[str] = field(default_factory=list)
    """Power counters of Perfetto traces, by name."""
    notes: list[str] = field(default_factory=list)
    """Sentences about what was odd but taken."""

    @property
    def runs(self) -> list[str]:
        """Ids of all runs of the file that the store holds now."""
        return [*self.added, *self.extended, *self.present]


def import_path(store: Store, path: Path, shown: str | None = None) -> Imported:
    """Take in a bundle, an archive of logs, a data folder, one log, or what another program measured.

    That is results of llm_bench or llama-bench, or a Perfetto trace with power counters. What a file is, its content
    says.

    Args:
        shown: what people call the file; default: its name.

    Raises:
        ArchiveError, ForeignError: it is none of these, is damaged or would do harm; the message says which.
        StoreError: the store cannot be written.
    """
    out, name = Imported(), shown or path.name
    if path.is_file() and not zipfile.is_zipfile(path) and path.suffix.lower() != ".zip":
        data = _bytes(path)
        if _LOG.match(data) or path.suffix.lower() == ".ndjson":
            _take(store, PackedRun(name, data), out)
        elif looks_like_trace(data) or path.suffix.lower() in TRACE_SUFFIXES:
            _take_trace(store, data, name, out)
        else:
            _take_benches(store, data, name, out)
        return out
    with opened(path) as archive:
        for run in packed_runs(archive):
            _take(store, run, out)
        _take_rest(store, packed_rest(archive), out)
    if path.is_dir():
        _take_of_store(store, path, out)
    return out


def import_bytes(store: Store, data: bytes, name: str) -> Imported:
    """The same for what a page was handed under a name, of which nothing but the ending is used as a path.

    Raises:
        As ``import_path``.
    """
    known = (".zip", ".ndjson", ".jsonl", ".json", *TRACE_SUFFIXES)
    suffix = next((suffix for suffix in known if name.lower().endswith(suffix)), ".txt")
    with tempfile.TemporaryDirectory(prefix="as2d-import-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            found = import_path(store, path, name)
        except (ArchiveError, ForeignError) as error:  # what people called it, not where it lay for a moment
            raise type(error)(str(error).replace(str(path), name)) from error
        found.refused = [sentence.replace(str(path), name) for sentence in found.refused]
        return found


def _take(store: Store, run: PackedRun, out: Imported) -> None:
    if run.sha256 is not None and sha256(run.log) != run.sha256:
        out.refused.append(f"The log of run {run.name} is not what the archive's manifest says; it is damaged.")
        return
    with tempfile.TemporaryDirectory(prefix="as2d-import-") as folder:
        path = Path(folder) / "run.ndjson"
        path.write_bytes(run.log)
        try:
            result = ingest_run(store, path)
        except As2dError as error:
            out.refused.append(str(error).replace(str(path), f"Run {run.name}"))
            return
    place = out.extended if result.extended else out.added if result.added else out.present
    place.append(result.run_id)
    _annotate(store, result.run_id, run, out)


def _annotate(store: Store, run_id: str, run: PackedRun, out: Imported) -> None:
    try:
        mine = get_annotations(store, run_id)
        for tag in run.tags:
            if tag not in mine.tags:
                add_tag(store, run_id, tag)
        if run.notes and not mine.notes:
            set_notes(store, run_id, run.notes)
        elif run.notes and mine.notes and run.notes != mine.notes:
            out.refused.append(f"Run {run_id} has a note here already; the archive's note was not taken.")
    except RunNotFoundError:  # it lies in the bin, where nothing is written on it
        out.refused.append(f"Run {run_id} lies in the bin here; restore it to see it.")
    except As2dError as error:
        out.refused.append(f"A tag or note of run {run_id} was not taken: {error}")


def _take_benches(store: Store, data: bytes, name: str, out: Imported) -> None:
    found = read_benches(data, name)
    out.notes += found.notes
    if not keep_results(store, name, sha256(data), found.results):
        out.notes.append(f"The results in {name} were here already.")
    out.foreign += found.results


def _take_trace(store: Store, data: bytes, name: str, out: Imported) -> None:
    found = read_power_trace(data, name)
    out.notes += found.notes
    digest = sha256(data)
    if not keep_trace(store, name, digest, found):
        if holds_trace(store, digest, found):
            out.notes.append(f"The counters of {name} were here already.")
        else:  # a bundle had named this file; the file itself knows better
            forget_trace(store, digest)
            keep_trace(store, name, digest, found)
            out.notes.append(
                f"Other counters were kept as those of {name}; what the file itself says is in their place."
            )
    out.counters += [item.name for item in found.counters]


def _take_rest(store: Store, rest: Packed, out: Imported) -> None:
    out.refused += rest.problems
    out.notes += rest.notes
    out.notebooks += rest.notebooks
    for name, body in rest.profiles:
        try:
            _take_profile(store, body, out)
        except As2dError as error:
            out.refused.append(f"The profile {name} was not taken: {error}")
    for name, body in rest.earlier:
        try:
            _take_earlier(store, body, out)
        except As2dError as error:
            out.refused.append(f"The earlier profile {name} was not taken: {error}")
    for name, data in rest.power:
        try:
            _take_counters(store, *read_trace_file(data, name), out)
        except As2dError as error:
            out.refused.append(f"The power counters {name} were not taken: {error}")
    for name, data in rest.foreign:
        try:
            _take_rates(store, *read_results_file(data, name), out)
        except As2dError as error:
            out.refused.append(f"The rates of other programs {name} were not taken: {error}")
    for name, data in rest.corpora:
        with tempfile.TemporaryDirectory(prefix="as2d-import-") as folder:
            path = Path(folder) / "set.parquet"
            path.write_bytes(data)
            kept = store.folders.corpora / Path(name).name
            if kept.is_file() and kept.read_bytes() == data:
                continue
            try:
                out.corpora.append(import_set(store.folders, path)[0].id)
            except As2dError as error:
                out.refused.append(f"The trajectory set {name} was not taken: {error}".replace(str(path), name))


def _take_of_store(store: Store, folder: Path, out: Imported) -> None:
    """What only the database of another data folder holds."""
    try:
        results, traces = kept_there(folder)
    except ArchiveError as error:
        out.notes.append(str(error))
        return
    for digest, name, rates in results:
        _take_rates(store, digest, name, rates, out)
    for digest, name, trace in traces:
        _take_counters(store, digest, name, trace, out)


def _take_counters(store: Store, digest: str, name: str, trace: PowerTrace, out: Imported) -> None:
    if keep_trace(store, name, digest, trace):
        out.counters += [item.name for item in trace.counters]
    elif not holds_trace(store, digest, trace):
        out.refused.append(f"Other readings of the trace {name} are kept here already; these were not taken.")


def _take_rates(store: Store, digest: str, name: str, rates: Sequence[ForeignResult], out: Imported) -> None:
    if keep_results(store, name, digest, rates):
        out.foreign += rates
    elif not holds_results(store, digest, rates):
        out.refused.append(f"Other rates of the file {name} are kept here already; these were not taken.")


def _take_profile(store: Store, body: Any, out: Imported) -> None:
    if isinstance(body, dict) and isinstance(body.get("body"), dict):  # as a data folder keeps it
        body = body["body"]
    profile = profile_from_json(body)
    if profile.id in catalogue.profile_ids():
        return
    written = json.loads(json.dumps(profile_to_json(profile)))
    rows = store.read("SELECT body_json FROM profiles WHERE profile_id = ?", [profile.id])
    if rows:
        if json.loads(rows[0][0]) != written:
            out.refused.append(f"Another profile {profile.id!r} is kept here already; the archive's was not taken.")
        return
    put_profile(store, profile.id, written, device_key(profile.device))
    out.profiles.append(profile.id)


def _take_earlier(store: Store, kept: Any, out: Imported) -> None:
    body = kept.get("body") if isinstance(kept, dict) else None
    profile = profile_from_json(body)
    written = {**kept, "profile_id": profile.id, "device_key": device_key(profile.device)}
    if keep_earlier(store, written | {"body": json.loads(json.dumps(profile_to_json(profile)))}):
        out.earlier_profiles.append(f"{profile.id} of {profile.created_at}")


def as_copy(notebook: Notebook, new_id: str) -> Notebook:
    """A notebook of somebody else beside one of ours with the same id."""
    return replace(notebook, id=new_id, title=f"{notebook.title} (imported)")


def _bytes(path: Path) -> bytes:
    try:
        check_regular(path)
        return path.read_bytes()
    except OSError as error:
        raise StoreFolderError(f"{path} cannot be read ({error.strerror}); check the path.") from error
