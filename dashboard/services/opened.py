"""What has this process opened, so that it can be closed at its end by whoever does not know what it is?"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar


class Closable(Protocol):
    """Something that is given back."""

    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


class Opened:
    """One thing for each data folder, made by whoever asks first."""

    def __init__(self) -> None:
        self._things: dict[Path, Any] = {}
        self._lock = threading.Lock()

    def get(self, folder: Path, made: Callable[[Path], T]) -> T:
        """What was opened for a folder; ``made`` opens it at the first call."""
        with self._lock:
            if folder not in self._things:
                self._things[folder] = made(folder)
            thing: T = self._things[folder]
            return thing

    def close(self, folder: Path) -> None:
        """Give back what was opened for a folder, if anything was."""
        with self._lock:
            thing = self._things.pop(folder, None)
        if thing is not None:
            thing.close()


OPENED = Opened()
"""Workspaces; they are opened by ``workspace.open_workspace``."""
