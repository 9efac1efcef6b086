"""How do runtime, core, models and native runners get onto a phone? Whole or not at all, and only what is not there."""

import hashlib
import json
import posixpath
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from as2d_core.models.folder import ModelInfo
from as2d_core.reading import open_regular
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.transfer import SPARE_BYTES, Progress, free_bytes, push_file, translated
from device_bridge.adb.trees import push_tree
from device_bridge.bundle.build import Package
from device_bridge.errors import IntegrityError, NoSpaceError, TransferError
from device_bridge.setup.layout import INBOX, PHONE_ROOT, core_folder, model_folder, runtime_folder

COMPLETE = ".complete"
"""In a folder whose files are all there and checked; holds a line of JSON about it."""
UNPACK_S, HASH_S = 300.0, 600.0
Say = Callable[[str], None]
_HASHES = 'cd "$1" && find . -type f ! -path "*/__pycache__/*" ! -name .complete -exec sha256sum {} +'
_UNPACK = r"""
rm -rf "$1.new" && mkdir -p "$1.new" && cd "$1.new" && tar -xzf "$2"
"""
_SETTLE = r"""
cat > "$1.new/.complete" && rm -rf "$1" && mv "$1.new" "$1" && rm -f "$2"
"""
_MARK = 'cat > "$1/.complete"'
_SIZES = r"""
[ -f "$1/.complete" ] || exit 0
cat "$1/.complete"; echo
find "$1" -type f ! -name .complete ! -name "*.part*" -exec stat -c %s {} +
"""


@dataclass(frozen=True, slots=True)
class Placed:
    """Something that is on a phone now."""

    folder: str
    sent_bytes: int
    """Bytes that crossed; 0 when all of it was there already."""
    unpacked_bytes: int

    @property
    def skipped(self) -> bool:
        return self.sent_bytes == 0


def place_package(
    phone: AdbPhone,
    package: Package,
    folder: str,
    *,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
) -> Placed:
    """Bring a runtime or a core to ``folder`` on the phone, unless it is there.

    Raises:
        NoSpaceError: there is no room for the archive and what is in it.
        IntegrityError: what was unpacked is not what was packed.
        TransferError, DeviceError: the phone does not take it, or was lost.
    """
    if read_mark(phone, folder).get("archive_sha256") == package.archive_sha256:
        return Placed(folder, 0, package.unpacked_bytes)
    phone.run(["mkdir", "-p", PHONE_ROOT, INBOX])
    need = package.archive_bytes + package.unpacked_bytes + SPARE_BYTES
    free = free_bytes(phone, PHONE_ROOT)
    if need > free:
        raise NoSpaceError(
            f"{need / 1e6:,.0f} MB are needed on the phone for what runs there, and {free / 1e6:,.0f} MB are free.",
            "Remove something from the phone, or earlier versions with: as2d phone clean",
        )
    remote = f"{INBOX}/{package.id}.tar.gz"
    # Whoever gives us a package has just looked whether its archive still has this content.
    pushed = push_file(phone, package.archive, remote, progress=progress, cancel=cancel, sha256=package.archive_sha256)
    mark = json.dumps({"id": package.id, "archive_sha256": package.archive_sha256, "versions": package.versions})

    def unpack() -> None:
        phone.script(_UNPACK, folder, remote, timeout_s=UNPACK_S, what="unpacking")
        wrong = differing_files(phone, f"{folder}.new", package.listing.read_text(encoding="utf-8"))
        if wrong:
            raise IntegrityError(
                f"After unpacking, {len(wrong)} files on the phone are not as they were packed, such as {wrong[0]}.",
                "Try again; if it stays, the phone's storage is damaged.",
            )
        phone.script(_SETTLE, folder, remote, stdin=mark.encode(), what="finishing")

    translated(unpack, folder)
    return Placed(folder, pushed.sent_bytes, package.unpacked_bytes)


def place_runtime(
    phone: AdbPhone,
    package: Package,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
) -> Placed:
    """Bring the runtime to its place. Raises as ``place_package``."""
    return place_package(phone, package, runtime_folder(package.id), progress=progress, cancel=cancel)


def place_core(
    phone: AdbPhone,
    package: Package,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
) -> Placed:
    """Bring the package as2d_core to its place. Raises as ``place_package``."""
    return place_package(phone, package, core_folder(package.id), progress=progress, cancel=cancel)


def place_model(
    phone: AdbPhone,
    info: ModelInfo,
    *,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
) -> Placed:
    """Bring a model folder to the phone, unless it is there.

    Raises:
        TransferError, DeviceError: as ``transfer.push_file``.
    """
    folder = model_folder(info.sha256)
    files = [file for file in info.path.rglob("*") if file.is_file()]
    total = sum(file.stat().st_size for file in files)
    known = phone.script(_SIZES, folder, what="looking").text.split("\n")
    with suppress(ValueError):
        mark, sizes = json.loads(known[0]), sum(int(line) for line in known[1:] if line)
        if mark.get("sha256") == info.sha256 and sizes == total:
            return Placed(folder, 0, total)
    pushed = push_tree(phone, info.path, folder, progress=progress, cancel=cancel)
    mark = json.dumps({"name": info.name, "sha256": info.sha256, "bytes": total})
    phone.script(_MARK, folder, stdin=mark.encode(), what="finishing a model")
    return Placed(folder, pushed.sent_bytes, total)


def place_runner(
    phone: AdbPhone,
    program: Path,
    sha256: str,
    folder: str,
    progress: Progress = lambda _done, _total: None,
    cancel: threading.Event | None = None,
) -> tuple[str, int]:
    """Bring a native runner program to ``folder``; returns its path there and how many bytes were sent.

    Args:
        sha256: of the program, just computed.

    Raises:
        TransferError, DeviceError: as ``transfer.push_file``.
    """
    remote = posixpath.join(folder, "runner")
    pushed = push_file(phone, program, remote, executable=True, progress=progress, cancel=cancel, sha256=sha256)
    return remote, pushed.sent_bytes


def differing_files(phone: AdbPhone, folder: str, listing: str) -> list[str]:
    """Names of the files in a list of hashes that are missing or different on the phone.

    Raises:
        DeviceError: they cannot be read.
    """
    found = dict(_hashes(phone.script(_HASHES, folder, timeout_s=HASH_S, what="checking files").text))
    return [name for name, digest in _hashes(listing) if found.get(name) != digest]


def read_mark(phone: AdbPhone, folder: str) -> dict[str, object]:
    """What is written in a folder that is complete; empty when it is not, or not there."""
    text = phone.script('cat "$1/.complete" 2> /dev/null; exit 0', folder).text
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def program_sha256(program: Path) -> str:
    """Hash of a native runner program on this computer.

    Raises:
        TransferError: it cannot be read.
    """
    try:
        with open_regular(program.expanduser()) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise TransferError(f"The runner {program} cannot be read ({error.strerror or error}).") from error


def _hashes(listing: str) -> list[tuple[str, str]]:
    rows = [line.split(maxsplit=1) for line in listing.splitlines() if line.strip()]
    return [(row[1].lstrip("*").removeprefix("./"), row[0]) for row in rows if len(row) == 2]
