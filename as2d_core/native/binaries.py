"""What is a program or library built for? Read from its headers; nothing is run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment, NoteSegment

from as2d_core.native.errors import NativeBuildError
from as2d_core.reading import open_regular

MAGIC = b"\x7fELF"
_ARCHIVE, _THIN_ARCHIVE = b"!<arch>\n", b"!<thin>\n"
_MEMBER_BYTES = 60
_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64", "EM_ARM": "arm", "EM_386": "i686"}
_CHUNK_BYTES = 4 << 20
_SYSTEM_MARKS = {"android": b"St6__ndk1", "linux": b"St7__cxx11"}
"""How the C++ library of Android's NDK and the one of GNU call a string in the names of functions."""


@dataclass(frozen=True, slots=True)
class Binary:
    """What a program or library is built for."""

    machine: str
    """Processor as ``uname -m`` calls it, for example ``aarch64``."""
    system: str | None
    """``android`` or ``linux``; ``None`` when it does not say."""
    api_level: int | None = None
    """Lowest API level of Android on which it starts; ``None`` for other systems."""
    ndk: str | None = None
    """Version of the NDK that linked it."""
    needed: tuple[str, ...] = ()
    """Libraries that it needs beside itself."""

    @property
    def sentence(self) -> str:
        """In words."""
        if self.system == "android":
            with_ndk = f", built with NDK {self.ndk}" if self.ndk else ""
            level = "" if self.api_level is None else f", API level {self.api_level} or higher"
            return f"Android on {self.machine}{level}{with_ndk}"
        return f"{'Linux' if self.system == 'linux' else 'some system'} on {self.machine}"


def read_binary(path: Path) -> Binary:
    """Look at a program, a shared library or an archive of objects.

    Raises:
        NativeBuildError: it is none of them, or cannot be read.
    """
    try:
        with open_regular(path) as file:
            head = file.read(len(_ARCHIVE))
            if head == _ARCHIVE:
                return _from_archive(path, file)
            if not head.startswith(MAGIC):
                raise NativeBuildError(f"{path} is neither a program nor a library (no ELF file).")
            return _from_elf(path, ELFFile(file))
    except OSError as error:
        raise NativeBuildError(f"{path} cannot be read ({error.strerror or error}).") from error
    except (ELFError, ValueError, KeyError) as error:
        raise NativeBuildError(f"{path} is damaged ({error}).") from error


def holds(path: Path, *marks: bytes) -> bool:
    """Whether one of the byte strings occurs in a file. Read in pieces: libraries of MNN are large.

    Raises:
        NativeBuildError: it cannot be read.
    """
    kept = max(map(len, marks)) - 1
    try:
        with open_regular(path) as file:
            before = b""
            while piece := file.read(_CHUNK_BYTES):
                text = before + piece
                if any(mark in text for mark in marks):
                    return True
                before = text[-kept:] if kept else b""
    except OSError as error:
        raise NativeBuildError(f"{path} cannot be read ({error.strerror or error}).") from error
    return False


def _from_archive(path: Path, file: Any) -> Binary:
    """The first object in it speaks for all."""
    while len(header := file.read(_MEMBER_BYTES)) == _MEMBER_BYTES:
        begin, size = file.tell(), int(header[48:58])
        if size < 0:
            raise ValueError("a part of it has fewer than no bytes")
        if file.read(len(MAGIC)) == MAGIC:
            file.seek(begin)
            machine = _machine(_Part(file, begin, size))
            system = next((name for name, mark in _SYSTEM_MARKS.items() if holds(path, mark)), None)
            return Binary(machine, system)
        file.seek(begin + size + size % 2)
    raise NativeBuildError(
        f"{path} is an archive without compiled code; build it again, without link-time optimisation."
    )


class _Part:
    """An object within an archive, as a file of its own."""

    def __init__(self, file: Any, begin: int, size: int) -> None:
        self._file, self._begin, self._size = file, begin, size
        self._file.seek(begin)

    def read(self, count: int = -1) -> bytes:
        left = self._begin + self._size - self._file.tell()
        data: bytes = self._file.read(left if count < 0 else min(count, left))
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        base = {0: self._begin, 1: self._file.tell(), 2: self._begin + self._size}[whence]
        return int(self._file.seek(base + offset)) - self._begin

    def tell(self) -> int:
        return int(self._file.tell()) - self._begin


def _machine(file: Any) -> str:
    name = str(ELFFile(file)["e_machine"])
    return _MACHINES.get(name, name.removeprefix("EM_").lower())


def _from_elf(path: Path, elf: Any) -> Binary:
    name = str(elf["e_machine"])
    machine = _MACHINES.get(name, name.removeprefix("EM_").lower())
    interpreter, needed = "", list[str]()
    notes: dict[str, bytes] = {}
    for segment in elf.iter_segments():
        if isinstance(segment, InterpSegment):
            interpreter = segment.get_interp_name()
        elif isinstance(segment, DynamicSegment):
            needed += [str(tag.needed) for tag in segment.iter_tags("DT_NEEDED")]  # type: ignore[attr-defined]
        elif isinstance(segment, NoteSegment):
            notes |= {note["n_name"]: note["n_descdata"] for note in segment.iter_notes()}
    if "Android" in notes or interpreter.startswith("/system/") or "libc.so" in needed:
        level, ndk = _android_note(notes.get("Android", b""))
        return Binary(machine, "android", level, ndk, tuple(needed))
    if interpreter or "libc.so.6" in needed or holds(path, _SYSTEM_MARKS["linux"]):
        return Binary(machine, "linux", needed=tuple(needed))
    return Binary(machine, None, needed=tuple(needed))


def _android_note(note: bytes) -> tuple[int | None, str | None]:
    """API level and NDK of ``.note.android.ident``: a number of four bytes, then texts."""
    if len(note) < 4:
        return None, None
    ndk = note[4:].partition(b"\0")[0].decode("ascii", "replace")
    return int.from_bytes(note[:4], "little"), ndk or None
