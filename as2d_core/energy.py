"""How much energy did a device take from its battery? From the gauge's current and voltage (D.6.1).

Estimates cover the whole device, display and background work included, with nothing subtracted.
While a supply is connected the battery current is not what the device draws: then there is no figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from as2d_core.records import Telemetry

LONGEST_GAP_S = 3.0
"""Gauges update about once a second; a longer silence could hide anything."""
LEAST_COUNTER_UAH = 3_000
"""A charge counter moves in steps of up to about a milliampere-hour; less than three steps say nothing."""
LARGEST_MA_RAW = 20_000
"""A raw current above it is in microamperes: no phone draws 20 A."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy between two instants. ``joules`` is ``None`` where there is no estimate; ``reason`` says why."""

    joules: float | None
    reason: str = ""
    readings: int = 0
    duration_s: float | None = None

    @property
    def mean_w(self) -> float | None:
        """Mean power."""
        return self.joules / self.duration_s if self.joules is not None and self.duration_s else None


@dataclass(frozen=True, slots=True)
class ChargeCheck:
    """Integrated current against the gauge's charge counter over the same readings. Both are the gauge's own."""

    integrated_mah: float
    counter_mah: float
    """Decrease of the counter."""

    @property
    def discrepancy(self) -> float:
        """How far the integral lies from the counter, as a share of the counter."""
        return self.integrated_mah / self.counter_mah - 1.0

    def sentence(self) -> str:
        """The comparison, to be printed beside every energy figure."""
        return (
            f"Integrated current {self.integrated_mah:.1f} mAh, charge counter {self.counter_mah:.1f} mAh: "
            f"{self.discrepancy:+.1%}. Both come from the phone's own gauge."
        )


@dataclass(frozen=True, slots=True)
class CurrentScale:
    """What a vendor's raw battery current means."""

    ma_per_raw: float
    """Multiply the raw value: negative mA while the battery gives."""
    unit: str
    """``uA`` or ``mA``."""
    how: str
    """What the sign was told from, in a few words."""


def energy_between(readings: Sequence[Telemetry], start_ns: int, end_ns: int) -> Energy:
    """Energy out of the battery from ``start_ns`` to ``end_ns``, by the trapezoid rule.

    Args:
        readings: of one device, on the clock of the two instants.

    Returns:
        joules, or the reason why there are none: charging, a sensor that is not read, a gap.
    """
    inside = _around(readings, start_ns, end_ns)
    reason = _reason(inside, start_ns, end_ns)
    duration_s = (end_ns - start_ns) / 1e9
    if reason:
        return Energy(None, f"n/a: {reason}", len(inside), duration_s)
    time_s, current_ma, voltage_mv = _columns(inside)
    power_w = np.abs(current_ma) * voltage_mv / 1e6
    edges = np.array([start_ns, end_ns], np.float64) / 1e9
    grid = np.unique(np.concatenate([edges, time_s[(time_s > edges[0]) & (time_s < edges[1])]]))
    return Energy(float(np.trapezoid(np.interp(grid, time_s, power_w), grid)), "", len(inside), duration_s)


def check_charge(readings: Sequence[Telemetry]) -> ChargeCheck | None:
    """Compare the integrated current with the charge counter over everything that was captured.

    Returns:
        ``None`` when something was charging, a reading is missing, or the counter moved too little.
    """
    ordered = sorted(readings, key=lambda r: r.time_ns)
    counters = [(i, c) for i, r in enumerate(ordered) if (c := _real(r.extra.get("charge_counter_uah"))) is not None]
    if len(counters) < 2:
        return None
    # The counter stands still between its steps: compare from its first step to its last.
    steps = [i for (_, before), (i, after) in pairwise(counters) if after != before]
    if len(steps) < 2:
        return None
    used = ordered[steps[0] : steps[-1] + 1]
    spent_uah = float(used[0].extra["charge_counter_uah"]) - float(used[-1].extra["charge_counter_uah"])
    if spent_uah < LEAST_COUNTER_UAH or _reason(used, used[0].time_ns, used[-1].time_ns):
        return None
    time_s, current_ma, _ = _columns(used)
    return ChargeCheck(float(np.trapezoid(np.abs(current_ma), time_s)) / 3600, spent_uah / 1e3)


