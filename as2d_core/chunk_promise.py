"""How much longer is a WAV or AIFF file by its own words than by its bytes? A decoder hears what is there.

Both are chunks with their lengths in front. The one that holds the samples says more than there is when the file was
cut off: while it was copied, or when a disk was full.
"""

import io
import os
from pathlib import Path
from typing import BinaryIO

_SAMPLES = {b"RIFF": (b"data", "little"), b"RIFX": (b"data", "big"), b"FORM": (b"SSND", "big")}
"""By the first four bytes: the chunk that holds the samples, and which byte of a length comes first."""
_MOST_CHUNKS = 1000
"""A file has a handful; more are junk."""


def promised_share(source: Path | bytes, most_bytes: int) -> float:
    """Length of the samples as the file says it, over what is there: 1 for a whole file, and for any other kind.

    Args:
        source: a file, or its bytes.
        most_bytes: who says more than this does not know: a recorder or a pipe fills the length in when it ends.

    Raises:
        OSError: the file cannot be read.
    """
    if isinstance(source, bytes):
        return _share(io.BytesIO(source), most_bytes)
    with source.open("rb") as file:
        return _share(file, most_bytes)


def _share(file: BinaryIO, most_bytes: int) -> float:
    total = file.seek(0, os.SEEK_END)
    file.seek(0)
    kind = _SAMPLES.get(file.read(12)[:4])
    if kind is None:
        return 1.0
    wanted, order = kind
    at = 12
    for _ in range(_MOST_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            break
        size = int.from_bytes(head[4:], "little" if order == "little" else "big")
        at += 8
        if head[:4] == wanted:
            there = total - at
            return size / there if 0 < there < size <= most_bytes else 1.0
        at += size + size % 2
    return 1.0
