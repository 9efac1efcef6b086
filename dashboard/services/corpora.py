"""Trajectory sets in and out of the user's data folder. No store is opened for that."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError, TrajectoryError
from as2d_core.replay.exchange import export_corpus, import_corpus
from as2d_core.replay.trajectories import corpus_ids, write_corpus
from as2d_core.replay.windows import TrajectorySet
from dashboard.services.budgets import open_corpus
from datastore.files import safe_name
from datastore.locations import Folders


def import_set(
    folders: Folders, path: Path, name: str | None = None, *, replace_kept: bool = False
) -> tuple[TrajectorySet, Path]:
    """Check a set and keep it under its id, or under another name.

    Returns:
        The set and the file it lies in.

    Raises:
        TrajectoryError: it has a fault (window and position are named), or its id is taken and not to be replaced.
        RequestError: the name cannot be that of a set.
    """
    corpus = import_corpus(path)
    if name is not None:
        corpus = replace(corpus, id=name)
    check_name(corpus.id)
    kept = folders.corpora / f"{corpus.id}.parquet"
    if kept.exists() and not replace_kept:
        raise TrajectoryError(
            f"A trajectory set {corpus.id!r} is kept already; replace it, or give the new one another name."
        )
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        write_corpus(corpus, part)
        part.replace(kept)
    except OSError as error:
        raise TrajectoryError(f"{kept} cannot be written: {error.strerror or error}.") from error
    return corpus, kept


def export_set(folders: Folders, name: str, folder: Path, *, replace_files: bool = False) -> dict[str, Any]:
    """Write a set and its manifest into a folder.

    Returns:
        The manifest.

    Raises:
        UnknownNameError: there is no such set; suggests the nearest id.
        TrajectoryError: the set is malformed, or the folder holds one already or cannot be written.
    """
    return export_corpus(open_corpus(folders, name), folder, replace=replace_files)


def check_name(name: str) -> None:
    """Raise ``RequestError`` unless a set of the user may have this name."""
    if name in corpus_ids():
        raise RequestError(f"{name!r} is a packaged trajectory set; give the set another name.")
    if not name or safe_name(name) != name:
        raise RequestError(
            "The name of a trajectory set is made of lower-case letters, digits, dots, dashes and underscores."
        )
