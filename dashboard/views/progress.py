"""How far is a job, in one sentence and one bar?"""

from dataclasses import dataclass

from dashboard.views import numbers
from device_bridge.jobs import Job


@dataclass(frozen=True, slots=True)
class ProgressInfo:
    """A job as a reader follows it."""

    sentence: str
    share: float
    """Requests that have ended, and within the current one the share of the output cap; 0 to 1."""


def progress_info(job: Job) -> ProgressInfo:
    """Where a job stands now."""
    done, total = job.progress.done, job.progress.total
    run = job.current
    inside = 0.0
    if run is not None and (record := run.record()) is not None:
        # Nobody knows how long the output will be; speech has about four tokens a second with these models.
        expected = min(run.request.max_tokens, 8.0 * (run.request.audio.duration_s or 10.0))
        inside = min(len(record.tokens) / max(expected, 1.0), 0.95)
    share = min((done + inside) / max(total, 1), 1.0)
    return ProgressInfo(f"{job.stage}", 1.0 if job.finished else share)


def ended_sentence(job: Job) -> str:
    """What a finished job left behind."""
    return f"{job.title}: {job.state}, {numbers.counted(job.progress.done, 'run')}."
