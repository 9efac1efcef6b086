"""Which windows still lack a trajectory, and the job that collects them; resumable, window by window."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from as2d_core.audio import read_audio
from as2d_core.collection.assemble import assemble, collection_request, usable
from as2d_core.errors import AudioError, RequestError, TrajectoryError
from as2d_core.models.demo_catalog import demo_windows
from as2d_core.models.folder import check_pair
from as2d_core.models.window_index import INDEX, RecordedWindow, read_index
from as2d_core.protocol import read_run
from as2d_core.reading import is_file, is_folder
from as2d_core.records import RunRecord
from as2d_core.replay.trajectories import write_corpus
from as2d_core.replay.windows import TrajectorySet
from as2d_core.request import ModelRef, Request
from dashboard.services.corpora import check_name
from dashboard.services.models import usable_model
from dashboard.services.requests import RunForm, exact_widths
from dashboard.services.workspace import Workspace
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.plan import new_id

AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".mp3")
MOST_WINDOWS = 5000


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection under way: what is there already, and the job for the rest (``None`` = nothing to do)."""

    corpus_id: str
    windows: tuple[RecordedWindow, ...]
    found: dict[str, RunRecord]
    """Windows collected before, with the same models and settings."""
    job: Job | None


def bundled_windows(tasks: Sequence[str] = ("transcribe",)) -> tuple[RecordedWindow, ...]:
    """Bundled items of some tasks.

    Raises:
        RequestError: there is no such task.
    """
    there = sorted({w.task for w in demo_windows()})
    for task in tasks:
        if task not in there:
            raise RequestError(f"There are no bundled windows for {task!r}; the tasks are {', '.join(there)}.")
    return tuple(w for w in demo_windows() if w.task in tasks)


def folder_windows(
    folder: Path, instruction: str, task: str = "transcribe", tasks: Sequence[str] | None = None
) -> tuple[RecordedWindow, ...]:
    """What a folder's ``index.json`` lists; without one, every audio file below it, grouped by the folder it lies in.

    Args:
        instruction, task: of audio that no index describes.
        tasks: take only these of an index; ``None`` = all.

    Raises:
        RequestError: there is no such folder, or no audio in it.
        AudioError: the index cannot be used. A file that cannot be used is listed, of unknown length: its run fails.
    """
    if not is_folder(folder):
        raise RequestError(f"There is no folder {folder}.")
    if is_file(folder / INDEX):
        listed = read_index(folder.absolute())
        found = tuple(w for w in listed if tasks is None or w.task in tasks)
        if not found:
            there = ", ".join(sorted({w.task for w in listed})) or "none"
            raise RequestError(f"The index of {folder} lists nothing of {', '.join(tasks or ())}; its tasks: {there}.")
        return found
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in AUDIO_SUFFIXES and p.is_file())
    if not files:
        raise RequestError(f"There is no audio in {folder}; WAV, FLAC, OGG and MP3 files are looked for.")
    if len(files) > MOST_WINDOWS:
        raise RequestError(f"{folder} holds {len(files)} audio files; at most {MOST_WINDOWS} are collected at once.")
    windows = []
    for path in files:
        name = path.relative_to(folder).with_suffix("").as_posix()
        try:
            duration_s = read_audio(path).duration_s
        except AudioError:  # its run fails with this very sentence and is kept; the others go on
            duration_s = math.nan
        windows.append(RecordedWindow(name, path.absolute(), path.parent.name, task, instruction, "", duration_s))
    return tuple(windows)


def folders_windows(
    folders: Sequence[Path], instruction: str, tasks: Sequence[str] | None = None
) -> tuple[RecordedWindow, ...]:
    """The windows of several folders together. Arguments and errors as ``folder_windows``.

    Raises:
        RequestError: two of them have a window of the same name.
    """
    windows: dict[str, RecordedWindow] = {}
    for folder in folders:
        for window in folder_windows(folder, instruction, tasks=tasks):
            other = windows.setdefault(window.window_id, window)
            if other is not window:
                raise RequestError(f"{other.path} and {window.path} are both called {window.window_id}; rename one.")
    return tuple(windows.values())


