"""How does a request run on a phone? In a session that goes on there, whatever happens to the connection or to us."""

import json
import os
import posixpath
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import psutil

from as2d_core.protocol import MAX_LINE_BYTES, request_to_json
from as2d_core.records import Request
from device_bridge.adb.phone import AdbPhone
from device_bridge.devices import Limits
from device_bridge.errors import (
    DeviceError,
    LeftRunningError,
    NoPermissionError,
    PhoneBusyError,
    RunnerLostError,
    RunnerSilentError,
    RunnerStartError,
    UnauthorizedError,
    explain_exit,
)
from device_bridge.plan import new_id
from device_bridge.retrying import NO_RETRY, Retry
from device_bridge.sessions import RunnerCommand, Session, end_code, end_session, find_run, find_sessions
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.stay_awake import StayAwake
from device_bridge.storage import storage_problem

TICK_S = 0.2
PROBE_S = 10.0
REPEAT_CANCEL_S = 1.0
RECONNECT = Retry(first_wait_s=0.05, longest_wait_s=2.0)
TIDY_UP = Retry(attempts=2)
Take = Callable[[bytes], bool]
Prepare = Callable[[Request, threading.Event], Request]


class PhoneDevice:
    """A phone that runs requests. Its runner stays resident between them."""

    outlives = True

    def __init__(
        self,
        phone: AdbPhone,
        name: str,
        runner: Callable[[], RunnerCommand],
        prepare: Prepare = lambda request, _cancel: request,
        limits: Limits | None = None,
        device_id: str | None = None,
    ) -> None:
        """Nothing is done on the phone before the first request.

        Args:
            device_id: name of the phone among devices, whichever connection it has; default: its connection's.
            runner: says how the runner is started; may set the phone up first.
            prepare: brings what the request names to the phone, and names it as it lies there.
        """
        self.id = device_id or phone.id
        self.name = name
        self.phone = phone
        self.limits = limits or Limits()
        self.notice = ""
        self._runner, self._prepare = runner, prepare
        self._session: Session | None = None
        self._offset = 0
        self._runs = 0
        self._idle: threading.Timer | None = None
        self._cwd = PHONE_ROOT
        self._detached = threading.Event()
        self._lock = threading.Lock()
        self._awake: StayAwake | None = None

    @property
    def session_id(self) -> str | None:
        """The session on the phone while there is one of ours."""
        session = self._session
        return None if session is None else session.id

    def run(self, request: Request, take: Take, cancel: threading.Event) -> None:
        """See ``devices.Device.run``; also raises ``LeftRunningError``. A run that is on the phone is followed."""
        with self._lock:
            self._stop_timer()
            self._runs += 1
        if self.phone.route is not None:
            self.phone.route.renew()
        self._keep_awake()
        session = self._session_of(request, cancel)
        follower = _Follower(self, session, self._offset, request.run_id, cancel, self._detached)
        try:
            follower.follow(take)
        except LeftRunningError:
            raise
        except BaseException:
            self._session = None
            self._tidy_up(session)  # it must not go on unwatched
            raise
        finally:
            self.notice = ""
            self._offset = follower.offset

    def detach(self) -> None:
        """See ``devices.Device.detach``."""
        self._detached.set()

    def rest(self) -> None:
        """See ``devices.Device.rest``."""
        self._let_sleep()
        with self._lock:
            self._stop_timer()
            if self._session is not None and not self._detached.is_set():
                self._idle = threading.Timer(self.limits.idle_s, self._close_when_idle, [self._runs])
                self._idle.daemon = True
                self._idle.start()

    def close(self) -> None:
        """End the runner, unless a run was left to it; the next request starts a new one."""
        with self._lock:
            self._stop_timer()
            session, self._session = self._session, None
        self._let_sleep()
        if session is not None and not self._detached.is_set():
            self._tidy_up(session)

    # -- inside ---------------------------------------------------------------------------------------

    def _close_when_idle(self, runs: int) -> None:
        with self._lock:
            if self._runs != runs:
                return  # a request came while the timer was going off
            session, self._session = self._session, None
        if session is not None:
            self._tidy_up(session)

    def _keep_awake(self) -> None:
        """From the first request of a job to its end; a phone that refuses is measured as it is, screen recorded."""
        if self._awake is None:
            awake = StayAwake(self.phone)
            if _quietly(awake.__enter__) is not None:
                self._awake = awake

    def _let_sleep(self) -> None:
        awake, self._awake = self._awake, None
        if awake is not None:
            if self._detached.is_set():
                awake.leave()
            else:
                awake.__exit__()

    def _tidy_up(self, session: Session) -> None:
        _quietly(Session(self.phone, session.id, TIDY_UP).remove)

    def _stop_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _session_of(self, request: Request, cancel: threading.Event) -> Session:
        """The session that has the request, in which it has been sent."""
        key = _key(request.run_id)
        if self._session is None:
            found = find_run(self.phone, key)
            if found is not None:
                self._session, self._offset = Session(self.phone, found), 0
                return self._session
        elif not self._session.state().alive:
            self._tidy_up(self._session)  # it went by itself
            self._session = None
        prepared = self._prepare(request, cancel)
        if self._session is None:
            self._start()
        session = self._session
        if session is None:
            raise AssertionError("a session was started")  # pragma: no cover
        try:
            session.say(json.dumps(request_to_json(self._localised(prepared))), key)
        except RunnerLostError:
            self._session = None
            self._tidy_up(session)  # half a line may lie there
            raise
        return session

    def _start(self) -> None:
        session = Session(self.phone, new_id("s"))
        about = {"host": socket.gethostname(), "pid": str(os.getpid()), "name": self.name}
        runner = self._runner()
        try:
            session.start(runner, about)
        except PhoneBusyError as busy:
            if not self._is_forgotten(busy.session):
                raise
            end_session(self.phone, busy.session)
            session.start(runner, about)
        self._session, self._offset = session, 0
        self._cwd = runner.cwd

    def _is_forgotten(self, session_id: str) -> bool:
        """Whether a session only waits for a program of this computer that is there no more."""
        for found in find_sessions(self.phone):
            if found.id == session_id:
                pid = found.about.get("pid", "")
                ours = found.about.get("host") == socket.gethostname() and pid.isdigit()
                return ours and not found.busy and (int(pid) == os.getpid() or not psutil.pid_exists(int(pid)))
        return True

    def _localised(self, request: Request) -> Request:
        """The request with files named relative to the runner's folder where they lie below it."""

        def local(ref: Any) -> Any:
            below = ref is not None and ref.path.startswith(f"{self._cwd}/")
            return replace(ref, path=posixpath.relpath(ref.path, self._cwd)) if below else ref

        return replace(
            request, target=local(request.target), drafter=local(request.drafter), audio=local(request.audio)
        )


