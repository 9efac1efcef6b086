"""What every method returns, and how a method is found by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from as2d_core.engines.base import Recorder, Target
from as2d_core.errors import unknown_name
from as2d_core.records import METHODS, Request


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

_MODULES = {
    "target-only": "target_only",
    "sd": "standard_sd",
    "specasr": "specasr",
    "as2d": "as2d",
}


def method(name: str) -> Decode:
    """The decode function of a method.

    Raises:
        UnknownNameError: there is no such method.
    """
    if name not in _MODULES:
        raise unknown_name("method", name, list(METHODS))
    decode: Decode = import_module(f"as2d_core.methods.{_MODULES[name]}").decode
    return decode


def finished(tokens: list[int], eos: int, cap: int, recorder: Recorder) -> str | None:
    """Status once the output is complete, ``None`` while it is not."""
    if tokens[-1] == eos:
        return "eos"
    if len(tokens) >= cap:
        return "capped"
    return "cancelled" if recorder.cancelled() else None
