"""What did a Perfetto trace record of the power while a run ran? Laid beside it where both clocks allow that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from as2d_core.energy import ChargeCheck, Energy, calibrated, check_charge, energy_between
from as2d_core.records import RunRecord, Telemetry
from datastore.perfetto_traces import PowerCounter
from datastore.power_traces import KeptTrace, list_traces, load_counters
from datastore.queries import RunRow
from datastore.store import Store
from datastore.timeline import load_record

CLOCK = "CLOCK_BOOTTIME"
SAME_BOOT_S = 60.0
"""A phone that has started again has another wall-clock time of its boot, by more than it takes to start."""
LONGEST_RUN_S = 86_400.0
LONGEST_GAP_S = 3.0
"""As for the battery's own readings: a longer silence could hide anything."""
_LEAST_RISE_UAH = 1


@dataclass(frozen=True, slots=True)
class RailEnergy:
    """What one rail took from the request until both models had finished."""

    name: str
    joules: float | None
    mean_w: float | None
    reason: str
    """Why there is no figure; empty when there is one."""


@dataclass(frozen=True, slots=True)
class PowerBeside:
    """One trace beside one run."""

    trace: KeptTrace
    counters: tuple[PowerCounter, ...]
    start_ns: int
    """Request, on the clock of both."""
    end_ns: int
    """Both models at rest."""
    battery: Energy
    check: ChargeCheck | None
    rails: tuple[RailEnergy, ...]
    """The largest first; those without a figure last."""
    covered: float
    """Share of the run that the trace covers."""


@dataclass(frozen=True, slots=True)
class NotBeside:
    """A trace that cannot be laid beside the run, and why (plain text)."""

    trace: KeptTrace
    reason: str


def power_beside(store: Store, record: RunRecord) -> tuple[list[PowerBeside], list[NotBeside]]:
    """Every kept trace, laid beside a run or with the reason why it is not.

    Args:
        store: where the traces are.
        record: header, marks and telemetry of the run; its spans are not needed.
    """
    found: list[PowerBeside] = []
    left: list[NotBeside] = []
    for trace in list_traces(store):
        reason = why_not(trace, record)
        if reason:
            left.append(NotBeside(trace, reason))
        else:
            found.append(_beside(trace, load_counters(store, trace.file_sha256), record))
    return found, left


def traces_beside(store: Store, rows: Sequence[RunRow]) -> list[KeptTrace]:
    """Traces that can be laid beside at least one of some runs."""
    left, found = list_traces(store), []
    for row in rows:
        near = [trace for trace in left if _may_cover(trace, row)]
        if not near:
            continue
        record = load_record(store, row.run_id, ("marks", "telemetry"))
        found += [trace for trace in near if not why_not(trace, record)]
        left = [trace for trace in left if trace not in found]
    return found


def _may_cover(trace: KeptTrace, row: RunRow) -> bool:
    """Whether it is worth a look at the run's clock."""
    if trace.boot_ns is None or row.created_at is None:
        return False
    before_s = row.created_at.timestamp() - (trace.boot_ns + trace.first_ns) / 1e9
    after_s = row.created_at.timestamp() - (trace.boot_ns + trace.last_ns) / 1e9
    return before_s > -LONGEST_RUN_S and after_s < SAME_BOOT_S


def why_not(trace: KeptTrace, record: RunRecord) -> str:
    """Why a trace cannot be laid beside a run, as a clause; empty when it can."""
    edges = _edges(record)
    if record.header.source != "measured":
        return f"the run is {record.header.source}, no device drew power for it"
    if record.header.clock != CLOCK:
        return f"the run was timed by {record.header.clock}, the trace by {CLOCK}"
    if edges is None:
        return "the run did not come to its end"
    if trace.boot_ns is None:
        return "the trace has no wall clock beside its boot-time clock"
    booted_ns = _boot_ns(record)
    if booted_ns is None:
        return "the run does not say when it was made"
    apart_s = abs(booted_ns - trace.boot_ns) / 1e9
    if apart_s > SAME_BOOT_S:
        return f"it is of another phone or another start of it: the boot times lie {_span(apart_s)} apart"
    if trace.last_ns <= edges[0] or trace.first_ns >= edges[1]:
        when = "ends before the run begins" if trace.last_ns <= edges[0] else "begins after the run has ended"
        return f"it {when}"
    return ""


