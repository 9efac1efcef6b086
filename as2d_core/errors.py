"""What can go wrong in the core, one class for each invalid state.

Every message is one sentence (or two) that says what is wrong, where, and what to do.
"""

import re
from typing import ClassVar

MOST_NAMED = 12
"""Of names that there are: a sentence that lists hundreds is no sentence."""
LIKENESS = 0.6
"""Least share of characters that two names have in common, in order, for one to be suggested for the other."""


_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What breaks a line, rings a bell or turns the writing, and halves of characters, which are bytes that are no text."""


def one_line(text: str, keep: str = "") -> str:
    """Text that holds foreign names, as it can stand in a sentence: what is no letter is shown as Python writes it.

    Args:
        keep: characters that are left as they are.
    """

    def shown(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _COMMANDS.sub(shown, text)


class As2dError(Exception):
    """Root of every error this project raises on purpose.

    Its message is one line whatever names stand in it: files, models and windows may be called anything.
    """

    several_lines: ClassVar[bool] = False
    """Whether the message ends in lines that another program wrote, a compiler say."""

    def __str__(self) -> str:
        return one_line(super().__str__(), "\n" if self.several_lines else "")


class RecordError(As2dError):
    """A line or a whole run record breaks the runner protocol.

    ``line`` is the 1-based number of the offending line, or ``None`` when the
    record as a whole is at fault.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class RequestError(As2dError):
    """A request asks for something that cannot be run as asked."""


class AudioError(As2dError):
    """An audio file cannot be read, or holds nothing a model can use."""


class ModelError(As2dError):
    """A model folder is incomplete, of the wrong type, or does not run on this machine."""


class EngineError(As2dError):
    """A model failed while it was running."""


class DrafterLostError(EngineError):
    """The drafter process ended before it was asked to."""


class ConditionsError(As2dError):
    """The device did not come into the condition that a measured episode asks for."""


class ProfileError(As2dError):
    """A cost profile is malformed, or lacks a cost that was asked for."""


class TrajectoryError(As2dError):
    """A trajectory set is malformed; the message names the window and the position."""


class SelectionError(As2dError):
    """A budget cannot be selected from what was given."""


class TrainingError(As2dError):
    """A step of the demo models' training lacks what it needs, or its folder belongs to another plan."""


class PublishedError(As2dError):
    """A published figure or its formula is malformed, or has no value."""


class UnknownNameError(As2dError):
    """A name is not in the catalogue; the message suggests the nearest one."""


def unknown_name(kind: str, name: str, known: list[str]) -> UnknownNameError:
    """Build the error for ``name`` that is not among ``known``, with the nearest name as a suggestion."""
    near = nearest(name, known)
    there = _shortened(sorted(known))
    listed = ", ".join(there[:MOST_NAMED]) + (", …" if len(there) > MOST_NAMED else "")
    hint = f"Did you mean {near!r}?" if near is not None else f"Known: {listed or 'none'}."
    return UnknownNameError(f"There is no {kind} named {name!r}. {hint}")


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that ``name`` is most likely a slip of; ``None`` when it resembles none of them."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, n=1, cutoff=LIKENESS)), None)


def _shortened(names: list[str]) -> list[str]:
    """Names that differ in their number only become one entry each, so that a long list stays a sentence."""
    series: dict[tuple[str, str], list[str]] = {}
    for name in names:
        parts = re.fullmatch(r"(.*_)\d+(\D*)", name)
        series.setdefault((parts[1], parts[2]) if parts else (name, ""), []).append(name)
    return [
        entry
        for same in series.values()
        for entry in (same if len(same) < 3 else [f"{same[0]} to {same[-1]} ({len(same)})"])
    ]
