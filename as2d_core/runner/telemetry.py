"""Sensors of a computer at 4 Hz: core clocks and battery, as far as the system shows them."""

import time
from contextlib import suppress
from pathlib import Path

from as2d_core.clock import now_ns
from as2d_core.records import Telemetry as Reading

PERIOD_S = 0.25


class Telemetry:
    """Gives a reading when one is due; gives none on a machine that shows no sensor at all."""

    def __init__(self, sysfs: Path = Path("/sys")) -> None:
        """``sysfs`` is where the kernel shows its sensors as files."""
        self._next = 0.0
        self._clocks = sorted(
            (sysfs / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"),
            key=lambda p: int(p.parts[-3][3:]),
        )
        self._battery = next(iter(sorted((sysfs / "class/power_supply").glob("BAT*"))), None)

    def due(self) -> Reading | None:
        """A reading, or ``None`` when it is not time yet or there is nothing to read."""
        if time.monotonic() < self._next or not (self._clocks or self._battery):
            return None
        self._next = time.monotonic() + PERIOD_S
        battery = self._battery
        tenths = _number(battery / "temp") if battery else None
        current = _number(battery / "current_now") if battery else None
        voltage = _number(battery / "voltage_now") if battery else None
        status = _text(battery / "status") if battery else None
        return Reading(
            time_ns=now_ns(),
            battery_temperature_c=None if tenths is None else tenths / 10,
            battery_current_ma=None if current is None else current / 1e3,
            battery_voltage_mv=None if voltage is None else voltage / 1e3,
            charging=None if status is None else status in ("Charging", "Full"),
            core_mhz=tuple(None if (k := _number(p)) is None else k / 1e3 for p in self._clocks) or None,
        )


def _text(path: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="ascii").strip()
    return None


def _number(path: Path) -> float | None:
    text = _text(path)
    with suppress(ValueError, TypeError):
        return float(text or "")
    return None
