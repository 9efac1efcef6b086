"""Who runs what where? Jobs outlive the page that started them; one at a time on a device, devices side by side."""

import atexit
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from as2d_core.errors import As2dError, RequestError
from as2d_core.records import STOPS_BATCH
from as2d_core.request import Request
from device_bridge.devices import Device
from device_bridge.errors import (
    DeviceBusyError,
    DeviceError,
    JobsClosedError,
    LeftRunningError,
    RunnerLostError,
    RunnerSilentError,
    RunnerStartError,
    StreamWriteError,
    UnknownJobError,
    unknown_device,
)
from device_bridge.job import Job
from device_bridge.ledger import Ledger, LeftJob
from device_bridge.sendable import check_sendable
from device_bridge.streams import LiveRun

__all__ = ["Job", "JobManager"]

KEPT_JOBS = 200
CLOSE_WAIT_S = 15.0
LOSSES_IN_A_ROW = 2
"""So many runners lost one after the other, and the rest of a job is given up."""


class JobManager:
    """All jobs of this process. Every method may be called from any thread."""

    def __init__(
        self,
        incoming: Path,
        devices: Iterable[Device] = (),
        on_stream: Callable[[Path], None] = lambda _: None,
        find: Callable[[str], Device] | None = None,
    ) -> None:
        """Run jobs on ``devices``.

        Args:
            incoming: folder for ``<run_id>.ndjson``; made when it is missing.
            on_stream: called with the path of each stream that has ended or broken off, in the
                job's thread, before the job goes on.
            find: asked for a device that nobody has added; raises ``DeviceError`` when there is none.
        """
        self._incoming = incoming
        self._on_stream = on_stream
        self._find = find
        self._ledger = Ledger(incoming)
        self._devices: dict[str, Device] = {device.id: device for device in devices}
        self._jobs: dict[str, Job] = {}
        self._active: dict[str, Job] = {}
        self._held: dict[str, Callable[[], DeviceError]] = {}
        self._lock = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    # -- devices ------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """All devices, in the order they were added."""
        with self._lock:
            return list(self._devices.values())

    def add_device(self, device: Device) -> None:
        """Add a device, or put another in the place of one of the same id that runs nothing.

        Raises:
            DeviceBusyError: the device of that id runs a job.
            DeviceError: it is held.
        """
        with self._lock:
            self._refuse_if_busy(device.id)
            self._devices[device.id] = device

    def device(self, device_id: str) -> Device:
        """One device; one that was not added is looked for.

        Raises:
            UnknownDeviceError, DeviceError: there is none of this id, or it is not ready.
        """
        with self._lock:
            if device_id in self._devices or self._find is None:
                return self._device(device_id)
        found = self._find(device_id)  # may take its time
        with self._lock:
            return self._devices.setdefault(found.id, found)

    def hold(self, device_id: str, refusal: Callable[[], DeviceError]) -> None:
        """Keep a device, which nobody need have added yet, free of jobs until ``release``.

        Args:
            refusal: makes the error of whoever asks for the device meanwhile.

        Raises:
            DeviceBusyError: it runs a job.
            DeviceError: it is held already, and this is what its holder says.
            JobsClosedError: this program is about to end.
        """
        with self._lock:
            self._refuse_if_closed()
            self._refuse_if_busy(device_id)
            self._held[device_id] = refusal

    def release(self, device_id: str) -> None:
        """Jobs may begin again on a device that was held."""
        with self._lock:
            self._held.pop(device_id, None)

    # -- jobs ---------------------------------------------------------------------------------------

    def submit(
        self, device_id: str, requests: Sequence[Request], title: str = "", stop_after_s: float | None = None
    ) -> Job:
        """Start a job.

        Args:
            stop_after_s: begin no request later than this; what is left out then counts as done with.

        Raises:
            UnknownDeviceError: there is no such device.
            DeviceBusyError: it runs another job.
            DeviceError: somebody holds it, and this is what they say.
            RequestError: a request cannot be written down, or its run id is no file name or not new.
        """
        if not requests:
            raise RequestError("A job needs at least one request.")
        for request in requests:
            check_sendable(request)
        if len({request.run_id for request in requests}) != len(requests):
            raise RequestError("Two requests of the job have the same run id; give each its own.")
        try:
            self._incoming.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamWriteError(
                f"The folder {self._incoming} for incoming streams cannot be made ({error.strerror or error}); "
                "check the data folder."
            ) from error
        runs = [LiveRun(request, self._incoming) for request in requests]
        for run in runs:
            if run.path.exists():
                raise RequestError(f"There is a run {run.request.run_id} already; give the request another run id.")
        stop_at = None if stop_after_s is None else time.time() + stop_after_s
        return self._begin(device_id, runs, title or _title(requests), stop_at=stop_at)

    def left_jobs(self) -> list[LeftJob]:
        """Jobs that an earlier program left running on their devices, oldest first; those of this one are not there."""
        jobs, _ = self._ledger.read()
        with self._lock:
            return [job for job in jobs if job.job_id not in self._jobs]

    def left_problems(self) -> list[str]:
        """A sentence for each note about a job left running that cannot be read."""
        return self._ledger.read()[1]

    def resume(self, left: LeftJob) -> Job:
        """Follow a job that was left running: no line is lost, none is there twice, what had not begun is run.

        Raises:
            UnknownDeviceError: its device is not there.
            DeviceBusyError: that runs another job.
        """
        runs = [LiveRun(request, self._incoming, again=True) for request in left.remaining]
        if not runs:
            self._ledger.remove(left.job_id)
            raise RequestError(f"The job {left.title!r} has ended.")
        return self._begin(left.device_id, runs, left.title, left, left.stop_at)

    def forget(self, left: LeftJob) -> None:
        """Do not pick a job up that was left running; what it does on its device goes on."""
        self._ledger.remove(left.job_id)

    def job(self, job_id: str) -> Job:
        """One job of this process.

        Raises:
            UnknownJobError: there is none of this id.
        """
        with self._lock:
            if job_id in self._jobs:
                return self._jobs[job_id]
        raise UnknownJobError(f"There is no job {job_id!r} in this program.", "It may have been started by another.")

    def jobs(self) -> list[Job]:
        """Jobs of this process, latest first; the oldest finished ones are forgotten after a while."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def active(self, device_id: str) -> Job | None:
        """The job that runs on a device."""
        with self._lock:
            return self._active.get(device_id)

    def close(self) -> None:
        """Cancel what would end with us, let go of what goes on; also done when the interpreter exits."""
        with self._lock:
            self._closed = True
            running, devices = list(self._active.values()), list(self._devices.values())
        by_id = {device.id: device for device in devices}
        for job in running:
            if by_id[job.device_id].outlives:
                by_id[job.device_id].detach()
            else:
                job.cancel()
        for job in running:
            job.wait(CLOSE_WAIT_S)
        for device in devices:
            device.close()
        atexit.unregister(self.close)

    # -- inside -------------------------------------------------------------------------------------

    def _begin(
        self,
        device_id: str,
        runs: Sequence[LiveRun],
        title: str,
        left: LeftJob | None = None,
        stop_at: float | None = None,
    ) -> Job:
        device = self.device(device_id)
        with self._lock:
            self._refuse_if_closed()
            self._refuse_if_busy(device.id)
            job = Job(device, runs, title, left.job_id if left else None, stop_at)
            self._active[device.id] = job
            self._jobs[job.id] = job
            self._forget_old()
        note = left or LeftJob(job.id, device.id, title, tuple(run.request for run in runs), stop_at=stop_at)
        threading.Thread(target=self._work, args=(job, device, note), name=f"as2d-job-{job.id}", daemon=True).start()
        return job

    def _device(self, device_id: str) -> Device:
        if device_id not in self._devices:
            raise unknown_device(device_id, list(self._devices))
        return self._devices[device_id]

    def _refuse_if_busy(self, device_id: str) -> None:
        job = self._active.get(device_id)
        if job is not None:
            raise DeviceBusyError(job.device_name, job.id, job.title)
        refusal = self._held.get(device_id)
        if refusal is not None:
            held = refusal()
            raise held

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise JobsClosedError("Nothing can be started any more: this program is about to end.")

    def _forget_old(self) -> None:
        over = [job.id for job in self._jobs.values() if job.finished]
        for job_id in over[: max(0, len(self._jobs) - KEPT_JOBS)]:
            del self._jobs[job_id]

    def _work(self, job: Job, device: Device, note: LeftJob) -> None:
        job.state = "running"
        losses, over, left, timely = 0, False, False, True
        try:
            self._note(job, device, note)
            for run in job.runs:
                if job.cancelling.is_set() or losses >= LOSSES_IN_A_ROW or over or left:
                    run.state = "skipped"
                    continue
                timely = timely and (job.stop_at is None or time.time() < job.stop_at)
                if not timely:
                    run.state = "skipped"
                    continue
                try:
                    lost = self._run(job, device, run)
                except LeftRunningError as leaving:
                    run.state, job.error, left = "skipped", str(leaving), True
                    continue
                note = replace(note, done=(*note.done, run.request.run_id))
                self._note(job, device, note)
                losses = losses + 1 if lost else 0
                over = _ends_batch(run)
                if job.error is None and run.state == "failed":
                    job.error = run.error
        finally:
            for run in job.runs:
                if not run.ended:
                    run.state = "skipped"
            if left:
                job.state = "left"
            elif job.cancelling.is_set() and any(run.state in ("cancelled", "skipped") for run in job.runs):
                job.state = "cancelled"
            else:
                fine = ("done",) if timely or losses >= LOSSES_IN_A_ROW or over else ("done", "skipped")
                job.state = "done" if all(run.state in fine for run in job.runs) else "failed"
            try:
                self._let_go(job, device, left=left)
            finally:  # whatever happens here, the device is free for the next job
                with self._lock:
                    del self._active[job.device_id]
                job.over.set()

    def _let_go(self, job: Job, device: Device, *, left: bool) -> None:
        if not left:
            try:
                self._ledger.remove(job.id)
            except OSError as problem:
                job.warnings.append(f"The job may be picked up again after a restart, although it has ended: {problem}")
        try:
            device.rest()
        except Exception as problem:  # noqa: BLE001 - the job has ended, and so it must be said
            job.warnings.append(f"{job.device_name} was not left as it should be: {problem}")

    def _note(self, job: Job, device: Device, note: LeftJob) -> None:
        """Write down how far a job is that would go on without us."""
        if device.outlives:
            try:
                self._ledger.write(note)
            except OSError as problem:
                warning = f"The job cannot be picked up after a restart: {problem}"
                if warning not in job.warnings:
                    job.warnings.append(warning)

    def _run(self, job: Job, device: Device, run: LiveRun) -> bool:
        """Run one request to its end, good or bad; returns whether the runner was lost over it."""
        cancel = job.cancelling
        error: str | None = None
        lost = False
        try:
            device.run(run.request, run.take, cancel)
        except LeftRunningError:
            with suppress(StreamWriteError):
                run.close()
            raise
        except (RunnerLostError, RunnerStartError, RunnerSilentError) as problem:
            error, lost = str(problem), True
        except (As2dError, OSError) as problem:
            error = str(problem)
        except Exception as problem:  # noqa: BLE001 - whatever a device does, its run ends with a sentence
            error = f"The run was given up, by a mistake of this program: {type(problem).__name__}: {problem}."
        try:
            run.close()
        except StreamWriteError as problem:
            error = error or str(problem)
        record = run.record()
        if error is None and record is not None and record.problems:
            error = (
                f"The stream of run {run.request.run_id} is damaged, so it counts as incomplete: {record.problems[0]}."
            )
        if error is None and record is not None and record.end is not None:
            error = record.end.error
        status = "incomplete" if record is None else record.status
        run.error = error
        if record is not None:
            self._hand_on(job, run)
        if status in ("eos", "capped") and error is None:
            run.state = "done"
        else:
            run.state = "cancelled" if cancel.is_set() else "failed"
            run.error = error or ("It was cancelled." if status == "cancelled" else f"It ended as {status}.")
        return lost

    def _hand_on(self, job: Job, run: LiveRun) -> None:
        if not run.path.exists():
            job.warnings.append(f"The stream {run.path} was not taken over: it is not there any more.")
            return
        try:
            self._on_stream(run.path)
        except Exception as problem:  # noqa: BLE001 - whoever listens must not end the job; the file is kept
            job.warnings.append(f"The stream {run.path} was not taken over: {problem}")


def _ends_batch(run: LiveRun) -> bool:
    """Whether the run says that nothing after it may be measured: a core went off-line, say."""
    record = run.record()
    return record is not None and record.end is not None and bool(record.end.extra.get(STOPS_BATCH))


def _title(requests: Sequence[Request]) -> str:
    methods = ", ".join(dict.fromkeys(request.method for request in requests))
    return methods if len(requests) == 1 else f"{len(requests)} runs ({methods})"
