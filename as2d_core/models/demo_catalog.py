"""The bundled pair and its recordings: what makes the main job run with nothing else."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from as2d_core.errors import unknown_name

FOLDER = Path(__file__).parent / "demo"
TARGET = FOLDER / "target"
DRAFTER = FOLDER / "drafter"


@dataclass(frozen=True, slots=True)
class DemoWindow:
    """One bundled item: a recording, what is asked of it, and what was said."""

    window_id: str
    path: Path
    group: str
    task: str
    instruction: str
    reference: str
    """Transcript, translation or answer that the speech was generated from."""
    duration_s: float


@cache
def demo_windows() -> tuple[DemoWindow, ...]:
    """All bundled items: 60 transcription windows first, then translations and questions."""
    index = json.loads((FOLDER / "windows" / "index.json").read_text(encoding="utf-8"))
    seconds = {item["file"]: item["seconds"] for item in index["windows"]}
    items = [
        DemoWindow(
            Path(item["file"]).stem,
            FOLDER / "windows" / item["file"],
            item["group"],
            item["task"],
            item["instruction"],
            item["transcript"],
            item["seconds"],
        )
        for item in index["windows"]
    ]
    numbers: dict[str, int] = {}
    for item in index["tasks"]:
        stem = f"{Path(item['file']).stem}-{item['task']}"
        numbers[stem] = numbers.get(stem, 0) + 1
        suffix = "" if numbers[stem] == 1 else f"-{numbers[stem]}"
        items.append(
            DemoWindow(
                stem + suffix,
                FOLDER / "windows" / item["file"],
                item["group"],
                item["task"],
                item["instruction"],
                item["reference"],
                seconds[item["file"]],
            )
        )
    return tuple(items)


def demo_window(window_id: str) -> DemoWindow:
    """One bundled item by its id.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
    """
    for item in demo_windows():
        if item.window_id == window_id:
            return item
    raise unknown_name("bundled window", window_id, [item.window_id for item in demo_windows()])
