"""How is a file sent so that a break costs little? In segments; each is checked on the phone and appended there.

The segments go over adb's sync service, which is as fast as adb gets but throws a torn file away.
While one is on its way, this computer hashes it in a second thread, and the phone hashes the one before
it and appends it to what is there already: what lies in ``.part`` is at any moment a checked beginning
of the file.
"""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from device_bridge.adb.joining import Joiner, forget
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import reason_of
from device_bridge.adb.sync import send_piece
from device_bridge.adb.wire import Deadline
from device_bridge.errors import TransferError

READ_BYTES = 1 << 19
SMALLEST_SEGMENT_BYTES = 4 << 20
LARGEST_SEGMENT_BYTES = 32 << 20
SEGMENTS = 8
"""So many segments for a file, unless they would be very small or large."""
_UNHASHED = 8
"""Pieces that may be sent before they are hashed: so many lie in memory."""


def segment_bytes(size: int) -> int:
    """How much of a file of ``size`` bytes is sent in one go."""
    return min(LARGEST_SEGMENT_BYTES, max(SMALLEST_SEGMENT_BYTES, size // SEGMENTS))


def append_segments(
    phone: AdbPhone, local: Path, remote: str, start: int, size: int, told: Callable[[int], None], idle_s: float
) -> None:
    """Bring the bytes from ``start`` on to ``.part`` on the phone; the content of each segment is compared.

    Args:
        start: what is in ``.part`` already, and has been compared.
        told: told the bytes that have crossed in this call; what it raises ends everything.
        idle_s: longest time in which nothing moves.

    Raises:
        IntegrityError: a segment arrived damaged.
        TransferError: the phone refuses it, in its own words.
        PhoneLostError, CommandTimeoutError: the connection broke; what has been appended stays.
    """
    step = segment_bytes(size)
    joining: Future[None] | None = None
    deadline = Deadline(idle_s, f"Phone {phone.serial}")
    with (
        phone.open_service("sync:", deadline) as wire,
        Joiner(phone, remote) as joiner,
        ThreadPoolExecutor(1, "as2d-join") as joins,
        ThreadPoolExecutor(1, "as2d-hash") as hashes,
    ):
        for turn, offset in enumerate(range(start, size, step) if size else [0]):
            length, number = min(step, size - offset), turn % 2
            digest = hashlib.sha256()
            pieces = _hashed_meanwhile(_pieces(local, offset, length), digest, hashes)
            reason = send_piece(wire, f"{remote}.part.{number}", 0o600, pieces, idle_s, _after(offset - start, told))
            if reason is not None:
                forget(phone, remote)
                raise reason_of(remote, reason, 1)
            if joining is not None:
                joining.result()
            joining = joins.submit(joiner.join, number, offset, digest.hexdigest())
        if joining is not None:
            joining.result()


def read_hashed(local: Path, start: int, length: int, digest: Any) -> Iterator[bytes]:
    """A part of a file, in pieces, each hashed before it is handed out.

    Raises:
        TransferError: the file cannot be read, or is shorter than it was.
    """
    for piece in _pieces(local, start, length):
        digest.update(piece)
        yield piece


def _pieces(local: Path, start: int, length: int) -> Iterator[bytes]:
    left = length
    try:
        with local.open("rb", buffering=0) as file:
            file.seek(start)
            while left > 0:
                piece = file.read(min(READ_BYTES, left))
                if not piece:
                    raise TransferError(f"{local} became shorter while it was sent.")
                left -= len(piece)
                yield piece
    except OSError as error:
        raise TransferError(f"{local} cannot be read ({error.strerror or error}).") from error


def _hashed_meanwhile(pieces: Iterator[bytes], digest: Any, pool: ThreadPoolExecutor) -> Iterator[bytes]:
    """The pieces; all of them have been hashed, in ``pool``, when the last one has been taken."""
    waiting: list[Future[None]] = []
    for piece in pieces:
        waiting.append(pool.submit(digest.update, piece))
        if len(waiting) > _UNHASHED:
            waiting.pop(0).result()
        yield piece
    for left in waiting:
        left.result()


def _after(done: int, told: Callable[[int], None]) -> Callable[[int], None]:
    """What is told about one segment, as what is told about all."""
    return lambda sent: told(done + sent)
