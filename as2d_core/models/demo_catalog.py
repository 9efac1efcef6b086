"""The bundled models and their recordings: what makes the main job run with nothing else."""

from functools import cache
from pathlib import Path

from as2d_core.errors import unknown_name
from as2d_core.models.window_index import RecordedWindow, read_index

FOLDER = Path(__file__).parent / "demo"
TARGET = FOLDER / "target"
DRAFTER = FOLDER / "drafter"
LIGHT = FOLDER / "light"
"""A drafter whose step costs next to nothing, as none on a phone does."""


@cache
def demo_windows() -> tuple[RecordedWindow, ...]:
    """All bundled items: 60 transcription windows first, then translations and questions."""
    return read_index(FOLDER / "windows")


def demo_window(window_id: str) -> RecordedWindow:
    """One bundled item by its id.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
    """
    for item in demo_windows():
        if item.window_id == window_id:
            return item
    raise unknown_name("bundled window", window_id, [item.window_id for item in demo_windows()])
