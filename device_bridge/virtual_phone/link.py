"""How does an adb server talk to a phone? In packets on streams; this is the phone's side of it."""

import asyncio
import contextlib
import os
import struct
from collections.abc import Awaitable
from typing import Protocol

CNXN, AUTH, OPEN, OKAY, CLSE, WRTE = (
    int.from_bytes(name, "little") for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"CLSE", b"WRTE")
)
VERSION = 0x01000001
MOST_DATA = 1 << 20
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,fixed_push_symlink_timestamp,apex,sendrecv_v2"
_TOKEN, _SIGNATURE = 1, 2


class StreamGoneError(Exception):
    """The stream, or the whole connection, was closed by the other side."""


class LinkState(Protocol):
    """What the phone decides about its connections."""

    auth: str
    """``trusted``, ``ask`` (until somebody allows it) or ``silent`` (the phone never answers)."""
    thawed: asyncio.Event
    """Not set while the phone is frozen."""
    bytes_per_s: float
    """Speed of the connection; 0 for as fast as can be."""

    def banner(self) -> bytes: ...

    async def serve(self, stream: "Stream", service: str) -> None: ...


class Stream:
    """One service that the host has opened."""

    def __init__(self, link: "Link", local_id: int, remote_id: int) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self.closed = asyncio.Event()
        """Set once the host has hung up."""
        self.acknowledged = asyncio.Event()
        self._link = link
        self._incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._buffer = bytearray()

    async def accept(self) -> None:
        """Tell the host that the service is open."""
        await self._link.send(OKAY, self.local_id, self.remote_id)

    async def write(self, data: bytes) -> None:
        """Send everything; each packet waits for the one before it to be taken."""
        view = memoryview(data)
        for start in range(0, len(view), self._link.most_data):
            if self.closed.is_set():
                raise StreamGoneError
            self.acknowledged.clear()
            await self._link.send(WRTE, self.local_id, self.remote_id, view[start : start + self._link.most_data])
            await _first(self.acknowledged.wait(), self.closed.wait())
            if not self.acknowledged.is_set():
                raise StreamGoneError

    async def read_some(self) -> bytes:
        """What comes next; empty once the host has hung up."""
        if self._buffer:
            data = bytes(self._buffer)
            self._buffer.clear()
            return data
        return await self._next() or b""

    async def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes."""
        while len(self._buffer) < size:
            data = await self._next()
            if data is None:
                raise StreamGoneError
            self._buffer += data
        data = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return data

    async def close(self) -> None:
        """Hang up, if the host has not done so."""
        if self._link.forget(self):
            self.hung_up()
            await self._link.send(CLSE, self.local_id, self.remote_id)

    def take(self, data: bytes) -> None:
        """A packet has come."""
        self._incoming.put_nowait(data)

    def hung_up(self) -> None:
        """Nothing more will come."""
        self.closed.set()
        self._incoming.put_nowait(None)

    async def _next(self) -> bytes | None:
        data = await self._incoming.get()
        if data is None:
            self._incoming.put_nowait(None)
            return None
        await self._link.send(OKAY, self.local_id, self.remote_id)
        return data


class Link:
    """One connection of an adb server to the phone."""

    def __init__(self, phone: LinkState, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.most_data = MOST_DATA
        self.online = False
        """Whether the phone has let the host in."""
        self._phone = phone
        self._reader, self._writer = reader, writer
        self._streams: dict[int, Stream] = {}
        self._last_id = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until the connection ends."""
        try:
            while True:
                head = await self._reader.readexactly(24)
                kind, first, second, size, _, magic = struct.unpack("<6I", head)
                if magic != kind ^ 0xFFFFFFFF or size > MOST_DATA:
                    return
                data = await self._reader.readexactly(size) if size else b""
                await self._pass(size)
                await self._handle(kind, first, second, data)
        except (asyncio.IncompleteReadError, ConnectionError, StreamGoneError):
            pass
        finally:
            for stream in self._streams.values():
                stream.hung_up()
            self._streams.clear()
            self._writer.close()

    async def send(self, kind: int, first: int, second: int, data: bytes | memoryview = b"") -> None:
        """Send one packet."""
        await self._pass(len(data))
        try:
            self._writer.write(struct.pack("<6I", kind, first, second, len(data), 0, kind ^ 0xFFFFFFFF))
            if data:
                self._writer.write(bytes(data))
            await self._writer.drain()
        except (ConnectionError, RuntimeError):
            raise StreamGoneError from None

    async def let_in(self) -> None:
        """Say who we are: from now on the host may open services."""
        self.online = True
        await self.send(CNXN, VERSION, MOST_DATA, self._phone.banner())

    def cut(self) -> None:
        """End the connection as a pulled plug does."""
        self._writer.transport.abort()

    def forget(self, stream: Stream) -> bool:
        """Drop a stream; returns whether it was still open."""
        return self._streams.pop(stream.local_id, None) is not None

    async def _pass(self, size: int) -> None:
        """Wait as long as the faults of the connection demand."""
        if not self._phone.thawed.is_set():
            await self._phone.thawed.wait()
        if self._phone.bytes_per_s:
            await asyncio.sleep(size / self._phone.bytes_per_s)

    async def _handle(self, kind: int, first: int, second: int, data: bytes) -> None:
        if kind == CNXN:
            self.most_data = min(MOST_DATA, second)
            if self._phone.auth == "trusted":
                await self.let_in()
            elif self._phone.auth == "ask":
                await self.send(AUTH, _TOKEN, 0, os.urandom(20))
        elif kind == AUTH:
            # A signature is of a key we do not know: another token. A public key waits for somebody to allow it.
            if first == _SIGNATURE:
                await self.send(AUTH, _TOKEN, 0, os.urandom(20))
        elif kind == OPEN:
            self._open(first, data.rstrip(b"\0").decode("utf-8", "surrogateescape"))
        elif kind == OKAY and second in self._streams:
            self._streams[second].remote_id = first
            self._streams[second].acknowledged.set()
        elif kind == WRTE:
            if second in self._streams:
                self._streams[second].take(data)
            else:
                await self.send(CLSE, 0, first)
        elif kind == CLSE:
            stream = self._streams.pop(second, None)
            if stream is not None:
                stream.hung_up()

    def _open(self, remote_id: int, service: str) -> None:
        self._last_id += 1
        stream = Stream(self, self._last_id, remote_id)
        self._streams[stream.local_id] = stream
        task = asyncio.ensure_future(self._serve(stream, service))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, stream: Stream, service: str) -> None:
        try:
            await self._phone.serve(stream, service)
        except StreamGoneError:
            pass
        finally:
            with contextlib.suppress(StreamGoneError):
                await stream.close()


async def _first(*waits: Awaitable[object]) -> None:
    """Wait until one of them is over; the others are let go."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
