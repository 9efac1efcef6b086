"""What did a crash, or somebody with a file manager, leave to do? Looked for on every open.

Logs are what holds. Those that are not in the database are taken in; a run is in the bin when its
log is; tags and notes follow the files beside the logs. Nothing is thrown away but half-written
copies, and every step is told in a sentence.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from as2d_core.errors import RecordError
from datastore.annotations import (
    Annotations,
    meta_path,
    meta_stamp,
    read_meta,
    read_rows,
    replace_rows,
    write_meta,
)
from datastore.engine import Cursor, transaction
from datastore.errors import StoreDamagedError, StoreError
from datastore.files import PART, remove_quietly
from datastore.ingest import LOG_SUFFIX, ingest_placed
from datastore.library import PROFILE_SUFFIX, insert_profile, read_profile_file
from datastore.locations import Folders
from datastore.lookup import Found
from datastore.notebooks import NOTEBOOK_SUFFIX, insert_notebook, read_notebook_file
from datastore.recycling import purge
from datastore.store import Store


@dataclass(slots=True)
class Findings:
    """What a look at the files came to, in sentences."""

    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What somebody should look at: it was not, or could not be, put right."""


@dataclass(frozen=True, slots=True)
class _Known:
    found: Found
    length: int
    status: str
    meta_stamp: str | None


def reconcile(store: Store, tolerant: bool = True) -> Findings:
    """Make the database agree with the files.

    Args:
        tolerant: what a full disk or a busy store prevents is told and left for the next time, so that
            the store opens all the same; otherwise it is an error.

    Raises:
        StoreDamagedError: the database turned out damaged meanwhile.
        StoreError: something could not be done, and ``tolerant`` is false.
    """
    for folder in (store.folders.runs, store.folders.bin, store.folders.profiles, store.folders.notebooks):
        for part in folder.glob("*" + PART):
            remove_quietly(part)
    look = _Look(store, tolerant)
    look.follow_logs()
    look.follow_metas()
    look.follow_profiles()
    look.follow_notebooks()
    return look.findings


