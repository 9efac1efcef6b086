"""What is the bottleneck of a device, in one plain sentence?"""

from collections.abc import Sequence
from dataclasses import dataclass

COSTS = ("draft", "verify", "loop", "publish", "readiness")
ERRORS = "source errors"


@dataclass(frozen=True, slots=True)
class Lever:
    """One cost, or the errors of the source, and what less of it would give."""

    name: str
    """One of ``COSTS``, ``ERRORS``, or ``verify K = 8`` for a single width."""
    share: float | None
    """Percent of the time that is charged to it; ``None`` where nothing is charged for it alone."""
    move: float
    """Percent of pooled TPS for one percent less of it, replayed."""
    move_low: float | None
    """95 % bootstrap interval over windows; ``None`` for a single window."""
    move_high: float | None
    gone_tps: float | None
    """Pooled TPS if there were none of it; ``None`` for verification, without which nothing is decoded, and
    where there is none of it as it is."""
    gone_gain: float | None
    """Percent of pooled TPS."""


_WORDS = {
    "draft": "drafting",
    "verify": "verification",
    "loop": "the loop around verification",
    "publish": "publication",
    "readiness": "waiting for candidates to be ready",
    ERRORS: "wrong candidates",
}
_WITHOUT = {
    "draft": "a drafter that takes no time",
    "loop": "no loop",
    "publish": "publication for nothing",
    "readiness": "all candidates ready at once",
    ERRORS: "a source without errors",
}
HELPS_PERCENT = 3.0
"""A cost whose disappearance gives less than this is said not to help."""


def bottleneck(device: str, levers: Sequence[Lever]) -> str:
    """One sentence: what the bottleneck is, what would help and what would not."""
    named = {item.name: item for item in levers}
    # Readiness follows from what the others cost; it explains a bottleneck, and is none of its own.
    first = max((named[name] for name in COSTS if name != "readiness"), key=lambda item: item.move)
    parts = [
        f"On {device} {_WORDS[first.name]} is the bottleneck: one percent less of it gives {first.move:+.2f} % "
        "throughput"
    ]
    widths = [item for item in levers if item.name.startswith("verify K")]
    if first.name == "verify" and widths:
        widest = max(widths, key=lambda item: item.share or 0.0)
        parts[0] += f", most of the time being spent at {widest.name.removeprefix('verify ')} ({widest.share:.0f} %)"
    others = [named[name] for name in (*COSTS, ERRORS) if name != first.name and named[name].gone_gain is not None]
    helping = sorted((o for o in others if (o.gone_gain or 0) >= HELPS_PERCENT), key=lambda o: -(o.gone_gain or 0))
    idle = [o for o in others if (o.gone_gain or 0) < HELPS_PERCENT]
    if helping:
        parts.append("it would help to have " + _listed(helping))
    if idle:
        parts.append("it would not help to have " + _listed(idle))
    return "; ".join(parts) + "."


def _listed(levers: Sequence[Lever]) -> str:
    texts = [f"{_WITHOUT[item.name]} ({item.gone_gain:+.1f} %)" for item in levers]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " or " + texts[-1]
