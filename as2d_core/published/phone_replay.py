"""What do our replays say about the cells of the paper's tables? One corpus on the published phones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from as2d_core.errors import ProfileError
from as2d_core.profiles.profile import Profile
from as2d_core.profiles.variants import concurrent_scenarios
from as2d_core.published.tables import ALL, Key
from as2d_core.replay.branches import channel_states
from as2d_core.replay.budgets import STANDARD_SD_WIDTHS
from as2d_core.replay.grid import DEFAULT_THRESHOLD, output_cap, replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.pooling import Slowdown, gain_percent, gap_percent, pooled_tps, slowdown, tps_ratio
from as2d_core.replay.specasr import asp_costs, count_specasr, price_specasr
from as2d_core.replay.windows import TrajectorySet

LEAST_CASE_TOKENS = 64
"""Shown cases reach EOS and have at least so many tokens (Appendix D.4.5)."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PhoneReplay:
    """Times of all methods on one phone, window by window."""

    profile: Profile
    groups: NDArray[np.str_]
    """[W]."""
    tokens: NDArray[np.int64]
    """[W]."""
    showable: Flags
    """[W] whether a window may be shown as a case."""
    method_ms: Mapping[str, Floats]
    """[W] by method; NaN where the phone's profile lacks a cost."""
    sd_ms: Mapping[int, Floats]
    """[W] standard SD by width."""
    oracle_ms: Floats
    """[W]."""
    scenarios: Mapping[str, "PhoneReplay"]
    """The same under other assumptions about costs; empty within a scenario."""

    def of_group(self, group: str) -> Flags:
        """[W] the windows of a dataset, or all."""
        return np.asarray(self.groups == group, np.bool_) if group != ALL else np.ones(len(self.groups), np.bool_)

    def tps(self, method: str, windows: Flags, width: int | None = None) -> float | None:
        """Pooled TPS of some windows; standard SD without a width is the mean over K = 5 to 8."""
        if method == "standard_sd" and width is None:
            found = [self.tps(method, windows, k) for k in STANDARD_SD_WIDTHS]
            known = [tps for tps in found if tps is not None]
            return sum(known) / len(known) if len(known) == len(found) else None
        times = self.sd_ms.get(width or 0) if method == "standard_sd" else self.method_ms.get(method)
        return None if times is None else pooled_tps(self.tokens[windows], times[windows])

    def oracle_tps(self, windows: Flags) -> float | None:
        """Pooled TPS of the per-window oracle."""
        return pooled_tps(self.tokens[windows], self.oracle_ms[windows])

    def ratio(self, method: str) -> Floats:
        """[W] TPS over that of target-only; for standard SD the mean of the four widths."""
        reference = self.method_ms["target_only"]
        if method != "standard_sd":
            return tps_ratio(self.method_ms[method], reference)
        missing = np.full(len(reference), math.nan)
        ratios = [tps_ratio(self.sd_ms.get(k, missing), reference) for k in STANDARD_SD_WIDTHS]
        return np.asarray(np.mean(ratios, axis=0), np.float64)

    def case(self, group: str) -> Flags:
        """[W] the central window of a dataset: nearest to the median of As²d over the faster serial method.

        Nearest by logarithm; ties go to the window that comes first (Appendix D.4.5).
        """
        ours = self.of_group(group)
        serial = np.fmax(self.ratio("standard_sd"), self.ratio("specasr"))
        ratio = self.ratio("as2d") / serial
        distance = np.abs(np.log(ratio / np.median(ratio[ours])))
        distance = np.where(ours & self.showable, distance, np.inf)
        chosen = np.zeros(len(ours), np.bool_)
        if np.isfinite(distance).any():
            chosen[int(np.argmin(distance))] = True
        return chosen


def replay_phone(corpus: TrajectorySet, profile: Profile) -> PhoneReplay:
    """Replay all methods with the deployed budget and SpecASR's cap of one phone.

    Args:
        corpus: its first drafter is the deployed one.
        profile: must say both.

    Raises:
        ProfileError: the profile has no deployed budget or no cap for SpecASR.
    """
    budget, cap = profile.deployed_budget, profile.asp_cap
    if budget is None or cap is None:
        raise ProfileError(f"{profile.id!r} has no deployed budget and SpecASR cap to compare the paper with.")
    # Serial methods never verify beside a running source: one replay serves all scenarios.
    serial = {"specasr": specasr_ms(corpus, profile, cap), "without_td": specasr_ms(corpus, profile, budget)}
    nominal, *others = (
        (name, _replay(corpus, scenario, budget, cap, serial))
        for name, scenario in concurrent_scenarios(profile).items()
    )
    return replace(nominal[1], scenarios=dict([nominal, *others]))


