"""What did a phone say about a file, and which of our errors is that?"""

import re

from device_bridge.errors import (
    DeniedError,
    MissingFileError,
    NoSpaceError,
    NotExecutableError,
    ReadOnlyError,
    TransferError,
    exit_hint,
    explain_exit,
)

_USUAL = "/data/local/tmp"
_REASONS: tuple[tuple[str, type[TransferError], str], ...] = (
    ("No space left|Disk quota", NoSpaceError, "Remove something from the phone."),
    ("Read-only file system", ReadOnlyError, "Choose a place that can be written to, such as /data/local/tmp."),
    ("Permission denied|Operation not permitted", DeniedError, "Choose a place of the shell user, /data/local/tmp."),
    ("No such file|Not a directory", MissingFileError, "Check the path."),
)


def reason_of(remote: str, said: str, code: int) -> TransferError:
    """The error for what a phone said about a file.

    Args:
        said: the phone's own words, or empty.
        code: exit code of the command that said so.
    """
    words = said or f"exit code {code}"
    for pattern, kind, hint in _REASONS:
        if re.search(pattern, words, re.IGNORECASE):
            return kind(f"{remote}: the phone says {words!r}.", hint, said)
    if exit_hint(code):  # killed, say: what a shell writes about that is one vague word
        return TransferError(
            f"{remote}: the work on it ended early on the phone, {explain_exit(code)}.", exit_hint(code), said
        )
    return TransferError(f"{remote}: the phone says {words!r}.", "", said)


def not_executable(remote: str) -> NotExecutableError:
    """The error for a program that may not be started from where it lies."""
    other = "use another phone" if remote.startswith(f"{_USUAL}/") else f"{_USUAL} usually can be used"
    return NotExecutableError(
        f"The phone does not let {remote} be executed there.",
        f"That place is mounted noexec, or a policy of the phone forbids it; {other}.",
    )


def is_known(said: str) -> bool:
    """Whether the words name a reason that we know."""
    return any(re.search(pattern, said, re.IGNORECASE) for pattern, _, _ in _REASONS)
