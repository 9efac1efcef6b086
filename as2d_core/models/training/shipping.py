"""What was made becomes what ships: models, recordings and trajectories, within their sizes."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from as2d_core.errors import TrainingError
from as2d_core.models.folder import check_pair, describe_model
from as2d_core.models.window_index import INDEX, read_index
from as2d_core.replay.trajectories import read_corpus, write_corpus

FOLDERS = {"target": "target", "paper": "drafter", "light": "light"}
"""Folder of each trained model among what ships. "Paper" is the drafter that a request takes unless told otherwise."""
MOST_MODEL_BYTES = 40_000_000
MOST_RECORDING_BYTES = 12_000_000


def ship_models(exports: Path, demo: Path) -> int:
    """Replace the bundled models. Returns their size in bytes.

    Raises:
        TrainingError: an export is missing, or together they are too large.
        ModelError: an export is no usable model, or a drafter does not fit the target.
    """
    infos = {}
    for name in FOLDERS:
        if not (exports / name).is_dir():
            raise TrainingError(f"There is no {name} in {exports}; export it first.")
        infos[name] = describe_model(exports / name)
    for name in ("paper", "light"):
        check_pair(infos["target"], infos[name])
    size = sum(info.size_bytes for info in infos.values())
    _check_size(size, MOST_MODEL_BYTES, "models")
    for name, folder in FOLDERS.items():
        _replace_folder(sorted((exports / name).iterdir()), demo / folder)
    return size


def ship_recordings(recordings: Path, demo: Path) -> int:
    """Replace the bundled recordings. Returns their size in bytes.

    Raises:
        TrainingError: they are too large.
        AudioError: their index is missing or damaged.
    """
    files = sorted({window.path for window in read_index(recordings)})
    size = sum(file.stat().st_size for file in files)
    _check_size(size, MOST_RECORDING_BYTES, "recordings")
    _replace_folder([*files, recordings / INDEX], demo / "windows")
    return size


def ship_trajectories(sets: Mapping[str, Path], data: Path) -> None:
    """Put collected sets (by the id that they get) among the packaged ones.

    Raises:
        TrajectoryError: a file holds no whole set.
    """
    for name, path in sets.items():
        write_corpus(replace(read_corpus(path), id=name), data / f"{name}.parquet")


def _check_size(size: int, most: int, what: str) -> None:
    if size > most:
        raise TrainingError(f"The {what} have {size / 1e6:.1f} MB; at most {most / 1e6:.0f} MB ship.")


def _replace_folder(files: Sequence[Path], folder: Path) -> None:
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for file in files:
        shutil.copy(file, part / file.name)
    shutil.rmtree(folder, ignore_errors=True)
    part.replace(folder)
