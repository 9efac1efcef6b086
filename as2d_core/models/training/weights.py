"""Weights on disk: written whole or not at all, read with a sentence about what does not fit."""

import os
import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from as2d_core.errors import TrainingError
from as2d_core.models.training.network import SpeechModel

PUBLISHED_PREFIX = "thinker."
"""What the weights of published Qwen3-ASR checkpoints are called by before our names."""


def save_whole(content: dict[str, Any], file: Path) -> None:
    """Write with ``torch.save``; whatever kills the process, ``file`` is the old or the new one, complete."""
    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as out:
        torch.save(content, out)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


def load_whole(file: Path) -> dict[str, Any]:
    """What ``save_whole`` wrote.

    Raises:
        TrainingError: the file cannot be read.
    """
    try:
        content: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
        raise TrainingError(
            f"{file} is no training state ({type(error).__name__}); remove it to start again."
        ) from error
    return content


def start_from(model: SpeechModel, file: Path) -> list[str]:
    """Take over weights from a safetensors file; returns the names that it lacks and that keep their first values.

    Raises:
        TrainingError: the file is no safetensors file, or for another shape.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        stored = load_file(str(file))
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{file} is no safetensors file ({error}); copy it again, or name another.") from error
    found = {name.removeprefix(PUBLISHED_PREFIX): weights.float() for name, weights in stored.items()}
    try:
        missing, unknown = model.load_state_dict(found, strict=False)
    except RuntimeError as error:
        raise TrainingError(f"{file} holds a model of another shape ({error}).") from error
    if unknown:
        raise TrainingError(f"{file} holds weights that this network does not have: {', '.join(sorted(unknown)[:5])}.")
    return list(missing)


def inherit(model: SpeechModel, parent: dict[str, Tensor], layers: tuple[int, ...]) -> None:
    """Start as the parent with only ``layers`` of its decoder: same tower, same embeddings.

    Raises:
        TrainingError: the two shapes do not fit.
    """
    chosen = {}
    for name, weights in parent.items():
        section, _, rest = name.partition("model.layers.")
        if section or not rest:
            chosen[name] = weights
            continue
        number, _, part = rest.partition(".")
        if int(number) in layers:
            chosen[f"model.layers.{layers.index(int(number))}.{part}"] = weights
    try:
        model.load_state_dict(chosen)
    except RuntimeError as error:
        raise TrainingError(f"The parent's layers {layers} do not make a model of this shape ({error}).") from error
