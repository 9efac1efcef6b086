"""Evaluation windows as recordings with an index: what ships with the models, and what budgets are selected on."""

import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from as2d_core.audio import SAMPLE_RATE
from as2d_core.errors import TrainingError
from as2d_core.models.training.evaluate import Item
from as2d_core.models.training.names import SPLIT_SEEDS
from as2d_core.models.window_index import INDEX, write_index

SEALED = "sealed"
INDEX_SPLITS = {SEALED: "test"}
"""Windows of the sealed split decide nothing: they are test windows for whoever selects a budget."""
_PREFIXES = {"development": "dev_", "validation": "val_"}
"""Of file names, so that windows of all splits can stand in one set."""


def split_seed(work: Path, split: str) -> int:
    """Seed of a split's windows. That of the sealed split is drawn the first time, and kept.

    Raises:
        TrainingError: the kept seed cannot be read.
    """
    if split != SEALED:
        return SPLIT_SEEDS[split]
    file = work / "banks" / SEALED / "seed.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        # Above the seeds of all other splits and of training, whose banks use a few numbers after theirs.
        seed = 1_000_000 + secrets.randbelow(1_000_000_000)
        file.write_text(json.dumps({"seed": seed}), encoding="utf-8")
    try:
        return int(json.loads(file.read_text(encoding="utf-8"))["seed"])
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingError(
            f"{file} holds no seed ({error}); the sealed windows must be made anew without it."
        ) from None


def write_recordings(items: Iterable[Item], folder: Path, split: str) -> int:
    """Write each window once as FLAC (16 bits), and the index of everything that is asked about it.

    Args:
        items: as ``evaluation_items`` gives them: further tasks follow the transcription of the same samples.

    Returns:
        Bytes of all recordings.

    Raises:
        TrainingError: the folder holds recordings already.
    """
    import soundfile

    folder.mkdir(parents=True, exist_ok=True)
    if (folder / INDEX).exists():
        raise TrainingError(f"{folder} holds recordings already; name another folder or remove them.")
    windows: list[dict[str, Any]] = []
    tasks: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    heard: np.ndarray[Any, Any] | None = None
    for item in items:
        query = item.query
        if query.task != "transcribe":
            if item.samples is not heard:
                raise TrainingError(f"A {query.task} item does not follow the transcription of its recording.")
            asked = {"task": query.task, "instruction": query.instruction, "reference": query.answer}
            tasks.append({"file": windows[-1]["file"], **asked})
            continue
        heard = item.samples
        number = numbers[item.group] = numbers.get(item.group, -1) + 1
        file = f"{_PREFIXES.get(split, '')}{item.group}_{number:02d}.flac"
        soundfile.write(folder / file, item.samples, SAMPLE_RATE, subtype="PCM_16")
        windows.append(
            {
                "file": file,
                "group": item.group,
                "seconds": round(len(item.samples) / SAMPLE_RATE, 3),
                "task": query.task,
                "instruction": query.instruction,
                "transcript": query.answer,
                "split": INDEX_SPLITS.get(split, split),
            }
        )
    write_index(folder, windows, tasks, SAMPLE_RATE)
    return sum(file.stat().st_size for file in folder.glob("*.flac"))
