"""What did the devices here reach? Pooled TPS by device and method, over windows that every one of its methods ran."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean

from as2d_core.records import METHODS
from dashboard.services.workspace import Workspace
from datastore.queries import RunFilter, RunRow, distinct, list_runs

MOST_RUNS = 5_000
"""Newest measured runs that are looked at."""
_ENDED = ("eos", "capped")


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """One device with one pair of models."""

    device: str
    target: str
    virtual: bool
    windows: int
    """Windows that all of its methods ran to the end."""
    runs: int
    tps: dict[str, float]
    """By method: sum of tokens over sum of time, repetitions of a window averaged first; SD: mean over its widths."""


def measured_rates(workspace: Workspace) -> list[MeasuredRate]:
    """Every device that has run target-only and something else on the same window, emulated drafters left out."""
    store = workspace.store
    if "measured" not in distinct(store, "label"):
        return []
    statuses = tuple(name for name in _ENDED if name in distinct(store, "status"))
    if not statuses:
        return []
    where = RunFilter(labels=("measured",), statuses=statuses, warm_ups=False, operations=False)
    groups: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in list_runs(store, where, limit=MOST_RUNS):
        if row.method in METHODS and not row.emulated and row.elapsed_ms and row.committed_tokens:
            groups[row.device_key, row.target_sha256 or row.target_name or ""].append(row)
    found = [rate for rows in groups.values() if (rate := _rate(rows)) is not None]
    return sorted(found, key=lambda rate: (rate.virtual, rate.device))


def _rate(rows: list[RunRow]) -> MeasuredRate | None:
    cells: dict[tuple[str, int | None], dict[tuple[object, ...], list[RunRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        window = (row.audio_sha256 or row.audio_path, row.view_start_s, row.view_end_s, row.instruction)
        cells[row.method or "", row.width if row.method == "sd" else None][window].append(row)
    methods = {method for method, _ in cells}
    if "target-only" not in methods or len(methods) < 2:
        return None
    shared = set.intersection(*(set(windows) for windows in cells.values()))
    if not shared:
        return None
    by_method: dict[str, list[float]] = defaultdict(list)
    for (method, _), windows in cells.items():
        tokens = sum(fmean(row.committed_tokens for row in windows[window]) for window in shared)
        time_ms = sum(fmean(row.elapsed_ms or 0.0 for row in windows[window]) for window in shared)
        by_method[method].append(1e3 * tokens / time_ms)
    newest = rows[0]
    return MeasuredRate(
        newest.device_name or newest.device_key,
        newest.target_name or "",
        newest.virtual,
        len(shared),
        sum(len(windows[window]) for windows in cells.values() for window in shared),
        {method: fmean(rates) for method, rates in by_method.items()},
    )
