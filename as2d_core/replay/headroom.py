"""What would make a device faster, and what would not? Every cost made a little cheaper, and taken away (D.2.7).

Two figures stand beside each other for every cost. Its *share* of the time says what a percent less
of it gives if every round stays as it is. Its *move* is replayed: rounds may then start at other
instants, see other candidates and take other widths. They differ where the source and the target
run a race; a cheaper round can even come too early for a publication, and lose.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import ProfileError, RequestError, unknown_name
from as2d_core.profiles.profile import ChunkCosts, Profile
from as2d_core.replay import loops
from as2d_core.replay.bottleneck import COSTS, ERRORS, Lever, bottleneck
from as2d_core.replay.compiling import compiled as compile_loop
from as2d_core.replay.corrections import corrected_source
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.kernel import NO_BOUNDARIES, NO_TABLE, check_budget, check_draft_costs, replay_as2d, rule_table
from as2d_core.replay.packing import PackedCorpus, PackedDrafter, Publications, pack
from as2d_core.replay.pooling import DEFAULT_RESAMPLES, DEFAULT_SEED, Bootstrap, gain_percent, pooled_tps
from as2d_core.replay.windows import TrajectorySet
from as2d_core.width_rule import WidthRule

STEP_PERCENT = 1.0
ERROR_STEP_PERCENT = 10.0
"""Errors are taken away in tenths: one in a hundred would be a matter of which one."""
Floats = NDArray[np.float64]

__all__ = ["COSTS", "ERRORS", "Headroom", "Lever", "headroom"]


@dataclass(frozen=True, slots=True)
class Headroom:
    """What moves the throughput of one drafter and budget on one device."""

    corpus: str
    label: str
    """What the trajectories are: ``measured`` or ``synthetic``."""
    profile: str
    device: str
    drafter: str
    budget: int
    windows: int
    tokens: int
    tps: float
    target_only_tps: float
    draft_ms: float
    """D, drafting and publication of all windows."""
    verify_ms: float
    """V, verification calls."""
    overlap_ms: float
    """O, both at once."""
    idle_ms: float
    """H, neither: the loop while no drafter runs. T = D + V - O + H."""
    bound_tps: float
    """N / (max(D, V) + H), window by window and then pooled: the same work in perfect overlap."""
    drain_percent: float
    """Share of the time that waits for a cancelled drafter."""
    errors: int
    """Stretches in which the source differs from the output."""
    levers: tuple[Lever, ...]
    """The costs, the widths of verification, the errors of the source."""
    sentence: str
    """What the bottleneck is, and what would and would not help."""

    def lever(self, name: str) -> Lever:
        """One lever by its name.

        Raises:
            UnknownNameError: there is none of that name.
        """
        for item in self.levers:
            if item.name == name:
                return item
        raise unknown_name("cost", name, [item.name for item in self.levers])


def headroom(
    corpus: TrajectorySet,
    profile: Profile,
    drafter: str | None = None,
    budget: int | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    width_rule: WidthRule | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Headroom:
    """Ask of every cost how much pooled TPS moves with it. Windows that the drafter does not take are left out.

    Args:
        corpus: recorded tokens.
        profile: costs of one device.
        drafter: its name; ``None`` = the first of the catalog.
        budget: proposal budget; ``None`` = the profile's deployed one.
        threshold, search_window, width_rule: as for ``replay_grid``.
        resamples, seed: of the bootstrap intervals; the seed also says which errors go first.

    Raises:
        UnknownNameError: there is no such drafter.
        RequestError: no budget is given or deployed, or it cannot be.
        ProfileError: a width that came up has no cost, or nothing took any time.
    """
    base = _Case.of(corpus, profile, drafter, budget, threshold, search_window, width_rule)
    times = base.times()
    tps = _rate(base, times)
    chance = Bootstrap(base.tokens, resamples, seed)

    def lever(
        name: str, share: float | None, cheaper: Floats, gone: Floats | None, step: float = STEP_PERCENT
    ) -> Lever:
        interval = chance.gain(cheaper, times)
        gone_tps = None if gone is None else pooled_tps(base.tokens, gone)
        return Lever(
            name,
            share,
            (gain_percent(_rate(base, cheaper), tps) or 0.0) / step,
            None if interval is None else interval.low / step,
            None if interval is None else interval.high / step,
            gone_tps,
            gain_percent(gone_tps, tps),
        )

    spent = _spent(base)
    less = 1 - STEP_PERCENT / 100
    total = float(times.sum())
    share = {name: 100 * value / total for name, value in spent.charged_ms.items()}
    silent = Publications(np.zeros_like(base.published.times_ms), np.zeros_like(base.published.producer_end_ms), 0.0)
    early = replace(base.published, times_ms=base.published.times_ms * less)
    ready = replace(base.published, times_ms=np.zeros_like(base.published.times_ms))
    levers = [
        lever("draft", None, base.times(draft=less), base.times(published=silent)),
        lever("verify", share["verify"], base.times(verify=less), None),
        lever("loop", share["loop"], base.times(loop=less), base.times(loop=0.0) if profile.loop_ms else None),
        lever("publish", None, base.times(publish=less), base.times(publish=0.0) if profile.publish_ms else None),
        lever("readiness", None, base.times(published=early), base.times(published=ready)),
    ]
    for width in spent.widths:
        name = f"verify K = {width}"
        levers.append(lever(name, share[name], base.times(verify={width: less}), None))
    fewer, errors = base.corrected(ERROR_STEP_PERCENT / 100, seed)
    none, _ = base.corrected(1.0, seed)
    levers.append(lever(ERRORS, None, fewer.times(), none.times(), ERROR_STEP_PERCENT))
    return Headroom(
        corpus=corpus.id,
        label=corpus.label,
        profile=profile.id,
        device=profile.name,
        drafter=base.source.name,
        budget=base.budget,
        windows=len(base.tokens),
        tokens=int(base.tokens.sum()),
        tps=tps,
        target_only_tps=_rate(base, np.asarray((base.tokens - 1) * profile.target_step_ms, np.float64)),
        draft_ms=spent.draft_ms,
        verify_ms=spent.verify_ms,
        overlap_ms=spent.overlap_ms,
        idle_ms=spent.idle_ms,
        bound_tps=_rate(base, spent.bound_ms),
        drain_percent=share["drain"],
        errors=errors,
        levers=tuple(levers),
        sentence=bottleneck(profile.name, levers),
    )


@dataclass(frozen=True, eq=False)
class _Case:
    """One drafter under one budget on the windows that it takes."""

    packed: PackedCorpus
    source: PackedDrafter
    chosen: NDArray[np.bool_]
    """[all windows]."""
    profile: Profile
    published: Publications
    budget: int
    threshold: float | None
    search_window: int
    width_rule: WidthRule | None

    @classmethod
    def of(
        cls,
        corpus: TrajectorySet,
        profile: Profile,
        drafter: str | None,
        budget: int | None,
        threshold: float | None,
        search_window: int,
        width_rule: WidthRule | None,
    ) -> "_Case":
        chosen_budget = profile.deployed_budget if budget is None else budget
        if chosen_budget is None:
            raise RequestError(f"No budget is given, and {profile.id!r} has no deployed one.")
        check_budget(chosen_budget)
        check_draft_costs(profile)
        if not profile.feasible(chosen_budget):
            raise ProfileError(
                f"Budget {chosen_budget} needs widths up to {chosen_budget + 1}; {profile.id!r} lacks one."
            )
        packed = pack(corpus)
        names = [d.name for d in packed.drafters]
        if not names or (drafter is not None and drafter not in names):
            raise unknown_name("drafter", str(drafter), names)
        source = packed.drafters[0 if drafter is None else names.index(drafter)]
        if not source.present.any():
            raise RequestError(f"The drafter {source.name!r} takes no window of {corpus.id!r}.")
        published = source.publications(profile)
        rule_table(width_rule, chosen_budget)
        return cls(
            packed, source, source.present, profile, published, chosen_budget, threshold, search_window, width_rule
        )

    @property
    def tokens(self) -> NDArray[np.int64]:
        return self.packed.tokens[self.chosen]

    def times(
        self,
        draft: float = 1.0,
        verify: float | Mapping[int, float] = 1.0,
        loop: float = 1.0,
        publish: float = 1.0,
        published: Publications | None = None,
    ) -> Floats:
        """[W] times with costs multiplied; ``verify`` may name single widths."""
        profile = _scaled(self.profile, draft, verify, loop, publish)
        if published is None:
            published = self.source.publications(profile) if (draft, publish) != (1.0, 1.0) else self.published
        concurrent, idle = profile.round_costs()
        source = self.source
        times = np.full((1, self.packed.windows), math.nan)
        run: Any = compile_loop(loops.as2d_grid_loop)
        run(
            self.packed.target.values,
            self.packed.target.offsets,
            self.packed.caps,
            source.candidates.values,
            source.low_confidence(self.threshold),
            source.candidates.offsets,
            source.batch_ends.values,
            published.times_ms,
            source.batch_ends.offsets,
            np.where(self.chosen, published.producer_end_ms, math.nan),
            published.operation_ms,
            np.array([self.budget], np.int64),
            concurrent,
            idle,
            self.search_window,
            rule_table(self.width_rule, self.budget),
            NO_TABLE,
            NO_BOUNDARIES,
            times,
            np.empty((1, self.packed.windows, 4), np.int64),
        )
        chosen: Floats = times[0, self.chosen]
        return chosen

    def corrected(self, share: float, seed: int) -> "tuple[_Case, int]":
        """The same with a share of the source's errors taken away, and how many errors there are in all."""
        corpus = self.packed.corpus
        pairs = [
            corrected_source(found, window.target_tokens, corpus.eos, share, f"{seed}:{window.window_id}")
            for window in corpus.windows
            if (found := corpus.eligible(window, self.source.name)) is not None
        ]
        better = iter(pairs)
        source = PackedDrafter.of(
            self.source.name, [next(better)[0] if present else None for present in self.chosen.tolist()]
        )
        case = replace(self, source=source, published=source.publications(self.profile))
        return case, sum(errors for _, errors in pairs)


