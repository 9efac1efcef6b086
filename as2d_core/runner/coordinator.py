"""Owns the protocol of a device: takes requests, keeps the model processes, writes every run to its end.

It loads no MNN, so that nothing a model does can break a stream: when the target process crashes,
hangs or is killed, the run still ends with a line that says so.
"""

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

from as2d_core import __version__
from as2d_core.clock import NAME as CLOCK
from as2d_core.conditions import lost_cores
from as2d_core.errors import As2dError
from as2d_core.methods.base import Outcome
from as2d_core.protocol import Writer
from as2d_core.records import SCHEMA_VERSION, STOPS_BATCH, Mark, Round, RunHeader
from as2d_core.request import Request
from as2d_core.runner import target_worker
from as2d_core.runner.cancellations import Cancellations
from as2d_core.runner.check import check_request
from as2d_core.runner.device import device_facts
from as2d_core.runner.exit_reason import exit_reason
from as2d_core.runner.job import TESTED, TESTING
from as2d_core.runner.placement import pool_of_target
from as2d_core.runner.sensors import Sensors
from as2d_core.runner.telemetry import Telemetry

SILENCE_DEADLINE_S = 120.0
"""Longest time without any event: loading, width self-test and prefill stay far below it."""
CANCEL_DEADLINE_S = 5.0
LEAVE_DEADLINE_S = 5.0
LEAST_POLL_S = 0.01


