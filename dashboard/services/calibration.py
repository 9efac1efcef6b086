"""What does a device charge? A calibration measures it cell by cell, goes on after an interruption, and is fitted.

The runs of one calibration share a group. What any of them measured counts, also when it broke off:
starting it again measures what is missing. A width that fails is left out, and the rest goes on by itself.
"""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import StringIO

from as2d_core.calibration.fit import fit_profile
from as2d_core.calibration.plan import (
    MAX_WIDTH,
    OFFSETS_TOKENS,
    FailedWidth,
    Plan,
    failed_width,
    plan_from,
    share_done,
    turns_done,
)
from as2d_core.calibration.plan import (
    expected_seconds as plan_seconds,
)
from as2d_core.errors import As2dError, ProfileError, UnknownNameError
from as2d_core.gates import Gates
from as2d_core.operation_records import Sample
from as2d_core.profiles.profile import Profile
from as2d_core.protocol import parse
from as2d_core.records import RunRecord
from as2d_core.request import Request
from dashboard.services.profiles import check_own_id, keep_profile, load_profile
from dashboard.services.requests import CPU, RunForm, build_request
from dashboard.services.workspace import Workspace
from datastore.export import read_log
from datastore.queries import RunFilter, RunRow, list_runs
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.plan import new_id

WINDOWS = ("clean_06", "far_field_09", "long_00")
"""A short, a middle and a long recording: costs grow with the cache, and one profile stands for all."""
PHONE_WINDOWS = ("long_00",)
"""A phone takes its time; one long recording, as in the paper."""
JOB_DEADLINE_S = 6 * 3600.0
RESUME_WITHIN = timedelta(hours=24)
"""What was measured longer ago may have been another day for the device."""
MOST_CONTINUATIONS = 4
"""So often a calibration goes on by itself after a width took the runner with it."""
TOKENS = 75
"""Length of the output of one bundled window, roughly."""
THIS_COMPUTER_MS = (12.0, 2.0)
PHONE_MS = (60.0, 25.0)
"""One target step and one draft step, before anything is known; a phone's are those of the paper's K70."""
LOADING_S = 12.0


@dataclass(slots=True)
class Calibration:
    """A calibration that runs or has run. ``profile`` or ``problem`` is there once ``over`` is set."""

    job: Job
    """The job that measures now; another one after a width failed."""
    profile_id: str
    device_id: str
    group_id: str
    over: threading.Event = field(default_factory=threading.Event)
    profile: Profile | None = None
    problem: str | None = None
    """A sentence when there is no profile."""
    resumed_share: float = 0.0
    """How much was measured before it began."""
    expected_s: float = 0.0
    """How long it was expected to take when it began."""
    began_s: float = field(default_factory=time.monotonic)
    earlier: list[RunRecord] = field(default_factory=list)
    """Runs of the group that ended before the present job."""
    notes: list[str] = field(default_factory=list)
    """Sentences about what happened on the way: a width that failed, say."""

    @property
    def share(self) -> float:
        """How much of everything is measured, from 0 to 1."""
        live = [record for run in self.job.runs if (record := run.record()) is not None]
        windows = {run.request.audio.window_id for run in self.job.runs} | {
            record.request.audio.window_id for record in self.earlier
        }
        records = [*self.earlier, *live]
        return sum(_window_share(records, window) for window in windows) / max(1, len(windows))

    @property
    def remaining_s(self) -> float:
        """How long it will still take, roughly: by its own speed once that is known."""
        done, spent = self.share - self.resumed_share, time.monotonic() - self.began_s
        if done > 0.1:
            return spent / done * (1 - self.share)
        return max(0.0, self.expected_s - spent)