@dataclass(frozen=True)
class _Spent:
    """Where the time of a case went, in milliseconds over all windows."""

    charged_ms: Mapping[str, float]
    widths: tuple[int, ...]
    draft_ms: float
    verify_ms: float
    overlap_ms: float
    idle_ms: float
    bound_ms: Floats
    """[W] max(D, V) + H."""


def _spent(case: _Case) -> _Spent:
    profile, source, packed = case.profile, case.source, case.packed
    concurrent, idle = profile.round_costs()
    low = source.low_confidence(case.threshold)
    by_width: dict[int, float] = {}
    sums = np.zeros((int(case.chosen.sum()), 4))  # D, V, O, H
    rounds, drain_ms = 0, 0.0
    for row, w in enumerate(np.flatnonzero(case.chosen).tolist()):
        end_ms = float(case.published.producer_end_ms[w])
        replayed = replay_as2d(
            packed.target.window(w),
            source.candidates.window(w),
            low[source.candidates.offsets[w] : source.candidates.offsets[w + 1]],
            source.batch_ends.window(w),
            case.published.times_ms[source.batch_ends.offsets[w] : source.batch_ends.offsets[w + 1]],
            end_ms,
            case.published.operation_ms,
            case.budget,
            concurrent,
            idle,
            case.search_window,
            int(packed.caps[w]),
            with_rounds=True,
            width_rule=case.width_rule,
        )
        drafting_ms = min(replayed.time_ms, end_ms)
        verify_ms = overlap_ms = looped_ms = 0.0
        for item in replayed.round_list or ():
            spent_ms = item.end_ms - item.start_ms - profile.loop_ms
            by_width[item.width] = by_width.get(item.width, 0.0) + spent_ms
            verify_ms += spent_ms
            overlap_ms += min(max(end_ms - item.start_ms, 0.0), spent_ms)
            looped_ms += min(max(item.end_ms - max(end_ms, item.start_ms + spent_ms), 0.0), profile.loop_ms)
        sums[row] = drafting_ms, verify_ms, overlap_ms, looped_ms
        rounds += replayed.rounds or 0
        drain_ms += replayed.drain_ms
    charged = {"verify": math.fsum(by_width.values()), "loop": rounds * profile.loop_ms, "drain": drain_ms}
    charged |= {f"verify K = {width}": spent_ms for width, spent_ms in by_width.items()}
    drafting, verifying, overlapping, idling = sums.sum(axis=0).tolist()
    bound = np.maximum(sums[:, 0], sums[:, 1]) + sums[:, 3]
    return _Spent(charged, tuple(sorted(by_width)), drafting, verifying, overlapping, idling, bound)


def _scaled(
    profile: Profile, draft: float, verify: float | Mapping[int, float], loop: float, publish: float
) -> Profile:
    def by_width(costs: Mapping[int, float]) -> dict[int, float]:
        return {k: cost * (verify.get(k, 1.0) if isinstance(verify, Mapping) else verify) for k, cost in costs.items()}

    return replace(
        profile,
        draft_overlapped_ms=profile.draft_overlapped_ms * draft,
        chunk_sources={
            name: ChunkCosts(costs.chunk_ms * draft, costs.convert_ms * draft)
            for name, costs in profile.chunk_sources.items()
        },
        verify_idle_ms=by_width(profile.verify_idle_ms),
        verify_concurrent_ms=by_width(profile.verify_concurrent_ms),
        loop_ms=profile.loop_ms * loop,
        publish_ms=profile.publish_ms * publish,
    )


def _rate(case: _Case, times: Floats) -> float:
    tps = pooled_tps(case.tokens, times)
    if tps is None:
        raise ProfileError(
            f"The windows of {case.packed.corpus.id!r} have no time with {case.profile.id!r}: a width has no cost, or "
            "every output is a single token."
        )
    return tps
