"""What does this device charge? A calibration is a job of a few windows; its profile is fitted when the job is over."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from as2d_core.calibration.fit import fit_profile
from as2d_core.calibration.plan import plan_from
from as2d_core.errors import As2dError, ProfileError
from as2d_core.profiles.profile import Profile
from as2d_core.protocol import parse
from as2d_core.records import RunRecord
from dashboard.services.profiles import keep_profile
from dashboard.services.requests import RunForm, build_request
from dashboard.services.workspace import Workspace
from datastore.export import read_log
from datastore.queries import RunFilter, list_runs
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.plan import new_id

WINDOWS = ("clean_06", "far_field_09", "long_00")
"""A short, a middle and a long recording: costs grow with the cache, and one profile stands for all."""
SECONDS_PER_REPETITION = 7.0
"""For all windows together, seen on a desktop core; an estimate for the person who waits."""
JOB_DEADLINE_S = 3600.0


@dataclass(slots=True)
class Calibration:
    """A calibration that runs or has run. ``profile`` or ``problem`` is there once ``over`` is set."""

    job: Job
    profile_id: str
    over: threading.Event = field(default_factory=threading.Event)
    profile: Profile | None = None
    problem: str | None = None
    """A sentence when there is no profile."""


def start_calibration(
    workspace: Workspace,
    profile_id: str = THIS_COMPUTER,
    device_id: str = THIS_COMPUTER,
    repetitions: int = 5,
    windows: Sequence[str] = WINDOWS,
    target: str | None = None,
    drafter: str | None = None,
) -> Calibration:
    """Measure every operation a replay charges; the profile is kept when the job has ended by itself.

    Args:
        profile_id: name under which the profile is kept, replacing the one before it.
        repetitions: formal repetitions of every cell; one warm-up comes before them.

    Raises:
        RequestError, ModelError, UnknownNameError: something cannot be as asked.
        DeviceBusyError: the device runs another job.
    """
    options = {"repetitions": repetitions, "episodes": repetitions}
    plan_from(options)
    group = new_id("g")
    requests = []
    for order, window_id in enumerate(windows):
        form = RunForm(method="as2d", window_id=window_id, target=target, drafter=drafter)
        request = build_request(workspace, form)
        requests.append(replace(request, method="calibrate", budget=None, options=options, group_id=group, order=order))
    job = workspace.jobs.submit(device_id, requests, title="Calibration")
    calibration = Calibration(job, profile_id)
    threading.Thread(target=_finish, args=(workspace, calibration, group), daemon=True, name="as2d-fit").start()
    return calibration


def expected_seconds(repetitions: int) -> float:
    """How long a calibration will take, roughly."""
    return SECONDS_PER_REPETITION * (repetitions + 1) + 8.0


def fit_stored(workspace: Workspace, group_id: str, profile_id: str) -> Profile:
    """Fit and keep the profile of a calibration whose streams are in the store.

    Raises:
        ProfileError: its runs are not complete, or lack a cost.
        UnknownNameError: there is no such group.
    """
    rows = list_runs(workspace.store, RunFilter(groups=(group_id,)), limit=None)
    records: list[RunRecord] = [
        parse(read_log(workspace.store, row).decode("utf-8", "surrogateescape").splitlines(keepends=True))
        for row in sorted(rows, key=lambda row: row.run_order or 0)
        if row.method == "calibrate"
    ]
    name = str(records[0].header.device.get("name", profile_id)) if records else profile_id
    profile = fit_profile(records, profile_id, name)
    keep_profile(workspace, profile)
    return profile


def _finish(workspace: Workspace, calibration: Calibration, group_id: str) -> None:
    try:
        if not calibration.job.wait(JOB_DEADLINE_S):
            calibration.job.cancel()
            raise ProfileError(f"The calibration did not end within {JOB_DEADLINE_S / 60:.0f} minutes.")
        if calibration.job.state != "done":
            raise ProfileError(
                calibration.job.error or f"The calibration is {calibration.job.state}; no profile is kept."
            )
        calibration.profile = fit_stored(workspace, group_id, calibration.profile_id)
    except As2dError as error:
        calibration.problem = str(error)
    finally:
        calibration.over.set()