@dataclass(frozen=True, slots=True)
class CalibrationForm:
    """What is to be measured where; everything has a good default."""

    profile_id: str = THIS_COMPUTER
    """Name under which the profile is kept, replacing the one before it."""
    device_id: str = THIS_COMPUTER
    repetitions: int = 5
    """Formal repetitions of every cell; one warm-up comes before them."""
    windows: tuple[str, ...] = WINDOWS
    offsets_tokens: tuple[int, ...] = OFFSETS_TOKENS
    max_width: int = MAX_WIDTH
    target: str | None = None
    drafter: str | None = None
    gates: Gates | None = None
    """What each measured episode waits for."""
    top_profile: bool = False
    """Ask the phone for its highest task profile."""
    target_backend: str = CPU
    drafter_backend: str = CPU
    resume: bool = True
    """Go on where an interrupted calibration of the same name and settings stopped, within a day."""

    def options(self) -> dict[str, object]:
        """Options of its requests, without what was measured."""
        return {
            "repetitions": self.repetitions,
            "episodes": self.repetitions,
            "max_width": self.max_width,
            "offsets_tokens": list(self.offsets_tokens),
            "profile": self.profile_id,
        }


def phone_profile_id(phone_id: str, target_backend: str = CPU, drafter_backend: str = CPU) -> str:
    """Name of the profile of a phone: letters and digits of its id, and where the models ran if not both on the CPU."""
    placed = "" if target_backend == drafter_backend == CPU else f"-{target_backend}-{drafter_backend}"
    return f"phone-{re.sub('[^A-Za-z0-9]+', '-', phone_id).strip('-')}{placed}"


def phone_form(phone_id: str, target_backend: str = CPU, drafter_backend: str = CPU) -> CalibrationForm:
    """What is measured on a phone: one long window, with the paper's conditions before each episode."""
    return CalibrationForm(
        phone_profile_id(phone_id, target_backend, drafter_backend),
        phone_id,
        windows=PHONE_WINDOWS,
        gates=Gates(),
        target_backend=target_backend,
        drafter_backend=drafter_backend,
    )


def start_calibration(
    workspace: Workspace,
    profile_id: str = THIS_COMPUTER,
    device_id: str = THIS_COMPUTER,
    repetitions: int = 5,
    windows: Sequence[str] = WINDOWS,
    target: str | None = None,
    drafter: str | None = None,
) -> Calibration:
    """Calibrate with the usual settings; see ``start``.

    Raises:
        As ``start``.
    """
    form = CalibrationForm(profile_id, device_id, repetitions, tuple(windows), target=target, drafter=drafter)
    return start(workspace, form)


def start(workspace: Workspace, form: CalibrationForm) -> Calibration:
    """Measure every operation a replay charges; the profile is kept once all of it was measured.

    Raises:
        RequestError, ProfileError, ModelError, UnknownNameError: something cannot be as asked.
        DeviceBusyError: the device runs another job.
    """
    check_own_id(form.profile_id)
    plan_from(form.options())
    requests = _requests(workspace, form)
    found = interrupted(workspace, form, requests) if form.resume else None
    group, earlier = found or (new_id("g"), [])
    job = _submit(workspace, form, requests, group, earlier)
    calibration = Calibration(job, form.profile_id, form.device_id, group, earlier=earlier)
    calibration.resumed_share = calibration.share
    calibration.expected_s = expected_of(workspace, form, earlier)
    threading.Thread(
        target=_finish, args=(workspace, calibration, form, requests), daemon=True, name="as2d-fit"
    ).start()
    return calibration


def expected_of(workspace: Workspace, form: CalibrationForm, earlier: Sequence[RunRecord] = ()) -> float:
    """How many seconds a calibration will take, roughly: from the device's last profile, else from a guess."""
    step_ms, draft_ms = THIS_COMPUTER_MS if form.device_id == THIS_COMPUTER else PHONE_MS
    try:
        known = load_profile(workspace.folders, form.profile_id)
    except As2dError:
        pass
    else:
        step_ms, draft_ms = known.target_step_ms, known.draft_serial_ms
    total_s = 0.0
    for window in form.windows:
        done = turns_done(_samples_of(earlier, window))
        plan = replace(plan_from(form.options()), done=done)
        total_s += plan_seconds(plan, form.gates, step_ms, draft_ms, TOKENS)
    return total_s + LOADING_S


