"""How do many small files cross in one go? Over adb's sync service, one after the other, the phone's reasons kept."""

import contextlib
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from as2d_core.reading import open_regular
from device_bridge.adb.commands import encoded
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.wire import Deadline, Wire
from device_bridge.errors import PhoneLostError, TransferError

CHUNK_BYTES = 64 * 1024
"""More than this is refused by the phone's side."""
_IN_FLIGHT = 64
"""Files that are sent before their answers are read: an answer has eight bytes, so none of them can block us."""
_REGULAR_FILE = 0o100000


@dataclass(frozen=True, slots=True)
class Sending:
    """One file to be sent."""

    local: Path
    remote: str
    mode: int


def send_files(phone: AdbPhone, files: Iterable[Sending], idle_s: float = 30.0) -> tuple[Sending, str] | None:
    """Write files to the phone, replacing what is there, until one is refused.

    Returns:
        The file that the phone refused, with the phone's own reason; ``None`` when it took all.

    Raises:
        PhoneLostError, CommandTimeoutError, DeviceError: the connection did not last.
        TransferError: a file cannot be read here.
    """
    waiting: list[Sending] = []
    with phone.open_service("sync:", Deadline(idle_s, f"Phone {phone.serial}")) as wire:
        try:
            for file in files:
                waiting.append(file)
                _send(wire, file, idle_s)
                if len(waiting) == _IN_FLIGHT:
                    refused = _answers(wire, waiting, idle_s)
                    if refused is not None:
                        return refused
                    waiting = []
        except PhoneLostError:
            # A phone that refuses a file hangs up after saying why: the reason may still lie here.
            refused = _answers(wire, waiting, idle_s)
            if refused is None:
                raise
            return refused
        refused = _answers(wire, waiting, idle_s)
        with contextlib.suppress(PhoneLostError):  # everything has been answered for
            wire.send(b"QUIT" + bytes(4), Deadline(idle_s, "The phone"))
        return refused


def send_piece(
    wire: Wire, remote: str, mode: int, chunks: Iterable[bytes], idle_s: float, on_sent: Callable[[int], None]
) -> str | None:
    """Write one file over an open sync service, which can be used again when it was taken.

    Args:
        on_sent: told how many bytes have been handed over; what it raises leaves the service unusable.

    Returns:
        The phone's own reason when it refused the file, else ``None``.

    Raises:
        PhoneLostError, CommandTimeoutError: the connection did not last.
    """
    target = encoded(f"{remote},{_REGULAR_FILE | mode}")
    try:
        wire.send(b"SEND" + struct.pack("<I", len(target)) + target, Deadline(idle_s, "The phone"))
        sent = 0
        for chunk in chunks:
            wire.send_parts(_data(chunk), Deadline(idle_s, "The phone"))
            sent += len(chunk)
            on_sent(sent)
        wire.send(b"DONE" + struct.pack("<I", int(time.time())), Deadline(idle_s, "The phone"))
    except PhoneLostError:
        # A phone that refuses a file hangs up after saying why: the reason may still lie here.
        reason = _answer(wire, idle_s)
        if reason is None:
            raise
        return reason
    return _answer(wire, idle_s)


def _data(chunk: bytes) -> list[bytes | memoryview]:
    """A chunk of any size in packets that the phone takes, not copied."""
    view = memoryview(chunk)
    parts: list[bytes | memoryview] = []
    for start in range(0, len(view), CHUNK_BYTES):
        part = view[start : start + CHUNK_BYTES]
        parts += (b"DATA" + struct.pack("<I", len(part)), part)
    return parts


def _answer(wire: Wire, idle_s: float) -> str | None:
    kind, size = struct.unpack("<4sI", wire.receive(8, Deadline(idle_s, "The phone")))
    text = wire.receive(size, Deadline(idle_s, "The phone")) if size else b""
    return None if kind == b"OKAY" else text.decode("utf-8", "replace") or "no reason given"


def _send(wire: Wire, file: Sending, idle_s: float) -> None:
    target = encoded(f"{file.remote},{_REGULAR_FILE | file.mode}")
    out = bytearray(b"SEND" + struct.pack("<I", len(target)) + target)
    try:
        changed_s = int(file.local.stat().st_mtime)
        with open_regular(file.local) as source:
            while chunk := source.read(CHUNK_BYTES):
                out += b"DATA" + struct.pack("<I", len(chunk)) + chunk
                if len(out) > 4 * CHUNK_BYTES:
                    wire.send(bytes(out), Deadline(idle_s, "The phone"))
                    out.clear()
    except OSError as error:
        raise TransferError(f"{file.local} cannot be read ({error.strerror or error}).") from error
    out += b"DONE" + struct.pack("<I", changed_s & 0xFFFFFFFF)
    wire.send(bytes(out), Deadline(idle_s, "The phone"))


def _answers(wire: Wire, files: Iterable[Sending], idle_s: float) -> tuple[Sending, str] | None:
    """The first file that was refused."""
    for file in files:
        reason = _answer(wire, idle_s)
        if reason is not None:
            return file, reason
    return None
