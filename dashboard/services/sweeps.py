"""How is a device measured along a recording, or hour after hour? One plan of many requests, run, stopped, resumed.

A plan is written down before its first request, so that what is missing can be run later, by another program, too.
Its runs carry the plan's id as their group: everything that is shown comes from the store.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from math import ceil
from pathlib import Path

from as2d_core.audio import MAX_SECONDS, MIN_SECONDS
from as2d_core.errors import As2dError, RequestError, unknown_name
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.reading import read_json
from as2d_core.request import AudioRef, Request
from dashboard.services.audio_inputs import demo_window, keep_audio
from dashboard.services.requests import RunForm, build_request, check_backends, check_widths, heard_audio
from dashboard.services.workspace import Workspace
from datastore.files import write_durably
from datastore.locations import Folders
from datastore.queries import RunFilter, RunRow, list_runs
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.plan import new_id

POSITIONS, BLOCKS, SUSTAINED = "positions", "blocks", "sustained"
KINDS = (POSITIONS, BLOCKS, SUSTAINED)
MOST_REQUESTS = 3_000
LONGEST_MINUTES = 600.0
LEAST_REQUEST_S, FASTEST_SPEECH = 0.2, 40.0
"""No request is taken to be shorter, nor audio to be worked off faster than so many seconds a second."""
LONGEST_GAP_S = 60.0
"""A longer time from one request to the next was a pause."""
LEAST_LEFT_MIN = 0.05
SUFFIX = ".sweep.json"


@dataclass(frozen=True, slots=True)
class SweepForm:
    """What a person fills in."""

    kind: str
    base: RunForm
    """Recording, models and parameters; its view bounds a sweep over positions or blocks."""
    methods: tuple[str, ...] = ("as2d",)
    length_s: float = 4.0
    """Of each view, for positions and blocks."""
    step_s: float = 4.0
    """From one position to the next; blocks follow each other without a gap."""
    times: int | None = None
    """Sustained: so many requests a method."""
    minutes: float | None = None
    """Sustained: no request is begun after so many minutes of work."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that is to be run, in order."""

    id: str
    kind: str
    title: str
    device_id: str
    created_at: str
    minutes: float | None
    requests: tuple[Request, ...]
    ended: bool = False
    """Whether its time was up."""

    @property
    def formal(self) -> int:
        """Requests that count, the warm-up left out."""
        return sum(not request.warm_up for request in self.requests)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan and what there is of it."""

    plan: SweepPlan
    rows: tuple[RunRow, ...]
    """Runs in the store, in the order of the plan; failed ones among them."""
    job: Job | None
    """The job that runs it now."""

    @property
    def done(self) -> int:
        """Requests of the plan that came to their end."""
        return len(_done(self.rows))

    @property
    def spent_minutes(self) -> float:
        """Time at work: from request to request, and the last one's own; pauses between two sittings left out."""
        begun = [row for row in self.rows if row.created_at is not None]
        total = 0.0
        for row, following in zip_longest(begun, begun[1:]):
            own = (row.response_ms or 0.0) / 1e3
            gap = own
            if following is not None and row.created_at is not None and following.created_at is not None:
                gap = (following.created_at - row.created_at).total_seconds()
            total += gap if own <= gap <= own + LONGEST_GAP_S else own
        return total / 60

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.plan.ended or self.done >= self.plan.formal

    @property
    def share(self) -> float:
        """How far it is, 0 to 1."""
        if self.plan.minutes is not None:
            return min(self.spent_minutes / self.plan.minutes, 1.0)
        return min(self.done / max(self.plan.formal, 1), 1.0)


_WHOLE = ("eos", "capped")


def recording_seconds(workspace: Workspace, form: RunForm) -> float:
    """Length of the whole recording.

    Raises:
        RequestError, AudioError, UnknownNameError: there is none.
    """
    if form.window_id is not None:
        return demo_window(form.window_id).duration_s
    if form.audio is None:
        raise RequestError("Say what to listen to: a bundled window, or an audio file (one of the two).")
    return keep_audio(workspace.folders, form.audio).duration_s


def views(form: SweepForm, duration_s: float) -> list[tuple[float, float]]:
    """Begin and end of every view, in seconds.

    Raises:
        RequestError: a length or step that cannot be, or too many views.
    """
    begin, last = form.base.view_start_s, duration_s if form.base.view_end_s is None else form.base.view_end_s
    step = form.length_s if form.kind == BLOCKS else form.step_s
    if not MIN_SECONDS <= form.length_s <= MAX_SECONDS:
        raise RequestError(f"Views of {form.length_s:g} s cannot be; choose {MIN_SECONDS:g} to {MAX_SECONDS:g} s.")
    if not step >= MIN_SECONDS:
        raise RequestError(f"A step of {step:g} s cannot be; choose at least {MIN_SECONDS:g} s.")
    count = int((min(last, duration_s) - begin - form.length_s) / step + 1 + 1e-9)
    if count < 1:
        raise RequestError(
            f"The recording has {max(min(last, duration_s) - begin, 0):.1f} s there, less than one view of "
            f"{form.length_s:g} s; choose shorter views or a longer recording."
        )
    if count > MOST_REQUESTS:
        raise RequestError(f"{count:,} views are too many for one sweep; choose at most {MOST_REQUESTS:,}.")
    return [(begin + i * step, begin + i * step + form.length_s) for i in range(count)]


