"""How does a file get to a phone, or back, whole? Sent to ``.part``, checked by content, renamed; resumable.

Both sides compute SHA-256 while the bytes pass, see ``segments`` and ``receiving``. What is on the phone
already, with the same content, is not sent again.
"""

import hashlib
import posixpath
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from device_bridge.adb.commands import script
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import not_executable, reason_of
from device_bridge.adb.receiving import HASH_S, Receiver
from device_bridge.adb.segments import segment_bytes, send_rest, sha256_here
from device_bridge.errors import (
    CommandFailedError,
    IntegrityError,
    MissingFileError,
    NoSpaceError,
    PhoneLostError,
    TransferError,
    TransferStoppedError,
)
from device_bridge.retrying import USUAL, Retry, retrying

SPARE_BYTES = 1 << 20
"""Room that is left for the phone itself."""
IDLE_S = 30.0
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Told the bytes that are across, and all bytes."""

_SIZE = '[ -f "$1" ] || { ls -d "$1" > /dev/null && echo "is no file" >&2; exit 1; }; stat -c %s "$1"'
_HASH = 'sha256sum < "$1"'
_EXECUTABLE = 'chmod 755 "$1"; [ -x "$1" ]'


TURN_S = 0.2
"""How often somebody who waits for another sender of the same file looks whether it was cancelled."""
_GUARD = threading.Lock()
_TURNS: dict[tuple[str, str], threading.Lock] = {}
"""By phone and path: whose turn it is to send. As many as there are paths on phones, which is few."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a transfer did."""

    path: str
    """Where the file is on the phone."""
    size_bytes: int
    sent_bytes: int
    """Bytes that crossed; 0 when the phone had the file already."""
    resumed_from_bytes: int
    """Bytes that an earlier transfer had left."""

    @property
    def skipped(self) -> bool:
        return self.sent_bytes == 0 and self.resumed_from_bytes == 0 and self.size_bytes > 0


def push_file(
    phone: AdbPhone,
    local: Path,
    remote: str,
    *,
    executable: bool = False,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
    retry: Retry = USUAL,
    idle_s: float = IDLE_S,
    sha256: str | None = None,
) -> Pushed:
    """Bring one file to the phone.

    Args:
        remote: absolute path; its folder is made.
        executable: set the exec bit, and check that the phone honours it there.
        cancel: once set, the transfer ends; what has arrived is kept for the next one.
        retry: what happens when the connection breaks.
        idle_s: longest time in which nothing moves.
        sha256: of the file here, by whoever has just computed it; it is not computed again then.

    Raises:
        NoSpaceError, ReadOnlyError, DeniedError, NotExecutableError: the phone does not take it there.
        IntegrityError: what arrived is not what was sent, even in a second attempt.
        TransferStoppedError: it was cancelled.
        DeviceError: the phone was lost for longer than ``retry`` allows.
    """
    check_remote(remote)
    stopped = cancel or threading.Event()
    mode = 0o755 if executable else 0o644
    crossed: list[int] = []  # bytes, one entry for each time the sending began
    began_at: list[int] = []

    def send(receiver: Receiver, start: int, size: int, known: str | None) -> None:
        if began_at and began_at[-1] < start:  # what the adb server had taken and the phone never got did not cross
            crossed[-1] = min(crossed[-1], start - began_at[-1])
        crossed.append(0)
        began_at.append(start)

        def told(done: int) -> None:
            if stopped.is_set():
                raise TransferStoppedError(f"Sending {local.name} was stopped.", "What has arrived is kept.")
            crossed[-1] = done
            progress(start + done, size)

        send_rest(phone, receiver, local, remote, start, size, told, idle_s, mode, known)

    def attempt() -> Pushed:
        size = _size_here(local)
        as_begun = _changed_at(local)
        with Receiver(phone, remote, idle_s) as receiver:
            part, known = receiver.part_bytes, sha256
            if receiver.size_bytes == size:
                receiver.hash_later()  # both sides at the same time
                known = known or sha256_here(local, size).hexdigest()
            if receiver.size_bytes == size and receiver.hashed() == known:
                start = 0  # nothing was left to be resumed
                progress(size, size)
            else:
                start = part if 0 < part <= size else 0
                room = SPARE_BYTES + (2 * segment_bytes(size) if 0 < start < size else 0)
                if size - start + room > receiver.free_bytes + max(0, part - start):
                    raise NoSpaceError(
                        f"{local.name} needs {_mb(size - start)} MB on the phone, and "
                        f"{_mb(receiver.free_bytes)} MB are free.",
                        "Remove something from the phone, or use a smaller model.",
                    )
                with nobody_else(remote):
                    if start and not _begun(receiver, local, start):
                        start = 0  # what had been left there is not of this file
                    receiver.begin(start)
                    send(receiver, start, size, known)
                    if _changed_at(local) != as_begun:  # half of each would be neither
                        raise TransferError(f"{local} changed while it was sent.", "Send it again when it is finished.")
                    receiver.finish(size if start else None, mode)
        _allow(phone, remote, executable=executable)
        return Pushed(remote, size, sum(crossed), start)

    with _alone(phone, remote, stopped):
        return translated(lambda: retrying(attempt, retry, stopped), remote)


