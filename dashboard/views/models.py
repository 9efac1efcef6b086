"""What is a model, in one line of plain text?"""

from dashboard.services.models import ModelEntry
from dashboard.views import numbers


def model_sentence(entry: ModelEntry) -> str:
    """Type, size and how it did when it was tried; or why it cannot be used."""
    if entry.problem is not None or entry.info is None:
        return entry.problem or "This folder is no usable model any more."
    parts = [entry.info.model_type, numbers.size(entry.info.size_bytes)]
    if entry.info.layers:
        parts.append(f"{entry.info.layers} layers")
    if entry.probe is not None:
        parts.append(f"one forward took {numbers.duration(entry.probe.forward_ms)} when tried")
    elif not entry.bundled:
        parts.append("not tried yet; it is tried before its first run")
    return ", ".join(parts)