def _span(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:,.0f} s"


def _edges(record: RunRecord) -> tuple[int, int] | None:
    start, end = record.marks.get("request"), record.marks.get("drained")
    return None if start is None or end is None or end.time_ns <= start.time_ns else (start.time_ns, end.time_ns)


def _boot_ns(record: RunRecord) -> int | None:
    """Wall-clock time at which the run's clock was 0: its header was written just before its first event."""
    times = [mark.time_ns for mark in record.marks.values()] + [reading.time_ns for reading in record.telemetry]
    try:
        made = datetime.fromisoformat(record.header.created_at)
    except ValueError:
        return None
    if made.tzinfo is None or not times:
        return None
    return int(made.timestamp() * 1e9) - min(times)


def _beside(trace: KeptTrace, counters: Sequence[PowerCounter], record: RunRecord) -> PowerBeside:
    start_ns, end_ns = _edges(record) or (0, 0)
    readings, _ = calibrated(battery_readings(counters, record.telemetry))
    rails = [rail_energy(item, start_ns, end_ns) for item in counters if item.kind == "rail"]
    overlap = min(trace.last_ns, end_ns) - max(trace.first_ns, start_ns)
    return PowerBeside(
        trace,
        tuple(counters),
        start_ns,
        end_ns,
        energy_between(readings, start_ns, end_ns),
        check_charge(readings),
        tuple(sorted(rails, key=lambda rail: (rail.joules is None, -(rail.joules or 0.0), rail.name))),
        overlap / (end_ns - start_ns),
    )


def battery_readings(counters: Sequence[PowerCounter], own: Sequence[Telemetry] = ()) -> list[Telemetry]:
    """The trace's battery counters as the readings of a run, unit and sign of the current still raw.

    Args:
        counters: of one trace.
        own: the run's readings, which say whether the phone was charging; without them the charge counter does.
    """
    gauge = {
        item.name: dict(zip(item.time_ns, item.values, strict=True)) for item in counters if item.kind == "battery"
    }
    current = gauge.get("current") or gauge.get("current, averaged by the phone") or {}
    voltage, charge = gauge.get("voltage", {}), gauge.get("charge counter", {})
    charging = _charging(list(charge.values()), own)
    out = []
    for when in sorted({*current, *voltage, *charge}):
        raw, microvolts, counted = current.get(when), voltage.get(when), charge.get(when)
        extra = {} if raw is None else {"current_raw": raw}
        extra |= {} if counted is None else {"charge_counter_uah": counted}
        out.append(
            Telemetry(
                when,
                battery_current_ma=None if raw is None else raw / 1e3,
                battery_voltage_mv=None if microvolts is None else microvolts / 1e3,
                charging=charging,
                extra=extra,
            )
        )
    return out


def _charging(charge: Sequence[float], own: Sequence[Telemetry]) -> bool | None:
    said = [reading.charging or bool(reading.extra.get("plugged")) for reading in own if reading.charging is not None]
    if said:
        return any(said)
    if len(charge) < 2 or abs(charge[-1] - charge[0]) < _LEAST_RISE_UAH:
        return None
    return charge[-1] > charge[0]


def rail_energy(rail: PowerCounter, start_ns: int, end_ns: int) -> RailEnergy:
    """What a rail's counter rose by between two instants, read off between its readings."""
    times, values = np.array(rail.time_ns, np.float64), np.array(rail.values, np.float64)
    if len(times) < 2 or times[0] > start_ns or times[-1] < end_ns:
        return RailEnergy(rail.name, None, None, "its readings do not cover the run")
    first = max(int(np.searchsorted(times, start_ns, "right")) - 1, 0)
    last = min(int(np.searchsorted(times, end_ns, "left")) + 1, len(times))
    inside = values[first:last]
    gap_s = max((b - a for a, b in pairwise(times[first:last])), default=0.0) / 1e9
    if gap_s > LONGEST_GAP_S:
        return RailEnergy(rail.name, None, None, f"no reading for {gap_s:.1f} s")
    if (np.diff(inside) < 0).any():
        return RailEnergy(rail.name, None, None, "its counter was reset during the run")
    at = np.interp([start_ns, end_ns], times, values)
    joules = float(at[1] - at[0]) / 1e6
    return RailEnergy(rail.name, joules, joules / ((end_ns - start_ns) / 1e9), "")
