"""What every method returns, and how a method is found by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from as2d_core.engines.base import Recorder, Target
from as2d_core.request import Request


@dataclass(frozen=True, slots=True)
class Outcome:
    """How decoding ended. ``tokens`` includes the first token and, if reached, EOS."""

    status: str
    """``eos``, ``capped``, ``cancelled`` or ``failed``."""
    tokens: tuple[int, ...]
    eos_ns: int
    """When the output was complete."""
    end_ns: int
    """When everything stood still (producer drain included)."""
    error: str | None = None


Decode = Callable[[Target, Any, Request, Recorder], Outcome]


def finished(tokens: list[int], eos: int, cap: int, recorder: Recorder) -> str | None:
    """Status once the output is complete, ``None`` while it is not."""
    if tokens[-1] == eos:
        return "eos"
    if len(tokens) >= cap:
        return "capped"
    return "cancelled" if recorder.cancelled() else None
