"""How long did every window take, under every method? One row a window, from replay or from stored runs alike."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.replay.pooling import TIE, Slowdown, pooled_tps, slowdown
from dashboard.views import numbers

Floats = NDArray[np.float64]
ANY_LENGTH = (0.0, float("inf"))


@dataclass(frozen=True, eq=False, slots=True)
class Timed:
    """One setting on W windows. NaN is n/a: it did not run there, or did not finish."""

    name: str
    """As people read it: ``As²d b=7``."""
    method: str
    time_ms: Floats
    """[W] after prefill, producer drain included; of repeated runs, the mean."""
    tokens: Floats
    """[W] committed tokens; of repeated runs, the mean."""
    rounds: Floats
    """[W]."""
    proposed: Floats
    accepted: Floats
    target_ms: Floats
    """[W] time in which the target worked (V)."""
    runs: NDArray[np.int64]
    """[W] finished runs behind a window; 1 in a replay."""
    left_out: NDArray[np.int64]
    """[W] runs that did not finish, and warm-ups."""
    run_ids: tuple[str | None, ...] = ()
    """[W] the newest run there, finished or not; empty in a replay."""
    problem: str | None = None
    """Why a window is n/a, for the first one that is."""

    @property
    def tps(self) -> Floats:
        """[W] committed tokens per second."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate: Floats = self.tokens / self.time_ms * 1e3
        return np.where(np.isfinite(rate), rate, np.nan)

    @property
    def acceptance(self) -> Floats:
        """[W] accepted share of the proposed candidates; NaN where nothing was proposed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = np.where(self.proposed > 0, self.accepted / self.proposed, np.nan)
        return share

    def subset(self, kept: NDArray[np.int64]) -> "Timed":
        """Some of the windows."""
        arrays = {
            name: getattr(self, name)[kept]
            for name in ("time_ms", "tokens", "rounds", "proposed", "accepted", "target_ms", "runs", "left_out")
        }
        return replace(self, **arrays, run_ids=tuple(self.run_ids[i] for i in kept.tolist()) if self.run_ids else ())


@dataclass(frozen=True, eq=False, slots=True)
class WindowSet:
    """W windows and the settings that ran on them."""

    title: str
    """What was timed, and with whose costs or on which device; plain text."""
    kinds: tuple[str, ...]
    """What the numbers are: names of badges."""
    windows: tuple[str, ...]
    subsets: tuple[str, ...]
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    splits: tuple[str, ...]
    """Empty text where there is none."""
    audio_s: Floats
    """[W] length of the audio, NaN: n/a."""
    alone: Timed | None
    """Target-only, K = 1."""
    settings: tuple[Timed, ...]
    """All others."""
    oracle_ms: Floats
    """[W] the fastest As²d pair of the window, with hindsight; NaN: n/a."""
    oracle_picks: tuple[str, ...]
    """[W] which pair that was."""
    oracle_of: str
    """What the oracle chose from."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.windows)

    @property
    def all(self) -> tuple[Timed, ...]:
        """Target-only first."""
        return self.settings if self.alone is None else (self.alone, *self.settings)

    def named(self, name: str) -> Timed:
        """A setting by its name; the last one when there is none of that name."""
        return next((item for item in self.settings if item.name == name), self.settings[-1])

    def ratio(self, item: Timed) -> Floats:
        """[W] TPS against target-only; NaN where either is missing."""
        if self.alone is None:
            return np.full(len(self), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = item.tps / self.alone.tps
        return np.where(np.isfinite(found), found, np.nan)

    def gain(self, item: Timed) -> Floats:
        """[W] percent of TPS above target-only."""
        return (self.ratio(item) - 1) * 100

    def gap(self, item: Timed) -> Floats:
        """[W] percent of time that the oracle needs less; negative where a method that it cannot choose is faster."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = 100 * (1 - self.oracle_ms / item.time_ms)
        return np.where(np.isfinite(found), found, np.nan)

    def index(self, window: str) -> int | None:
        """Where a window is."""
        return self.windows.index(window) if window in self.windows else None

    def subset(self, mask: NDArray[np.bool_]) -> "WindowSet":
        """The windows where ``mask`` [W] is true."""
        kept = np.flatnonzero(mask)
        names = {
            name: tuple(getattr(self, name)[i] for i in kept.tolist())
            for name in ("windows", "subsets", "tasks", "languages", "splits", "oracle_picks")
        }
        return replace(
            self,
            **names,
            audio_s=self.audio_s[kept],
            alone=None if self.alone is None else self.alone.subset(kept),
            settings=tuple(item.subset(kept) for item in self.settings),
            oracle_ms=self.oracle_ms[kept],
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which windows are looked at. An empty field asks nothing; several values of one field are alternatives."""

    subsets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    text: str = ""
    """Found in the window's name."""
    length_s: tuple[float, float] = ANY_LENGTH
    slower_only: bool = False
    """Only those on which the chosen setting is slower than target-only."""

    def described(self) -> str:
        """The filters in words, for figures and files; empty when all windows are looked at."""
        low, high = self.length_s
        parts = [", ".join(values) for values in (self.subsets, self.tasks, self.languages, self.splits) if values]
        if self.text:
            parts.append(f"named like {self.text!r}")
        if low > 0 or high < float("inf"):
            parts.append(f"{low:g} s to {high:g} s" if high < float("inf") else f"at least {low:g} s")
        if self.slower_only:
            parts.append("slower than target-only only")
        return "; ".join(parts)


def filtered(whole: WindowSet, wanted: Wanted, chosen: str) -> WindowSet:
    """The windows that are wanted.

    Args:
        whole: all of them.
        wanted: the filters.
        chosen: name of the setting that ``slower_only`` speaks of.
    """
    mask = np.ones(len(whole), np.bool_)
    for values, names in (
        (wanted.subsets, whole.subsets),
        (wanted.tasks, whole.tasks),
        (wanted.languages, whole.languages),
        (wanted.splits, whole.splits),
    ):
        if values:
            mask &= _among(names, values)
    if wanted.text:
        text = wanted.text.lower()
        mask &= np.array([text in name.lower() for name in whole.windows], np.bool_).reshape(len(whole))
    low, high = wanted.length_s
    if low > 0 or high < float("inf"):
        mask &= (whole.audio_s >= low) & (whole.audio_s <= high)
    if wanted.slower_only and whole.settings:
        mask &= whole.ratio(whole.named(chosen)) < 1 - TIE
    return whole if mask.all() else whole.subset(mask)


def _among(names: Sequence[str], values: Collection[str]) -> NDArray[np.bool_]:
    return np.array([name in values for name in names], np.bool_).reshape(len(names))


@dataclass(frozen=True, slots=True)
class Summary:
    """One setting over all windows that are looked at."""

    name: str
    windows: int
    """Windows on which both it and target-only have a time; everything else here is over these."""
    tps: float | None
    """Pooled: tokens over time, never a mean of rates."""
    gain: float | None
    """Percent of pooled TPS over target-only."""
    slower: Slowdown | None
    gap: float | None
    """Percent of pooled TPS below the oracle, over the windows that have both."""

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        if self.windows == 0 or self.slower is None:
            return f"{self.name} and target-only have no window in common."
        loss = "" if self.slower.median_loss is None else f", median loss {numbers.percent(self.slower.median_loss)}"
        gap = "" if self.gap is None else f", {numbers.signed_percent(-self.gap)} against the oracle"
        return (
            f"{self.name}: {numbers.tps(self.tps)}, {numbers.against_target_only(self.gain)}{gap}; slower on "
            f"{self.slower.slower:,} of {numbers.counted(self.windows, 'window')} "
            f"({numbers.share(self.slower.slower / self.windows)}{loss})."
        )


def summary(shown: WindowSet, item: Timed) -> Summary:
    """Pool a setting over the windows that it shares with target-only."""
    ratio = shown.ratio(item)
    both = np.isfinite(ratio)
    known = both & np.isfinite(shown.oracle_ms)
    alone = shown.alone
    if alone is None or not both.any():
        return Summary(item.name, 0, None, None, None, None)
    tps = pooled_tps(item.tokens[both], item.time_ms[both])  # type: ignore[arg-type]
    reference = pooled_tps(alone.tokens[both], alone.time_ms[both])  # type: ignore[arg-type]
    gap = 100 * (1 - shown.oracle_ms[known].sum() / item.time_ms[known].sum()) if known.any() else None
    return Summary(item.name, int(both.sum()), tps, numbers.gain(tps, reference), slowdown(ratio[both]), gap)
