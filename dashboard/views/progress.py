"""How far is a job, in one sentence and one bar?"""

from dataclasses import dataclass

from as2d_core.calibration.plan import plan_from, share_done, turns_done
from as2d_core.errors import As2dError
from as2d_core.records import RunRecord
from as2d_core.request import Request
from as2d_core.runner.device import device_facts
from dashboard.views import numbers
from dashboard.views.theme import method_of
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.streams import LiveRun

ENOUGH_CORES = 4
TOKENS_A_SECOND = 8.0
"""More tokens than a second of speech gives; how long an output will be, nobody knows before its end."""

FEW_CORES_NOTE = (
    "This computer has so few cores that a page which shows a run slows it down. For figures, let several repetitions "
    "run while no page shows them: a job goes on when its page is closed."
)


def few_cores() -> bool:
    """Whether the page, the browser and both models have to share cores."""
    return (device_facts().get("logical_cores") or 0) < ENOUGH_CORES


def slowed_by_a_page(job: Job) -> bool:
    """The same for a job, which may run on a phone's own cores; a virtual phone has this computer's."""
    first = next((record for run in job.runs if (record := run.record()) is not None), None)
    virtual = first is not None and bool(first.header.device.get("virtual"))
    return (job.device_id == THIS_COMPUTER or virtual) and few_cores()


@dataclass(frozen=True, slots=True)
class ProgressInfo:
    """A job as a reader follows it. Plain text."""

    sentence: str
    detail: str
    """What takes longer than one would think, and why."""
    share: float
    """Requests that have ended, and within the current one what is probably decoded of it; 0 to 1."""


def progress_info(job: Job) -> ProgressInfo:
    """Where a job stands now."""
    run = job.current
    if job.finished or run is None:
        return ProgressInfo(f"{_title(job)}: {job.state}.", "", 1.0)
    if job.cancelling.is_set():
        return ProgressInfo(f"Cancelling on {job.device_name}.", "What has been run is kept.", _share(job, run))
    if job.notice:
        return ProgressInfo(job.notice, "", _share(job, run))
    done, total = job.progress.done, job.progress.total
    clause, detail = run.stage(), ""
    record = run.record()
    if run.request.target.exact_widths is None and (record is None or not record.engines):
        clause = "loading the models and testing which widths are exact on this processor"
        detail = "The test takes 5 to 10 s, once for a model on a processor."
        if job.device_id != THIS_COMPUTER:
            clause = "loading the models, and at their first use testing which widths are exact"
            detail = "A phone keeps what the test finds, for each model and runner."
    turn = f"Run {done + 1} of {total}, " if total > 1 else ""
    warm_up = " (warm-up)" if run.request.warm_up else ""
    return ProgressInfo(f"{turn}{_name(run.request)}{warm_up}: {clause}.", detail, _share(job, run))


def _title(job: Job) -> str:
    """What a job was about: one run by its method, several by their number."""
    requests = [run.request for run in job.runs]
    windows = {request.audio.window_id or "a recording" for request in requests}
    where = f" on {next(iter(windows))}" if len(windows) == 1 else ""
    what = _name(requests[0]) if len(requests) == 1 else numbers.counted(len(requests), "run")
    return f"{what}{where}"


def _name(request: Request) -> str:
    return method_of(request)


def _share(job: Job, run: LiveRun) -> float:
    record = run.record()
    inside = 0.0
    if record is not None:
        if run.request.method == "calibrate":
            return min((job.progress.done + _measured(record)) / max(job.progress.total, 1), 1.0)
        expected = min(run.request.max_tokens, TOKENS_A_SECOND * (run.request.audio.duration_s or 10.0))
        inside = min(len(record.tokens) / max(expected, 1.0), 0.95)
    return min((job.progress.done + inside) / max(job.progress.total, 1), 1.0)


def _measured(record: RunRecord) -> float:
    """Share of a calibration that is measured, by this run or before it."""
    try:
        plan = plan_from(record.request.options)
    except As2dError:
        return 0.0  # another program's
    return share_done(plan, turns_done(record.samples, plan.done))
