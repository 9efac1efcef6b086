"""How long does every window take under every method? Recorded windows re-timed, or runs of the store pooled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from as2d_core.models.demo_catalog import demo_windows
from as2d_core.profiles.profile import Profile
from as2d_core.replay.budgets import STANDARD_SD_WIDTHS
from as2d_core.replay.every_method import replay_methods
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.method_times import MethodCase, MethodTimes
from as2d_core.replay.specasr import DEFAULT_ASP_CAP
from as2d_core.replay.windows import TrajectorySet
from as2d_core.runner.device import VIRTUAL_SUFFIX
from dashboard.views import numbers
from dashboard.views.run_labels import window_group
from dashboard.views.setting_names import Key, setting_key, setting_names
from dashboard.views.theme import method_name
from dashboard.views.window_set import Floats, Timed, WindowSet
from datastore.queries import RunFilter
from datastore.store import Store
from datastore.window_figures import WindowFigures, devices_run_on, window_figures

SD_MEAN = 0
"""In place of a width K: the mean of K = 5 to 8 within each window, as in Figure 5."""
LEAST_TO_CHOOSE = 2
"""As²d settings on a window from which a best one can be told."""


@dataclass(frozen=True, slots=True)
class Place:
    """A device of the store with one kind of numbers."""

    device_key: str
    name: str
    label: str
    runs: int
    emulated: int
    """Runs whose drafter was slowed down on purpose."""

    @property
    def virtual(self) -> bool:
        """Whether it is a virtual phone, which runs at the speed of the computer behind it."""
        return self.name.endswith(VIRTUAL_SUFFIX)


def replayed_windows(
    corpus: TrajectorySet, profile: Profile, grid: Grid, drafter: str, budget: int, sd_width: int, cap: int | None
) -> WindowSet:
    """Every window of a set under target-only, SD, SpecASR (serial) and As²d with a profile's costs.

    Args:
        corpus, profile: recorded tokens, and what operations cost.
        grid: all pairs on all windows of the set, for the oracle.
        drafter, budget: of As²d; the drafter also of the others.
        sd_width: K, or ``SD_MEAN``.
        cap: of SpecASR; ``None`` = the device's own.

    Raises:
        ProfileError, RequestError: a cost that cannot be charged, a parameter that cannot be.
    """
    widths = STANDARD_SD_WIDTHS if sd_width == SD_MEAN else (sd_width,)
    own_cap = cap or profile.asp_cap or DEFAULT_ASP_CAP
    cases = (
        MethodCase("target-only"),
        *(MethodCase("sd", drafter, width) for width in widths),
        MethodCase("specasr", drafter, own_cap, "serial"),
        MethodCase("as2d", drafter, budget),
    )
    alone, *others = replay_methods(corpus, profile, cases, threshold=grid.threshold, search_window=grid.search_window)
    serial, specasr, as2d = others[: len(widths)], others[-2], others[-1]
    tokens = np.array([len(w.target_tokens) for w in corpus.windows], np.float64)
    sd = _replayed(f"SD K={sd_width}", serial[0], tokens) if len(serial) == 1 else _mean(serial, tokens)
    settings = (
        sd,
        _replayed(f"SpecASR cap={own_cap}", specasr, tokens),
        _replayed(method_name("as2d", budget), as2d, tokens),
    )
    best = oracle(grid)
    several = len(grid.drafters) > 1
    picks = tuple(
        "" if d is None else f"{d}, b={b}" if several else f"b={b}"
        for d, b in zip(best.drafters, best.budgets, strict=True)
    )
    problems = [f"{item.name} is n/a on some windows: {item.problem}." for item in settings if item.problem]
    guessed = [item.case.method for item in (alone, *others) if item.extrapolated]
    if guessed:
        problems.append("Some widths have a cost that was not measured but extrapolated.")
    return WindowSet(
        title=f"{corpus.id} ({corpus.label} tokens) with the costs of {profile.name}",
        kinds=("replayed", profile.kind, *(["synthetic"] if corpus.label == "synthetic" else [])),
        windows=tuple(w.window_id for w in corpus.windows),
        subsets=tuple(w.group for w in corpus.windows),
        tasks=tuple(w.task for w in corpus.windows),
        languages=tuple(w.language for w in corpus.windows),
        splits=tuple(w.split for w in corpus.windows),
        audio_s=np.array([w.duration_s for w in corpus.windows], np.float64),
        alone=_replayed("Target-only", alone, tokens),
        settings=settings,
        oracle_ms=best.time_ms,
        oracle_picks=picks,
        oracle_of=f"As²d, {len(grid.budgets)} budgets"
        + (f" of {numbers.counted(len(grid.drafters), 'drafter')}" if several else ""),
        notes=tuple(problems),
    )


def _replayed(name: str, item: MethodTimes, tokens: Floats) -> Timed:
    windows = len(item.windows)
    none = np.full(windows, np.nan)

    def count(key: str) -> Floats:
        values = item.counts.get(key)
        return none if values is None else np.where(values < 0, np.nan, values.astype(np.float64))

    verify = [np.nan if entry is None else entry.account.verify_ns / 1e6 for entry in item.ledgers]
    return Timed(
        name=name,
        method=item.case.method,
        time_ms=item.time_ms,
        tokens=tokens,
        rounds=count("rounds"),
        proposed=count("proposed"),
        accepted=count("accepted"),
        target_ms=np.array(verify, np.float64).reshape(windows),
        runs=np.isfinite(item.time_ms).astype(np.int64),
        left_out=np.zeros(windows, np.int64),
        problem=item.problem,
    )


def _mean(items: Sequence[MethodTimes], tokens: Floats) -> Timed:
    """The mean of the rates of several widths within each window; counts of a mean do not exist."""
    first = _replayed("SD, mean of K=5 to 8", items[0], tokens)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.mean([tokens / item.time_ms for item in items], axis=0)
        time_ms = np.where(rate > 0, tokens / rate, np.nan)
    none = np.full(len(tokens), np.nan)
    problem = next((item.problem for item in items if item.problem), None)
    return replace(first, time_ms=time_ms, rounds=none, proposed=none, accepted=none, target_ms=none, problem=problem)


def places(store: Store) -> list[Place]:
    """Where runs of the store were made, those with the most runs first."""
    return [Place(*row) for row in devices_run_on(store, RunFilter(operations=False))]


def stored_windows(store: Store, where: RunFilter, title: str, kinds: Sequence[str]) -> WindowSet:
    """Every window of the runs that match, under every setting that was run on it. Failed runs keep their place.

    Target-only is the setting of it that ran on the most windows, of those the fastest. The oracle is the fastest
    As²d setting of each window among those that were run on it.

    Raises:
        UnknownNameError: a filter value is not known.
    """
    figures = window_figures(store, where)
    works: dict[tuple[object, ...], int] = {}
    first: list[WindowFigures] = []
    cells: dict[Key, dict[int, WindowFigures]] = {}
    for item in figures:
        work = tuple(item.work.values())
        if work not in works:
            works[work] = len(works)
            first.append(item)
        cells.setdefault(setting_key(item.setting | {"target_name": item.work["target_name"]}), {})[works[work]] = item
    names = setting_names(cells)
    timed = [_stored(names[key], found, len(first)) for key, found in cells.items()]
    alone = max(
        (item for item in timed if item.method == "target-only"),
        key=lambda item: (int((item.runs > 0).sum()), -float(np.nansum(item.time_ms))),
        default=None,
    )
    settings = sorted((item for item in timed if item is not alone), key=_order)
    oracle_ms, picks, most = _best([item for item in settings if item.method == "as2d"], len(first))
    groups = {item.window_id: window_group(item) for item in demo_windows()}
    return WindowSet(
        title=title,
        kinds=tuple(kinds),
        windows=_window_names(first),
        subsets=tuple(groups.get(item.work["window_id"], "Other recordings") for item in first),
        tasks=tuple(item.work["task"] or "" for item in first),
        languages=("",) * len(first),
        splits=("",) * len(first),
        audio_s=np.array([_length(item) for item in first], np.float64).reshape(len(first)),
        alone=alone,
        settings=tuple(settings),
        oracle_ms=oracle_ms,
        oracle_picks=picks,
        oracle_of=f"up to {most} As²d settings that were run" if most >= LEAST_TO_CHOOSE else "",
        notes=() if alone is not None else ("No target-only run is among these runs; gains are n/a.",),
    )


def _order(item: Timed) -> tuple[object, ...]:
    ranks = {"target-only": 0, "sd": 1, "specasr": 2, "as2d": 3}
    return ranks.get(item.method, 4), -int((item.runs > 0).sum()), item.name


def _stored(name: str, found: dict[int, WindowFigures], windows: int) -> Timed:
    def column(field: str) -> Floats:
        out = np.full(windows, np.nan)
        for place, item in found.items():
            value = getattr(item, field)
            out[place] = np.nan if value is None else value
        return out

    def counts(field: str) -> np.ndarray:
        out = np.zeros(windows, np.int64)
        for place, item in found.items():
            out[place] = getattr(item, field)
        return out

    values = {field: column(field) for field in ("time_ms", "tokens", "rounds", "proposed", "accepted", "target_ms")}
    method = next(iter(found.values())).setting["method"] or ""
    newest = tuple(found[place].newest_run if place in found else None for place in range(windows))
    return Timed(name, method, **values, runs=counts("runs"), left_out=counts("left_out"), run_ids=newest)


def _best(items: Sequence[Timed], windows: int) -> tuple[Floats, tuple[str, ...], int]:
    """The fastest of several settings of one method on each window that has at least two of them."""
    if not items:
        return np.full(windows, np.nan), ("",) * windows, 0
    times = np.stack([item.time_ms for item in items])
    known = np.isfinite(times).sum(axis=0)
    filled = np.where(np.isfinite(times), times, np.inf)
    chosen = filled.argmin(axis=0)
    enough = known >= LEAST_TO_CHOOSE
    best = np.where(enough, filled.min(axis=0), np.nan)
    picks = tuple(items[c].name if ok else "" for c, ok in zip(chosen.tolist(), enough.tolist(), strict=True))
    return best, picks, int(known.max(initial=0))


def _length(item: WindowFigures) -> float:
    begin, end = item.work["view_start_s"], item.work["view_end_s"]
    if begin is not None and end is not None:
        return float(end - begin)
    return float("nan") if item.audio_duration_s is None else float(item.audio_duration_s)


def _window_names(first: Sequence[WindowFigures]) -> tuple[str, ...]:
    """Window ids, or file names; what is there twice (another view, task, target or cap) gets a number."""
    seen: dict[str, int] = {}
    out = []
    for item in first:
        name = str(item.work["window_id"] or (item.work["audio_path"] or "").rsplit("/", 1)[-1] or numbers.NA)
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(out)
