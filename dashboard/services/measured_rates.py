"""What did the devices here reach? Pooled TPS by device and method, over windows that every one of its methods ran."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from as2d_core.request import METHODS
from dashboard.services.workspace import Workspace
from datastore.queries import VIRTUAL_SUFFIX

_QUERY = f"""
SELECT device_key, coalesce(target_sha256, target_name, ''), method, CASE WHEN method = 'sd' THEN width END,
    (coalesce(audio_sha256, audio_path), view_start_s, view_end_s, instruction)::VARCHAR AS recording,
    avg(committed_tokens), avg(elapsed_ms), count(*), max(coalesce(created_at, ingested_at)),
    arg_max(coalesce(device_name, device_key), coalesce(created_at, ingested_at)),
    arg_max(coalesce(target_name, ''), coalesce(created_at, ingested_at))
FROM runs
WHERE label = 'measured' AND status IN ('eos', 'capped') AND binned_at IS NULL AND NOT coalesce(warm_up, FALSE)
    AND method IN ({", ".join(f"'{method}'" for method in METHODS)}) AND NOT emulated
    AND elapsed_ms > 0 AND committed_tokens > 0
GROUP BY ALL
"""  # noqa: S608 - names of methods are ours


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


class _Cell(NamedTuple):
    """Repetitions of one recording by one method of one device, averaged."""

    device: str
    target: str
    method: str
    width: int | None
    recording: str
    tokens: float
    elapsed_ms: float
    runs: int
    newest: object
    device_name: str
    target_name: str


def measured_rates(workspace: Workspace) -> list[MeasuredRate]:
    """Every device that has run target-only and something else on the same window, emulated drafters left out."""
    groups: dict[tuple[str, str], list[_Cell]] = defaultdict(list)
    for row in workspace.store.read(_QUERY):
        cell = _Cell(*row)
        groups[cell.device, cell.target].append(cell)
    found = [rate for cells in groups.values() if (rate := _rate(cells)) is not None]
    return sorted(found, key=lambda rate: (rate.virtual, rate.device))


def _rate(found: Sequence[_Cell]) -> MeasuredRate | None:
    cells: dict[tuple[str, int | None], dict[str, _Cell]] = defaultdict(dict)
    for cell in found:
        cells[cell.method, cell.width][cell.recording] = cell
    methods = {method for method, _ in cells}
    if "target-only" not in methods or len(methods) < 2:
        return None
    shared = set.intersection(*(set(recordings) for recordings in cells.values()))
    if not shared:
        return None
    by_method: dict[str, list[float]] = defaultdict(list)
    for (method, _), recordings in cells.items():
        tokens = sum(recordings[name].tokens for name in shared)
        by_method[method].append(1e3 * tokens / sum(recordings[name].elapsed_ms for name in shared))
    newest = max(found, key=lambda cell: str(cell.newest))
    return MeasuredRate(
        newest.device_name,
        newest.target_name,
        newest.device_name.endswith(VIRTUAL_SUFFIX),
        len(shared),
        sum(recordings[name].runs for recordings in cells.values() for name in shared),
        {method: fmean(rates) for method, rates in by_method.items()},
    )
