"""How is an archive of somebody else's read? Nothing is unpacked to where it says; nothing expands without limit.

Members are handed out by name, as bytes, and only under names that the caller knows. A folder that was unpacked
earlier is read in the same way.
"""

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from datastore.errors import ArchiveError

MOST_MEMBERS = 20_000
MOST_BYTES = 2_000_000_000
"""All that is read out of one archive, expanded."""
MOST_MEMBER_BYTES = 600_000_000
FOLDERS = ("runs", "profiles", "earlier-profiles", "corpora", "notebooks", "power", "foreign")
"""What is looked at below an unpacked bundle or a data folder."""
_BLOCK = 1 << 20


@dataclass(slots=True)
class Archive:
    """An open archive or folder. ``names`` are its files; everything read counts against ``most_bytes``."""

    path: Path
    names: tuple[str, ...]
    most_bytes: int = MOST_BYTES
    _zip: zipfile.ZipFile | None = None
    _read: int = field(default=0)

    def read(self, name: str) -> bytes:
        """One member.

        Raises:
            ArchiveError: it is not there, is damaged, or is larger than anything that belongs in a bundle.
        """
        if name not in self.names:
            raise ArchiveError(f"{self.path} holds no {name!r}; export it again.")
        try:
            return b"".join(self._blocks(name))
        except (OSError, zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
            raise ArchiveError(f"{name!r} in {self.path} cannot be read ({error}); export it again.") from error
        except Exception as error:  # zlib, lzma and bz2 each have an error of their own
            if type(error).__module__ in ("zlib", "_lzma", "lzma"):
                raise ArchiveError(f"{name!r} in {self.path} is damaged ({error}); export it again.") from error
            raise

    def _blocks(self, name: str) -> Iterator[bytes]:
        size = 0
        data: IO[bytes] = (self.path / name).open("rb") if self._zip is None else self._zip.open(name)
        with data:
            # What the directory of the archive says of sizes is not believed: what comes out is counted.
            while block := data.read(_BLOCK):
                size += len(block)
                self._read += len(block)
                if size > MOST_MEMBER_BYTES or self._read > self.most_bytes:
                    raise ArchiveError(
                        f"{self.path} expands to more than {self.most_bytes / 1e9:g} GB, or {name!r} to more than "
                        f"{MOST_MEMBER_BYTES / 1e6:g} MB; no bundle of ours does. Nothing more was read."
                    )
                yield block


@contextmanager
def opened(path: Path, most_bytes: int = MOST_BYTES) -> Iterator[Archive]:
    """Open a ZIP archive or an unpacked folder.

    Raises:
        ArchiveError: it is neither, or a name in it would lead out of its folder.
    """
    if path.is_dir():
        yield Archive(path, _folder_names(path), most_bytes)
        return
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror or error}); check its name and rights.") from error
    except zipfile.BadZipFile as error:
        raise ArchiveError(f"{path} is no ZIP archive ({error}).") from error
    with archive:
        yield Archive(path, _names(path, archive), most_bytes, archive)


def _names(path: Path, archive: zipfile.ZipFile) -> tuple[str, ...]:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise ArchiveError(f"{path} has {len(members):,} members; no bundle of ours has more than {MOST_MEMBERS:,}.")
    names = []
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if member.is_dir():
            continue
        if kind not in (0, stat.S_IFREG):
            raise ArchiveError(f"{member.filename!r} in {path} is a link or a device, which no bundle of ours holds.")
        names.append(checked_name(member.filename, path))
    if len(set(names)) != len(names):
        raise ArchiveError(f"{path} holds two members of the same name.")
    return tuple(names)


def checked_name(name: str, path: Path) -> str:
    """The same name, when it stays inside its folder on every system.

    Raises:
        ArchiveError: it would not.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in name or not name.isprintable():
        raise ArchiveError(f"{name!r} in {path} would lie outside of its folder; nothing was taken from it.")
    return name


def _folder_names(path: Path) -> tuple[str, ...]:
    names = []
    for place in (path, *(path / name for name in FOLDERS)):
        for file in sorted(place.iterdir()) if place.is_dir() and not place.is_symlink() else ():
            if file.is_symlink():
                raise ArchiveError(f"{file} is a link, which no bundle of ours holds.")
            if file.is_file():
                names.append(file.relative_to(path).as_posix())
    return tuple(names)
