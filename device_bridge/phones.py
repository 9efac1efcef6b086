"""How does a request run on a phone? In a session that goes on there, whatever happens to the connection or to us."""

import json
import os
import posixpath
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil

from as2d_core.protocol import request_to_json
from as2d_core.request import Request
from device_bridge.adb.phone import AdbPhone
from device_bridge.devices import Limits
from device_bridge.errors import (
    LeftRunningError,
    PhoneBusyError,
    RunnerLostError,
    TransferStoppedError,
)
from device_bridge.following import Follower, Take, quietly, when_in_reach
from device_bridge.plan import new_id
from device_bridge.retrying import Retry
from device_bridge.sessions import RunnerCommand, Session, end_session, find_run, find_sessions
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.stay_awake import StayAwake
from device_bridge.task_profile import check_task_profile, under_profile

TIDY_UP = Retry(attempts=2)
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
        self._profile: str | None = None
        """Task profile under which the runner of the session works."""

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
        try:
            session = when_in_reach(lambda: self._session_of(request, cancel), self, cancel, self._detached)
        finally:
            self.notice = ""
        follower = Follower(self, session, self._offset, request.run_id, cancel, self._detached)
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
            if quietly(awake.__enter__) is not None:
                self._awake = awake

    def _let_sleep(self) -> None:
        awake, self._awake = self._awake, None
        if awake is not None:
            if self._detached.is_set():
                awake.leave()
            else:
                awake.__exit__()

    def _tidy_up(self, session: Session) -> None:
        quietly(Session(self.phone, session.id, TIDY_UP).remove)

    def _stop_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _session_of(self, request: Request, cancel: threading.Event) -> Session:
        """The session that has the request, in which it has been sent."""
        key, profile = _key(request.run_id), request.placement.task_profile
        if self._session is None:
            found = find_run(self.phone, key)
            if found is not None:
                self._session, self._offset = Session(self.phone, found), 0
                self._profile = profile
                return self._session
        elif profile != self._profile or not self._session.state().alive:
            self._tidy_up(self._session)  # it went by itself, or works otherwise than it is asked to
            self._session = None
        prepared = self._prepare(request, cancel)
        _stop_if(cancel)
        if self._session is None:
            self._start(profile)
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

    def _start(self, profile: str | None) -> None:
        session = Session(self.phone, new_id("s"))
        about = {"host": socket.gethostname(), "pid": str(os.getpid()), "name": self.name}
        runner = self._runner()
        if profile is not None:
            check_task_profile(self.phone, self.name)
            runner = under_profile(runner, profile)
        try:
            session.start(runner, about)
        except PhoneBusyError as busy:
            if not self._is_forgotten(busy.session):
                raise
            end_session(self.phone, busy.session)
            session.start(runner, about)
        self._session, self._offset, self._profile = session, 0, profile
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


def _stop_if(cancel: threading.Event) -> None:
    if cancel.is_set():
        raise TransferStoppedError("The run was stopped before it began.", "What is on the phone already stays there.")


def _key(run_id: str) -> str:
    """What the line of a request holds and no other line of the input does."""
    return f'"run_id": {json.dumps(run_id)}'
