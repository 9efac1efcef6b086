"""What is in a model folder, and can it be an As²d target or drafter? (No MNN needed to tell.)"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from as2d_core.errors import ModelError
from as2d_core.models.graph import weight_bytes
from as2d_core.reading import is_file, is_folder, read_json

AUDIO_TYPES = ("qwen3_asr", "qwen2_audio", "qwen2_5_omni")
"""Audio front ends whose prompt form (audio, then instruction) is known here."""
_LONGEST_NAME = 200
_LARGEST_NUMBER = 2**31 - 1


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
        if not is_folder(folder):
            raise ModelError(f"There is no model folder at {folder}.")
        return _describe(folder)
    except RuntimeError as error:
        raise ModelError(f"There is no model folder at {folder}: {error}.") from error
    except OSError as error:
        raise ModelError(f"The model folder {folder} cannot be read: {error}.") from error


def _describe(folder: Path) -> ModelInfo:
    config = settings_file(folder, "config.json")
    details = settings_file(folder, "llm_config.json")
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
    if not isinstance(pad, int) or not _whole(pad, 0):
        raise ModelError(f"{folder.name}/llm_config.json names no audio_pad token; export the model again.")
    model_type = str(details.get("model_type", "unknown"))
    if len(model_type) > _LONGEST_NAME or not model_type.isprintable():
        raise ModelError(f"{folder.name}/llm_config.json names no model_type that can be; export the model again.")
    for number in ("hidden_size", "layer_nums"):
        if number in details and not _whole(details[number], 1):
            raise ModelError(
                f"{folder.name}/llm_config.json: {number} is {str(details[number])[:40]!r}, no whole number that "
                "can be; export the model again."
            )
    names["audio encoder"] = config.get("audio_model", "audio.mnn")
    names["audio encoder weights"] = f"{names['audio encoder']}.weight"
    for what, name in names.items():
        # MNN puts the name behind the folder's; another path would be another file there than here.
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or Path(name).name != name:
            raise ModelError(
                f"{folder.name}/config.json: the {what} is {str(name)[:80]!r}, which names no file of the folder; "
                "write the plain name of a file that lies in it."
            )
        file = folder / name
        if not is_file(file):
            raise ModelError(f"{folder.name} lacks its {what}: {name} is not in {folder}; copy or export it again.")
        if file.stat().st_size == 0:
            raise ModelError(f"{folder.name}: the {what} ({name}) is empty; copy or export the model again.")
    _check_length(folder, str(names["language model weights"]), details.get("tie_embeddings"))
    for part in ("language model", "audio encoder"):
        _check_weights(folder, str(names[part]), str(names[f"{part} weights"]))
    files = sorted({"config.json", "llm_config.json", *map(str, names.values())} | _embeddings(folder))
    stamp = tuple((n, (folder / n).stat().st_size, (folder / n).stat().st_mtime_ns) for n in files)
    return ModelInfo(
        path=folder,
        name=folder.name,
        model_type=model_type,
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


def settings_file(folder: Path, name: str) -> dict[str, Any]:
    """What one of a model folder's settings files says.

    Raises:
        ModelError: it is missing, or is no JSON object.
    """
    try:
        body = read_json(folder / name)
    except FileNotFoundError:
        raise ModelError(f"{folder.name} is no MNN model folder: {name} is missing.") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder / name} cannot be read as JSON: {error}.") from error
    if not isinstance(body, dict):
        raise ModelError(f"{folder / name} is not a JSON object.")
    return body


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST_NUMBER


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


def _check_weights(folder: Path, graph: str, weights: str) -> None:
    """Refuse weights that end before what the graph beside them reads."""
    status = (folder / graph).stat()
    least = _graph_weight_bytes(folder / graph, status.st_size, status.st_mtime_ns)
    size = (folder / weights).stat().st_size
    if least is not None and size < least:
        raise ModelError(
            f"{folder.name}: {weights} is cut off ({size} bytes, at least {least} belong in it); copy the model again."
        )


@lru_cache(maxsize=64)
def _graph_weight_bytes(graph: Path, size: int, time_ns: int) -> int | None:  # noqa: ARG001
    """The length a graph asks for; its size and time make the cache honest."""
    return weight_bytes(graph.read_bytes())


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
