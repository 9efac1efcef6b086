"""How long does every method take on every window, and what for? (Tables 5, 8, 13; Appendix D.1.3, D.2.7, D.5)

Each method is one scalar loop over one window. This module runs them over a set and keeps, window by
window, what every millisecond was charged for.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import ProfileError, RequestError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay import specasr_loop
from as2d_core.replay.budgets import STANDARD_SD_WIDTHS
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.kernel import check_budget, check_costs, check_draft_costs, replay_as2d, replay_standard_sd
from as2d_core.replay.ledger import Ledger, ledger, ledger_of_as2d, ledger_of_standard_sd, ledger_of_target_only
from as2d_core.replay.lookahead import replay_lookahead
from as2d_core.replay.method_times import MethodCase, MethodTimes
from as2d_core.replay.packing import PackedCorpus, PackedDrafter, pack
from as2d_core.replay.specasr import DEFAULT_ASP_CAP, FORMS, asp_costs, check_asp_costs, price_specasr
from as2d_core.replay.specasr_counts import counted, window_states
from as2d_core.replay.windows import TrajectorySet
from as2d_core.width_rule import WidthRule

REPLAYED_METHODS = ("target-only", "sd", "specasr", "as2d", "width-rule", "without-td", "without-bc", "lookahead")
"""``width-rule`` is As²d whose chains a cost-aware rule shortens; ``without-td`` is SpecASR at the selected
budget; ``without-bc`` is As²d at SpecASR's cap; ``lookahead`` is prefix lookahead at K = b + 1."""
SPECASR_CAPS = (7, DEFAULT_ASP_CAP)


def plan_methods(
    corpus: TrajectorySet,
    profile: Profile,
    methods: Sequence[str] | None = None,
    drafters: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    widths: Sequence[int] | None = None,
    caps: Sequence[int] | None = None,
) -> tuple[MethodCase, ...]:
    """Which methods to replay, with which parameters.

    Args:
        corpus: its drafters, in catalog order.
        profile: what was deployed and searched on the device.
        methods: of ``REPLAYED_METHODS``; ``None`` = all that the profile and the set allow.
        drafters: names; ``None`` = all.
        budgets: of As²d, of "without TD" and of lookahead; ``None`` = all that were searched for As²d, the
            deployed one for the two others.
        widths: K of standard SD; ``None`` = 5 to 8, as in the paper.
        caps: of SpecASR and of "without BC"; ``None`` = 7, 14 and the device's own for SpecASR, the
            device's own for "without BC".

    Raises:
        UnknownNameError: a method or drafter that there is not.
        RequestError: a parameter that cannot be.
    """
    for name in methods or ():
        if name not in REPLAYED_METHODS:
            raise unknown_name("method", name, list(REPLAYED_METHODS))
    for name in drafters or ():
        if name not in corpus.drafters:
            raise unknown_name("drafter", name, list(corpus.drafters))
    for budget in budgets or ():
        check_budget(budget)
    for what, least, values in (("width K of standard SD", 2, widths), ("draft cap", 1, caps)):
        for value in values or ():
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise RequestError(f"The {what} is {value!r}; it must be a whole number of at least {least}.")
    chosen = REPLAYED_METHODS if methods is None else tuple(m for m in REPLAYED_METHODS if m in set(methods))
    used = [name for name in corpus.drafters if drafters is None or name in drafters]
    own_cap = profile.asp_cap or DEFAULT_ASP_CAP
    searched = profile.search_max_budget or max(profile.max_width - 1, 0)
    selected = [profile.deployed_budget] if budgets is None else list(budgets)
    forms = [form for form in FORMS if form == "serial" or _paired(profile)]
    parameters: dict[str, Sequence[int | None]] = {
        "sd": STANDARD_SD_WIDTHS if widths is None else widths,
        "specasr": sorted({*SPECASR_CAPS, own_cap}) if caps is None else caps,
        "as2d": range(1, searched + 1) if budgets is None else budgets,
        "width-rule": [searched if budgets is None else max(budgets, default=searched)],
        "without-td": selected,
        "without-bc": [own_cap] if caps is None else caps,
        "lookahead": selected,
    }
    cases = [MethodCase("target-only")] if "target-only" in chosen else []
    for method in chosen:
        for drafter in used if method != "target-only" else ():
            for parameter in parameters[method]:
                shown = forms if method in ("specasr", "without-td") else (None,)
                cases += [MethodCase(method, drafter, parameter, form) for form in shown]
    return tuple(cases)