def expected_seconds(repetitions: int) -> float:
    """How long a calibration of this computer will take before anything is known about it, roughly."""
    plan = Plan(repetitions=repetitions, episodes=repetitions)
    return LOADING_S + len(WINDOWS) * plan_seconds(plan, None, *THIS_COMPUTER_MS, TOKENS)


def interrupted(
    workspace: Workspace, form: CalibrationForm, requests: Sequence[Request] | None = None
) -> tuple[str, list[RunRecord]] | None:
    """Group and runs of a calibration of this name and settings that was not finished, the newest one.

    Raises:
        RequestError, ModelError, UnknownNameError: something cannot be as asked.
    """
    wanted = {_setting(request) for request in requests or _requests(workspace, form)}
    try:
        rows = list_runs(workspace.store, RunFilter(methods=("calibrate",)), limit=60)
    except UnknownNameError:
        return None  # nothing was ever calibrated here
    for row in rows:
        if row.ingested_at < datetime.now(UTC) - RESUME_WITHIN or row.group_id is None:
            continue
        records = list(_records(workspace, row.group_id))
        if not records or not {_setting(record.request) for record in records} <= wanted:
            continue
        whole = {record.request.audio.window_id for record in records if record.status == "eos"}
        # The newest calibration of these settings decides: behind a finished one nothing is gone on with.
        return None if whole >= set(form.windows) else (row.group_id, records)
    return None


def fit_stored(workspace: Workspace, group_id: str, profile_id: str) -> Profile:
    """Fit and keep the profile of a calibration whose streams are in the store.

    Raises:
        ProfileError: its runs are not complete, or lack a cost.
        UnknownNameError: there is no such group.
    """
    records = list(_records(workspace, group_id))
    name = str(records[0].header.device.get("name", profile_id)) if records else profile_id
    profile = fit_profile(records, profile_id, name)
    keep_profile(workspace, profile)
    return profile


def fit_left(workspace: Workspace, job: Job) -> Profile:
    """Wait for a calibration that an earlier program left running on a phone; fit and keep its profile.

    Raises:
        ProfileError: it did not come to its end.
        As ``fit_stored``.
    """
    if not job.wait(JOB_DEADLINE_S) or job.state != "done":
        reason = job.error or f"The calibration is {job.state}."
        raise ProfileError(f"{_ended(reason)} Start it again within a day to measure only the rest.")
    request = job.runs[0].request
    return fit_stored(workspace, request.group_id or "", str(request.options["profile"]))


def same_calibration(workspace: Workspace, form: CalibrationForm, job: Job) -> bool:
    """Whether a job measures what a form asks for. Raises as ``interrupted``."""
    wanted = {_setting(request) for request in _requests(workspace, form)}
    return {_setting(run.request) for run in job.runs} <= wanted


def _requests(workspace: Workspace, form: CalibrationForm) -> list[Request]:
    made = []
    for order, window_id in enumerate(form.windows):
        run = RunForm(
            method="as2d",
            window_id=window_id,
            target=form.target,
            drafter=form.drafter,
            top_profile=form.top_profile,
            target_backend=form.target_backend,
            drafter_backend=form.drafter_backend,
        )
        request = build_request(workspace, run)
        if form.device_id != THIS_COMPUTER:  # which widths are exact is a property of the processor
            request = replace(request, target=replace(request.target, exact_widths=None))
        made.append(
            replace(request, method="calibrate", budget=None, options=form.options(), order=order, gates=form.gates)
        )
    return made