def start_collection(
    workspace: Workspace,
    corpus_id: str,
    windows: Sequence[RecordedWindow],
    device_id: str = THIS_COMPUTER,
    target: str | None = None,
    drafter: str | None = None,
    max_tokens: int = 320,
) -> Collection:
    """Collect the windows that the store has no whole stream of.

    Raises:
        RequestError: the id is that of a packaged set, or there are no windows.
        ModelError, UnknownNameError, DeviceBusyError: a sentence about what is in the way.
    """
    check_name(corpus_id)
    if not windows:
        raise RequestError("There are no windows to collect.")
    settings, folders = workspace.settings, workspace.folders
    big, small = usable_model(folders, target or settings.target), usable_model(folders, drafter or settings.drafter)
    check_pair(big, small)
    widths = exact_widths(workspace, big, RunForm())
    target_ref = ModelRef(str(big.path), big.name, big.sha256, widths)
    drafter_ref = ModelRef(str(small.path), small.name, small.sha256)
    group = new_id("g")
    found: dict[str, RunRecord] = {}
    missing = []
    for window in windows:
        request = collection_request(window, target_ref, drafter_ref, max_tokens)
        record = _collected(workspace, window, request, big.sha256, small.sha256)
        if record is not None:
            found[window.window_id] = record
        else:
            missing.append(replace(request, run_id=new_id(), group_id=group, order=len(missing)))
    job = workspace.jobs.submit(device_id, missing, title=f"Collection {corpus_id}") if missing else None
    return Collection(corpus_id, tuple(windows), found, job)


def finish_collection(
    workspace: Workspace, collection: Collection, report: Callable[[str], None] = lambda _: None
) -> tuple[TrajectorySet, Path]:
    """Write the trajectory set once the job is over.

    Windows that failed are reported and left out; collect again to try them once more.

    Returns:
        The set and the file it lies in.

    Raises:
        TrajectoryError: nothing was collected, or the set has a fault.
    """
    records = dict(collection.found)
    left_out: list[str] = []
    for run in collection.job.runs if collection.job is not None else ():
        log = workspace.folders.runs / f"{run.request.run_id}.ndjson"
        window_id = run.request.audio.window_id or ""
        if not log.is_file():
            left_out.append(f"{window_id} was not collected: {run.error or run.state}.")
            continue
        record = read_run(log)
        if record.status in ("eos", "capped") and len(record.trajectories) == 1:
            records[window_id] = record
        else:
            reason = record.end.error if record.end is not None and record.end.error else record.status
            left_out.append(f"{window_id} was not collected: {reason}")
    for sentence in left_out:
        report(sentence)
    if not records:
        first = left_out[0] if left_out else ""
        raise TrajectoryError(f"No window was collected, so there is no trajectory set to write. {first}".rstrip())
    corpus = assemble(records, collection.windows, collection.corpus_id)
    path = workspace.folders.corpora / f"{collection.corpus_id}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    write_corpus(corpus, part)
    part.replace(path)
    return corpus, path


def _collected(
    workspace: Workspace, window: RecordedWindow, request: Request, target_sha256: str, drafter_sha256: str
) -> RunRecord | None:
    rows = workspace.store.read(
        "SELECT run_id FROM runs WHERE method = 'collect' AND window_id = ? AND target_sha256 = ? "
        "AND status IN ('eos', 'capped') AND binned_at IS NULL ORDER BY created_at DESC LIMIT 3",
        [window.window_id, target_sha256],
    )
    for (run_id,) in rows:
        log = workspace.folders.runs / f"{run_id}.ndjson"
        record = usable(log, request, target_sha256, drafter_sha256)
        if record is not None:
            return record
    return None