class _Look:
    """One look at the files of a store."""

    def __init__(self, store: Store, tolerant: bool) -> None:
        self.store = store
        self.folders = store.folders
        self.tolerant = tolerant
        self.findings = Findings()

    def follow_logs(self) -> None:
        """Where the logs lie decides about the bin; those the database does not know are taken in."""
        kept, binned = _logs(self.folders.runs), _logs(self.folders.bin)
        self.findings.left += [
            f"{name} lies in {self.folders.runs} and in {self.folders.bin}; the one in the bin was left alone."
            for name in sorted(kept.keys() & binned.keys())
        ]
        known = _known(self.store)
        gone: list[Found] = []
        moved: list[tuple[Found, bool]] = []
        for run in known:
            found, name = run.found, run.found.log_name
            log = kept.get(name) or binned.get(name)
            in_bin = name not in kept
            if log is None and found.binned_at is not None:
                gone.append(found)
            elif log is None:
                self.findings.left.append(
                    f"The log {name} of run {found.run_id!r} is gone; its figures are still there."
                )
            elif in_bin != (found.binned_at is not None):
                moved.append((found, in_bin))
            if log is not None and not in_bin:
                self._look_at(run, log)
        self._purge_and_move(gone, moved)
        names = {run.found.log_name for run in known}
        for name, log in sorted({**binned, **kept}.items()):
            if name not in names:
                self._take_in(log, in_bin=name not in kept)

    def _purge_and_move(self, gone: list[Found], moved: list[tuple[Found, bool]]) -> None:
        now = datetime.now(UTC).replace(tzinfo=None)

        def job(cursor: Cursor) -> None:
            purge(cursor, gone)
            with transaction(cursor):
                for found, in_bin in moved:
                    cursor.execute(
                        "UPDATE runs SET binned_at = ? WHERE run_no = ?", [now if in_bin else None, found.run_no]
                    )

        said = [f"Run {found.run_id!r} was gone from the bin and was removed for good." for found in gone]
        said += [
            f"Run {found.run_id!r} is {'in' if in_bin else 'out of'} the bin now, where its log lies."
            for found, in_bin in moved
        ]
        self._do(job, said)

    def _look_at(self, run: "_Known", log: Path) -> None:
        try:
            length = log.stat().st_size
        except OSError as error:
            self.findings.left.append(f"{log} cannot be read ({error.strerror}); its figures are still there.")
        else:
            if length != run.length:
                self._look_again(run, log)

    def _look_again(self, run: "_Known", log: Path) -> None:
        """A log of another length: more of a stream that was incomplete, or foreign hands."""
        if run.status == "incomplete":
            self._take_in(log, in_bin=False)
        else:
            self.findings.left.append(
                f"{log} was changed after it was stored; the database still has what it held before."
            )

    def _take_in(self, log: Path, in_bin: bool) -> None:
        try:
            result = ingest_placed(self.store, log, in_bin)
        except (StoreError, RecordError) as error:
            if isinstance(error, StoreError) and self._must_tell(error):
                raise
            self.findings.left.append(f"{log} was not taken in: {error}")
        else:
            self.findings.done.append(f"Run {result.run_id!r} was not in the database and was taken in from {log}.")

    def follow_metas(self) -> None:
        """Tags and notes: the files say what holds. One that is gone is written again."""
        for run in _known(self.store):
            run_id = run.found.run_id
            path = meta_path(self.folders, run_id)
            stamp = meta_stamp(path)
            if stamp == run.meta_stamp:
                continue
            meta = read_meta(path) if stamp is not None else None
            if stamp is not None and (meta is None or meta[0] != run_id):
                self.findings.left.append(f"{path} does not hold the tags and note of run {run_id!r}; left alone.")
                continue
            said = f"Tags and note of run {run_id!r} were brought in line with {path}."
            self._do(partial(_align, self.folders, run_id, stamp, meta and meta[1]), [said])

    def follow_profiles(self) -> None:
        """Profiles whose files the database does not know."""
        known = {row[0] for row in self.store.read("SELECT profile_id FROM profiles")}
        found = [read_profile_file(path) for path in sorted(self.folders.profiles.glob("*" + PROFILE_SUFFIX))]
        new = [profile for profile in found if profile is not None and profile[0] not in known]

        def job(cursor: Cursor) -> None:
            with transaction(cursor):
                for profile in new:
                    insert_profile(cursor, *profile)

        self._do(
            job, [f"Profile {profile[0]!r} was not in the database and was taken in from its file." for profile in new]
        )

    def follow_notebooks(self) -> None:
        """Notebooks whose files the database does not know."""
        known = {row[0] for row in self.store.read("SELECT DISTINCT notebook_id FROM notebooks")}
        found = [read_notebook_file(path) for path in sorted(self.folders.notebooks.glob("*" + NOTEBOOK_SUFFIX))]
        new = [notebook for notebook in found if notebook is not None and notebook[0] not in known]
        when = datetime.now(UTC).replace(tzinfo=None)

        def job(cursor: Cursor) -> None:
            with transaction(cursor):
                for name, title, body in new:
                    insert_notebook(cursor, (name, 1, when, title, "taken in from its file", None, body))

        said = "was not in the database and was taken in from its file."
        self._do(job, [f"The notebook {title!r} {said}" for _, title, _ in new])

    def _do(self, job: Callable[[Cursor], None], said: list[str]) -> None:
        """Do it and say so, or say why it could not be done."""
        if not said:
            return
        try:
            self.store.write(job)
        except StoreError as error:
            if self._must_tell(error):
                raise
            self.findings.left.append(f"The database could not be brought in line with its files: {error}")
        else:
            self.findings.done += said

    def _must_tell(self, error: StoreError) -> bool:
        return isinstance(error, StoreDamagedError) or (error.retryable and not self.tolerant)


def _logs(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.glob("*" + LOG_SUFFIX)}


def _known(store: Store) -> list[_Known]:
    rows = store.read(
        "SELECT run_no, run_id, log_name, log_sha256, binned_at, log_bytes, status, meta_stamp "
        "FROM runs ORDER BY run_no"
    )
    return [_Known(Found(*row[:5]), *row[5:]) for row in rows]


def _align(folders: Folders, run_id: str, stamp: str | None, meta: Annotations | None, cursor: Cursor) -> None:
    if meta is None:
        meta = read_rows(cursor, run_id)
        stamp = write_meta(folders, run_id, meta)
    with transaction(cursor):
        replace_rows(cursor, run_id, meta, stamp)