def _replay(
    corpus: TrajectorySet, profile: Profile, budget: int, cap: int, serial: Mapping[str, Floats]
) -> PhoneReplay:
    grid = replay_grid(corpus, profile)
    drafter = grid.drafters[0]
    return PhoneReplay(
        profile=profile,
        groups=np.array(grid.groups),
        tokens=grid.tokens,
        showable=np.array(
            [not w.target_capped and len(w.target_tokens) >= LEAST_CASE_TOKENS for w in corpus.windows], np.bool_
        ),
        method_ms={
            **serial,
            "target_only": grid.target_only_ms,
            "as2d": grid.times(drafter, budget),
            "without_bc": grid.times(drafter, cap),
        },
        sd_ms={width: times[0] for width, times in grid.standard_sd_ms.items()},
        oracle_ms=oracle(grid).time_ms,
        scenarios={},
    )


def specasr_ms(corpus: TrajectorySet, profile: Profile, cap: int) -> Floats:
    """[W] times of SpecASR with the first drafter; NaN where a width has no cost."""
    costs = asp_costs(profile)
    name = corpus.drafters[0]
    counters, widths = [], []
    for window in corpus.windows:
        drafter = window.drafter(name)
        if drafter is None or drafter.agrees is None or drafter.error_channel is None:
            return np.full(len(corpus.windows), math.nan)
        states = channel_states(
            window.target_tokens,
            drafter.agrees,
            drafter.prefix_confidences,
            drafter.error_channel,
            corpus.eos,
            DEFAULT_THRESHOLD,
        )
        counted = count_specasr(
            np.array(window.target_tokens, np.int64),
            states,
            corpus.eos,
            cap,
            output_cap(window, corpus),
            costs.form == "paired",
        )
        counters.append(counted[0])
        widths.append(counted[1])
    longest = max(map(len, widths))
    return np.asarray(
        price_specasr(np.array(counters), np.array([np.pad(w, (0, longest - len(w))) for w in widths]), costs)[-1],
        np.float64,
    )


def figure(key: Key, phones: Mapping[str, PhoneReplay]) -> float | None:
    """The figure of one cell; ``None`` where a phone is missing or lacks a cost.

    Args:
        key: which cell.
        phones: replays by profile id.
    """
    if key.of is not None:
        scenarios = phones[key.phone].scenarios if key.phone in phones else {}
        found = [_figure(key, [phone]) for phone in scenarios.values()]
        known = [value for value in found if value is not None]
        if not known or len(known) < len(found):
            return None
        return min(known) if key.of == "least" else max(known)
    chosen = list(phones.values()) if key.phone == ALL else [phones[key.phone]] if key.phone in phones else []
    return _figure(key, chosen) if chosen else None


def _figure(key: Key, phones: Sequence[PhoneReplay]) -> float | None:
    phone = phones[0]
    windows = phone.of_group(key.group) if key.case is None else phone.case(key.case)
    match key.quantity:
        case "tps" if key.method is not None and windows.any():
            return _pooled_over_phones([p.tps(key.method, windows, key.width) for p in phones])
        case "gain" if windows.any():
            baselines = [phone.tps(method, windows) for method in key.over]
            known = [tps for tps in baselines if tps is not None]
            return gain_percent(phone.tps("as2d", windows), max(known)) if len(known) == len(baselines) else None
        case "gap":
            return gap_percent(phone.tps("as2d", windows), phone.oracle_tps(windows))
        case "least_tps" | "most_tps":
            found = [phone.tps("standard_sd", windows, k) for k in STANDARD_SD_WIDTHS]
            rates = [tps for tps in found if tps is not None]
            if len(rates) < len(found):
                return None
            return min(rates) if key.quantity == "least_tps" else max(rates)
    return _counted(key, phones)


def _counted(key: Key, phones: Sequence[PhoneReplay]) -> float | None:
    if key.method is None:
        return None
    counted = slowdown(np.concatenate([phone.ratio(key.method) for phone in phones]))
    return None if counted is None else _of_slowdown(key.quantity, counted)


def _of_slowdown(quantity: str, counted: Slowdown) -> float | None:
    return {
        "slower_share": 100 * counted.share,
        "slower": counted.slower,
        "faster": counted.windows - counted.slower - counted.ties,
        "median_loss": counted.median_loss,
        "max_loss": counted.max_loss,
    }.get(quantity)


def _pooled_over_phones(found: Sequence[float | None]) -> float | None:
    """Pooled TPS of phones that all commit the same tokens."""
    rates = [tps for tps in found if tps is not None]
    if not rates or len(rates) < len(found):
        return None
    if len(rates) == 1:
        return rates[0]
    return pooled_tps(np.ones(len(rates), np.int64), np.array([1e3 / tps for tps in rates]))
