"""Recordings of a folder that ``index.json`` describes: what is asked about each, the right answer, its split."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from as2d_core.errors import AudioError
from as2d_core.reading import read_json

INDEX = "index.json"
SPLITS = ("development", "validation", "test")


@dataclass(frozen=True, slots=True)
class RecordedWindow:
    """One item: a recording, what is asked of it, and what was said."""

    window_id: str
    path: Path
    group: str
    task: str
    instruction: str
    reference: str
    """Transcript, translation or answer; empty where nobody knows."""
    duration_s: float
    split: str | None = None
    """Split the windows were made for; ``None`` = whoever collects them deals them out."""


def read_index(folder: Path) -> tuple[RecordedWindow, ...]:
    """All items of a folder: its recordings with the instruction each came with, then further tasks about them.

    ``windows`` lists ``file``, ``group``, ``seconds``, ``task``, ``instruction``, ``transcript`` and, if it is known,
    ``split``; ``tasks`` lists ``file``, ``task``, ``instruction`` and ``reference`` of other things to ask.

    Raises:
        AudioError: the index cannot be read, lacks an entry, names a file that is not in the folder, or a split that
            there is not.
    """
    path = folder / INDEX
    try:
        document = read_json(path)
        listed, more = document["windows"], document.get("tasks", [])
        windows = [_window(folder, item) for item in listed]
        by_file = {window.path.name: window for window in windows}
        tasks = [_task(by_file, item) for item in more]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else str(error)
        raise AudioError(f"{path} is no index of recordings: {said}.") from error
    names: dict[str, int] = {}
    items = []
    for window, stem in [*((w, w.window_id) for w in windows), *((t, f"{t.window_id}-{t.task}") for t in tasks)]:
        names[stem] = names.get(stem, 0) + 1
        items.append(replace(window, window_id=stem if names[stem] == 1 else f"{stem}-{names[stem]}"))
    return tuple(items)


def write_index(folder: Path, windows: list[dict[str, Any]], tasks: list[dict[str, Any]], rate: int) -> None:
    """Write what ``read_index`` reads."""
    document = {"rate": rate, "windows": windows, "tasks": tasks}
    (folder / INDEX).write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _window(folder: Path, item: dict[str, Any]) -> RecordedWindow:
    path, split = folder / _text(item, "file"), item.get("split")
    if path.parent != folder or not path.is_file():
        raise ValueError(f"there is no recording {item['file']!r} in the folder")
    if split is not None and split not in SPLITS:
        raise ValueError(f"{split!r} of {path.name} is no split ({', '.join(SPLITS)})")
    return RecordedWindow(
        path.stem,
        path,
        _text(item, "group"),
        _text(item, "task"),
        _text(item, "instruction"),
        _text(item, "transcript"),
        float(item["seconds"]),
        split,
    )


def _task(by_file: dict[str, RecordedWindow], item: dict[str, Any]) -> RecordedWindow:
    file = _text(item, "file")
    if file not in by_file:
        raise ValueError(f"a task is about {file!r}, which is not among the windows")
    task, instruction, reference = (_text(item, name) for name in ("task", "instruction", "reference"))
    return replace(by_file[file], task=task, instruction=instruction, reference=reference)


def _text(item: dict[str, Any], name: str) -> str:
    value = item[name]
    if not isinstance(value, str):
        raise TypeError(f"{name!r} is {value!r}, not text")
    return value
