"""What is asked of a runner: one request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from as2d_core.gates import Gates
from as2d_core.width_rule import WidthRule

METHODS = ("target-only", "sd", "specasr", "as2d")
OPERATIONS = ("calibrate", "collect")
"""What a runner does besides decoding: measure costs, collect a trajectory."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """One model folder as the runner saw it."""

    path: str
    name: str = ""
    sha256: str | None = None
    exact_widths: tuple[int, ...] | None = None
    """Widths whose rows are bit-equal on this CPU (self-test); ``None`` = test before the first use."""


@dataclass(frozen=True, slots=True)
class AudioRef:
    """The audio view of a request: what was known when the request arrived."""

    path: str
    sha256: str | None = None
    duration_s: float | None = None
    window_id: str | None = None
    view_start_s: float = 0.0
    view_end_s: float | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the models run. Empty core tuples leave the choice to the runner."""

    target_cores: tuple[int, ...] = ()
    drafter_cores: tuple[int, ...] = ()
    target_threads: int = 1
    drafter_threads: int = 1
    backend: str = "cpu"
    task_profile: str | None = None
    """Android's name of the task profile that the runner is to work under; ``None`` = as it is."""
    drafter_backend: str | None = None
    """Where the drafter runs when that is not ``backend``, which then is the target's alone."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides a run. Counts are tokens unless the name says otherwise."""

    run_id: str
    method: str
    target: ModelRef
    audio: AudioRef
    drafter: ModelRef | None = None
    task: str = "transcribe"
    instruction: str = "transcribe the speech."
    budget: int | None = None
    """Proposal budget b of As²d: candidates in one verification, root not counted."""
    width: int | None = None
    """Physical width K of standard SD: K - 1 drafted tokens and the known root."""
    draft_cap: int | None = None
    """Most tokens SpecASR drafts for one verification."""
    threshold: float | None = 0.4
    """Confidence below which a chain stops (that token is included); ``None`` = never."""
    search_window: int = 16
    batch_tokens: int = 8
    max_tokens: int = 320
    """Output cap, the first token and EOS included."""
    plain_step: bool = False
    """Target-only with plain K = 1 forwards instead of the bit-equal width."""
    drafter_pace_ms: float | None = None
    """Least milliseconds per drafted token: an emulated slower drafter, labelled everywhere."""
    placement: Placement = field(default_factory=Placement)
    precision: str = "high"
    memory: str = "high"
    repetition: int = 0
    order: int = 0
    warm_up: bool = False
    group_id: str | None = None
    """Set of runs that were started together to be compared."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of an operation (``calibrate``); empty for a method."""
    width_rule: WidthRule | None = None
    """As²d: shortens chains to the width that is cheapest per expected token; ``None`` = take all of the budget."""
    gates: Gates | None = None
    """What each measured episode of the run waits for; ``None`` = it begins at once."""
