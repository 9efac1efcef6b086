"""Files of others: whatever lies there is read within bounds, or refused as ``OSError`` or ``ValueError``."""

import errno
import json
import stat
from io import BufferedReader
from math import isfinite
from pathlib import Path
from typing import Any

MOST_BYTES = 64_000_000
"""Far above any file of this kind."""
_MOST_DIGITS = 300
"""A whole number of more digits is no floating-point number: the first calculation with it would fail."""


def is_file(path: Path) -> bool:
    """Whether a regular file lies there; text that can be no path names none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder lies there; text that can be no path names none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def check_regular(path: Path) -> None:
    """Refuse what is there but is no regular file: a pipe waits for its writer, a device has no end.

    Raises:
        OSError: there is none, or it is none.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise FileNotFoundError(errno.ENOENT, "Can be no name of a file", str(path)) from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Is no regular file", str(path))


def open_regular(path: Path) -> BufferedReader:
    """A file of others, opened for reading.

    Raises:
        OSError: as ``check_regular``, or it cannot be read.
    """
    check_regular(path)
    return path.open("rb")


def read_words(path: Path) -> str:
    """The beginning of a text file, up to ``MOST_BYTES``; what is no UTF-8 is replaced.

    Raises:
        OSError: as ``open_regular``.
    """
    with open_regular(path) as file:
        return file.read(MOST_BYTES).decode("utf-8", "replace")


def read_json(path: Path, most_bytes: int = MOST_BYTES) -> Any:
    """What a JSON file holds.

    Raises:
        OSError: it cannot be read, or is no regular file: opening a pipe would wait for its writer.
        ValueError: it is too long, no UTF-8, or what ``parse_json`` refuses.
    """
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it has more than {most_bytes / 1e6:.0f} MB")
    return parse_json(data.decode("utf-8"))


def parse_json(text: str) -> Any:
    """JSON of others, every number of which is finite and small enough to be calculated with.

    Raises:
        ValueError: it is no JSON, nested too deep for a reader, or holds such a number.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _finite(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(f"{digits[:40]} is larger than any number can be")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{digits[:40]}... is larger than any number can be")
    return int(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
