"""What did the device's sensors say over time? Readings as series, gaps where nothing could be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from as2d_core.records import Telemetry


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """One sensor: NaN where there was no reading."""

    name: str
    unit: str
    time_ms: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest reading."""
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))


def series(readings: Sequence[Telemetry], origin_ns: int) -> tuple[Series, ...]:
    """Series of every sensor that was read at least once, in time order, in ms from ``origin_ns``."""
    ordered = sorted(readings, key=lambda r: r.time_ns)
    time_ms = np.array([r.time_ns - origin_ns for r in ordered], np.float64) / 1e6
    out = []
    for name, unit, read in _SENSORS:
        values = np.array([_number(read(reading)) for reading in ordered], np.float64)
        if np.isfinite(values).any():
            out.append(Series(name, unit, time_ms, values))
    return tuple(out)


def _number(value: object) -> float:
    """A reading as a number; what is none (another program wrote the record) counts as not read."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else np.nan


def _power_w(reading: Telemetry) -> float | None:
    """Battery power in W, discharge only: while charging, the reading is not what the run drew."""
    power = abs(_number(reading.battery_current_ma) * _number(reading.battery_voltage_mv)) / 1e6
    return None if reading.charging else power


def _fastest_core_mhz(reading: Telemetry) -> float | None:
    cores = reading.core_mhz if isinstance(reading.core_mhz, tuple | list) else ()
    speeds = [mhz for core in cores if np.isfinite(mhz := _number(core))]
    return max(speeds) if speeds else None


_SENSORS: tuple[tuple[str, str, Callable[[Telemetry], float | None]], ...] = (
    ("Power", "W", _power_w),
    ("Battery", "°C", lambda r: r.battery_temperature_c),
    ("Fastest core", "MHz", _fastest_core_mhz),
)