def request_count(form: SweepForm, duration_s: float) -> int:
    """How many requests a sweep has, the warm-up not counted; of one that ends by time: the most.

    Raises:
        RequestError: the sweep cannot be, or is too long.
    """
    if form.kind not in KINDS:
        raise unknown_name("kind of sweep", form.kind, list(KINDS))
    if not form.methods:
        raise RequestError("A sweep needs at least one method.")
    if form.kind != SUSTAINED:
        turns = len(views(form, duration_s))
    elif (form.times is None) == (form.minutes is None):
        raise RequestError("Say how long a request is repeated: a number of times, or minutes (one of the two).")
    elif form.times is not None:
        turns = form.times
    elif not 0 < (form.minutes or 0) <= LONGEST_MINUTES:
        raise RequestError(f"{form.minutes:g} minutes cannot be; choose up to {LONGEST_MINUTES:g}.")
    else:
        shortest = max(LEAST_REQUEST_S, _heard_s(form.base, duration_s) / FASTEST_SPEECH) * len(form.methods)
        turns = min(ceil((form.minutes or 0) * 60 / shortest), MOST_REQUESTS // len(form.methods))
    total = turns * len(form.methods)
    if not 1 <= total <= MOST_REQUESTS:
        raise RequestError(f"A sweep of {total:,} requests cannot be; choose 1 to {MOST_REQUESTS:,}.")
    return total


def plan_sweep(workspace: Workspace, form: SweepForm, device_id: str = THIS_COMPUTER) -> SweepPlan:
    """All requests of a sweep: a warm-up, then views or turns in order, every second one with its methods backwards.

    Raises:
        RequestError, AudioError, ModelError, UnknownNameError: a sentence about what is wrong.
    """
    duration_s = recording_seconds(workspace, form.base)
    total = request_count(form, duration_s)
    first = {name: _request(workspace, form, name) for name in form.methods}
    for request in first.values() if device_id == THIS_COMPUTER else ():
        check_backends(request)
        check_widths(request)
    turns = total // len(form.methods)
    spans = None if form.kind == SUSTAINED else views(form, duration_s)
    group = new_id("s")
    warm_up = next(iter(first.values()))
    planned = [replace(warm_up, run_id=new_id(), group_id=group, warm_up=True)]
    for turn in range(turns):
        names = form.methods if turn % 2 == 0 else tuple(reversed(form.methods))
        audio = None if spans is None else _viewed(workspace, form, spans[turn])
        for name in names:
            request = first[name] if audio is None else replace(first[name], audio=audio)
            planned.append(
                replace(request, run_id=new_id(), group_id=group, repetition=turn, order=len(planned), warm_up=False)
            )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return SweepPlan(group, form.kind, _title(form, warm_up, turns), device_id, now, form.minutes, tuple(planned))


def start_sweep(workspace: Workspace, plan: SweepPlan) -> Job:
    """Write a plan down and begin it.

    Raises:
        DeviceBusyError, UnknownDeviceError: the device cannot take it; nothing is kept then.
        StoreError: the plan cannot be written.
    """
    path = _write(workspace.folders, plan)
    try:
        return _submit(workspace, plan, plan.requests, plan.minutes)
    except As2dError:
        path.unlink(missing_ok=True)
        raise


def resume_sweep(workspace: Workspace, sweep_id: str) -> Job:
    """Run what a stopped sweep still lacks; what failed is tried again, and stays in the table.

    Raises:
        UnknownNameError: there is no such sweep.
        RequestError: nothing is left to do, or it runs already.
        DeviceBusyError, UnknownDeviceError: the device cannot take it.
    """
    sweep = load_sweep(workspace, sweep_id)
    if sweep.job is not None:
        raise RequestError(f"The sweep {sweep_id} is running.")
    if sweep.complete:
        raise RequestError(f"The sweep {sweep_id} is complete; nothing is left to run.")
    done = _done(sweep.rows)
    left = [replace(r, run_id=new_id()) for r in sweep.plan.requests if r.warm_up or r.order not in done]
    minutes = None
    if sweep.plan.minutes is not None:
        minutes = max(sweep.plan.minutes - sweep.spent_minutes, LEAST_LEFT_MIN)
    return _submit(workspace, sweep.plan, left, minutes)


def list_sweeps(workspace: Workspace) -> list[SweepPlan]:
    """All plans, the newest first; a file that is none is left out."""
    found = []
    for path in _folder(workspace.folders).glob(f"*{SUFFIX}"):
        try:
            found.append(_read(path))
        except As2dError:
            continue
    return sorted(found, key=lambda plan: (plan.created_at, plan.id), reverse=True)


def load_sweep(workspace: Workspace, sweep_id: str) -> Sweep:
    """A plan with its runs as they are now.

    Raises:
        UnknownNameError: there is no such sweep; suggests the nearest.
        RequestError: its file is damaged.
    """
    path = _path(workspace.folders, sweep_id)
    if not path.is_file():
        raise unknown_name("sweep", sweep_id, [plan.id for plan in list_sweeps(workspace)])
    plan = _read(path)
    jobs = [job for job in workspace.jobs.jobs() if _group(job) == plan.id]
    if plan.minutes is not None and not plan.ended and any(job.state == "done" and job.finished for job in jobs):
        plan = replace(plan, ended=True)
        _write(workspace.folders, plan)
    return Sweep(plan, sweep_rows(workspace, plan.id), next((job for job in jobs if not job.finished), None))


def sweep_rows(workspace: Workspace, sweep_id: str) -> tuple[RunRow, ...]:
    """Stored runs of a sweep in the order of its plan, repeated attempts in the order they ran."""
    ids = workspace.store.read(
        "SELECT count(*) FROM runs WHERE group_id = ? AND binned_at IS NULL AND warm_up IS NOT TRUE", [sweep_id]
    )
    if not ids[0][0]:
        return ()
    where = RunFilter(groups=(sweep_id,), warm_ups=False)
    rows = list_runs(workspace.store, where, "created_at", descending=False, limit=None)
    return tuple(sorted(rows, key=lambda row: row.run_order or 0))


def forget_sweep(workspace: Workspace, sweep_id: str) -> None:
    """Remove a plan; its runs stay."""
    _path(workspace.folders, sweep_id).unlink(missing_ok=True)


def _submit(workspace: Workspace, plan: SweepPlan, requests: Sequence[Request], minutes: float | None) -> Job:
    stop_after_s = None if minutes is None else minutes * 60
    return workspace.jobs.submit(plan.device_id, requests, plan.title, stop_after_s)


def _group(job: Job) -> str | None:
    return job.runs[0].request.group_id


def _done(rows: Sequence[RunRow]) -> set[int]:
    return {row.run_order for row in rows if row.status in _WHOLE and row.run_order is not None}


def _request(workspace: Workspace, form: SweepForm, method: str) -> Request:
    """The request of a method; its own parameter is kept where it is that of the form."""
    base = replace(form.base, method=method)
    if form.kind != SUSTAINED:
        begin, end = views(form, recording_seconds(workspace, form.base))[0]
        base = replace(base, view_start_s=begin, view_end_s=end)
    return build_request(workspace, base)


def _viewed(workspace: Workspace, form: SweepForm, view: tuple[float, float]) -> AudioRef:
    begin, end = (round(at, 6) for at in view)
    return heard_audio(workspace, replace(form.base, view_start_s=begin, view_end_s=end))[0]


def _heard_s(form: RunForm, duration_s: float) -> float:
    return (duration_s if form.view_end_s is None else form.view_end_s) - form.view_start_s


def _title(form: SweepForm, request: Request, turns: int) -> str:
    where = request.audio.window_id or "a recording"
    if form.kind == SUSTAINED:
        length = f"{form.minutes:g} min" if form.minutes is not None else f"{turns} times"
        return f"{where} again and again, {length}"
    what = "blocks" if form.kind == BLOCKS else "positions"
    return f"{turns} {what} of {form.length_s:g} s of {where}"


def _folder(folders: Folders) -> Path:
    return folders.root / "sweeps"


def _path(folders: Folders, sweep_id: str) -> Path:
    if not sweep_id or not all(c.isalnum() or c in "-_" for c in sweep_id):
        raise RequestError(f"{sweep_id!r} cannot be the id of a sweep.")
    return _folder(folders) / f"{sweep_id}{SUFFIX}"


def _write(folders: Folders, plan: SweepPlan) -> Path:
    path = _path(folders, plan.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, json.dumps(_as_json(plan), ensure_ascii=False).encode())
    return path


def _as_json(plan: SweepPlan) -> dict[str, object]:
    return {
        "kind": "as2d sweep",
        "format": 1,
        "id": plan.id,
        "sweep": plan.kind,
        "title": plan.title,
        "device_id": plan.device_id,
        "created_at": plan.created_at,
        "minutes": plan.minutes,
        "ended": plan.ended,
        "requests": [request_to_json(request) for request in plan.requests],
    }


def _read(path: Path) -> SweepPlan:
    try:
        body = read_json(path)
        if body["kind"] != "as2d sweep" or body["format"] != 1 or body["sweep"] not in KINDS:
            raise RequestError(f"{path} is no sweep of this program.")
        requests = tuple(request_from_json(item) for item in body["requests"])
        minutes = None if body["minutes"] is None else float(body["minutes"])
        texts = [str(body[name]) for name in ("id", "sweep", "title", "device_id", "created_at")]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"The sweep {path} cannot be read: {error}.") from error
    return SweepPlan(*texts, minutes, requests, bool(body.get("ended")))
