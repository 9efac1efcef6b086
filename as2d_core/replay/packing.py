"""A trajectory set as flat arrays, made once and replayed as often as costs change.

Tokens, confidences and batch boundaries do not depend on costs. Laid out once, one window behind the
other, they leave a change of one cost with little more to do than the round loop itself.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import ProfileError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.chunks import chunk_source_schedule
from as2d_core.replay.schedule import Schedule, autoregressive_schedule
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet, WindowTrajectory

KEPT_SETS = 4
_LOCK = threading.Lock()
_kept: "list[PackedCorpus]" = []


@dataclass(frozen=True, eq=False)
class Flat:
    """Values of W windows one behind the other, and where each window begins."""

    values: NDArray[Any]
    offsets: NDArray[np.int64]
    """[W + 1]."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]], dtype: Any) -> "Flat":
        """Lay rows out; ``None`` in a row of floats becomes NaN."""
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        values = np.empty(offsets[-1], dtype)
        for row, start, end in zip(rows, offsets, offsets[1:], strict=False):
            values[start:end] = row
        return cls(values, offsets)

    def window(self, w: int) -> NDArray[Any]:
        """The values of one window."""
        return self.values[self.offsets[w] : self.offsets[w + 1]]


@dataclass(frozen=True, eq=False)
class Publications:
    """When one drafter's batches are visible on W windows, with the costs of one device."""

    times_ms: NDArray[np.float64]
    """Batch by batch, windows one behind the other."""
    producer_end_ms: NDArray[np.float64]
    """[W]; NaN where the drafter takes no part."""
    operation_ms: float


@dataclass(frozen=True, eq=False)
class PackedDrafter:
    """One drafter on all windows."""

    name: str
    present: NDArray[np.bool_]
    """[W] whether it takes part."""
    candidates: Flat
    confidences: NDArray[np.float64]
    """Candidate by candidate; NaN where there is none."""
    batch_ends: Flat
    """Candidates of the window that are out after each batch."""
    agrees: Flat
    """Empty where it was not collected."""
    _batch_number: NDArray[np.int64]
    """1, 2, 3, ... within each window, one per batch."""
    _full: NDArray[np.bool_]
    """Whether a batch has its full size; a smaller last one waits for the source's end."""
    _window: NDArray[np.int64]
    """Which window a batch belongs to."""
    _chunked: "tuple[DrafterTrajectory | None, ...] | None" = None
    """The windows themselves, when one of them is published chunk by chunk."""

    @classmethod
    def of(cls, name: str, trajectories: Sequence[DrafterTrajectory | None]) -> "PackedDrafter":
        """Lay one drafter out; ``None`` is a window it does not take."""
        candidates = Flat.of([() if t is None else t.candidates for t in trajectories], np.int64)
        ends, full = [], []
        for t in trajectories:
            size, total = (1, 0) if t is None else (t.batch_tokens, len(t.candidates))
            if t is not None and t.chunk_ends is not None:
                mine = [end for before, end in pairwise((0, *t.chunk_ends)) if end > before]
                full += [True] * len(mine)
            else:
                mine = list(range(size, total + 1, size))
                full += [True] * len(mine)
                if total % size:
                    mine.append(total)
                    full.append(False)
            ends.append(mine)
        batches = Flat.of(ends, np.int64)
        counts = np.diff(batches.offsets)
        return cls(
            name=name,
            present=np.array([t is not None for t in trajectories], np.bool_),
            candidates=candidates,
            confidences=Flat.of([_confidences(t) for t in trajectories], np.float64).values,
            batch_ends=batches,
            agrees=Flat.of([() if t is None or t.agrees is None else t.agrees for t in trajectories], np.bool_),
            _batch_number=np.arange(1, len(full) + 1) - np.repeat(batches.offsets[:-1], counts),
            _full=np.array(full, np.bool_),
            _window=np.repeat(np.arange(len(trajectories)), counts),
            _chunked=tuple(trajectories) if any(t and t.chunk_ends is not None for t in trajectories) else None,
        )

    def low_confidence(self, threshold: float | None) -> NDArray[np.bool_]:
        """One flag per candidate: below the threshold. All false without confidences or threshold."""
        if threshold is None:
            return np.zeros(len(self.confidences), np.bool_)
        flags: NDArray[np.bool_] = self.confidences < threshold
        return flags

    def publications(self, profile: Profile) -> Publications:
        """Visibility with a profile's overlapped costs: the sums of ``autoregressive_schedule``, to the last bit."""
        if self._chunked is not None:
            return self._one_by_one(self._chunked, profile)
        draft_ms, publish_ms = profile.draft_overlapped_ms, profile.publish_ms
        drafted = np.diff(self.candidates.offsets)
        end_ms = drafted * draft_ms + publish_ms * np.diff(self.batch_ends.offsets)
        times_ms = (self.batch_ends.values - 1) * draft_ms + publish_ms * self._batch_number
        times_ms = np.where(self._full, times_ms, end_ms[self._window])
        return Publications(times_ms, np.where(self.present, end_ms, np.nan), draft_ms)

    @staticmethod
    def _one_by_one(trajectories: "tuple[DrafterTrajectory | None, ...]", profile: Profile) -> Publications:
        schedules = [None if t is None else window_schedule(t, profile) for t in trajectories]
        return Publications(
            Flat.of([() if s is None else s.batch_times_ms for s in schedules], np.float64).values,
            np.array([np.nan if s is None else s.producer_end_ms for s in schedules]),
            next((s.operation_ms for s in schedules if s is not None), profile.draft_overlapped_ms),
        )


