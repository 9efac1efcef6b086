"""Which libraries does an arm64 program need, and which of its bytes does a phone need?"""

import io
import struct
from collections.abc import Sequence
from pathlib import Path

from as2d_core.reading import open_regular

MAGIC = b"\x7fELF"
_HEADER_BYTES, _ENTRY = 64, struct.Struct("<IIQQQQQQ")
_LOAD = 1


def is_arm64(path: Path) -> bool:
    """Whether a file is a 64-bit ARM program or library."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile  # only builders of bundles need it

    try:
        with open_regular(path) as file:
            if file.read(4) != MAGIC:
                return False
            elf = ELFFile(file)
            return bool(elf.elfclass == 64 and elf["e_machine"] == "EM_AARCH64")
    except (OSError, ELFError):
        return False


def needed_libraries(path: Path) -> tuple[str, ...]:
    """Names of the libraries that the loader looks for when it loads ``path``."""
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        dynamic = [s for s in ELFFile(file).iter_segments() if isinstance(s, DynamicSegment)]
        return tuple(str(tag.needed) for segment in dynamic for tag in segment.iter_tags("DT_NEEDED"))  # type: ignore[attr-defined]


def without_ballast(data: bytes) -> bytes:
    """The program with what the loader maps, and nothing else: no symbols for debuggers, no holes left by patching.

    The loader reads program headers only, and everything it maps is found by address. So file
    offsets may change as long as every loaded part keeps its place within its page.
    A file that is laid out in another way comes back as it was.
    """
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(data))
    table, count = elf["e_phoff"], elf["e_phnum"]
    segments = [list(_ENTRY.unpack_from(data, table + _ENTRY.size * i)) for i in range(count)]
    out, moves = _moved_together(data, [s for s in segments if s[0] == _LOAD])
    place = _moved(moves, table, _ENTRY.size * count)
    if place is None or _moved(moves, 0, _HEADER_BYTES) != 0:
        return data
    for index, segment in enumerate(segments):
        if segment[5]:  # bytes in the file
            offset = _moved(moves, segment[2], segment[5])
            if offset is None:
                return data
            segment[2] = offset
        _ENTRY.pack_into(out, place + _ENTRY.size * index, *segment)
    struct.pack_into("<QQ", out, 32, place, 0)  # e_phoff, e_shoff
    struct.pack_into("<HHH", out, 58, 64, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    return bytes(out) if len(out) < len(data) else data


def _moved_together(data: bytes, loads: Sequence[Sequence[int]]) -> tuple[bytearray, list[tuple[int, int, int]]]:
    """The loaded parts one after the other, and for each where it began and ended and by how much it moved."""
    out = bytearray()
    moves = []
    for _, _, offset, _, _, size, _, align in sorted(loads, key=lambda segment: segment[2]):
        start = len(out) + (offset - len(out)) % max(align, 1)
        out.extend(bytes(start - len(out)))
        out += data[offset : offset + size]
        moves.append((offset, offset + size, start - offset))
    return out, moves


def _moved(moves: Sequence[tuple[int, int, int]], offset: int, size: int) -> int | None:
    for begin, end, by in moves:
        if begin <= offset and offset + size <= end:
            return offset + by
    return None
