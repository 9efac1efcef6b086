"""How long does every window take with every drafter and budget on one device? (Appendix D.4.3)"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError, TrajectoryError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay import loops
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.kernel import (
    NO_BOUNDARIES,
    NO_RULE,
    NO_TABLE,
    check_budget,
    check_costs,
    check_draft_costs,
    check_search_window,
    rule_table,
)
from as2d_core.replay.packing import PackedCorpus, PackedDrafter, output_cap, pack, window_schedule
from as2d_core.replay.windows import SPLITS, TrajectorySet
from as2d_core.width_rule import WidthRule

__all__ = ["DEFAULT_THRESHOLD", "Catalog", "Grid", "output_cap", "replay_grid", "window_schedule"]

DEFAULT_THRESHOLD = 0.4

Catalog = Sequence[int] | Sequence[tuple[str, int]] | Mapping[str, Sequence[int]]
"""What is compared: budgets for every drafter, (drafter, budget) pairs, or budgets by drafter."""


@dataclass(frozen=True)
class Grid:
    """Replayed times of D drafters under B budgets on W windows.

    NaN is a pair that is not compared or cannot run there (a width without a cost, or a drafter that
    does not take the window); its counts are -1.
    """

    corpus: str
    profile: str
    label: str
    """What the trajectories are: ``measured`` or ``synthetic``."""
    drafters: tuple[str, ...]
    """In catalog order."""
    budgets: tuple[int, ...]
    """Rising."""
    windows: tuple[str, ...]
    groups: tuple[str, ...]
    splits: tuple[str, ...]
    tokens: NDArray[np.int64]
    """[W] committed tokens."""
    time_ms: NDArray[np.float64]
    """[D, B, W] As²d, producer drain included."""
    target_only_ms: NDArray[np.float64]
    """[W]."""
    extrapolated: NDArray[np.bool_]
    """[D, B] whether the budget may use a width whose cost was not measured."""
    rounds: NDArray[np.int64]
    """[D, B, W]."""
    k1_rounds: NDArray[np.int64]
    proposed: NDArray[np.int64]
    accepted: NDArray[np.int64]
    standard_sd_ms: dict[int, NDArray[np.float64]]
    """Width K -> [D, W]; NaN where the drafter's agreement with the prefix is not known."""
    threshold: float | None = DEFAULT_THRESHOLD
    search_window: int = DEFAULT_SEARCH_WINDOW
    width_rules: Mapping[str, WidthRule] | None = None
    """By drafter, what shortened its chains; a budget is then the most a rule may take. ``None`` = nothing."""
    audio: tuple[str | None, ...] = ()
    """Hash of each window's audio, where it is known; empty when it was not asked for."""
    left_out: NDArray[np.bool_] | None = None
    """[D, B] pairs that are not in the catalog; ``None`` = all are."""

    def subset(self, mask: NDArray[np.bool_]) -> "Grid":
        """The windows where ``mask`` [W] is true.

        Raises:
            TrajectoryError: the mask has another length, or leaves no window.
        """
        chosen = np.asarray(mask, np.bool_)
        if chosen.shape != (len(self.windows),):
            raise TrajectoryError(f"A mask of shape {chosen.shape} does not fit {len(self.windows)} windows.")
        if not chosen.any():
            raise TrajectoryError(f"No window of {self.corpus!r} is left after the selection.")
        kept = np.flatnonzero(chosen).tolist()
        return replace(
            self,
            windows=tuple(self.windows[i] for i in kept),
            groups=tuple(self.groups[i] for i in kept),
            splits=tuple(self.splits[i] for i in kept),
            audio=tuple(self.audio[i] for i in kept) if self.audio else (),
            tokens=self.tokens[chosen],
            time_ms=self.time_ms[:, :, chosen],
            target_only_ms=self.target_only_ms[chosen],
            rounds=self.rounds[:, :, chosen],
            k1_rounds=self.k1_rounds[:, :, chosen],
            proposed=self.proposed[:, :, chosen],
            accepted=self.accepted[:, :, chosen],
            standard_sd_ms={k: times[:, chosen] for k, times in self.standard_sd_ms.items()},
        )

    def of_split(self, *splits: str) -> "Grid":
        """The windows of some splits.

        Raises:
            UnknownNameError: there is no split of that name.
            TrajectoryError: no window is in them.
        """
        for name in splits:
            if name not in SPLITS:
                raise unknown_name("split", name, list(SPLITS))
        if not set(splits) & set(self.splits):
            raise TrajectoryError(f"The set {self.corpus!r} has no {' or '.join(splits)} windows.")
        return self.subset(np.isin(np.array(self.splits), splits))

    def of_group(self, *groups: str) -> "Grid":
        """The windows of some groups.

        Raises:
            UnknownNameError: there is no group of that name.
        """
        for name in groups:
            if name not in self.groups:
                raise unknown_name("group", name, sorted(set(self.groups)))
        return self.subset(np.isin(np.array(self.groups), groups))

    def times(self, drafter: str, budget: int) -> NDArray[np.float64]:
        """[W] times of one pair in ms.

        Raises:
            UnknownNameError: the drafter is not in the grid.
            RequestError: the budget is not in the grid.
        """
        if drafter not in self.drafters:
            raise unknown_name("drafter", drafter, list(self.drafters))
        if budget not in self.budgets:
            raise RequestError(f"Budget {budget} was not replayed; the grid holds {_spelled(self.budgets)}.")
        times: NDArray[np.float64] = self.time_ms[self.drafters.index(drafter), self.budgets.index(budget)]
        return times


