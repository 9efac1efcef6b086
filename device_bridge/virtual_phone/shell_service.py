"""How do commands run? As adbd runs them: a shell in a session of its own, its output in packets, then its exit code.

Also as adbd does: the answer ends when nobody holds the output open any more, and a host that hangs
up sends a hang-up signal to the shell alone.
"""

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import socket
import struct
import subprocess
import termios
import tty
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from device_bridge.virtual_phone.link import Stream, StreamGoneError

_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_READ = 1 << 18
_PIPE_BYTES = 1 << 20


class Children:
    """The processes of the phone, reaped in one place: whoever is orphaned comes to us as well."""

    def __init__(self) -> None:
        self.commands: dict[int, str] = {}
        """What runs, by process id."""
        self._ends: dict[int, asyncio.Future[int]] = {}

    def watch(self, process: subprocess.Popen[bytes], command: str) -> asyncio.Future[int]:
        """The exit code to come, as a shell writes it."""
        self._ends[process.pid] = asyncio.get_running_loop().create_future()
        self.commands[process.pid] = command
        process.returncode = 0  # never waits itself
        return self._ends[process.pid]

    def reap(self) -> None:
        """Collect whoever has ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            self.commands.pop(pid, None)
            end = self._ends.pop(pid, None)
            if end is not None and not end.done():
                code = os.waitstatus_to_exitcode(status)
                end.set_result(code if code >= 0 else 128 - code)


@dataclass(frozen=True, slots=True)
class ShellSetting:
    """How a shell of the phone is started."""

    program: str
    environment: Mapping[str, str]
    folder: str
    prefix: Sequence[str] = ()
    """Words before the program: an emulator, say, that runs the shell itself."""


async def serve_shell(
    stream: Stream, setting: ShellSetting, children: Children, options: Sequence[str], text: str
) -> None:
    """Run one command (or an interactive shell when ``text`` is empty) and pass its streams on."""
    in_packets = "v2" in options
    terminal = not in_packets or "pty" in options or not text
    argv = [*setting.prefix, setting.program, *(["-c", text] if text else ["-"])]
    process, ends, stdin = _start(argv, setting, terminal=terminal, raw=bool(text))
    ended = children.watch(process, text)
    pumps = [
        asyncio.ensure_future(_pump(fd, stream, kind if in_packets else None)) for fd, kind in ends.items()
    ]  # fmt: skip
    feeder = asyncio.ensure_future(_feed(stream, stdin, in_packets=in_packets, terminal=terminal))
    hung_up = asyncio.ensure_future(stream.closed.wait())
    everything = asyncio.gather(*pumps, return_exceptions=True)
    try:
        waits: set[asyncio.Future[Any]] = {everything, hung_up}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if stream.closed.is_set():
            if not ended.done() and in_packets:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGHUP)
            return
        code = await ended
        if in_packets:
            await stream.write(_packet(_EXIT, bytes([code & 0xFF])))
    finally:
        for task in (*pumps, feeder, hung_up):
            task.cancel()
        everything.cancel()
        for fd in ends:
            os.close(fd)


def _start(
    argv: Sequence[str], setting: ShellSetting, *, terminal: bool, raw: bool
) -> tuple[subprocess.Popen[bytes], dict[int, int], int]:
    """Start it; returns the process, its outputs by descriptor, and the descriptor of its input."""
    environment, folder = dict(setting.environment), setting.folder
    if terminal:
        ours, theirs = pty.openpty()
        if raw:
            tty.setraw(theirs)

        def take_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=take_terminal,  # noqa: PLW1509 - one system call
            env=environment, cwd=folder,
        )  # fmt: skip
        os.close(theirs)
        os.set_blocking(ours, False)
        return process, {ours: _STDOUT}, ours
    ours_io, theirs_io = socket.socketpair()
    ours_err, theirs_err = socket.socketpair()
    process = subprocess.Popen(
        argv, stdin=theirs_io.fileno(), stdout=theirs_io.fileno(), stderr=theirs_err.fileno(), start_new_session=True,
        env=environment, cwd=folder,
    )  # fmt: skip
    for end in (ours_io, ours_err):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIPE_BYTES)
    theirs_io.close()
    theirs_err.close()
    io, err = ours_io.detach(), ours_err.detach()
    os.set_blocking(io, False)
    os.set_blocking(err, False)
    return process, {io: _STDOUT, err: _STDERR}, io


async def _pump(fd: int, stream: Stream, kind: int | None) -> None:
    """Pass an output on until nobody holds it open."""
    with contextlib.suppress(StreamGoneError):
        while True:
            try:
                data = os.read(fd, _READ)
            except BlockingIOError:
                await _ready(fd, write=False)
                continue
            except OSError:  # a terminal whose last user has gone, or one who left with input unread
                return
            if not data:
                return
            await stream.write(data if kind is None else _packet(kind, data))


async def _feed(stream: Stream, fd: int, *, in_packets: bool, terminal: bool) -> None:
    """Pass the host's input on."""
    with contextlib.suppress(StreamGoneError, OSError):
        while True:
            if not in_packets:
                data = await stream.read_some()
                if not data:
                    return
            else:
                kind, size = struct.unpack("<BI", await stream.read(5))
                data = await stream.read(size)
                if kind == _CLOSE_STDIN and not terminal:
                    with socket.socket(fileno=os.dup(fd)) as end:
                        end.shutdown(socket.SHUT_WR)
                if kind != _STDIN:
                    continue
            view = memoryview(data)
            while view:
                try:
                    view = view[os.write(fd, view) :]
                except BlockingIOError:
                    await _ready(fd, write=True)


async def _ready(fd: int, *, write: bool) -> None:
    """Wait until a descriptor can be read from, or written to."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    (loop.add_writer if write else loop.add_reader)(fd, event.set)
    try:
        await event.wait()
    finally:
        (loop.remove_writer if write else loop.remove_reader)(fd)


def _packet(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data
