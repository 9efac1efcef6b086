"""How is one phone spoken to? By its serial number at one adb server; a command gives out, err and an exit code."""

import posixpath
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from device_bridge.adb.commands import command, decoded, script
from device_bridge.adb.servers import AdbServer, PhoneEntry
from device_bridge.adb.shell import Shell
from device_bridge.adb.wire import Deadline, Wire, refusal
from device_bridge.errors import (
    CommandFailedError,
    CommandTimeoutError,
    DeviceError,
    PhoneLostError,
    TransferStoppedError,
)

OPEN_S = 10.0
"""Longest time until a phone has taken a command."""
CANCEL_S = 0.2
"""How often somebody who waits for a silent command looks whether it was cancelled."""
SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Output:
    """What a command on a phone wrote, and how it ended."""

    code: int
    """Exit code."""
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """What it wrote to stdout, as text."""
        return decoded(self.out)

    @property
    def said(self) -> str:
        """The last line it wrote, on stderr if there is one there: why it failed."""
        for data in (self.err, self.out):
            lines = [line.strip() for line in decoded(data).splitlines() if line.strip()]
            if lines:
                return lines[-1][:400]
        return ""


class Way(Protocol):
    """How a phone with several connections is reached."""

    def __call__(self) -> PhoneEntry:
        """The connection to use now."""
        ...

    def lost(self, entry: PhoneEntry) -> None:
        """Nothing can be opened over this one."""
        ...

    def renew(self) -> None:
        """Something begins: take the best connection that there is."""
        ...


@dataclass(frozen=True, slots=True)
class AdbPhone:
    """A phone, whether it is there now or not. Any thread may call; nothing is kept open between calls."""

    server: AdbServer
    serial: str
    route: Way | None = field(default=None, compare=False)
    """Says which connection is used, where there may be several; default: the one named here."""

    @property
    def id(self) -> str:
        """Name of the phone among all servers."""
        return self.server.phone_id(self.serial)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        check: bool = True,
        stdin: bytes = b"",
        cancel: threading.Event | None = None,
    ) -> Output:
        """Run one program and wait for its end.

        Args:
            timeout_s: for everything, the opening included.
            check: whether another exit code than 0 is an error.
            cancel: once set, the phone hangs up on the program; not with ``stdin``.

        Raises:
            TransferStoppedError: it was cancelled.
            CommandFailedError: it ended with another exit code than 0.
            CommandTimeoutError, PhoneLostError, DeviceError: it could not be run to its end.
        """
        line = command(argv, env, cwd)
        return self._run(line, argv[0], timeout_s, check=check, stdin=stdin, cancel=cancel)

    def script(
        self,
        text: str,
        *arguments: str,
        timeout_s: float = 30.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        check: bool = True,
        stdin: bytes = b"",
        what: str = "",
    ) -> Output:
        """Run a fixed piece of shell, see ``commands.script``; ``what`` names it in errors.

        Raises:
            As ``run``.
        """
        line = script(text, *arguments, env=env, cwd=cwd)
        return self._run(line, what or "a command", timeout_s, check=check, stdin=stdin)

    def open_shell(self, text: str, timeout_s: float = OPEN_S) -> Shell:
        """Start a command made by ``command`` or ``script`` and leave it running.

        Raises:
            CommandTimeoutError: the phone has not taken it within ``timeout_s``.
            DeviceError: the phone is not there, or not ready.
        """
        return Shell(self.open_service(f"shell,v2,raw:{text}", Deadline(timeout_s, self._named)), text)

    def open_service(self, service: str, deadline: Deadline) -> Wire:
        """Open one of adb's services on the phone.

        Raises:
            As ``open_shell``.
        """
        if self.route is None:
            return self._open(self.server, self.serial, service, deadline)
        entry = self.route()
        try:
            return self._open(entry.server, entry.serial, service, deadline)
        except DeviceError:
            self.route.lost(entry)
            raise

    def _open(self, server: AdbServer, serial: str, service: str, deadline: Deadline) -> Wire:
        wire = server.wire(deadline)
        try:
            wire.ask(f"host:transport:{serial}", deadline, self._named)
            try:
                wire.ask(service, deadline, self._named)
            except (PhoneLostError, DeviceError) as error:
                raise self._why_not_opened(error) from error
        except BaseException:
            wire.close()
            raise
        return wire

    def state(self, timeout_s: float = OPEN_S) -> str:
        """``device`` when it is ready, else what adb says about it.

        Raises:
            DeviceError: the server does not know the phone, or is down.
        """
        deadline = Deadline(timeout_s, "The adb server")
        now = self if self.route is None else self.route()
        with now.server.wire(deadline) as wire:
            wire.ask(f"host-serial:{now.serial}:get-state", deadline, self._named)
            return decoded(wire.receive_block(deadline))

    @property
    def _named(self) -> str:
        return f"Phone {self.serial}"

    def _why_not_opened(self, error: DeviceError) -> DeviceError:
        """An open that failed may say only that it was closed: the phone's state says more."""
        if isinstance(error, CommandTimeoutError):
            return error
        try:
            state = self.state(2.0)
        except DeviceError as better:
            return better
        return error if state == "device" else refusal(f"device {state}", self._named)

    def _run(
        self,
        text: str,
        what: str,
        timeout_s: float,
        *,
        check: bool,
        stdin: bytes,
        cancel: threading.Event | None = None,
    ) -> Output:
        deadline = Deadline(timeout_s, f"{what} on phone {self.serial}")
        out, err = bytearray(), bytearray()
        with self.open_shell(text, min(timeout_s, OPEN_S)) as shell:
            if stdin:
                got, complained = shell.feed(iter([stdin]), timeout_s)
                out, err = bytearray(got), bytearray(complained)
            else:
                for kind, data in shell.output(deadline, None if cancel is None else CANCEL_S):
                    if cancel is not None and cancel.is_set():
                        raise TransferStoppedError(f"{posixpath.basename(what)} on the phone was stopped.")
                    (out if kind == "out" else err).extend(data)
            code = shell.exit_code
        if code is None:
            raise AssertionError("a shell ends with an exit code")  # pragma: no cover
        output = Output(code, bytes(out), bytes(err))
        if check and code:
            raise CommandFailedError(what[:SHOWN_CHARACTERS], code, output.said)
        return output
