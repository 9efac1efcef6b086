"""What is a check of a phone, and what is a list of them? Each holds, or says what is wrong and what to do."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WRONG = "wrong"
    NOT_TRIED = "not tried"
    """An earlier check failed, or this one is tried by ``doctor`` only."""


class Remedy(StrEnum):
    """What one click (or one command) could put right."""

    NONE = ""
    START_SERVER = "start server"
    SET_UP = "set up"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to be so before a phone can run requests."""

    key: str
    """Stable name: ``server``, ``phone``, ``authorisation``, ``processor``, ``space``, ``runtime`` and so on."""
    title: str
    """What a person calls it."""
    state: State
    found: str
    """What was found, in a sentence: a tick's reason, or what is wrong."""
    fix: str = ""
    """What to do; empty when there is nothing to do."""
    remedy: Remedy = Remedy.NONE
    """What a button beside ``fix`` can do."""

    @property
    def ok(self) -> bool:
        return self.state is State.OK


@dataclass(frozen=True, slots=True)
class Readiness:
    """All checks of one phone, in the order in which they build on each other."""

    phone_id: str
    checks: tuple[Check, ...]
    python_bytes: int | None = None
    """What is to be sent before Python's runner is there; ``None`` = unknown: not asked, or not built yet."""
    model_bytes: int | None = None
    """What is to be sent before the models are there; ``None`` = unknown. Neither knows what was begun already."""
    backends: tuple[str, ...] = ()
    """Where a native runner that it uses can run models; nothing with Python's, which knows the CPU only."""

    @property
    def ready(self) -> bool:
        """Whether requests can be run now."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def missing(self) -> tuple[Check, ...]:
        """What is wrong."""
        return tuple(check for check in self.checks if check.state is State.WRONG)

    @property
    def sentence(self) -> str:
        """The list in one sentence."""
        if self.ready:
            return "Ready to run requests."
        if not self.missing:
            return "Not looked at yet."
        first = self.missing[0]
        return " ".join(part for part in (first.found, first.fix) if part)
