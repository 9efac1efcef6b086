"""How is a file sent so that a break costs little? In segments; each is checked on the phone and appended there.

The segments go over adb's sync service, which is as fast as adb gets but throws a torn file away.
While one is on its way, the phone hashes the one before it and appends it to what is there already:
what lies in ``.part`` is at any moment a checked beginning of the file.
"""

import hashlib
import posixpath
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from device_bridge.adb.commands import script
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import is_known, reason_of
from device_bridge.adb.sync import send_piece
from device_bridge.adb.wire import Deadline
from device_bridge.errors import IntegrityError, TransferError

READ_BYTES = 1 << 18
SMALLEST_SEGMENT_BYTES = 4 << 20
LARGEST_SEGMENT_BYTES = 32 << 20
SEGMENTS = 16
"""So many segments for a file, unless they would be very small or large."""
JOIN_S = 60.0
_DAMAGED = 76
_JOIN = r"""
cd "$1" || exit 1
echo $$ > "$2.part.pid" || exit 1
[ "$(sha256sum < "$3" | cut -d ' ' -f 1)" = "$5" ] || exit 76
if [ "$4" = 0 ]; then mv -f "$3" "$2.part"; else cat "$3" >> "$2.part" && rm -f "$3"; fi
"""
_FORGET = r"""
cd "$1" || exit 1
head -c 65536 /dev/zero >> "$2.part"
rm -f "$2.part" "$2.part.0" "$2.part.1" "$2.part.pid"
"""


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
    folder, name = split(remote)
    step = segment_bytes(size)
    joining: Future[None] | None = None
    deadline = Deadline(idle_s, f"Phone {phone.serial}")
    with ThreadPoolExecutor(1, "as2d-join") as pool, phone.open_service("sync:", deadline) as wire:
        for number, offset in enumerate(range(start, size, step) if size else [0]):
            length, part = min(step, size - offset), f"{name}.part.{number % 2}"
            digest = hashlib.sha256()
            pieces = read_hashed(local, offset, length, digest)
            place = posixpath.join(folder, part)
            reason = send_piece(wire, place, 0o600, pieces, idle_s, _after(offset - start, told))
            if reason is not None:
                _forget(phone, folder, name)
                raise reason_of(remote, reason, 1)
            if joining is not None:
                joining.result()
            joining = pool.submit(_join, phone, remote, part, offset, digest.hexdigest())
        if joining is not None:
            joining.result()


def read_hashed(local: Path, start: int, length: int, digest: Any) -> Iterator[bytes]:
    """A part of a file, in pieces, each hashed before it is handed out.

    Raises:
        TransferError: the file cannot be read, or is shorter than it was.
    """
    left = length
    try:
        with local.open("rb", buffering=0) as file:
            file.seek(start)
            while left > 0:
                piece = file.read(min(READ_BYTES, left))
                if not piece:
                    raise TransferError(f"{local} became shorter while it was sent.")
                digest.update(piece)
                left -= len(piece)
                yield piece
    except OSError as error:
        raise TransferError(f"{local} cannot be read ({error.strerror or error}).") from error


def split(remote: str) -> tuple[str, str]:
    """Folder and name; the name cannot be taken for an option."""
    folder, name = posixpath.split(remote)
    return folder, f"./{name}"


def _after(done: int, told: Callable[[int], None]) -> Callable[[int], None]:
    """What is told about one segment, as what is told about all."""
    return lambda sent: told(done + sent)


def _join(phone: AdbPhone, remote: str, part: str, offset: int, sha256: str) -> None:
    folder, name = split(remote)
    text = script(_JOIN, folder, name, part, str(offset), sha256, name="as2d-push")
    output = phone.run(["sh", "-c", text], timeout_s=JOIN_S, check=False)
    if output.code == _DAMAGED:
        raise IntegrityError(f"{remote} arrived damaged.", "Try again; if it stays, use another cable.")
    if output.code:
        # A shell's own words may be vague; writing once more tells the reason, before the rest is removed.
        why = _forget(phone, folder, name)
        raise reason_of(remote, why if is_known(why) else output.said, output.code)


def _forget(phone: AdbPhone, folder: str, name: str) -> str:
    return phone.script(_FORGET, folder, name, check=False).said
