"""How much memory will two models take on a phone? Reckoned from their files before a byte is sent."""

from dataclasses import dataclass

from as2d_core.errors import ModelError
from as2d_core.models.folder import ModelInfo, settings_file

PROCESS_BYTES = 70_000_000
"""A Python process with MNN and numpy before it holds a model; three run."""
PROCESSES = 3
CACHE_TOKENS = 4096
"""Positions: thirty seconds of audio, an instruction, and the longest output that is usual."""
VALUE_BYTES = 4
"""MNN computes and keeps its cache in 32 bits at precision ``high``."""
USUAL_BITS = 8


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes, an upper estimate."""

    weights: int
    """As they lie in memory: at memory ``high`` they are unpacked to 32 bits when they are loaded."""
    cache: int
    """Keys and values of ``CACHE_TOKENS`` positions."""
    processes: int

    @property
    def total(self) -> int:
        return self.weights + self.cache + self.processes


def weight_bits(info: ModelInfo) -> int | None:
    """Bits of a stored weight, as the export wrote them down; ``None`` when it did not.

    Raises:
        ModelError: the export's settings cannot be read any more.
    """
    tied = settings_file(info.path, "llm_config.json").get("tie_embeddings")
    if isinstance(tied, list) and len(tied) >= 4 and tied[3] in (2, 3, 4, 8, 16, 32):
        return int(tied[3])
    return None


def memory_need(models: list[ModelInfo], *, memory: str = "high") -> Need:
    """What models need that are loaded at the same time.

    Args:
        memory: MNN's setting: ``high`` unpacks weights, the others leave them as they are stored.

    Raises:
        ModelError: a folder was changed since it was described.
    """
    weights = cache = 0
    for info in models:
        config = settings_file(info.path, "config.json")
        weights_file = info.path / str(config.get("llm_weight", "llm.mnn.weight"))
        try:
            stored = weights_file.stat().st_size
        except OSError as error:
            raise ModelError(
                f"The weights {weights_file} cannot be read ({error.strerror}); copy them again."
            ) from error
        bits = weight_bits(info) or USUAL_BITS
        grown = stored * (8 * VALUE_BYTES) // bits if memory == "high" else stored
        weights += info.size_bytes - stored + grown
        # Heads may share keys and values, so that the true cache is never larger than this.
        cache += 2 * (info.layers or 0) * (info.hidden_size or 0) * VALUE_BYTES * CACHE_TOKENS
    return Need(weights, cache, PROCESS_BYTES * PROCESSES)