@dataclass(frozen=True, eq=False)
class PackedCorpus:
    """A trajectory set and its W windows as flat arrays."""

    corpus: TrajectorySet
    target: Flat
    caps: NDArray[np.int64]
    """[W] largest number of committed tokens."""
    drafters: tuple[PackedDrafter, ...]
    """In catalog order."""

    @property
    def tokens(self) -> NDArray[np.int64]:
        """[W] committed tokens."""
        counts: NDArray[np.int64] = np.diff(self.target.offsets)
        return counts

    @property
    def windows(self) -> int:
        return len(self.caps)


def pack(corpus: TrajectorySet) -> PackedCorpus:
    """Lay a set out as flat arrays. The sets that were packed last are kept, so that packing one again is free."""
    with _LOCK:
        for kept in _kept:
            if kept.corpus is corpus:
                return kept
    packed = PackedCorpus(
        corpus=corpus,
        target=Flat.of([w.target_tokens for w in corpus.windows], np.int64),
        caps=np.array([output_cap(w, corpus) for w in corpus.windows], np.int64),
        drafters=tuple(PackedDrafter.of(n, [corpus.eligible(w, n) for w in corpus.windows]) for n in corpus.drafters),
    )
    with _LOCK:
        _kept.append(packed)
        del _kept[:-KEPT_SETS]
    return packed


def window_schedule(drafter: DrafterTrajectory, profile: Profile) -> Schedule:
    """When this drafter's candidates are visible with the profile's overlapped costs.

    Raises:
        ProfileError: it publishes chunk by chunk, and the profile holds no cost of a chunk.
    """
    if drafter.chunk_ends is not None:
        costs = profile.chunk_sources.get(drafter.name)
        if costs is None:
            raise ProfileError(
                f"{drafter.name!r} publishes chunk by chunk, but {profile.id!r} holds no cost of its chunks."
            )
        return chunk_source_schedule(drafter, costs)
    return autoregressive_schedule(
        len(drafter.candidates), drafter.batch_tokens, profile.draft_overlapped_ms, profile.publish_ms
    )


def output_cap(window: WindowTrajectory, corpus: TrajectorySet) -> int:
    """Largest number of committed tokens: where a capped output was cut, the cap was met."""
    return len(window.target_tokens) if window.target_capped else corpus.output_cap


def _confidences(trajectory: DrafterTrajectory | None) -> Sequence[float | None]:
    if trajectory is None:
        return ()
    return trajectory.confidences or (None,) * len(trajectory.candidates)
