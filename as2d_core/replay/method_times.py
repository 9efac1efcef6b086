"""The times of one method on every window, beside the grid of As²d."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class MethodTimes:
    """One method of one drafter on W windows; NaN is a window it cannot run on."""

    method: str
    """``specasr``, ``without-td``, ``without-bc`` or ``lookahead``."""
    drafter: str
    parameter: int | None
    """Draft cap (``specasr``, ``without-bc``) or proposal budget b; ``None`` when none is known."""
    windows: tuple[str, ...]
    """[W] ids."""
    time_ms: NDArray[np.float64]
    """[W]."""
    rounds: NDArray[np.int64]
    """[W]; -1 where it cannot run."""
    form: str | None = None
    """SpecASR: ``paired`` or ``serial`` branches."""
    extrapolated: bool = False
    """Whether a width may have been used whose cost was not measured."""
    substituted: tuple[str, ...] = ()
    """Costs that the profile does not hold, each with what stood in for it."""
    problem: str | None = None
    """Why a window is missing, for the first one that is."""

    def subset(self, mask: NDArray[np.bool_]) -> "MethodTimes":
        """The windows where ``mask`` [W] is true."""
        kept = tuple(name for name, chosen in zip(self.windows, mask.tolist(), strict=True) if chosen)
        return replace(self, windows=kept, time_ms=self.time_ms[mask], rounds=self.rounds[mask])