def _submit(
    workspace: Workspace,
    form: CalibrationForm,
    requests: Sequence[Request],
    group: str,
    earlier: Sequence[RunRecord],
) -> Job:
    """A job for the windows that are not whole, each with what was measured of it before."""
    whole = {record.request.audio.window_id for record in earlier if record.status == "eos"}
    failed = failed_width(earlier)
    rest = []
    for request in requests:
        if request.audio.window_id in whole:
            continue
        options = {**request.options, "done": turns_done(_samples_of(earlier, request.audio.window_id))}
        if failed is not None:
            options["max_width"] = failed.width - 1
        rest.append(replace(request, run_id=new_id(), options=options, group_id=group))
    return workspace.jobs.submit(form.device_id, rest, title="Calibration")


def _finish(workspace: Workspace, calibration: Calibration, form: CalibrationForm, requests: Sequence[Request]) -> None:
    try:
        for _ in range(MOST_CONTINUATIONS):
            _await(calibration)
            with suppress(UnknownNameError):  # where the job ended before its first line
                calibration.earlier = list(_records(workspace, calibration.group_id))
            failed = failed_width(calibration.earlier)
            if calibration.job.state != "failed" or failed is None or not _new_failure(calibration, failed):
                break
            calibration.notes.append(f"Width {failed.width} failed and is left out: {failed.reason}")
            calibration.job = _submit(workspace, form, requests, calibration.group_id, calibration.earlier)
        if calibration.job.state != "done":
            raise ProfileError(_unfinished(calibration))
        calibration.profile = fit_stored(workspace, calibration.group_id, calibration.profile_id)
    except As2dError as error:
        calibration.problem = str(error)
    finally:
        calibration.over.set()


def _await(calibration: Calibration) -> None:
    if not calibration.job.wait(JOB_DEADLINE_S):
        calibration.job.cancel()
        raise ProfileError(f"The calibration did not end within {JOB_DEADLINE_S / 3600:.0f} hours.")


def _new_failure(calibration: Calibration, failed: FailedWidth) -> bool:
    """Whether the job that has just ended was still allowed to try the width that failed."""
    return any(int(run.request.options["max_width"]) >= failed.width for run in calibration.job.runs)


def _unfinished(calibration: Calibration) -> str:
    reason = calibration.job.error or f"The calibration is {calibration.job.state}."
    return (
        f"{_ended(reason)} No profile is kept. {calibration.share:.0%} is measured; "
        "start it again within a day to measure only the rest."
    )


def _ended(reason: str) -> str:
    """A reason that another sentence follows; its advice may end in a command."""
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."


def _setting(request: Request) -> tuple[object, ...]:
    """What must be equal for the samples of two runs to belong together."""
    options = {name: value for name, value in request.options.items() if name not in ("done", "max_width")}
    return (
        request.audio.window_id,
        request.target.sha256,
        request.drafter.sha256 if request.drafter else None,
        repr(sorted((name, str(value)) for name, value in options.items())),
        request.gates,
        request.precision,
        request.memory,
        request.placement.task_profile,
        request.placement.backend,
        request.placement.drafter_backend,
    )


def _records(workspace: Workspace, group_id: str) -> Iterator[RunRecord]:
    rows: list[RunRow] = list_runs(workspace.store, RunFilter(groups=(group_id,)), limit=None)
    for row in sorted(rows, key=lambda row: (row.run_order or 0, row.run_id)):
        if row.method == "calibrate":
            # Only a line feed ends a line: names may hold what else Python takes for the end of one.
            yield parse(StringIO(read_log(workspace.store, row).decode("utf-8", "surrogateescape"), newline="\n"))


def _samples_of(records: Sequence[RunRecord], window: str | None) -> list[Sample]:
    return [s for record in records if record.request.audio.window_id == window for s in record.samples]


def _window_share(records: Sequence[RunRecord], window: str | None) -> float:
    of_window = [record for record in records if record.request.audio.window_id == window]
    if any(record.status == "eos" for record in of_window):
        return 1.0
    if not of_window:
        return 0.0
    plan = plan_from({**of_window[-1].request.options, "done": {}})
    return share_done(plan, turns_done(_samples_of(records, window)))