def replay_methods(
    corpus: TrajectorySet,
    profile: Profile,
    cases: Sequence[MethodCase],
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    width_rules: Mapping[str, WidthRule] | None = None,
    compiled: bool = True,
    report: Callable[[str], None] = lambda _: None,
) -> tuple[MethodTimes, ...]:
    """Replay methods on every window with one device's costs.

    A method that cannot run keeps its place, with NaN times and a sentence about why.

    Args:
        corpus: recorded tokens.
        profile: costs of one device.
        cases: see ``plan_methods``.
        threshold: confidence below which a draft or a chain stops; ``None`` = never.
        search_window: how far alignment looks beyond the cursor.
        width_rules: by drafter, for ``width-rule``.
        compiled: as machine code, or as plain Python with the same result to the last bit.
        report: told what is being replayed.

    Raises:
        ProfileError: a cost that cannot be charged.
        RequestError: a parameter that cannot be.
    """
    check_draft_costs(profile)
    check_costs("verify_idle_ms", profile.verify_costs())
    check_costs("verify_concurrent_ms", profile.round_costs()[0])
    packed = pack(corpus)
    setting = _Setting(packed, profile, threshold, search_window, width_rules or {}, compiled)
    found = []
    for i, case in enumerate(cases):
        report(f"Replaying {case.method}, {i + 1} of {len(cases)} rows.")
        found.append(_replayed(setting, case))
    return tuple(found)


@dataclass(frozen=True)
class _Setting:
    packed: PackedCorpus
    profile: Profile
    threshold: float | None
    search_window: int
    rules: Mapping[str, WidthRule]
    compiled: bool

    def missing(self, case: MethodCase, problem: str) -> MethodTimes:
        windows = self.packed.windows
        ids = tuple(w.window_id for w in self.packed.corpus.windows)
        return MethodTimes(case, ids, np.full(windows, math.nan), (None,) * windows, problem=problem)


_Done = tuple[float, Ledger, dict[str, int]]
"""Time, ledger and counts of one window."""


def _replayed(setting: _Setting, case: MethodCase) -> MethodTimes:
    profile, parameter = setting.profile, case.parameter
    if case.method == "target-only":
        step_ms = profile.target_step_ms
        return _windows(setting, case, lambda w: _target_only(int(setting.packed.tokens[w]), step_ms))
    drafter = next(d for d in setting.packed.drafters if d.name == case.drafter)
    if parameter is None:
        return setting.missing(case, f"no budget is selected, and none is deployed on {profile.id!r}")
    if case.method in ("specasr", "without-td"):
        if parameter < 1:
            return setting.missing(case, "a budget of 0 drafts nothing")
        return _specasr(setting, case, drafter, parameter)
    if case.method in ("as2d", "width-rule", "without-bc"):
        return _as2d(setting, case, drafter, parameter)
    width = parameter if case.method == "sd" else parameter + 1
    if width < 2:
        return setting.missing(case, "a budget of 0 drafts nothing")
    one = _standard_sd if case.method == "sd" else _lookahead
    guessed = {*profile.extrapolated_idle, *(profile.extrapolated_concurrent if case.method == "lookahead" else ())}
    return replace(
        _windows(setting, case, lambda w: one(setting, drafter, w, width)),
        extrapolated=bool(guessed & set(range(1, width + 1))),
    )


def _windows(setting: _Setting, case: MethodCase, run: Callable[[int], "_Done | str"]) -> MethodTimes:
    """One window after the other; a sentence in place of a result says why there is none."""
    empty = setting.missing(case, "")
    time_ms, ledgers = empty.time_ms, list(empty.ledgers)
    counts: dict[str, NDArray[np.int64]] = {}
    problem = None
    for w, name in enumerate(empty.windows):
        done = run(w)
        if isinstance(done, str):
            problem = problem or f"window {name!r} {done}"
            continue
        time_ms[w], ledgers[w], mine = done
        for key, value in mine.items():
            counts.setdefault(key, np.full(len(time_ms), -1, np.int64))[w] = value
    return replace(empty, ledgers=tuple(ledgers), counts=counts, problem=problem)


def _target_only(tokens: int, step_ms: float) -> _Done:
    found = ledger_of_target_only(tokens, step_ms)
    return (tokens - 1) * step_ms, found, {"rounds": tokens - 1, "k1_rounds": tokens - 1, "proposed": 0, "accepted": 0}


def _standard_sd(setting: _Setting, drafter: PackedDrafter, w: int, width: int) -> "_Done | str":
    agrees = drafter.agrees.window(w)
    if len(agrees) == 0:
        return "does not say where the drafter agrees"
    profile = setting.profile
    costs = profile.draft_serial_ms, profile.verify_costs(), profile.loop_ms
    replayed = replay_standard_sd(agrees, width, *costs, int(setting.packed.caps[w]), setting.compiled)
    if replayed.missing_width is not None:
        return _lacks(profile, replayed.missing_width)
    counts = {"rounds": replayed.rounds or 0, "draft_forwards": replayed.draft_forwards or 0}
    return replayed.time_ms, ledger_of_standard_sd(replayed, profile.loop_ms), counts


