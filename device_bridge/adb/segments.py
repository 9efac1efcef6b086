"""How is a file sent so that a break costs little? What is new in one stream; the rest of a torn one in segments.

Both go over adb's sync service, which is as fast as adb gets. The phone hashes what has come while more
comes, and this computer does so in a second thread: a transfer takes hardly longer than its bytes do.
A stream lies in ``.part`` from its beginning, see ``receiving``, and stays there when it is torn. The rest then
comes in segments; each is appended once it has been checked.
"""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from as2d_core.reading import check_regular
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import reason_of
from device_bridge.adb.receiving import Receiver, forget
from device_bridge.adb.sync import send_piece
from device_bridge.adb.wire import Deadline
from device_bridge.errors import TransferError

READ_BYTES = 1 << 19
SMALLEST_SEGMENT_BYTES = 4 << 20
LARGEST_SEGMENT_BYTES = 32 << 20
SEGMENTS = 8
"""So many segments for the rest of a file, unless they would be very small or large."""
_FIRST_STEP_BYTES, _SMALLEST_STEP_BYTES, _LARGEST_STEP_BYTES = 1 << 20, 4 << 20, 32 << 20
"""The phone is told to go on hashing after half of what is missing, unless that would be very small or large.

Each time it starts a program, which costs what hashing a megabyte does; what is left at the end is waited for."""
_UNHASHED = 8
"""Pieces that may be sent before they are hashed: so many lie in memory."""


def segment_bytes(size: int) -> int:
    """How much of the rest of a file of ``size`` bytes is sent in one go."""
    return min(LARGEST_SEGMENT_BYTES, max(SMALLEST_SEGMENT_BYTES, size // SEGMENTS))


def send_rest(
    phone: AdbPhone,
    receiver: Receiver,
    local: Path,
    remote: str,
    start: int,
    size: int,
    told: Callable[[int], None],
    idle_s: float,
    mode: int,
    sha256: str | None = None,
) -> None:
    """Bring the bytes from ``start`` on to ``.part`` on the phone; their content is compared.

    Args:
        start: what is in ``.part`` already, and has been compared.
        told: told the bytes that have crossed in this call; what it raises ends everything.
        idle_s: longest time in which nothing moves.
        mode: of the file, if it comes in one piece.
        sha256: of the whole file, where it is known; otherwise it is computed on the way.

    Raises:
        IntegrityError: it arrived damaged.
        TransferError: the phone refuses it, in its own words.
        PhoneLostError, CommandTimeoutError: the connection broke; what has arrived stays.
    """
    step = segment_bytes(size) if start else max(size, 1)
    deadline = Deadline(idle_s, f"Phone {phone.serial}")
    unjoined = 0
    with phone.open_service("sync:", deadline) as wire, ThreadPoolExecutor(1, "as2d-hash") as hashes:
        for turn, offset in enumerate(range(start, max(size, 1), step)):
            length, number = min(step, size - offset), turn % 2
            digest, known = hashlib.sha256(), sha256 if length == size else None
            pieces = _pieces(local, offset, length)
            if known is None:
                pieces = _hashed_meanwhile(pieces, digest, hashes)
            crossed = _crossed(offset - start, length, told, partial(receiver.more, number, offset))
            reason = send_piece(wire, f"{remote}.part.{number}", mode, pieces, idle_s, crossed)
            if reason is not None:
                forget(phone, remote)
                raise reason_of(remote, reason, 1)
            receiver.arrived(number, offset, known or digest.hexdigest())
            if unjoined:
                receiver.joined()
            unjoined = 1
        if unjoined:
            receiver.joined()


def sha256_here(local: Path, size: int) -> Any:
    """Hash of the first ``size`` bytes of a file, still open for more.

    Raises:
        TransferError: the file cannot be read, or is shorter.
    """
    digest = hashlib.sha256()
    for piece in _pieces(local, 0, size):
        digest.update(piece)
    return digest


def _pieces(local: Path, start: int, length: int) -> Iterator[bytes]:
    left = length
    try:
        check_regular(local)  # a pipe would wait for its writer
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


def _crossed(done: int, length: int, told: Callable[[int], None], more: Callable[[], None]) -> Callable[[int], None]:
    """What is told about one segment, as what is told about all; ``more`` is called at each step."""

    def following(sent: int) -> int:
        return sent + min(_LARGEST_STEP_BYTES, max(_SMALLEST_STEP_BYTES, (length - sent) // 2))

    step = _FIRST_STEP_BYTES  # from then on it lies where a break does not reach it

    def crossed(sent: int) -> None:
        nonlocal step
        if step <= sent < length:
            step = following(sent)
            more()
        told(done + sent)

    return crossed
