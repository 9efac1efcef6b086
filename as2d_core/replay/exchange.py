"""A trajectory set on its way between computers: a folder with the Parquet file and a manifest that vouches for it.

The manifest says what the file must be (length, SHA-256, windows, tokens) and what is in it, so that a
damaged, shortened or exchanged file is found before its tokens are believed.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from as2d_core import __version__
from as2d_core.errors import TrajectoryError
from as2d_core.reading import is_file, is_folder, read_json
from as2d_core.replay.trajectories import read_corpus, write_corpus
from as2d_core.replay.windows import SPLITS, TrajectorySet

MANIFEST_FORMAT = 1
MANIFEST_NAME = "manifest.json"
FILE_NAME = "trajectories.parquet"
_KIND = "as2d trajectory set"
_CHUNK_BYTES = 1 << 20
_REQUIRED = {"file": str, "sha256": str, "bytes": int, "id": str, "label": str, "windows": int, "target_tokens": int}


def export_corpus(corpus: TrajectorySet, folder: Path, *, replace: bool = False) -> dict[str, Any]:
    """Write a set and its manifest into a folder, which is made when it is not there.

    Returns:
        The manifest.

    Raises:
        TrajectoryError: the folder holds a set already and is not to be replaced, or cannot be written.
    """
    file, manifest_file = folder / FILE_NAME, folder / MANIFEST_NAME
    if not replace and (file.exists() or manifest_file.exists()):
        raise TrajectoryError(f"{folder} holds a trajectory set already; replace it, or give another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A manifest never stands beside a file that it does not describe.
        manifest_file.unlink(missing_ok=True)
        part = file.with_suffix(".part")
        write_corpus(corpus, part)
        part.replace(file)
        manifest = manifest_of(corpus, file)
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        manifest_file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TrajectoryError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return manifest


def import_corpus(path: Path) -> TrajectorySet:
    """Read and check a set: a folder with a manifest, the manifest itself, or a Parquet file on its own.

    Raises:
        TrajectoryError: the manifest or the file cannot be read, they do not belong together, or the set is
            malformed; faults are named with window and position.
    """
    if is_folder(path):
        path = path / MANIFEST_NAME
    if path.suffix == ".json":
        return _vouched(path)
    if not is_file(path):
        raise TrajectoryError(f"There is no trajectory set at {path}; give its folder, or its Parquet file.")
    return read_corpus(path)


def manifest_of(corpus: TrajectorySet, file: Path) -> dict[str, Any]:
    """What a set is, and what its file must be.

    Raises:
        OSError: the file cannot be read.
    """
    splits = Counter(window.split for window in corpus.windows)
    return {
        "kind": _KIND,
        "format": MANIFEST_FORMAT,
        "file": file.name,
        "bytes": file.stat().st_size,
        "sha256": _sha256(file),
        "id": corpus.id,
        "label": corpus.label,
        "windows": len(corpus.windows),
        "target_tokens": corpus.tokens,
        "splits": {name: splits[name] for name in SPLITS},
        "groups": dict(Counter(window.group for window in corpus.windows)),
        "languages": dict(Counter(window.language for window in corpus.windows)),
        "duration_s": sum(window.duration_s for window in corpus.windows),
        "drafters": list(corpus.drafters),
        "models": dict(corpus.models),
        "settings": dict(corpus.settings),
        "created_at": corpus.created_at,
        "note": corpus.note,
        "written_by": f"as2d {__version__}",
    }


def _vouched(path: Path) -> TrajectorySet:
    manifest = _read_manifest(path)
    file = path.parent / manifest["file"]
    try:
        length, digest = file.stat().st_size, _sha256(file)
    except OSError as error:
        raise TrajectoryError(f"{path} describes {file.name}, which cannot be read: {error.strerror}.") from error
    if length != manifest["bytes"]:
        raise TrajectoryError(
            f"{file} has {length} bytes, but its manifest says {manifest['bytes']}; it is cut short or another file."
        )
    if digest != manifest["sha256"]:
        raise TrajectoryError(f"{file} is not the file of its manifest: the SHA-256 differs; copy the folder again.")
    corpus = read_corpus(file)
    for what, found in (
        ("id", corpus.id),
        ("label", corpus.label),
        ("windows", len(corpus.windows)),
        ("target_tokens", corpus.tokens),
    ):
        if manifest[what] != found:
            raise TrajectoryError(f"{path}: {what} is {manifest[what]!r}, but the file holds {found!r}.")
    return corpus


def _read_manifest(path: Path) -> Mapping[str, Any]:
    try:
        body = read_json(path)
    except OSError as error:
        raise TrajectoryError(f"The manifest {path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise TrajectoryError(f"The manifest {path} is not JSON ({error}).") from error
    if not isinstance(body, dict) or body.get("kind") != _KIND:
        raise TrajectoryError(f"{path} is no manifest of a trajectory set.")
    if body.get("format") != MANIFEST_FORMAT:
        raise TrajectoryError(
            f"The manifest {path} is of format {body.get('format')!r}; this program reads {MANIFEST_FORMAT}."
        )
    for name, kind in _REQUIRED.items():
        if not isinstance(body.get(name), kind) or isinstance(body[name], bool):
            raise TrajectoryError(f"The manifest {path} has no valid {name}.")
    if Path(body["file"]).name != body["file"] or body["file"] in ("", ".", ".."):
        raise TrajectoryError(f"The manifest {path} names the file {body['file']!r}, which does not lie beside it.")
    return body


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()