def replay_grid(
    corpus: TrajectorySet,
    profile: Profile,
    catalog: Catalog | None = None,
    drafters: Sequence[str] | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    compiled: bool = True,
    width_rules: Mapping[str, WidthRule] | None = None,
) -> Grid:
    """Replay every window with every drafter under every budget, and the baselines beside it.

    Args:
        corpus: recorded tokens.
        profile: costs of one device; every drafter is charged its draft and publication costs.
        catalog: what is compared: proposal budgets for every drafter, such as ``range(1, 25)``; (drafter,
            budget) pairs; or budgets by drafter. ``None`` = 1 to what was searched on the device. A pair that
            is not in it is excluded like one that cannot run.
        drafters: names, for a catalog of budgets; ``None`` = all of the set, in catalog order.
        threshold: confidence below which a chain stops; ``None`` = never.
        search_window: how far alignment looks beyond the cursor.
        compiled: as machine code, or as plain Python with the same result to the last bit.
        width_rules: by drafter; each shortens its drafter's chains under every budget. ``None`` = none.

    Raises:
        RequestError: a budget or width rule that cannot be, or none at all.
        UnknownNameError: a drafter that is not in the set.
        TrajectoryError: the set has no drafters.
        ProfileError: a cost that cannot be charged.
    """
    packed = pack(corpus)
    by_drafter = _by_drafter(catalog)
    if by_drafter is not None and drafters is not None:
        raise RequestError("The catalog names its drafters; leave them out beside it.")
    names = _drafters(drafters if by_drafter is None else tuple(by_drafter), corpus)
    listed = catalog if by_drafter is None else _together(by_drafter)
    chosen = _budgets(listed, profile, width_rules)  # type: ignore[arg-type]
    used = [next(d for d in packed.drafters if d.name == name) for name in names]
    check_draft_costs(profile)
    for name, costs in zip(("verify_concurrent_ms", "verify_idle_ms"), profile.round_costs(), strict=True):
        check_costs(name, costs)
    check_search_window(search_window)
    shape = (len(names), len(chosen), packed.windows)
    time_ms = np.full(shape, np.nan)
    counts = np.full((*shape, 4), -1, np.int64)
    feasible = np.array([profile.feasible(b) for b in chosen])
    for d, drafter in enumerate(used):
        rule = NO_RULE if width_rules is None else rule_table(_rule_of(width_rules, drafter.name), chosen[-1])
        time_ms[d], counts[d] = replay_drafter(
            packed, drafter, profile, chosen, threshold, search_window, compiled, rule
        )  # fmt: skip
    # A budget is excluded on every window alike, whether or not its widest width came up.
    time_ms[:, ~feasible, :] = np.nan
    counts[:, ~feasible] = -1
    left_out = None
    if by_drafter is not None:
        left_out = np.array([[b not in by_drafter[name] for b in chosen] for name in names])
        time_ms[left_out] = np.nan
        counts[left_out] = -1
    return Grid(
        corpus=corpus.id,
        profile=profile.id,
        label=corpus.label,
        drafters=names,
        budgets=chosen,
        windows=tuple(w.window_id for w in corpus.windows),
        groups=tuple(w.group for w in corpus.windows),
        splits=tuple(w.split for w in corpus.windows),
        tokens=packed.tokens,
        time_ms=time_ms,
        target_only_ms=np.asarray((packed.tokens - 1) * profile.target_step_ms, np.float64),
        extrapolated=np.array([[profile.extrapolates(b) for b in chosen] for _ in names]),
        rounds=counts[..., 0],
        k1_rounds=counts[..., 1],
        proposed=counts[..., 2],
        accepted=counts[..., 3],
        standard_sd_ms=_standard_sd(packed, used, profile, compiled),
        threshold=threshold,
        search_window=search_window,
        width_rules=None if width_rules is None else {name: width_rules[name] for name in names},
        audio=tuple(w.audio_sha256 for w in corpus.windows),
        left_out=left_out,
    )


