"""How does a folder get to a phone? What differs is sent, small files in one session, large ones one by one."""

import os
import posixpath
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from device_bridge.adb.commands import encoded
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import not_executable, reason_of
from device_bridge.adb.receiving import HASH_S
from device_bridge.adb.segments import sha256_here
from device_bridge.adb.sync import Sending, send_files
from device_bridge.adb.transfer import (
    IDLE_S,
    SPARE_BYTES,
    Progress,
    check_remote,
    free_bytes,
    nobody_else,
    push_file,
    translated,
)
from device_bridge.errors import (
    IntegrityError,
    NoSpaceError,
    TransferError,
    TransferStoppedError,
)
from device_bridge.retrying import USUAL, Retry, retrying

SMALL_BYTES = 4 << 20
"""Files up to this size are sent together; they are too short to be worth resuming."""
_BATCH = 200
_HASHES = 'cd "$1" && xargs -0 sha256sum 2> /dev/null; exit 0'
_RENAME = r"""
cd "$1" || exit 1
while IFS= read -r name; do mv -f "$name.part" "$name" || exit 1; done
"""
_EXECUTABLES = r"""
cd "$1" || exit 1
while IFS= read -r name; do chmod 755 "$name"; [ -x "$name" ] || { echo "$name" >&2; exit 1; }; done
"""


@dataclass(frozen=True, slots=True)
class PushedTree:
    """What the transfer of a folder did."""

    path: str
    files: int
    size_bytes: int
    sent_files: int
    """Files that were not there with the same content."""
    sent_bytes: int
    """Bytes that crossed; what an earlier transfer had left of a file did not."""


@dataclass(frozen=True, slots=True)
class _File:
    local: Path
    name: str
    """Relative, with slashes, beginning with ``./``."""
    size: int
    sha256: str
    executable: bool

    @property
    def plain(self) -> bool:
        """Whether its name is one line that every ``sha256sum`` prints as it is."""
        return not any(character in self.name for character in "\n\r\\")


def push_tree(
    phone: AdbPhone,
    local: Path,
    remote: str,
    *,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
    retry: Retry = USUAL,
    idle_s: float = IDLE_S,
) -> PushedTree:
    """Bring the files of a folder to a folder on the phone; what else is there stays.

    Links to files are followed; exec bits are set as they are here, and checked.

    Raises:
        As ``transfer.push_file``.
    """
    check_remote(remote)
    stopped = cancel or threading.Event()
    files = _files_here(local)
    total = sum(file.size for file in files)
    counted: set[str] = set()
    crossed: list[int] = []  # bytes, of files and of batches of files

    def attempt() -> None:
        missing = _missing(phone, remote, files, idle_s)
        counted.update(file.name for file in missing)
        _check_space(phone, remote, missing, local, idle_s)
        done = total - sum(file.size for file in missing)
        progress(done, total)
        small = [file for file in missing if file.plain and file.size <= SMALL_BYTES]
        for start in range(0, len(small), _BATCH):
            _stop_if_asked(stopped, local)
            batch = small[start : start + _BATCH]
            _send_small(phone, remote, batch, idle_s)
            crossed.append(sum(file.size for file in batch))
            done += crossed[-1]
            progress(done, total)
        for file in [file for file in missing if file not in set(small)]:
            _stop_if_asked(stopped, local)
            pushed = push_file(
                phone, file.local, posixpath.join(remote, file.name[2:]), executable=file.executable, cancel=stopped,
                progress=_after(done, total, progress), retry=retry, idle_s=idle_s, sha256=file.sha256,
            )  # fmt: skip
            crossed.append(pushed.sent_bytes)
            done += file.size
        _set_executables(phone, remote, [file for file in files if file.executable], idle_s)

    translated(lambda: retrying(attempt, retry, stopped), remote)
    return PushedTree(remote, len(files), total, len(counted), sum(crossed))


