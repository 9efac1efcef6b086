"""How is a folder packed, so that the same content always gives the same bytes, and named by what it holds?"""

import gzip
import hashlib
import lzma
import os
import tarfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from device_bridge.bundle.errors import BundleError

LIST = "files.sha256"
"""Beside the files: what ``sha256sum -c`` checks on the phone."""
HASH_DIGITS = 16


def list_files(folder: Path) -> str:
    """Hash and name of every file below, as ``sha256sum`` writes them, in order of the names."""
    lines = []
    for file in sorted(_files(folder), key=lambda path: path.relative_to(folder).as_posix()):
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        lines.append(f"{digest}  {file.relative_to(folder).as_posix()}")
    return "\n".join(lines) + "\n"


def content_id(listing: str) -> str:
    """Short name of what a folder holds."""
    return hashlib.sha256(listing.encode()).hexdigest()[:HASH_DIGITS]


def pack(folder: Path, archive: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Write the files of ``folder`` into a tar file; ``.xz`` and ``.gz`` name its compression.

    Times, owners and order are always the same; programs and scripts are executable.

    Raises:
        BundleError: it cannot be written.
    """
    files = sorted(_files(folder), key=lambda path: path.relative_to(folder).as_posix())
    total = sum(file.stat().st_size for file in files) or 1
    part = archive.with_name(f"{archive.name}.{os.getpid()}.part")
    done = 0
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with _compressed(part, archive.suffix) as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
            for file in files:
                entry = tarfile.TarInfo(file.relative_to(folder).as_posix())
                entry.size = file.stat().st_size
                with file.open("rb") as source:
                    entry.mode = 0o755 if source.read(4).startswith((b"#!", b"\x7fELF")) else 0o644
                    source.seek(0)
                    tar.addfile(entry, source)
                done += entry.size
                say(f"Compressing, {100 * done // total} %")
        part.replace(archive)
    except OSError as error:
        raise BundleError(
            f"{archive} cannot be written ({error}).", "Free some space, or choose another place."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.name != LIST)


class _Gzip(gzip.GzipFile):
    """Without a name and a time in its head."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=9)
        self._raw_stream = raw

    def close(self) -> None:
        super().close()
        self._raw_stream.close()


def _compressed(path: Path, suffix: str) -> Any:
    if suffix == ".xz":
        return lzma.open(path, "wb", preset=6)
    raw = path.open("wb")
    return _Gzip(raw) if suffix == ".gz" else raw
