"""What is a job? Requests that run in order on one device, watched and cancelled from any thread."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from device_bridge.devices import Device
from device_bridge.plan import new_id
from device_bridge.streams import LiveRun

JobState = Literal["queued", "running", "done", "failed", "cancelled", "left"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is."""

    done: int
    """Requests that have ended, in whatever way."""
    total: int


class Job:
    """Requests that run in order on one device. Any thread may look, wait and cancel."""

    def __init__(
        self,
        device: Device,
        runs: Sequence[LiveRun],
        title: str,
        job_id: str | None = None,
        stop_at: float | None = None,
    ) -> None:
        self.id = job_id or new_id("j")
        self._device = device
        self.device_id = device.id
        self.device_name = device.name
        self.title = title
        self.created_at = datetime.now(UTC)
        self.runs = tuple(runs)
        self.stop_at = stop_at
        """No request is begun after this instant (seconds since 1970); ``None`` = all are run."""
        self.state: JobState = "queued"
        self.error: str | None = None
        """A sentence about the first request that failed."""
        self.warnings: list[str] = []
        """Sentences about what went wrong beside the runs: a stream that could not be taken over, say."""
        self.cancelling = threading.Event()
        """Set once somebody asked it to end."""
        self.over = threading.Event()
        """Set once everything has ended and was handed on."""

    @property
    def finished(self) -> bool:
        return self.over.is_set()

    @property
    def current(self) -> LiveRun | None:
        """The request that runs now, or the next one; ``None`` when all have ended."""
        return next((run for run in self.runs if not run.ended), None)

    @property
    def notice(self) -> str:
        """A sentence about the device that whoever waits should know, such as that it is out of reach; else empty."""
        return "" if self.finished else self._device.notice

    @property
    def progress(self) -> Progress:
        return Progress(sum(run.ended for run in self.runs), len(self.runs))

    @property
    def stage(self) -> str:
        """One sentence: what is happening."""
        total, run = len(self.runs), self.current
        if self.finished or run is None:
            return f"{self.title}: {self.state}." if self.error is None else f"{self.title}: {self.error}"
        if self.cancelling.is_set():
            return f"Cancelling on {self.device_name}."
        if self.notice:
            return self.notice
        clause = run.stage()
        if total == 1:
            return f"{clause[0].upper()}{clause[1:]}."
        warm_up = ", warm-up" if run.request.warm_up else ""
        return f"Run {self.progress.done + 1} of {total} ({run.request.method}{warm_up}): {clause}."

    def cancel(self) -> None:
        """Ask it to end; what has been run is kept. Returns at once."""
        self.cancelling.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is over, its last stream handed on; returns whether it is."""
        return self.over.wait(timeout_s)