class _Follower:
    """Reads one run's lines, through breaks of the connection, and ends the run when that is asked for."""

    def __init__(
        self,
        device: PhoneDevice,
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
        self._away_since: float | None = None
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
                self._is_away(error)
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
            raise self._left()
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
        if waited > self._limits.cancel_s + self._limits.terminate_s:
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

    def _is_away(self, error: DeviceError) -> None:
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        away = now - self._away_since
        self._device.notice = f"{self._device.name} is out of reach for {away:.0f} s; its run goes on. {error}"
        if self._detached.is_set():
            raise self._left()
        given_up = self._limits.away_s
        if self._cancel.is_set():
            given_up = min(given_up, self._limits.cancel_s + self._limits.terminate_s)
        if away > given_up:
            raise RunnerLostError(
                f"{self._device.name} has been out of reach for {away:.0f} s ({error}).",
                "Connect it again; what runs there can be ended on the Devices page or with: as2d phone cancel",
            )

    def _is_here(self) -> None:
        if self._away_since is not None:
            away = time.monotonic() - self._away_since
            self._heard += away
            self._deadline += away
            self._away_since = None
            self._doubted = True
            self._device.notice = ""

    def _left(self) -> LeftRunningError:
        return LeftRunningError(
            f"The run goes on on {self._device.name}.", "It is picked up when this program is started again."
        )

    def _ended(self, code: int | None) -> RunnerLostError | RunnerStartError:
        full = storage_problem(self._device.phone)
        if full is not None:  # then neither the runner nor its shell could say how it ended
            kind = RunnerLostError if self._heard_any else RunnerStartError
            return kind(f"The runner on {self._device.name} ended: {full.clause}.", full.hint)
        reason = "it does not run any more" if code is None else explain_exit(code)
        words = _quietly(self._session.last_words) or ""
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


def _key(run_id: str) -> str:
    """What the line of a request holds and no other line of the input does."""
    return f'"run_id": {json.dumps(run_id)}'


def _quietly(call: Callable[[], Any]) -> Any:
    """Do what can be done without; a phone that is away is seen by whoever needs it."""
    try:
        return call()
    except DeviceError:
        return None