def replay_drafter(
    packed: PackedCorpus,
    drafter: PackedDrafter,
    profile: Profile,
    budgets: Sequence[int],
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    compiled: bool = True,
    rule: NDArray[np.int64] = NO_RULE,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One drafter of a set that is laid out, under every budget, with nothing beside it; input is not checked.

    Returns:
        ``(time_ms, counts)``: [B, W] in ms, and [B, W, 4] rounds, K = 1 rounds, proposed, accepted. NaN and -1
        where the drafter takes no part, or a width that came up has no cost.
    """
    time_ms = np.full((len(budgets), packed.windows), np.nan)
    counts = np.full((len(budgets), packed.windows, 4), -1, np.int64)
    inputs = grid_inputs(packed, drafter, profile, budgets, threshold, search_window, rule)
    run: Any = loops.as2d_grid_loop
    if compiled:
        run = compile_loop(run)
    else:
        # Lists are what plain Python is fastest with.
        inputs = tuple(x.tolist() if isinstance(x, np.ndarray) else x for x in inputs)
    run(*inputs, NO_TABLE, NO_BOUNDARIES, time_ms, counts)
    return time_ms, counts


def grid_inputs(
    packed: PackedCorpus,
    drafter: PackedDrafter,
    profile: Profile,
    budgets: Sequence[int],
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    rule: NDArray[np.int64] = NO_RULE,
) -> tuple[Any, ...]:
    """What ``loops.as2d_grid_loop`` reads, in its order: arrays and numbers."""
    concurrent, idle = profile.round_costs()
    published = drafter.publications(profile)
    return (
        packed.target.values,
        packed.target.offsets,
        packed.caps,
        drafter.candidates.values,
        drafter.low_confidence(threshold),
        drafter.candidates.offsets,
        drafter.batch_ends.values,
        published.times_ms,
        drafter.batch_ends.offsets,
        published.producer_end_ms,
        published.operation_ms,
        np.array(budgets, np.int64),
        concurrent,
        idle,
        search_window,
        rule,
    )


def _standard_sd(
    packed: PackedCorpus, used: Sequence[PackedDrafter], profile: Profile, compiled: bool
) -> dict[int, NDArray[np.float64]]:
    verify = profile.verify_costs()
    widths = np.array([k for k in range(2, len(verify)) if not math.isnan(verify[k])], np.int64)
    times = np.full((len(used), len(widths), packed.windows), np.nan)
    run: Any = compile_loop(loops.standard_sd_grid_loop) if compiled else loops.standard_sd_grid_loop
    for d, drafter in enumerate(used):
        run(
            drafter.agrees.values,
            drafter.agrees.offsets,
            packed.caps,
            np.diff(drafter.agrees.offsets) > 0,
            widths,
            profile.draft_serial_ms,
            verify,
            profile.loop_ms,
            times[d],
        )
    return {int(width): times[:, k] for k, width in enumerate(widths)}


def _budgets(budgets: Sequence[int] | None, profile: Profile, rules: Mapping[str, WidthRule] | None) -> tuple[int, ...]:
    if budgets is None:
        last = profile.search_max_budget or profile.max_width - 1
        if rules:
            last = min(last, *(rule.max_budget for rule in rules.values()))
        budgets = range(1, last + 1) if last >= 1 else (0,)
    for budget in budgets:
        check_budget(budget)
    if not budgets:
        raise RequestError("There is no budget to replay; give at least one.")
    if len(set(budgets)) < len(budgets):
        raise RequestError(f"A budget is given twice: {_spelled(budgets)}.")
    return tuple(sorted(int(b) for b in budgets))


def _by_drafter(catalog: Catalog | None) -> dict[str, tuple[int, ...]] | None:
    """Budgets by drafter of a catalog that names drafters; ``None`` for one of budgets only.

    Raises:
        RequestError: it is neither budgets, nor pairs, nor budgets by drafter.
    """
    if catalog is None:
        return None
    if isinstance(catalog, Mapping):
        return {name: tuple(budgets) for name, budgets in catalog.items()}
    pairs = [item for item in catalog if isinstance(item, tuple | list)]
    if not pairs:
        return None
    found: dict[str, tuple[int, ...]] = {}
    for item in catalog:
        if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str):
            raise RequestError(f"The catalog holds {item!r}; give budgets, or (drafter, budget) pairs, not both.")
        found[item[0]] = (*found.get(item[0], ()), item[1])
    return found


def _together(by_drafter: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    for name, budgets in by_drafter.items():
        if len(set(budgets)) < len(budgets):
            raise RequestError(f"A budget of {name!r} is given twice: {_spelled(budgets)}.")
    return tuple(dict.fromkeys(b for budgets in by_drafter.values() for b in budgets))


def _rule_of(rules: Mapping[str, WidthRule], drafter: str) -> WidthRule:
    if drafter not in rules:
        raise RequestError(f"There is no width rule for drafter {drafter!r}; rules are given for {', '.join(rules)}.")
    return rules[drafter]


def _drafters(drafters: Sequence[str] | None, corpus: TrajectorySet) -> tuple[str, ...]:
    known = corpus.drafters
    if not known:
        raise TrajectoryError(f"The set {corpus.id!r} has no drafters; there is nothing to compare.")
    for name in drafters or ():
        if name not in known:
            raise unknown_name("drafter", name, list(known))
    return known if drafters is None else tuple(name for name in known if name in set(drafters))


def _spelled(budgets: Sequence[int]) -> str:
    return ", ".join(map(str, budgets))
