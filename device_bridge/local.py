"""How does a request run on this computer? Its runner is a child process that is kept warm between requests."""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import as2d_core
from as2d_core.protocol import request_to_json
from as2d_core.request import Request
from device_bridge.devices import Limits
from device_bridge.errors import RunnerLostError, RunnerSilentError, RunnerStartError
from device_bridge.process import RunnerProcess

THIS_COMPUTER = "this-computer"
TICK_S = 0.1
REPEAT_CANCEL_S = 0.5


class LocalDevice:
    """Runs requests in ``python -m as2d_core.runner``, the very program that runs on a phone."""

    def __init__(
        self,
        device_id: str = THIS_COMPUTER,
        name: str = "This computer",
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """``command`` starts another program that speaks the runner protocol."""
        self.id = device_id
        self.name = name
        self.limits = limits or Limits()
        self._command = list(command) if command else [sys.executable, "-m", "as2d_core.runner"]
        self._process: RunnerProcess | None = None
        self._idle: threading.Timer | None = None
        self._runs = 0
        self._lock = threading.Lock()

    outlives = False
    """The runner is a child of this program."""
    notice = ""

    @property
    def runner_pid(self) -> int | None:
        """Process id of the runner while there is one."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    def run(self, request: Request, take: Callable[[bytes], bool], cancel: threading.Event) -> None:
        """See ``devices.Device.run``."""
        process = self._ready()
        process.drop_lines()
        process.send(json.dumps(request_to_json(request)))
        try:
            self._follow(process, request.run_id, take, cancel)
        except BaseException:
            process.kill()  # whatever went wrong, it must not go on unwatched
            raise
        if process.leaving:
            process.leave(self.limits.terminate_s)

    def detach(self) -> None:
        """See ``devices.Device.detach``: nothing here could be left running."""

    def rest(self) -> None:
        """See ``devices.Device.rest``."""
        with self._lock:
            self._stop_timer()
            if self._process is not None:
                self._idle = threading.Timer(self.limits.idle_s, self._close_when_idle, [self._process, self._runs])
                self._idle.daemon = True
                self._idle.start()

    def close(self) -> None:
        """End the runner; the next request starts a new one."""
        with self._lock:
            self._stop_timer()
            process, self._process = self._process, None
        if process is not None:
            process.leave(self.limits.terminate_s)

    def _close_when_idle(self, process: RunnerProcess, runs: int) -> None:
        with self._lock:
            if (self._process, self._runs) != (process, runs):
                return  # a request came while the timer was going off
            self._process = None
        process.leave(self.limits.terminate_s)

    def _ready(self) -> RunnerProcess:
        """The warm runner, or a new one."""
        with self._lock:
            self._stop_timer()
            self._runs += 1
            if self._process is not None and self._process.alive:
                return self._process
            if self._process is not None:
                self._process.kill()  # it went by itself: end what it may have left behind
            self._process = RunnerProcess(self._command, _environment())
            return self._process

    def _stop_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _follow(
        self, process: RunnerProcess, run_id: str, take: Callable[[bytes], bool], cancel: threading.Event
    ) -> None:
        started = heard = time.monotonic()
        stopper = _Stopper(process, run_id, self.limits)
        while True:
            if cancel.is_set():
                stopper.step()
            try:
                line = process.next_line(TICK_S)
            except queue.Empty:  # only now: when it is us who were frozen, what it said meanwhile is there
                self._check_deadlines(started, heard)
                continue
            if line is None:
                raise self._lost(process)
            heard = time.monotonic()
            if take(line):
                return
            self._check_deadlines(started, heard)

    def _check_deadlines(self, started: float, heard: float) -> None:
        now = time.monotonic()
        if now - heard > self.limits.silence_s:
            raise RunnerSilentError(
                f"The runner on {self.name} said nothing for {self.limits.silence_s:g} s and was stopped.",
                "Try the request again; if it happens again, check the model.",
            )
        if now - started > self.limits.request_s:
            raise RunnerSilentError(
                f"The request took longer than {self.limits.request_s:g} s on {self.name} and was stopped.",
                "Ask for less at once.",
            )

    def _lost(self, process: RunnerProcess) -> RunnerLostError | RunnerStartError:
        reason = process.farewell()
        if not process.heard:
            return RunnerStartError(
                f"The runner on {self.name} ended before it said anything: {reason}.",
                "Check the installation with: python -m as2d_core.runner --describe",
            )
        return RunnerLostError(
            f"The runner on {self.name} ended during the run: {reason}.", "The next request starts a new one."
        )


class _Stopper:
    """Ends a run ever more firmly: a cancel line, then a signal, then the end of the whole process group."""

    def __init__(self, process: RunnerProcess, run_id: str, limits: Limits) -> None:
        self._process, self._line, self._limits = process, json.dumps({"cancel": run_id}), limits
        self._began: float | None = None
        self._next_line = 0.0

    def step(self) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = now
        waited = now - self._began
        if waited > self._limits.cancel_s + self._limits.terminate_s:
            self._process.kill()
        elif waited > self._limits.cancel_s:
            if not self._process.leaving:
                self._process.terminate()
        elif now >= self._next_line:
            # Said again and again: a runner that is still checking the request does not know its run yet.
            self._process.send(self._line)
            self._next_line = now + REPEAT_CANCEL_S


def _environment() -> dict[str, str]:
    """Ours, so that the child finds the packages from any working folder when they are not installed."""
    environment = dict(os.environ)
    root = Path(as2d_core.__file__).resolve().parent.parent
    if root.name not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), environment.get("PYTHONPATH", "")]))
    return environment
