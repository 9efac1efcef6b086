"""How does a command run on a phone, and how did it end? Over adb's shell protocol, which has an exit code.

A stream that ends without an exit code was cut off: that is an error here, never a short answer.
"""

import selectors
import struct
import time
from collections.abc import Iterator
from typing import Literal, Self

from device_bridge.adb.wire import Deadline, Wire, lost
from device_bridge.errors import CommandTimeoutError

Kind = Literal["out", "err", "idle"]
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_KINDS: dict[int, Kind] = {_STDOUT: "out", _STDERR: "err"}
_READ = 1 << 18


class Shell:
    """One command that runs; whoever closes it early hangs up on it."""

    def __init__(self, wire: Wire, text: str) -> None:
        """``wire`` has just been given the command ``text``."""
        self.exit_code: int | None = None
        """Exit code, once the command has ended."""
        self._wire = wire
        self._text = text
        self._buffer = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up. The phone sends the command a hang-up signal if it still runs."""
        self._wire.close()

    def output(self, deadline: Deadline | None = None, idle_s: float | None = None) -> Iterator[tuple[Kind, bytes]]:
        """What the command writes, as it comes, until it has ended.

        Args:
            deadline: for everything together; ``None`` for a command that may run for ever.
            idle_s: ``("idle", b"")`` is yielded whenever nothing has come for so long.

        Raises:
            CommandTimeoutError: the deadline passed.
            PhoneLostError: the stream was cut off.
        """
        while True:
            yield from self._packets()
            if self.exit_code is not None:
                return
            wait_s = min(
                3600.0 if deadline is None else deadline.left_s(),
                3600.0 if idle_s is None else idle_s,
            )
            self._wire.socket.settimeout(wait_s)
            try:
                data = self._wire.socket.recv(_READ)
            except TimeoutError:
                if idle_s is not None:
                    yield "idle", b""
                continue
            except OSError as error:
                raise lost(str(error.strerror or error)) from None
            if not data:
                raise lost("no exit code came")
            self._wire.acknowledge()
            self._buffer += data

    def say(self, data: bytes, deadline: Deadline) -> None:
        """Write something to the command's stdin, which stays open.

        Raises:
            CommandTimeoutError, PhoneLostError: it could not be sent.
        """
        self._wire.send(_packet(_STDIN, data), deadline)

    def feed(self, chunks: Iterator[bytes], idle_s: float) -> tuple[bytes, bytes]:
        """Write ``chunks`` to the command's stdin, close it, and wait until the command has ended.

        Args:
            idle_s: longest time in which nothing moves, in either direction.

        Returns:
            What it wrote to stdout and to stderr.

        Raises:
            CommandTimeoutError: nothing moved for ``idle_s``.
            PhoneLostError: the stream was cut off.
        """
        said: dict[Kind, bytearray] = {"out": bytearray(), "err": bytearray()}
        sock = self._wire.socket
        sock.setblocking(False)
        pending, finished = memoryview(b""), False
        moved = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while True:
                for kind, data in self._packets():
                    said[kind] += data
                if self.exit_code is not None:
                    return bytes(said["out"]), bytes(said["err"])
                if not pending and not finished:
                    chunk = next(chunks, b"")
                    finished = not chunk
                    pending = memoryview(_packet(_STDIN, chunk) if chunk else _packet(_CLOSE_STDIN, b""))
                selector.modify(sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if pending else 0))
                ready = selector.select(min(idle_s, 1.0))
                if not ready:
                    if time.monotonic() - moved > idle_s:
                        raise CommandTimeoutError(
                            f"Nothing has moved between this computer and the phone for {idle_s:g} s.",
                            "Check the cable and that the phone is awake, then try again.",
                        )
                    continue
                moved = time.monotonic()
                pending = self._move(ready[0][1], pending)

    def _move(self, events: int, pending: memoryview) -> memoryview:
        """Receive and send what goes without waiting; returns what is still to be sent."""
        sock = self._wire.socket
        try:
            if events & selectors.EVENT_READ:
                data = sock.recv(_READ)
                if not data:
                    raise lost("no exit code came")
                self._wire.acknowledge()
                self._buffer += data
            if events & selectors.EVENT_WRITE:
                pending = pending[sock.send(pending) :]
        except BlockingIOError:
            pass
        except OSError as error:
            raise lost(str(error.strerror or error)) from None
        return pending

    def _packets(self) -> Iterator[tuple[Kind, bytes]]:
        """What has come; each packet is taken out before it is handed on: whoever asks may stop at any."""
        buffer = self._buffer
        while len(buffer) >= 5:
            kind, size = struct.unpack_from("<BI", buffer)
            if len(buffer) < 5 + size:
                return
            data = bytes(buffer[5 : 5 + size])
            del buffer[: 5 + size]
            if kind == _EXIT:
                self.exit_code = data[0] if data else 255
                return
            if kind in _KINDS:
                yield _KINDS[kind], data


def _packet(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data
