"""What the bench compares: methods and settings, run interleaved on the same windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.models.demo_catalog import DRAFTER, TARGET
from as2d_core.models.window_index import RecordedWindow
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.request import AudioRef, ModelRef, Request


@dataclass(frozen=True, slots=True)
class Arm:
    """One row of the bench."""

    name: str
    method: str
    budget: int | None = None
    width: int | None = None
    draft_cap: int | None = None
    plain_step: bool = False
    search_window: int = DEFAULT_SEARCH_WINDOW
    threshold: float = DEFAULT_THRESHOLD


SD = ("standard SD K = 4", "standard SD K = 8")
TARGET_ONLY = Arm("target-only (bit-equal width)", "target-only")
PLAIN = Arm("target-only (plain K = 1)", "target-only", plain_step=True)


@dataclass(frozen=True, slots=True)
class Choice:
    """What replay chose on development and validation windows."""

    budget: int
    search_window: int
    threshold: float


def arms(chosen: Choice) -> list[Arm]:
    """All arms. The chosen budget joins the fixed ones; b = 7 is run with the default settings too."""
    settings = {"search_window": chosen.search_window, "threshold": chosen.threshold}
    budgets = sorted({3, 5, 7, chosen.budget})
    return [
        TARGET_ONLY,
        PLAIN,
        *(Arm(name, "sd", width=width) for name, width in zip(SD, (4, 8), strict=True)),
        Arm("SpecASR cap 7", "specasr", draft_cap=7),
        Arm("SpecASR cap 14", "specasr", draft_cap=14),
        *(Arm(as2d_name(b), "as2d", budget=b, **settings) for b in budgets),
        Arm(f"As²d b = 7, W = {DEFAULT_SEARCH_WINDOW}, θ = {DEFAULT_THRESHOLD} (default)", "as2d", budget=7),
    ]


def as2d_name(budget: int) -> str:
    """Name of the arm of one budget."""
    return f"As²d b = {budget}"


def request(
    arm: Arm,
    window: RecordedWindow,
    repetition: int,
    widths: Sequence[int] | None,
    drafter: Path = DRAFTER,
    pace_ms: float | None = None,
) -> Request:
    """The request of one arm on one window."""
    target = ModelRef(str(TARGET), exact_widths=tuple(widths) if widths else None)
    return Request(
        run_id=f"{arm.name} {window.window_id} {repetition}",
        method=arm.method,
        target=target,
        drafter=ModelRef(str(drafter)),
        drafter_pace_ms=None if arm.method == "target-only" else pace_ms,
        audio=AudioRef(str(window.path), window_id=window.window_id),
        task=window.task,
        instruction=window.instruction,
        budget=arm.budget,
        width=arm.width,
        draft_cap=arm.draft_cap,
        plain_step=arm.plain_step,
        search_window=arm.search_window,
        threshold=arm.threshold,
        repetition=repetition,
    )


def rotated(items: Sequence[Arm], by: int) -> list[Arm]:
    """The same arms, starting somewhere else: order effects spread over all of them."""
    shift = by % len(items)
    return [*items[shift:], *items[:shift]]