def _after(done: int, total: int, progress: Progress) -> Progress:
    """Progress of one file as progress of all."""
    return lambda part, _: progress(done + part, total)


def _files_here(local: Path) -> list[_File]:
    if not local.is_dir():
        raise TransferError(f"There is no folder {local}.", "Check the path.")
    found = []
    for folder, folders, names in os.walk(local, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            try:
                size, mode = path.stat().st_size, path.stat().st_mode
            except OSError as error:
                raise TransferError(f"{path} cannot be read ({error.strerror or error}).") from error
            relative = "./" + path.relative_to(local).as_posix()
            found.append(_File(path, relative, size, sha256_here(path, size).hexdigest(), bool(mode & 0o111)))
    return found


def _missing(phone: AdbPhone, remote: str, files: Sequence[_File], idle_s: float) -> list[_File]:
    """The files whose content is not on the phone."""
    phone.script('mkdir -p "$1" && cd "$1"', remote, timeout_s=idle_s, what="making a folder")
    there = _hashes(phone, remote, [file.name for file in files if file.plain])
    return [file for file in files if not file.plain or there.get(file.name) != file.sha256]


def _hashes(phone: AdbPhone, remote: str, names: Iterable[str]) -> dict[str, str]:
    """SHA-256 by name, of those that are there."""
    listed = b"".join(encoded(name) + b"\0" for name in names)
    if not listed:
        return {}
    lines = phone.script(_HASHES, remote, stdin=listed, timeout_s=HASH_S, what="hashing files").out.split(b"\n")
    pairs = (line.decode("utf-8", "surrogateescape").split(maxsplit=1) for line in lines if line)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def _send_small(phone: AdbPhone, remote: str, files: Sequence[_File], idle_s: float) -> None:
    sending = [
        Sending(file.local, f"{posixpath.join(remote, file.name[2:])}.part", 0o755 if file.executable else 0o644)
        for file in files
    ]
    refused = send_files(phone, sending, idle_s)
    if refused is not None:
        raise reason_of(refused[0].remote.removesuffix(".part"), refused[1], 1)
    there = _hashes(phone, remote, [f"{file.name}.part" for file in files])
    for file in files:
        if there.get(f"{file.name}.part") != file.sha256:
            raise IntegrityError(f"{file.name} arrived damaged.", "Try again; if it stays, use another cable.")
    with nobody_else(remote):
        _with_names(phone, _RENAME, remote, files, idle_s)


def _set_executables(phone: AdbPhone, remote: str, files: Sequence[_File], idle_s: float) -> None:
    plain = [file for file in files if file.plain]
    for start in range(0, len(plain), _BATCH):
        output = _with_names(phone, _EXECUTABLES, remote, plain[start : start + _BATCH], idle_s, check=False)
        if output:
            raise not_executable(posixpath.join(remote, output))


def _with_names(
    phone: AdbPhone, text: str, remote: str, files: Sequence[_File], idle_s: float, *, check: bool = True
) -> str:
    """Run a script that reads names, one a line; returns what it complained about."""
    listed = b"".join(encoded(file.name) + b"\n" for file in files)
    output = phone.script(text, remote, stdin=listed, timeout_s=idle_s * 4, check=check, what="finishing files")
    return output.said if output.code else ""


def _check_space(phone: AdbPhone, remote: str, missing: Sequence[_File], local: Path, idle_s: float) -> None:
    needed, free = sum(file.size for file in missing), free_bytes(phone, remote, idle_s)
    if needed + SPARE_BYTES > free:
        raise NoSpaceError(
            f"{local.name} needs {needed / 1e6:,.1f} MB on the phone, and {free / 1e6:,.1f} MB are free.",
            "Remove something from the phone, or use a smaller model.",
        )


def _stop_if_asked(stopped: threading.Event, local: Path) -> None:
    if stopped.is_set():
        raise TransferStoppedError(f"Sending {local.name} was stopped.", "What has arrived is kept.")
