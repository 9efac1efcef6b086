"""Which drafter and budget would be deployed? Screened on development, chosen on validation, then frozen (D.2.6).

Test windows never take part: a grid that holds them is refused, and a selection is evaluated only
on windows it has not seen.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from as2d_core.errors import SelectionError
from as2d_core.replay.budgets import fixed_times
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import Oracle, oracle
from as2d_core.replay.pooling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Bootstrap,
    Interval,
    Slowdown,
    gap_percent,
    pooled_tps,
    slowdown,
    tps_ratio,
)
from as2d_core.width_rule import WidthRule

DEFAULT_FINALISTS = 8


@dataclass(frozen=True, slots=True)
class Ranked:
    """One pair and its pooled TPS on one split."""

    drafter: str
    budget: int
    tps: float
    extrapolated: bool
    """Whether a width may have been used whose cost was not measured."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A frozen choice, with everything it was made from."""

    drafter: str
    budget: int
    corpus: str
    profile: str
    label: str
    """What the trajectories are: ``measured`` or ``synthetic``."""
    threshold: float | None
    search_window: int
    screened: tuple[Ranked, ...]
    """Every feasible pair on the development windows, the fastest first."""
    finalists: tuple[Ranked, ...]
    """The pairs that went on to the validation windows, the fastest there first."""
    window_ids: dict[str, tuple[str, ...]]
    """Windows of each split that took part."""
    split_sha256: dict[str, str]
    """Hash of the window ids of each split."""
    audio_sha256: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Hashes of the audio of each split, where it is known: the same recording under another name was seen, too."""
    width_rule: WidthRule | None = None
    """The rule that shortens the chains; the budget is then the most it may take. ``None`` = the budget decides."""

    @property
    def validation_tps(self) -> float:
        """Pooled TPS of the choice on the validation windows."""
        return self.finalists[0].tps


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A frozen choice on test windows."""

    drafter: str
    budget: int
    windows: int
    tokens: int
    tps: float
    tps_interval: Interval | None
    target_only_tps: float
    gain: float
    """Percent of pooled TPS over target-only."""
    gain_interval: Interval | None
    oracle_tps: float | None
    gap: float | None
    """Percent of pooled TPS below the oracle."""
    gap_interval: Interval | None
    slowdown: Slowdown | None
    fallback_windows: int
    """Windows the drafter does not take, where the catalog's first drafter stood in."""
    extrapolated: bool
    test_sha256: str


def select_budget(grid: Grid, finalists: int = DEFAULT_FINALISTS) -> Selection:
    """Choose one drafter and budget by pooled TPS.

    Args:
        grid: development and validation windows only.
        finalists: how many of the fastest pairs on the development windows go on to validation.

    Raises:
        SelectionError: the grid holds test windows, a split is missing, or nothing can run.
    """
    if "test" in grid.splits:
        raise SelectionError(
            f"The grid of {grid.corpus!r} holds {grid.splits.count('test')} test windows; a selection must not see "
            "them. Pass its development and validation windows only."
        )
    if finalists < 1:
        raise SelectionError(f"{finalists} finalists leave nothing to choose from; keep at least one.")
    for split in ("development", "validation"):
        if split not in grid.splits:
            raise SelectionError(
                f"The set {grid.corpus!r} has no {split} windows, so nothing is selected: a selection is screened on "
                "development windows and chosen on validation windows. Collect windows of both."
            )
    development, validation = grid.of_split("development"), grid.of_split("validation")
    screened = _rank(development, [(d, b) for d in grid.drafters for b in grid.budgets])
    chosen = _rank(validation, [(r.drafter, r.budget) for r in screened[:finalists]])
    if not chosen:
        raise SelectionError(f"No drafter and budget of {grid.corpus!r} can run with the profile {grid.profile!r}.")
    parts = {"development": development.windows, "validation": validation.windows}
    return Selection(
        drafter=chosen[0].drafter,
        budget=chosen[0].budget,
        corpus=grid.corpus,
        profile=grid.profile,
        label=grid.label,
        threshold=grid.threshold,
        search_window=grid.search_window,
        screened=screened,
        finalists=chosen,
        window_ids=parts,
        split_sha256={name: windows_sha256(ids) for name, ids in parts.items()},
        audio_sha256={
            name: tuple(sorted({sha for sha in part.audio if sha}))
            for name, part in (("development", development), ("validation", validation))
        },
        width_rule=None if grid.width_rules is None else grid.width_rules[chosen[0].drafter],
    )