def calibrate_current(readings: Sequence[Telemetry]) -> CurrentScale | None:
    """Unit and sign of a vendor's raw current, from readings while it charged, was idle, or both.

    The unit follows from the size. The sign is told from the charge counter where it moved,
    otherwise from the battery's own status. ``None`` when neither says anything.
    """
    known = [(raw, r) for r in readings if (raw := _real(r.extra.get("current_raw")))]
    if not known:
        return None
    size = float(np.median([abs(raw) for raw, _ in known]))
    unit = "uA" if size > LARGEST_MA_RAW else "mA"
    scale = 1e-3 if unit == "uA" else 1.0
    counted = [c for _, r in known if (c := _real(r.extra.get("charge_counter_uah"))) is not None]
    moved = counted[-1] - counted[0] if len(counted) > 1 else 0.0
    mean_raw = float(np.mean([raw for raw, _ in known]))
    if abs(moved) >= LEAST_COUNTER_UAH and mean_raw:
        sign = 1.0 if (moved > 0) == (mean_raw > 0) else -1.0
        return CurrentScale(sign * scale, unit, f"charge counter moved by {moved / 1e3:+.1f} mAh")
    votes = [np.sign(raw) * (1 if r.charging else -1) for raw, r in known if r.charging is not None]
    if not votes or not sum(votes):
        return None
    agree = max(votes.count(1), votes.count(-1))
    return CurrentScale(float(np.sign(sum(votes))) * scale, unit, f"battery status in {agree} of {len(votes)} readings")


def calibrated(readings: Sequence[Telemetry]) -> tuple[list[Telemetry], CurrentScale | None]:
    """The readings with one unit and sign for all their raw currents, where these can be told.

    One reading alone may mislead: a phone that idles below 20 mA looks like one that reports in mA.
    """
    scale = calibrate_current(readings)
    if scale is None:
        return list(readings), None
    return [
        r
        if (raw := _real(r.extra.get("current_raw"))) is None
        else replace(r, battery_current_ma=raw * scale.ma_per_raw)
        for r in readings
    ], scale


def _around(readings: Sequence[Telemetry], start_ns: int, end_ns: int) -> list[Telemetry]:
    """Readings inside the interval, and the nearest one on either side of it."""
    ordered = sorted(readings, key=lambda r: r.time_ns)
    before = [r for r in ordered if r.time_ns < start_ns][-1:]
    after = [r for r in ordered if r.time_ns > end_ns][:1]
    return [*before, *(r for r in ordered if start_ns <= r.time_ns <= end_ns), *after]


def _reason(readings: Sequence[Telemetry], start_ns: int, end_ns: int) -> str:
    """Why there is no figure, as a clause; empty when there is one."""
    if not readings:
        return "no telemetry"
    if any(r.charging or r.extra.get("plugged") for r in readings):
        return "charging"
    if any(r.extra.get("battery_frozen") for r in readings):
        return "battery values were set by hand"
    usable = [r for r in readings if _real(r.battery_current_ma) is not None and _real(r.battery_voltage_mv)]
    if not usable:
        missing = "current" if all(_real(r.battery_current_ma) is None for r in readings) else "voltage"
        return f"this phone does not show its battery {missing}"
    if any(r.charging is None and r.extra.get("plugged") is None for r in usable):
        return "it is not known whether the phone was charging"
    times = [start_ns, *(t for r in usable if start_ns < (t := r.time_ns) < end_ns), end_ns]
    longest_s = max(b - a for a, b in pairwise(times)) / 1e9
    if longest_s > LONGEST_GAP_S:
        return f"no reading for {longest_s:.1f} s"
    return ""


def _columns(readings: Sequence[Telemetry]) -> tuple[Floats, Floats, Floats]:
    """Time in s, current in mA, voltage in mV of the readings that hold all of them."""
    rows = [
        (r.time_ns / 1e9, current, voltage)
        for r in readings
        if (current := _real(r.battery_current_ma)) is not None and (voltage := _real(r.battery_voltage_mv))
    ]
    table = np.array(rows, np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _real(value: object) -> float | None:
    """A reading as a number; what is none (another program wrote the record) was not read."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
