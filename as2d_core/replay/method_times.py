"""One method on every window: its times, what it did, and what each millisecond was charged for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.replay.ledger import Ledger


@dataclass(frozen=True, slots=True)
class MethodCase:
    """One method with its drafter and its parameter."""

    method: str
    """One of ``every_method.REPLAYED_METHODS``."""
    drafter: str | None = None
    """``None`` for target-only."""
    parameter: int | None = None
    """Physical width K (``sd``), draft cap (``specasr``, ``without-bc``), proposal budget b (the others);
    ``None`` for target-only, and where none is known."""
    form: str | None = None
    """SpecASR: ``paired`` or ``serial`` branches."""

    @property
    def letter(self) -> str:
        """What the parameter is."""
        return {"sd": "K", "specasr": "cap", "without-bc": "cap", "target-only": ""}.get(self.method, "b")


@dataclass(frozen=True, eq=False)
class MethodTimes:
    """One method on W windows; NaN is a window it cannot run on."""

    case: MethodCase
    windows: tuple[str, ...]
    """[W] ids."""
    time_ms: NDArray[np.float64]
    """[W]."""
    ledgers: tuple[Ledger | None, ...]
    """[W]; ``None`` where it cannot run."""
    counts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """[W] by name, -1 where it cannot run: ``rounds``, ``k1_rounds``, ``proposed``, ``accepted``, and what
    only one method has: forwards, reused and refreshed tokens, what was looked ahead and of use."""
    extrapolated: bool = False
    """Whether a width may have been used whose cost was not measured."""
    substituted: tuple[str, ...] = ()
    """Costs that the profile does not hold, each with what stood in for it."""
    problem: str | None = None
    """Why a window is missing, for the first one that is."""

    def subset(self, mask: NDArray[np.bool_]) -> "MethodTimes":
        """The windows where ``mask`` [W] is true."""
        kept = np.flatnonzero(mask).tolist()
        return replace(
            self,
            windows=tuple(self.windows[i] for i in kept),
            time_ms=self.time_ms[mask],
            ledgers=tuple(self.ledgers[i] for i in kept),
            counts={name: values[mask] for name, values in self.counts.items()},
        )

    def total(self, name: str) -> int | None:
        """Sum of a count over all windows; ``None`` when a window is missing or nothing is known of it."""
        values = self.counts.get(name)
        return None if values is None or bool((values < 0).any()) else int(values.sum())