def evaluate(
    selection: Selection,
    grid: Grid,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    hindsight: Oracle | None = None,
) -> Evaluation:
    """Time a frozen choice on the test windows of a grid.

    Args:
        selection: the frozen choice.
        grid: replayed as the choice was; windows of other splits are passed over.
        resamples, seed: of the bootstrap intervals.
        hindsight: what the gap is measured against, on the test windows; ``None`` = the oracle over the
            pairs of the grid. A choice with a width rule may be faster than the oracle over fixed budgets.

    Raises:
        SelectionError: the grid has no test windows, holds windows the choice was made on, was
            replayed otherwise than the choice, or cannot run it.
    """
    if "test" not in grid.splits:
        raise SelectionError(f"The grid of {grid.corpus!r} has no test windows; there is nothing to evaluate on.")
    test = grid.of_split("test")
    seen = {window for ids in selection.window_ids.values() for window in ids} & set(test.windows)
    if seen:
        raise SelectionError(
            f"{len(seen)} test windows ({min(seen)!r} among them) took part in the selection; it cannot be evaluated."
        )
    heard = {sha for shas in selection.audio_sha256.values() for sha in shas}
    repeated = [window for window, sha in zip(test.windows, test.audio, strict=False) if sha in heard]
    if repeated:
        raise SelectionError(
            f"The audio of {len(repeated)} test windows ({repeated[0]!r} among them) took part in the selection under "
            "another name; it cannot be evaluated."
        )
    rule = None if grid.width_rules is None else grid.width_rules.get(selection.drafter)
    if rule != selection.width_rule:
        raise SelectionError("The grid was replayed with another width rule than the selection was made with.")
    for what in ("profile", "threshold", "search_window"):
        if getattr(grid, what) != getattr(selection, what):
            raise SelectionError(
                f"The selection was made with {what.replace('_', ' ')} {getattr(selection, what)!r}, but the grid has "
                f"{getattr(grid, what)!r}."
            )
    if selection.drafter not in grid.drafters or selection.budget not in grid.budgets:
        raise SelectionError(f"The grid does not hold {selection.drafter} at budget {selection.budget}.")
    d, b = grid.drafters.index(selection.drafter), grid.budgets.index(selection.budget)
    times, fallback = fixed_times(test)
    time_ms, bootstrap = times[d, b], Bootstrap(test.tokens, resamples, seed)
    hindsight = oracle(test) if hindsight is None else hindsight
    tps, target_only = pooled_tps(test.tokens, time_ms), pooled_tps(test.tokens, test.target_only_ms)
    if tps is None or target_only is None:
        raise SelectionError(f"{selection.drafter} at budget {selection.budget} has no time on every test window.")
    return Evaluation(
        drafter=selection.drafter,
        budget=selection.budget,
        windows=len(test.windows),
        tokens=int(test.tokens.sum()),
        tps=tps,
        tps_interval=bootstrap.tps(time_ms),
        target_only_tps=target_only,
        gain=100 * (tps / target_only - 1),
        gain_interval=bootstrap.gain(time_ms, test.target_only_ms),
        oracle_tps=hindsight.tps,
        gap=gap_percent(tps, hindsight.tps),
        gap_interval=bootstrap.gap(time_ms, hindsight.time_ms),
        slowdown=slowdown(tps_ratio(time_ms, test.target_only_ms)),
        fallback_windows=int(fallback[d, b].sum()),
        extrapolated=bool(test.extrapolated[d, b]),
        test_sha256=windows_sha256(test.windows),
    )


def windows_sha256(window_ids: Iterable[str]) -> str:
    """Hash of a set of window ids, whatever their order."""
    return hashlib.sha256("\n".join(sorted(window_ids)).encode()).hexdigest()


def _rank(grid: Grid, pairs: Iterable[tuple[str, int]]) -> tuple[Ranked, ...]:
    """Feasible pairs by pooled TPS; ties go to the earlier drafter, then to the smaller budget."""
    times, _ = fixed_times(grid)
    ranked = []
    for drafter, budget in pairs:
        d, b = grid.drafters.index(drafter), grid.budgets.index(budget)
        tps = pooled_tps(grid.tokens, times[d, b])
        if tps is not None:
            ranked.append((-tps, d, b, Ranked(drafter, budget, tps, bool(grid.extrapolated[d, b]))))
    return tuple(item[-1] for item in sorted(ranked, key=lambda item: item[:3]))
