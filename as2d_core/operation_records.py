"""What do self-tests, calibrations and collections find out, line by line? Nothing is decoded for anybody in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from as2d_core.event import Event


@dataclass(frozen=True, slots=True)
class SelfTest(Event):
    """Which widths of a model are exact on this CPU, found before its first use."""

    kind: ClassVar[str] = "self_test"
    model_sha256: str
    exact_widths: tuple[int, ...]
    """The widths decoding may use: bit-equal to each other."""
    grade: str
    """``bit-equal``, or ``plain only`` when no two widths agree bit for bit."""
    classes: tuple[tuple[int, ...], ...] = ()
    """Every group of widths that are bit-equal to each other."""
    argmax_differences: Mapping[str, int] = field(default_factory=dict)
    """Rows per width whose greedy token differs from K = 1."""
    rows: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample(Event):
    """One timing of a calibration; every repetition is kept, warm-ups are marked."""

    kind: ClassVar[str] = "sample"
    name: str
    """``step``, ``verify``, ``draft``, ``refresh``, ``publish`` or ``loop``."""
    value_ns: int
    running: bool
    """Whether the other model was working at the same time."""
    width: int | None = None
    offset_tokens: int | None = None
    """Generated tokens in the cache before the call."""
    repetition: int = 0
    warm_up: bool = False
    origin: str = "sweep"
    """``sweep`` (isolated calls in random order) or ``episode`` (inside a real request)."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trajectory(Event):
    """What target and drafter say about one window, for replay."""

    kind: ClassVar[str] = "trajectory"
    target_tokens: tuple[int, ...]
    """The target's greedy output, EOS included when it was reached."""
    target_capped: bool
    source: str
    candidates: tuple[int, ...]
    """The free-running drafter's tokens, EOS left out."""
    confidences: tuple[float, ...]
    source_capped: bool
    forced: tuple[int, ...]
    """The drafter's greedy token after each true prefix ``y[0..i-1]``; one per target token."""
    forced_confidences: tuple[float, ...]
    eos: int
    """The target's EOS token."""
    batch_tokens: int = 8
    branch_leaves: tuple[int, ...] = ()
    """The drafter off the true path, see ``replay.branches.Branches``: state that each branch leaves,"""
    branch_feeds: tuple[int, ...] = ()
    """token fed there,"""
    branch_lengths: tuple[int, ...] = ()
    """words of each branch,"""
    branch_tokens: tuple[int, ...] = ()
    """words of all branches, one branch behind the other,"""
    branch_confidences: tuple[float, ...] = ()
    """and their probabilities."""
    branch_draft_cap: int | None = None
    """Drafts of up to this many tokens are covered; ``None`` = branches were not collected."""
    branch_threshold: float | None = None
    """Confidence below which the covered drafts stop; ``None`` = never."""
    extra: Mapping[str, Any] = field(default_factory=dict)
