"""What does one device charge for each operation of decoding? (Section 4.3, Appendix D.2.)

All costs are milliseconds. Verification costs leave out the loop cost, which every verification
round pays once, K = 1 rounds too. Target-only steps are a different entry point and pay none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from as2d_core.engines.scripted import TargetCosts

PROVENANCE_KINDS = ("published", "solved", "inferred", "guessed", "fitted", "measured")
"""Printed in the paper; follows from printed figures; follows with an assumption; chosen between
known neighbours; adjusted until a published result came out; timed on the device."""

PROFILE_KINDS = ("published", "measured", "synthetic")
VERDICTS = ("stable", "unstable", "unknown")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where one value comes from."""

    kind: str
    """One of ``PROVENANCE_KINDS``."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """The samples behind one measured value, in milliseconds."""

    n: int
    mean_ms: float
    sd_ms: float | None
    """Sample standard deviation; ``None`` for a single sample."""
    median_ms: float
    samples_ms: tuple[float, ...] = ()
    """Raw samples in the order they were taken."""

    @classmethod
    def of(cls, samples_ms: tuple[float, ...]) -> "Spread":
        """Summarise raw samples; there must be at least one."""
        values = np.asarray(samples_ms, dtype=np.float64)
        deviation = float(values.std(ddof=1)) if len(values) > 1 else None
        return cls(len(values), float(values.mean()), deviation, float(np.median(values)), samples_ms)


@dataclass(frozen=True, slots=True)
class Stability:
    """Whether the measurement can be trusted to repeat, and why."""

    verdict: str = "unknown"
    """One of ``VERDICTS``."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProfiledModel:
    """One of the two models the costs were measured with."""

    name: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkCosts:
    """What one source that publishes audio chunk by chunk charges beside the running target."""

    chunk_ms: float
    """One chunk of audio (2.56 s in the paper), from samples to the source's own text; its publication included."""
    convert_ms: float = 0.0
    """The text of a chunk into the target's vocabulary; 0 where it is part of ``chunk_ms``."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Costs of one device with one pair of models.

    Values are named by their field, verification costs as ``verify_idle_ms.8`` (width K = 8), in
    ``provenance`` and ``spread``.
    """

    id: str
    name: str
    kind: str
    """One of ``PROFILE_KINDS``."""
    target_step_ms: float
    """One target-only step."""
    verify_idle_ms: Mapping[int, float]
    """Verification by width K, nothing beside it."""
    verify_concurrent_ms: Mapping[int, float]
    """Verification by width K beside a running producer."""
    loop_ms: float
    """The rest of one verification round."""
    draft_serial_ms: float
    """One draft forward while the target waits."""
    draft_overlapped_ms: float
    """One draft forward beside the running target."""
    publish_ms: float = 0.0
    paired_forward_ms: float | None = None
    """SpecASR: old and new branch in one drafter forward."""
    confidence_row_ms: float | None = None
    """SpecASR: probabilities of one output row."""
    refresh_base_ms: float | None = None
    """SpecASR: refresh of a reused suffix, the part that does not depend on its length."""
    refresh_token_ms: float | None = None
    """SpecASR: refresh of a reused suffix, per token."""
    chunk_sources: Mapping[str, ChunkCosts] = field(default_factory=dict)
    """By drafter: sources that publish chunk by chunk, ``chunk_sources.NAME.chunk_ms`` in ``provenance``."""
    deployed_budget: int | None = None
    asp_cap: int | None = None
    search_max_budget: int | None = None
    """Largest proposal budget that was searched on this device."""
    extrapolated_idle: tuple[int, ...] = ()
    """Widths whose idle cost was not measured at that width."""
    extrapolated_concurrent: tuple[int, ...] = ()
    """Widths whose concurrent cost was not measured at that width."""
    concurrent_ratio_extremes: tuple[float, float] | None = None
    """Least and greatest measured ratio of concurrent to idle verification; ``None`` = not known."""
    exact_widths: tuple[int, ...] | None = None
    """Widths whose rows are bit-equal on this device; ``None`` = not tested."""
    argmax_widths: tuple[int, ...] | None = None
    """Widths whose rows all had the greedy token of single steps in the sweep; ``None`` = not looked at."""
    failed_width: int | None = None
    """First width that this device could not verify; ``None`` = none failed."""
    failed_reason: str = ""
    """What was said when it failed."""
    device: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, ProfiledModel] = field(default_factory=dict)
    """``target`` and ``drafter``."""
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    spread: Mapping[str, Spread] = field(default_factory=dict)
    stability: Stability = field(default_factory=Stability)
    created_at: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def max_width(self) -> int:
        """Largest K such that every width up to it has both costs."""
        width = 0
        while width + 1 in self.verify_idle_ms and width + 1 in self.verify_concurrent_ms:
            width += 1
        return width

    def feasible(self, budget: int) -> bool:
        """Whether every width that proposal budget ``budget`` may need (1 to b + 1) has both costs."""
        return 0 <= budget < self.max_width

    def extrapolates(self, budget: int) -> bool:
        """Whether proposal budget ``budget`` may use a width whose cost was not measured."""
        return any(width <= budget + 1 for width in (*self.extrapolated_idle, *self.extrapolated_concurrent))

    def target_costs(self) -> "TargetCosts":
        """What a scripted target of this device charges."""
        # Replay needs profiles, but no engines: its start is counted in tenths of a second.
        from as2d_core.engines.scripted import TargetCosts

        return TargetCosts(self.target_step_ms, self.verify_concurrent_ms, self.verify_idle_ms, self.loop_ms)

    def round_costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Cost of a verification round by width, loop included.

        Returns:
            ``(concurrent, idle)``: float64 arrays indexed by K in ms; NaN where there is no cost,
            and at entry 0.
        """
        size = max((*self.verify_idle_ms, *self.verify_concurrent_ms), default=0) + 1
        concurrent, idle = np.full(size, np.nan), np.full(size, np.nan)
        for array, costs in ((concurrent, self.verify_concurrent_ms), (idle, self.verify_idle_ms)):
            for width, cost in costs.items():
                array[width] = cost + self.loop_ms
        return concurrent, idle

    def verify_costs(self) -> NDArray[np.float64]:
        """Idle verification by width without the loop cost: float64 indexed by K in ms, NaN where missing."""
        array = np.full(max(self.verify_idle_ms, default=0) + 1, np.nan)
        for width, cost in self.verify_idle_ms.items():
            array[width] = cost
        return array
