"""How is a command for a phone written? Here and nowhere else: every word is quoted."""

import re
import shlex
from collections.abc import Mapping, Sequence

from device_bridge.errors import CommandRefusedError

LONGEST_BYTES = 60_000
"""adb carries the length of a request in four hexadecimal digits; the service's name comes on top."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def command(argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None) -> str:
    """One program with its arguments.

    Raises:
        CommandRefusedError: there is no program, a word holds NUL, a variable has no proper name, or all is too long.
    """
    if not argv or not argv[0]:
        raise CommandRefusedError("A command for a phone needs a program.")
    words = [shlex.quote(word) for word in argv]
    if env:
        words = ["env", *(f"{_name(name)}={shlex.quote(value)}" for name, value in env.items()), *words]
    change = f"cd -- {shlex.quote(cwd)} && " if cwd else ""
    return checked(f"{change}exec {' '.join(words)}")


def script(
    text: str, *arguments: str, env: Mapping[str, str] | None = None, cwd: str | None = None, name: str = "as2d"
) -> str:
    """A fixed piece of shell that finds its ``arguments`` in ``"$1"``, ``"$2"`` and so on.

    Nothing that came from outside belongs into ``text``.

    Raises:
        CommandRefusedError: as ``command``.
    """
    return command(["sh", "-c", text, name, *arguments], env, cwd)


def checked(text: str) -> str:
    """The command as it is, if adb can carry it.

    Raises:
        CommandRefusedError: it holds NUL or is too long.
    """
    if "\0" in text:
        raise CommandRefusedError(
            f"A command for a phone holds a NUL character: {text[:60]!r}.", "No file name or argument can hold one."
        )
    size = len(encoded(text))
    if size > LONGEST_BYTES:
        raise CommandRefusedError(
            f"A command for a phone has {size} bytes; adb carries at most {LONGEST_BYTES}.",
            "Put the arguments into a file, or give fewer at once.",
        )
    return text


def encoded(text: str) -> bytes:
    """Text as the bytes a phone sees; names that are no UTF-8 keep their bytes."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Bytes of a phone as text for people and parsers; what is no UTF-8 is marked."""
    return data.decode("utf-8", "replace")


def _name(variable: str) -> str:
    if not _VARIABLE.fullmatch(variable):
        raise CommandRefusedError(f"{variable!r} cannot be the name of a variable on a phone.")
    return variable
