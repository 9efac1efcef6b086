"""What a decoding method may ask of an engine.

A method (``as2d_core.methods``) decides; it sees a target, perhaps a serial drafter or a
target-decoupled source, and a recorder. The same method runs on MNN models and the device clock,
or on recorded tokens and a virtual clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from as2d_core.records import Publication, Span


@dataclass(frozen=True, slots=True)
class Call:
    """One model call as the engine timed it.

    ``greedy`` holds the model's greedy token after each fed position, one per fed token.
    """

    greedy: tuple[int, ...]
    start_ns: int
    end_ns: int
    physical_width: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a serial drafter proposes for one verification."""

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    """Softmax probability of each proposed token."""
    origins: str
    """One letter per token: ``d`` drafted, ``r`` taken over from the old branch."""
    reason: str
    """Why it ended: ``fixed width``, ``budget``, ``confidence`` or ``drafter end``."""
    spans: tuple[Span, ...]
    forwards: int


class Target(Protocol):
    """The big model, prefilled with audio and instruction."""

    @property
    def first_token(self) -> int:
        """Token selected by prefill (y[0]); known before decoding starts."""
        ...

    @property
    def eos(self) -> int: ...

    def step(self, root: int) -> Call:
        """One target-only step after ``root``."""
        ...

    def verify(self, root: int, candidates: Sequence[int], source_running: bool) -> Call:
        """One batched forward over the known root and the candidates (Section 4.2).

        Returns the greedy token after the root and after every candidate.
        ``source_running`` says whether a producer runs beside it: replay charges another cost.
        """
        ...

    def keep(self, generated: int) -> None:
        """Drop everything from the cache behind the first ``generated`` output tokens (C.2)."""
        ...


class SerialDrafter(Protocol):
    """A prefix-conditioned drafter that works while the target waits."""

    def draft_fixed(self, committed: Sequence[int], count: int) -> Draft:
        """Exactly ``count`` tokens after ``committed``, past the drafter's EOS if need be."""
        ...

    def draft_adaptive(
        self,
        committed: Sequence[int],
        cap: int,
        threshold: float | None,
        old_branch: Sequence[int],
        old_confidences: Sequence[float],
    ) -> Draft:
        """SpecASR's ASP with recycling: stop at low confidence, ``cap`` or the drafter's EOS."""
        ...


class Source(Protocol):
    """A target-decoupled producer: it never sees target state."""

    def start(self, now_ns: int) -> None:
        """Let it run; its own prefill is done."""
        ...

    def poll(self) -> list[Publication]:
        """Publications that have arrived and were not handed out yet; never waits.

        Raises:
            DrafterLostError: the producer has died; what it published before was handed out already.
        """
        ...

    @property
    def running(self) -> bool:
        """Whether the producer was still running at the last ``poll``."""
        ...

    def stop(self, now_ns: int) -> "Drain":
        """Cancel at the next operation boundary and wait (with a deadline) until it stands still."""
        ...


@dataclass(frozen=True, slots=True)
class Drain:
    """What came out of a cancelled producer."""

    publications: tuple[Publication, ...]
    """Published but never used."""
    spans: tuple[Span, ...]
    """All its service spans, in time order."""
    end_ns: int
    """When it stood still."""
    lost: str | None = None
    """A sentence when the producer had died instead."""


class Recorder(Protocol):
    """Where a method leaves its record, and its clock."""

    def now_ns(self) -> int: ...

    def add(self, *events: object) -> None:
        """Keep events; must be cheap, it runs between target calls."""
        ...

    def cancelled(self) -> bool:
        """Whether the user asked to stop; asked once a round."""
        ...