def pull_file(
    phone: AdbPhone,
    remote: str,
    local: Path,
    *,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
    retry: Retry = USUAL,
    idle_s: float = IDLE_S,
) -> str:
    """Bring one file from the phone; returns its SHA-256.

    Raises:
        MissingFileError, DeniedError: the phone does not give it.
        TransferError: it cannot be written here.
        IntegrityError, TransferStoppedError, DeviceError: as ``push_file``.
    """
    check_remote(remote)
    stopped = cancel or threading.Event()
    part = local.with_name(local.name + ".part")

    def attempt() -> str:
        size = int(phone.script(_SIZE, remote, timeout_s=idle_s, what="looking").text)
        start = min(part.stat().st_size if part.exists() else 0, size)
        digest = sha256_here(part, start) if start else hashlib.sha256()
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            done = start
            with phone.open_shell(script('exec tail -c "+$2" "$1"', remote, str(start + 1))) as shell:
                said = bytearray()
                for kind, data in shell.output(idle_s=idle_s):
                    if stopped.is_set():
                        raise TransferStoppedError(f"Fetching {local.name} was stopped.", "What has come is kept.")
                    if kind == "idle":
                        raise PhoneLostError(f"Nothing has come from the phone for {idle_s:g} s.", "Check the cable.")
                    if kind == "err":
                        said += data
                        continue
                    file.write(data)
                    digest.update(data)
                    done += len(data)
                    progress(done, size)
                if shell.exit_code:
                    raise reason_of(remote, bytes(said).decode("utf-8", "replace").strip(), shell.exit_code)
        if digest.hexdigest() != remote_sha256(phone, remote):
            part.unlink()
            raise IntegrityError(
                f"{remote} changed while it was fetched, or was damaged on the way.", "Fetch it again."
            )
        part.replace(local)
        return digest.hexdigest()

    try:
        return translated(lambda: retrying(attempt, retry, stopped), remote)
    except OSError as error:
        raise TransferError(
            f"{local} cannot be written ({error.strerror or error}).", "Free space, or go elsewhere."
        ) from error


def remote_sha256(phone: AdbPhone, remote: str) -> str:
    """SHA-256 of a file on the phone, in hexadecimal.

    Raises:
        CommandFailedError: it cannot be read.
    """
    return phone.script(_HASH, remote, timeout_s=HASH_S, what="hashing a file").text.split()[0]


def free_bytes(phone: AdbPhone, folder: str, timeout_s: float = IDLE_S) -> int:
    """Room for a shell user where ``folder`` lies.

    Raises:
        CommandFailedError: there is no such folder.
    """
    blocks, block = phone.script('cd "$1" && stat -f -c "%a %S" .', folder, timeout_s=timeout_s).text.split()
    return int(blocks) * int(block)


def check_remote(remote: str) -> None:
    """Refuse what cannot be the path of a file on a phone.

    Raises:
        TransferError: it is not absolute, names a folder, or holds NUL.
    """
    if (
        not remote.startswith("/")
        or remote.endswith("/")
        or "\0" in remote
        or posixpath.basename(remote) in {".", ".."}
    ):
        raise TransferError(f"{remote!r} cannot be a file on a phone.", "Give an absolute path.")


@contextmanager
def nobody_else(remote: str) -> Iterator[None]:
    """Where what was just written is gone, somebody else writes the same; a moment later it is there.

    Raises:
        IntegrityError: which is tried again.
    """
    try:
        yield
    except (CommandFailedError, MissingFileError) as error:
        known = error if isinstance(error, MissingFileError) else reason_of(remote, error.said, error.code)
        if isinstance(known, MissingFileError):
            raise IntegrityError(
                f"What was sent to {remote} on the phone is gone: somebody else is sending there, too.",
                "Wait until that has finished.",
            ) from error
        raise


def translated(work: Callable[[], Result], remote: str) -> Result:
    """Do the work; a command that failed becomes the state that its words describe."""
    try:
        return work()
    except CommandFailedError as error:
        raise reason_of(remote, error.said, error.code) from error


@contextmanager
def _alone(phone: AdbPhone, remote: str, stopped: threading.Event) -> Iterator[None]:
    """One sender of a file at a time in this process; the next then finds it there, and sends nothing.

    Each sender's own deadlines bound the wait.

    Raises:
        TransferStoppedError: it was cancelled while it waited.
    """
    with _GUARD:
        turn = _TURNS.setdefault((phone.id, remote), threading.Lock())
    while not turn.acquire(timeout=TURN_S):
        if stopped.is_set():
            raise TransferStoppedError(f"Sending {remote} was stopped.", "Somebody else is sending it.")
    try:
        yield
    finally:
        turn.release()


def _begun(receiver: Receiver, local: Path, size: int) -> bool:
    """Whether what an earlier transfer left is the first ``size`` bytes of a file here; both hash at the same time."""
    receiver.hash_later(".part")
    ours: str = sha256_here(local, size).hexdigest()
    return receiver.hashed() == ours


def _allow(phone: AdbPhone, remote: str, *, executable: bool) -> None:
    if executable and phone.script(_EXECUTABLE, remote, check=False).code:
        raise not_executable(remote)


def _size_here(local: Path) -> int:
    if not local.is_file():
        raise TransferError(f"There is no file {local}.", "Check the path.")
    try:
        return local.stat().st_size
    except OSError as error:
        raise TransferError(f"{local} cannot be read ({error.strerror or error}).") from error


def _changed_at(local: Path) -> tuple[int, int, int]:
    """What differs once somebody has written to a file, or put another in its place."""
    try:
        found = local.stat()
    except OSError as error:
        raise TransferError(f"{local} cannot be read ({error.strerror or error}).") from error
    return found.st_mtime_ns, found.st_size, found.st_ino


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f}"
