"""How does a file get onto the disk so that no crash leaves half of it under its name?

Written to ``.part``, flushed to the disk, renamed, and the folder flushed too.
"""

import errno
import hashlib
import os
import re
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from as2d_core.reading import check_regular
from datastore.errors import DiskFullError, StoreError, StoreFolderError

PART = ".part"
_COPY_BYTES = 1 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def safe_name(text: str) -> str:
    """A file name for any text, the same for the same text and different for different ones.

    Plain lower-case names stay as they are. Everything else gets a digest, so that path
    characters cannot leave the folder and names that differ in case stay apart on every disk.
    """
    if _PLAIN.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{re.sub('[^A-Za-z0-9_-]+', '-', text).strip('-')[:60]}~{digest}"


def download_name(title: str, otherwise: str) -> str:
    """A short file name that a person recognises a title by; ``otherwise`` where no letter of it can be kept."""
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", letters)[:48].strip("-") or otherwise


def copy_to_part(source: Path, folder: Path) -> tuple[Path, str, int]:
    """Copy a file beside its future place; returns the copy, its SHA-256 and its length in bytes.

    Raises:
        OSError: ``source`` cannot be read.
        StoreError: the copy cannot be written; nothing is left of it.
    """
    part = folder / f"{secrets.token_hex(8)}{PART}"
    digest, length = hashlib.sha256(), 0
    check_regular(source)
    with source.open("rb") as data, _removed_on_error(part), part.open("xb") as out:
        while block := data.read(_COPY_BYTES):
            digest.update(block)
            length += len(block)
            out.write(block)
        _flush(out.fileno(), out)
    return part, digest.hexdigest(), length


def write_durably(path: Path, data: bytes) -> None:
    """Put ``data`` under ``path``, replacing what was there in one step.

    Raises:
        StoreError: it cannot be written; what was there before is unchanged.
    """
    part = path.with_name(f"{secrets.token_hex(8)}{PART}")
    with _removed_on_error(part, path):
        with part.open("xb") as out:
            out.write(data)
            _flush(out.fileno(), out)
        part.replace(path)
        sync_folder(path.parent)


def move_durably(source: Path, target: Path) -> None:
    """Rename a file; both folders know it when this returns.

    Raises:
        StoreError: it cannot be renamed; it is still where it was.
    """
    with translated_os(target):
        source.replace(target)
        sync_folder(target.parent)
        if source.parent != target.parent:
            sync_folder(source.parent)


def remove_quietly(path: Path) -> None:
    """Remove a file of ours that nobody needs any more; what cannot be removed now is swept at the next open."""
    with suppress(OSError):
        path.unlink()


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, where the system can."""
    with suppress(PermissionError):  # Windows cannot open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def digest(path: Path) -> tuple[str, int]:
    """SHA-256 and length in bytes of a file.

    Raises:
        OSError: it cannot be read.
    """
    check_regular(path)
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest(), os.fstat(data.fileno()).st_size


def prefix_digest(path: Path, length: int) -> str | None:
    """SHA-256 of the first ``length`` bytes of a file, ``None`` when it is shorter."""
    found = hashlib.sha256()
    check_regular(path)
    with path.open("rb") as data:
        while length > 0 and (block := data.read(min(length, _COPY_BYTES))):
            found.update(block)
            length -= len(block)
    return found.hexdigest() if length == 0 else None


def folder_error(path: Path, error: OSError) -> StoreError:
    """The store's error for what the system said about ``path``."""
    if error.errno in _FULL:
        return DiskFullError(f"There is no room left to write {path}; free some space on that disk and try again.")
    if error.errno in _REFUSED:
        return StoreFolderError(
            f"{path} cannot be written ({error.strerror}); give this user the right to, "
            "or set AS2D_STORE to another folder."
        )
    if error.errno == errno.ENOENT and not path.parent.exists():
        return StoreFolderError(f"There is no folder {path.parent} for {path.name}; make it, or name another.")
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return StoreFolderError(
            f"{path} cannot be used, a file is where a folder must be; move it away, or set AS2D_STORE to a folder."
        )
    return StoreFolderError(f"{path} cannot be used ({error.strerror or error}); check the folder.")


@contextmanager
def translated_os(path: Path) -> Iterator[None]:
    """Turn what the system says about ``path`` into the store's errors."""
    try:
        yield
    except OSError as error:
        raise folder_error(path, error) from error


@contextmanager
def _removed_on_error(part: Path, meant: Path | None = None) -> Iterator[None]:
    try:
        with translated_os(meant or part):
            yield
    except BaseException:
        remove_quietly(part)
        raise


def _flush(descriptor: int, out: object) -> None:
    out.flush()  # type: ignore[attr-defined]
    os.fsync(descriptor)
