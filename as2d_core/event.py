"""What is common to everything that a run writes, one line each."""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, ClassVar

_READERS: dict[type[Any], Callable[[Any], tuple[Any, ...]]] = {}


class Event:
    """One line of the runner protocol. Subclasses are frozen dataclasses."""

    kind: ClassVar[str]
    __slots__ = ()

    def __reduce__(self) -> tuple[type["Event"], tuple[Any, ...]]:
        """Pickled by position: events cross a pipe between two forwards, and by name takes three times as long."""
        cls: type[Any] = type(self)
        if cls not in _READERS:
            _READERS[cls] = attrgetter(*(item.name for item in fields(cls)))
        return cls, _READERS[cls](self)