def _lookahead(setting: _Setting, drafter: PackedDrafter, w: int, width: int) -> "_Done | str":
    agrees = drafter.agrees.window(w)
    if len(agrees) == 0:
        return "does not say where the drafter agrees"
    packed, profile = setting.packed, setting.profile
    concurrent = np.full(max(profile.verify_concurrent_ms) + 1, np.nan)
    for k, cost in profile.verify_concurrent_ms.items():
        concurrent[k] = cost
    replayed = replay_lookahead(
        agrees,
        width,
        profile.draft_serial_ms,
        profile.draft_overlapped_ms,
        concurrent,
        profile.verify_costs(),
        profile.loop_ms,
        int(packed.caps[w]),
        setting.compiled,
        packed.target.window(w),
        window_states(packed, drafter.name, setting.threshold)[w],
        packed.corpus.eos,
    )
    if replayed.missing_width is not None:
        return _lacks(profile, replayed.missing_width)
    names = ("rounds", "proposed", "accepted", "draft_forwards", "ahead_forwards", "ahead_used", "ahead_realigned")
    counts = {name: value for name in names if (value := getattr(replayed, name)) is not None}
    return replayed.time_ms, replayed.ledger, counts


def _as2d(setting: _Setting, case: MethodCase, drafter: PackedDrafter, budget: int) -> MethodTimes:
    packed, profile = setting.packed, setting.profile
    if not profile.feasible(budget):
        return setting.missing(case, f"{profile.id!r} lacks a cost of a width up to {budget + 1}")
    rule = None
    if case.method == "width-rule":
        rule = setting.rules.get(drafter.name)
        if rule is None:
            return setting.missing(case, "no width rule was learned; that needs development windows")
        if budget > rule.max_budget:
            return setting.missing(case, f"the width rule covers budgets up to {rule.max_budget}")
    try:
        published = drafter.publications(profile)
    except ProfileError as error:
        return setting.missing(case, str(error))
    concurrent, idle = profile.round_costs()
    low, offsets, batches = (
        drafter.low_confidence(setting.threshold),
        drafter.candidates.offsets,
        drafter.batch_ends.offsets,
    )

    def run(w: int) -> "_Done | str":
        if not drafter.present[w]:
            return f"is not taken by {drafter.name!r}"
        end_ms = float(published.producer_end_ms[w])
        replayed = replay_as2d(
            packed.target.window(w),
            drafter.candidates.window(w),
            low[offsets[w] : offsets[w + 1]],
            drafter.batch_ends.window(w),
            published.times_ms[batches[w] : batches[w + 1]],
            end_ms,
            published.operation_ms,
            budget,
            concurrent,
            idle,
            setting.search_window,
            int(packed.caps[w]),
            setting.compiled,
            width_rule=rule,
        )
        if replayed.missing_width is not None:
            return _lacks(profile, replayed.missing_width)
        names = ("rounds", "k1_rounds", "proposed", "accepted")
        counts = {name: int(getattr(replayed, name)) for name in names}
        return replayed.time_ms, ledger_of_as2d(replayed, profile.loop_ms, end_ms), counts

    return replace(_windows(setting, case, run), extrapolated=profile.extrapolates(budget))


def _specasr(setting: _Setting, case: MethodCase, drafter: PackedDrafter, cap: int) -> MethodTimes:
    packed, profile = setting.packed, setting.profile
    try:
        costs = asp_costs(profile, case.form)
    except ProfileError as error:
        return setting.missing(case, str(error))
    check_asp_costs(costs)
    counts = counted(packed, drafter.name, cap, setting.threshold, costs.form == "paired", setting.compiled)
    parts: tuple[NDArray[np.float64], ...] = price_specasr(counts.counters, counts.widths, costs)
    met = np.flatnonzero(counts.widths[counts.known].sum(axis=0)).tolist()
    named = list(enumerate(specasr_loop.COUNTER_NAMES))

    def run(w: int) -> "_Done | str":
        if not counts.known[w]:
            return "cannot be replayed"
        draft_ms, confidence_ms, refresh_ms, verify_ms, loop_ms, time_ms = (float(part[w]) for part in parts)
        if math.isnan(time_ms):
            lacking = [k for k in np.flatnonzero(counts.widths[w]).tolist() if math.isnan(_cost(costs.verify_ms, k))]
            return _lacks(profile, lacking[0])
        charged = ledger(
            time_ms,
            draft_ms=draft_ms,
            confidence_ms=confidence_ms,
            refresh_ms=refresh_ms,
            verify_ms=verify_ms,
            loop_ms=loop_ms,
        )
        return time_ms, charged, {name: int(counts.counters[w, i]) for i, name in named}

    found = _windows(setting, replace(case, form=costs.form), run)
    return replace(
        found,
        substituted=costs.substituted,
        extrapolated=bool(set(met) & set(profile.extrapolated_idle)),
        problem=counts.problem or found.problem,
    )


def _cost(verify_ms: NDArray[np.float64], width: int) -> float:
    return float(verify_ms[width]) if width < len(verify_ms) else math.nan


def _lacks(profile: Profile, width: int) -> str:
    return f"needs a verification at width {width}, which {profile.id!r} has no cost of"


def _paired(profile: Profile) -> bool:
    needed = (
        profile.paired_forward_ms,
        profile.confidence_row_ms,
        profile.refresh_base_ms,
        profile.refresh_token_ms,
    )
    return all(cost is not None for cost in needed)
