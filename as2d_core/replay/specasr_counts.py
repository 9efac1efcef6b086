"""What does SpecASR do on every window of a set? Counted once, and priced as often as costs change."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import TrajectoryError
from as2d_core.replay import specasr_loop
from as2d_core.replay.branches import DrafterStates
from as2d_core.replay.packing import PackedCorpus
from as2d_core.replay.specasr import count_specasr
from as2d_core.replay.states import drafter_states


@dataclass(frozen=True, eq=False)
class SpecAsrCounts:
    """SpecASR's operations on W windows."""

    counters: NDArray[np.int64]
    """[W, ASP_COUNTERS]."""
    widths: NDArray[np.int64]
    """[W, K] verifications by width."""
    known: NDArray[np.bool_]
    """[W] whether the window could be replayed."""
    problem: str | None
    """Why one of the others could not."""


_kept: "WeakKeyDictionary[PackedCorpus, dict[Any, Any]]" = WeakKeyDictionary()
"""States and counts of the sets that are packed, gone with them."""


def counted(
    packed: PackedCorpus, drafter: str, cap: int, threshold: float | None, paired: bool, compiled: bool = True
) -> SpecAsrCounts:
    """SpecASR's operations on every window with one drafter.

    Args:
        packed: the set.
        drafter: its name.
        cap: most tokens of a draft.
        threshold: confidence below which a draft stops; ``None`` = never.
        paired: whether the old branch is extended beside the new one.
        compiled: as machine code, or as plain Python with the same result.
    """
    kept = _kept.setdefault(packed, {})
    key = ("counts", drafter, cap, threshold, paired, compiled)
    if key in kept:
        found: SpecAsrCounts = kept[key]
        return found
    corpus = packed.corpus
    counters = np.zeros((packed.windows, specasr_loop.ASP_COUNTERS), np.int64)
    widths = np.zeros((packed.windows, cap + 2), np.int64)
    known = np.zeros(packed.windows, np.bool_)
    problem = None
    for w, states in enumerate(window_states(packed, drafter, threshold)):
        if states is None:
            problem = problem or (
                f"window {corpus.windows[w].window_id!r} does not hold what the drafter says off the true path"
            )
            continue
        try:
            counters[w], mine = count_specasr(
                packed.target.window(w), states, corpus.eos, cap, int(packed.caps[w]), paired, compiled
            )
        except TrajectoryError as error:
            problem = problem or f"window {corpus.windows[w].window_id!r}: {error}"
            continue
        widths[w, : len(mine)] = mine
        known[w] = True
    counts = SpecAsrCounts(counters, widths, known, problem)
    kept[key] = counts
    return counts


def window_states(packed: PackedCorpus, drafter: str, threshold: float | None) -> list[DrafterStates | None]:
    """What a drafter says on and off the true path, window by window; ``None`` where it was not recorded."""
    kept = _kept.setdefault(packed, {})
    key = ("states", drafter, threshold)
    if key not in kept:
        corpus = packed.corpus
        kept[key] = [
            None if t is None else drafter_states(w.target_tokens, t, corpus.eos, threshold)
            for w, t in ((w, corpus.eligible(w, drafter)) for w in corpus.windows)
        ]
    found: list[DrafterStates | None] = kept[key]
    return found
