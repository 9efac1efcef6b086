"""How is a run on a phone followed? Line by line, from a byte on, through every break of the connection."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any, Protocol, TypeVar

from as2d_core.protocol import MAX_LINE_BYTES
from device_bridge.adb.phone import AdbPhone
from device_bridge.devices import Limits
from device_bridge.errors import (
    AdbServerDownError,
    CommandTimeoutError,
    DeviceError,
    LeftRunningError,
    NoPermissionError,
    OfflineError,
    PhoneLostError,
    PhoneNotFoundError,
    RunnerLostError,
    RunnerSilentError,
    RunnerStartError,
    UnauthorizedError,
    explain_exit,
)
from device_bridge.retrying import NO_RETRY, Retry
from device_bridge.sessions import Session, end_code
from device_bridge.storage import storage_problem

TICK_S = 0.2
PROBE_S = 10.0
REPEAT_CANCEL_S = 1.0
RECONNECT = Retry(first_wait_s=0.05, longest_wait_s=2.0)
AWAY = (
    AdbServerDownError,
    CommandTimeoutError,
    NoPermissionError,
    OfflineError,
    PhoneLostError,
    PhoneNotFoundError,
    UnauthorizedError,
)
"""What is said about a phone that may come back."""
Take = Callable[[bytes], bool]
Result = TypeVar("Result")


class Followed(Protocol):
    """The device whose run it is."""

    name: str
    phone: AdbPhone
    limits: Limits
    notice: str


class Absence:
    """A phone that is out of reach while something is to be done there: whoever waits is told, and not for ever."""

    def __init__(
        self, device: Followed, cancel: threading.Event, detached: threading.Event, meanwhile: str, hint: str
    ) -> None:
        """``meanwhile`` says, as a clause, what becomes of the run; ``hint`` what to do when it is given up."""
        self._device, self._cancel, self._detached = device, cancel, detached
        self._meanwhile, self._hint = meanwhile, hint
        self._since: float | None = None

    def noted(self, error: DeviceError) -> None:
        """The phone was out of reach just now.

        Raises:
            RunnerLostError: for too long, or the run was cancelled.
            LeftRunningError: this program is about to end.
        """
        name, limits, now = self._device.name, self._device.limits, time.monotonic()
        if self._since is None:
            self._since = now
        away = now - self._since
        self._device.notice = f"{name} is out of reach for {away:.0f} s; {self._meanwhile}. {error}"
        if self._detached.is_set():
            raise left_running(name)
        longest = limits.away_s
        if self._cancel.is_set():
            longest = min(longest, limits.cancel_s + limits.terminate_s)
        if away > longest:
            raise RunnerLostError(f"{name} has been out of reach for {away:.0f} s ({error}).", self._hint)

    def over(self) -> float | None:
        """It is here; returns for how many seconds it was not, ``None`` when it was here all the time."""
        if self._since is None:
            return None
        away, self._since = time.monotonic() - self._since, None
        self._device.notice = ""
        return away


def when_in_reach(
    call: Callable[[], Result], device: Followed, cancel: threading.Event, detached: threading.Event
) -> Result:
    """Do what begins a run, again while the phone is out of reach; ``call`` may be repeated at whatever point.

    Raises:
        As ``call`` and ``Absence.noted``.
    """
    absence = Absence(device, cancel, detached, "the run begins when it is back", "Connect it and try again.")
    wait_s = RECONNECT.first_wait_s
    while True:
        try:
            result = call()
        except AWAY as error:
            if cancel.is_set():
                raise
            absence.noted(error)
        else:
            absence.over()
            return result
        cancel.wait(wait_s)
        wait_s = min(wait_s * 2, RECONNECT.longest_wait_s)


def left_running(name: str) -> LeftRunningError:
    """The error for a run that is left to the phone."""
    return LeftRunningError(f"The run goes on on {name}.", "It is picked up when this program is started again.")


class Follower:
    """Reads one run's lines, through breaks of the connection, and ends the run when that is asked for."""

    def __init__(
        self,
        device: Followed,
        session: Session,
        offset: int,
        run_id: str,
        cancel: threading.Event,
        detached: threading.Event,
    ) -> None:
        self.offset = offset
        """Byte up to which lines have been handed on."""
        self._device, self._session = device, Session(device.phone, session.id, NO_RETRY)
        self._run_id, self._cancel, self._detached = run_id, cancel, detached
        self._limits = device.limits
        self._buffer = bytearray()
        self._heard_any = False
        self._heard = self._probed = time.monotonic()
        self._deadline = self._heard + self._limits.request_s
        self._absence = Absence(
            device,
            cancel,
            detached,
            "its run goes on",
            "Connect it again; what runs there can be ended on the Devices page or with: as2d phone cancel",
        )
        self._cancel_began: float | None = None
        self._cancel_said = 0.0
        self._terminated = False
        self._doubted = False
        """Whether the runner may have ended while the phone was away: it is to be asked about soon."""

    def follow(self, take: Take) -> None:
        """Hand every line on; return after the last one of the run."""
        wait_s = RECONNECT.first_wait_s
        while True:
            try:
                with closing(self._session.read(self.offset, TICK_S)) as output:
                    for kind, data in output:
                        self._is_here()
                        wait_s = RECONNECT.first_wait_s
                        if kind == "out":
                            self._buffer += data
                            for line in self._lines():
                                if take(line):
                                    return
                        self._check(take, idle=kind == "idle")
                self._probe(take)  # what reads on the phone was ended: is the runner there?
            except (RunnerLostError, RunnerSilentError):
                raise
            except DeviceError as error:
                if not (error.retryable or isinstance(error, UnauthorizedError | NoPermissionError)):
                    raise
                self._absence.noted(error)
            self._buffer.clear()  # it is read again
            if self._cancel.is_set():
                time.sleep(min(wait_s, TICK_S))
            else:
                self._cancel.wait(wait_s)
            wait_s = min(wait_s * 2, RECONNECT.longest_wait_s)

    def _lines(self) -> Iterator[bytes]:
        """The whole lines that have come; each counts as handed on when the next one is asked for."""
        while True:
            if self._buffer.startswith(b"\n") and b"\n" not in self._buffer[1:]:
                return  # perhaps the one that the end of the session begins with
            end = self._buffer.find(b"\n") + 1
            if not end:
                break
            line = bytes(self._buffer[:end])
            rest = bytes(self._buffer[end : end + 60])
            if line == b"\n" and rest.startswith(b'{"as2d_session_end"'):
                del self._buffer[:end]
                self.offset += end
                continue
            code = end_code(line)
            if code is not None:
                raise self._ended(code)
            del self._buffer[:end]
            self.offset += end
            self._heard, self._heard_any = time.monotonic(), True
            yield line
        if len(self._buffer) > MAX_LINE_BYTES:
            raise RunnerLostError(
                f"The runner on {self._device.name} was stopped for a line of more than {MAX_LINE_BYTES} bytes.",
                "The next request starts a new one.",
            )

    def _check(self, take: Take, *, idle: bool) -> None:
        """What is to be looked at again and again while the phone is there."""
        now = time.monotonic()
        if self._detached.is_set():
            raise left_running(self._device.name)
        if self._cancel.is_set():
            self._stop(now)
        limits = self._limits
        if now - self._heard > limits.silence_s:
            raise RunnerSilentError(
                f"The runner on {self._device.name} said nothing for {limits.silence_s:g} s and was stopped.",
                "Try the request again; if it happens again, check the model.",
            )
        if now > self._deadline:
            raise RunnerSilentError(
                f"The request took longer than {limits.request_s:g} s on {self._device.name} and was stopped.",
                "Ask for less at once.",
            )
        due = now - max(self._heard, self._probed) > min(PROBE_S, limits.silence_s / 4)
        if idle and (due or self._doubted):
            self._probe(take)

    def _probe(self, take: Take) -> None:
        """Look whether the runner is alive; hand on what is left when it is not."""
        self._probed, self._doubted = time.monotonic(), False
        state = self._session.state()
        if state.alive or state.size_bytes > self.offset + len(self._buffer):
            return
        if self._buffer.strip():
            rest = bytes(self._buffer)
            self.offset += len(rest)
            self._buffer.clear()
            take(rest)
        raise self._ended(state.exit_code)

    def _stop(self, now: float) -> None:
        """End the run ever more firmly: a cancel line, then a signal, then the end of the whole group."""
        if self._cancel_began is None:
            self._cancel_began = now
        waited = now - self._cancel_began
        patience = self._limits.cancel_s + self._limits.terminate_s
        if waited > patience + self._limits.cancel_s:
            raise RunnerLostError(
                f"The run on {self._device.name} was cancelled while its lines were still on their way.",
                "What has arrived is kept.",
            )
        if waited > patience:
            self._session.signal("KILL")
            self._probe(lambda _: True)
        elif waited > self._limits.cancel_s:
            if not self._terminated:
                self._session.signal("TERM")
                self._terminated = True
        elif now - self._cancel_said > REPEAT_CANCEL_S:
            # Said again and again: a runner that is still checking the request does not know its run yet.
            with suppress(RunnerLostError):  # a full phone: a signal follows
                self._session.say(json.dumps({"cancel": self._run_id}))
            self._cancel_said = now

    def _is_here(self) -> None:
        away = self._absence.over()
        if away is not None:
            self._heard += away
            self._deadline += away
            self._doubted = True

    def _ended(self, code: int | None) -> RunnerLostError | RunnerStartError:
        full = storage_problem(self._device.phone)
        if full is not None:  # then neither the runner nor its shell could say how it ended
            kind = RunnerLostError if self._heard_any else RunnerStartError
            return kind(f"The runner on {self._device.name} ended: {full.clause}.", full.hint)
        reason = "it does not run any more" if code is None else explain_exit(code)
        words = quietly(self._session.last_words) or ""
        if words and code is not None and (code < 128 or code == 134):
            reason = f"{reason}; its last words: {words.rstrip('.')}"
        if not self._heard_any:
            return RunnerStartError(
                f"The runner on {self._device.name} ended before it said anything: {reason}.",
                "Check the phone with: as2d phone doctor",
            )
        return RunnerLostError(
            f"The runner on {self._device.name} ended during the run: {reason}.", "The next request starts a new one."
        )


def quietly(call: Callable[[], Any]) -> Any:
    """Do what can be done without; a phone that is away is seen by whoever needs it."""
    try:
        return call()
    except DeviceError:
        return None
