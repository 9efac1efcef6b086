"""What is in a model folder, and can it be an As²d target or drafter? (No MNN needed to tell.)"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from as2d_core.errors import ModelError

AUDIO_TYPES = ("qwen3_asr", "qwen2_audio", "qwen2_5_omni")
"""Audio front ends whose prompt form (audio, then instruction) is known here."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One MNN audio language model on disk."""

    path: Path
    name: str
    model_type: str
    audio_type: str
    audio_pad: int
    hidden_size: int | None
    layers: int | None
    size_bytes: int
    sha256: str
    """Over the names and contents of all files the runtime reads."""
    tokenizer_sha256: str


def describe_model(folder: Path) -> ModelInfo:
    """Check that a folder holds an MNN audio language model and describe it.

    Raises:
        ModelError: says which file is missing or what makes the model unusable.
    """
    try:
        folder = folder.expanduser()
    except RuntimeError as error:
        raise ModelError(f"There is no model folder at {folder}: {error}.") from error
    if not folder.is_dir():
        raise ModelError(f"There is no model folder at {folder}.")
    config = _json(folder, "config.json")
    details = _json(folder, "llm_config.json")
    names = {
        "language model": config.get("llm_model", "llm.mnn"),
        "language model weights": config.get("llm_weight", "llm.mnn.weight"),
        "tokenizer": config.get("tokenizer_file", "tokenizer.mtok"),
    }
    if not details.get("is_audio"):
        raise ModelError(
            f"{folder.name} is a {details.get('model_type', 'text')} model without audio input; "
            "As²d needs an audio language model (is_audio in llm_config.json)."
        )
    audio_type = str(details.get("audio_type", ""))
    if audio_type not in AUDIO_TYPES:
        raise ModelError(
            f"{folder.name} has audio type {audio_type or 'unknown'!r}; known here: {', '.join(AUDIO_TYPES)}."
        )
    pad = details.get("audio_pad")
    if isinstance(pad, bool) or not isinstance(pad, int) or pad < 0:
        raise ModelError(f"{folder.name}/llm_config.json names no audio_pad token; export the model again.")
    names["audio encoder"] = config.get("audio_model", "audio.mnn")
    names["audio encoder weights"] = f"{names['audio encoder']}.weight"
    for what, name in names.items():
        file = folder / str(name)
        if not file.is_file():
            raise ModelError(f"{folder.name} lacks its {what}: {name} is not in {folder}.")
        if file.stat().st_size == 0:
            raise ModelError(f"{folder.name}: the {what} ({name}) is empty; copy or export the model again.")
    _check_length(folder, str(names["language model weights"]), details.get("tie_embeddings"))
    files = sorted({"config.json", "llm_config.json", *map(str, names.values())} | _embeddings(folder))
    stamp = tuple((n, (folder / n).stat().st_size, (folder / n).stat().st_mtime_ns) for n in files)
    return ModelInfo(
        path=folder,
        name=folder.name,
        model_type=str(details.get("model_type", "unknown")),
        audio_type=audio_type,
        audio_pad=pad,
        hidden_size=details.get("hidden_size"),
        layers=details.get("layer_nums"),
        size_bytes=sum(size for _, size, _ in stamp),
        sha256=_folder_hash(folder, stamp),
        tokenizer_sha256=hashlib.sha256((folder / str(names["tokenizer"])).read_bytes()).hexdigest(),
    )


def check_pair(target: ModelInfo, drafter: ModelInfo) -> None:
    """Refuse a drafter that cannot propose to this target.

    Raises:
        ModelError: the two do not share a tokenizer, so that candidates would mean other tokens.
    """
    if target.tokenizer_sha256 != drafter.tokenizer_sha256:
        raise ModelError(
            f"The drafter {drafter.name} has another tokenizer than the target {target.name}; "
            "its candidates would mean other tokens. Choose a drafter of the same family."
        )


def _json(folder: Path, name: str) -> dict[str, Any]:
    file = folder / name
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder.name} is no MNN model folder: {name} is missing.") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder / name} cannot be read as JSON: {error}.") from error
    if not isinstance(body, dict):
        raise ModelError(f"{folder / name} is not a JSON object.")
    return body


def _check_length(folder: Path, name: str, tied: Any) -> None:
    """Refuse weights that end before the embeddings they hold; MNN reads on without a word.

    ``tied`` is the export's list of offsets and sizes: weights, scales, bytes of scales, bits, block.
    """
    if not isinstance(tied, list) or len(tied) < 3 or not all(isinstance(n, int) for n in tied):
        return
    size, least = (folder / name).stat().st_size, tied[1] + tied[2]
    if size < least:
        raise ModelError(
            f"{folder.name}: {name} is cut off ({size} bytes, at least {least} belong in it); copy the model again."
        )


def _embeddings(folder: Path) -> set[str]:
    return {f.name for f in folder.glob("embeddings_*.bin")}


@lru_cache(maxsize=64)
def _folder_hash(folder: Path, stamp: tuple[tuple[str, int, int], ...]) -> str:
    """Hash of the files in ``stamp``; the stamp (size, time) makes the cache honest."""
    digest = hashlib.sha256()
    for name, _, _ in stamp:
        with (folder / name).open("rb") as file:
            digest.update(name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