class Coordinator:
    """Runs requests one after the other; the models stay resident between them."""

    def __init__(
        self,
        write: Callable[[str], None],
        silence_deadline_s: float = SILENCE_DEADLINE_S,
        sensors: Sensors | None = None,
    ) -> None:
        """``write`` takes one line with its newline and flushes it; ``sensors`` are this device's own."""
        self._write = write
        self._sensors = sensors or Sensors()
        self._silence_deadline_s = silence_deadline_s
        self._process: Any = None
        self._pipe: Connection | None = None
        self._cancellations = Cancellations()
        self._pool: tuple[int, tuple[int, ...]] | None = None
        """Number and cores of the target's threads, where it has had several."""
        self._widest: dict[str, int] = {}
        """Of each target (by hash) the widest verification that did not end its process."""
        self.batch_over: str | None = None
        """A sentence once something happened after which no further run of a batch may be measured."""

    @property
    def target_pid(self) -> int | None:
        """Process id of the target process while there is one."""
        return None if self._process is None else self._process.pid

    def expect(self, run_id: str) -> None:
        """A request has been read and will be run: from now on it can be cancelled by its id."""
        self._cancellations.expect(run_id)

    def cancel(self, run_id: str | None = None) -> None:
        """End one run at its next round, or the present and all later ones (``None``, signal-safe)."""
        if run_id is None:
            self._cancellations.cancel_all()
        else:
            self._cancellations.cancel(run_id)

    def run(self, request: Request) -> str:
        """Run one request, write its whole stream; returns the status of its ``end`` line.

        Raises:
            OSError: the stream cannot be written.
        """
        try:
            return self._run(request)
        finally:
            self._cancellations.forget(request.run_id)

    def _run(self, request: Request) -> str:
        writer = Writer(self._write)
        problem: str | None = None
        job = None
        try:
            job = check_request(request)
        except As2dError as error:
            problem = str(error)
        except OSError as error:
            problem = f"A file of the request cannot be read: {error}."
        writer.add(
            RunHeader(
                schema_version=SCHEMA_VERSION,
                run_id=request.run_id,
                request=job.request if job is not None else request,
                device=device_facts(),
                versions={"as2d": __version__},
                clock=CLOCK,
                created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
        )
        if job is None:
            return writer.end("failed", 0, error=problem).status
        if self._cancellations.wanted(request.run_id):
            return writer.end("cancelled", 0).status
        relay = _Relay(writer)
        try:
            outcome, text, problem = self._relay_past_deadly_widths(job, relay)
        except _CoreLostError as error:
            self.batch_over = str(error)
            return writer.end("failed", relay.tokens, error=str(error), extra={STOPS_BATCH: True}).status
        except _TargetLostError as error:
            return writer.end(error.status, relay.tokens, error=str(error)).status
        if outcome is None:
            return writer.end("failed", relay.tokens, error=problem).status
        return writer.end(outcome.status, len(outcome.tokens), text, outcome.error).status

    def close(self) -> None:
        """Let the model processes end."""
        if self._process is None:
            return
        if self._pipe is not None:
            self._pipe.close()
        self._process.join(LEAVE_DEADLINE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(LEAVE_DEADLINE_S)
        self._process = self._pipe = None

    def _relay_past_deadly_widths(self, job: Any, relay: "_Relay") -> tuple[Outcome | None, str | None, str | None]:
        """Run a job; a width that ends the process in the self-test twice is left out, with everything wider.

        Twice, because a process may end for another reason in that moment. A calibration tries that width
        itself, and keeps it as failed.
        """
        model = job.target.sha256
        last: int | None = None
        while True:
            try:
                return self._relay(replace(job, widest=self._widest.get(model)), relay)
            except _TargetLostError as error:
                width, relay.testing = relay.testing, None
                if error.status == "cancelled" or width is None or width == 1:
                    raise
                if width == last:
                    self._widest[model] = width - 1
                elif last is not None:
                    raise  # here one time, there another: it is not the width
                last = None if width == last else width

    def _relay(self, job: Any, relay: "_Relay") -> tuple[Outcome | None, str | None, str | None]:
        run_id = job.request.run_id
        pipe = self._hand_over(job)
        heard = time.monotonic()
        cancelled_at: float | None = None
        telemetry = Telemetry(self._sensors)
        online: int | None = None
        while True:
            message = None
            try:
                if cancelled_at is None and self._cancellations.wanted(run_id):
                    cancelled_at = time.monotonic()
                    pipe.send(("cancel",))
                if pipe.poll(max(LEAST_POLL_S, telemetry.wait_s())):
                    message = pipe.recv()
            except (EOFError, OSError) as error:
                raise self._lost(relay.stage) from error
            if message is not None:
                heard = time.monotonic()
                if message[0] == "done":
                    return message[1], message[2], message[3]
                relay.add(message[1])
            reading = telemetry.due()
            if reading is not None:
                relay.add([reading])
                online = reading.online_mask if online is None else online | (reading.online_mask or 0)
                gone = lost_cores(online, reading.online_mask)
                if gone and relay.measuring:
                    self._kill()
                    raise _CoreLostError(
                        f"Core {', '.join(map(str, gone))} went off-line during the run; it was stopped, and so is "
                        "its batch. Let the device cool down, then go on."
                    )
            if cancelled_at is not None and time.monotonic() - cancelled_at > CANCEL_DEADLINE_S:
                self._kill()
                raise _TargetLostError(
                    f"The run was cancelled while it was {relay.stage}; the models were stopped.", "cancelled"
                )
            if time.monotonic() - heard > self._silence_deadline_s:
                self._kill()
                raise _TargetLostError(
                    f"The target did not answer for {self._silence_deadline_s:g} s while it was {relay.stage}; "
                    "it was stopped."
                )

    def _hand_over(self, job: Any) -> Connection:
        """Give the target process its next run; one that died, or whose threads are others, is replaced."""
        pool = pool_of_target(job.placement)
        if pool is not None and pool != self._pool:
            self.close()
            self._pool = pool
        try:
            return self._offer(job)
        except (EOFError, OSError):
            self._lost("idle")
        try:
            return self._offer(job)
        except (EOFError, OSError) as error:
            raise self._lost("starting") from error

    def _offer(self, job: Any) -> Connection:
        pipe = self._connect()
        pipe.send(("run", job))
        if not pipe.poll(self._silence_deadline_s):
            self._kill()
            raise _TargetLostError(
                f"The target did not answer for {self._silence_deadline_s:g} s while it was starting; it was stopped."
            )
        pipe.recv()  # it says that it has taken the run, before anything can go wrong with it
        return pipe

    def _connect(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        context = multiprocessing.get_context("spawn")
        near, far = context.Pipe()
        # Not a daemon: it has a child of its own, the drafter.
        process = context.Process(target=target_worker.main, args=(far,), name="as2d-target")
        process.start()
        far.close()
        self._process, self._pipe = process, near
        return near

    def _kill(self) -> None:
        self._process.kill()
        self._process.join(LEAVE_DEADLINE_S)
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _lost(self, stage: str) -> "_TargetLostError":
        code = None
        if self._process is not None:
            self._process.join(1.0)
            code = self._process.exitcode
        self._process = self._pipe = None
        return _TargetLostError(f"The target process ended while it was {stage}: {exit_reason(code)}.")


class _TargetLostError(As2dError):
    """The target process is gone; ``status`` is how the run ends."""

    def __init__(self, message: str, status: str = "failed") -> None:
        super().__init__(message)
        self.status = status


class _CoreLostError(As2dError):
    """A core went off-line: what is measured from now on is another device."""


class _Relay:
    """Writes events and remembers how far the run got."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.tokens = 0
        self.stage = "loading the models and testing widths"
        self.testing: int | None = None
        """Width that the self-test tries for the first time now."""

    @property
    def measuring(self) -> bool:
        """Whether the run has come to what is measured."""
        return self.stage == "decoding"

    def add(self, events: list[Any]) -> None:
        for event in events:
            match event:
                case Mark() if event.name == "decode_start":
                    self.stage, self.tokens = "decoding", 1
                case Round():
                    self.tokens += len(event.committed)
                case Mark() if event.name.startswith(TESTING):
                    self.testing = int(event.name.removeprefix(TESTING))
                case Mark() if event.name == TESTED:
                    self.testing = None
                case _ if event.kind == "engine":
                    self.stage = "preparing the audio"
                case _:
                    pass
            self._writer.add(event)
