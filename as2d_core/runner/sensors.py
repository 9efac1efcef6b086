"""What do this device's sensors say now? Files of the kernel first; on a phone that hides them, Android's commands.

A shell process of a phone may not read everything: what the kernel denies is asked from ``dumpsys``
once a second in a thread of its own, because such a call takes tens of milliseconds.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any

from as2d_core.clock import now_ns
from as2d_core.records import Telemetry
from as2d_core.runner.android import (
    BatteryState,
    ThermalState,
    mask_of,
    normal_voltage_mv,
    parse_battery,
    parse_cores,
    parse_screen,
    parse_thermal,
    plausible_temperature,
)

SLOW_PERIOD_S = 1.0
"""How often commands are asked, and what changes rarely is read."""
COMMAND_DEADLINE_S = 3.0
STALE_S = 5.0
"""An answer older than this is no reading of now."""
HIGHEST_RAW_MA = 20_000
"""Above it a current is in microamperes: no phone draws 20 A. An idle one draws more than 20 mA."""

Ask = Callable[[Sequence[str]], str]


def ask_system(command: Sequence[str]) -> str:
    """Standard output of a command of this system; empty when it does not answer in time."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            list(command), capture_output=True, timeout=COMMAND_DEADLINE_S, stdin=subprocess.DEVNULL, check=False
        )
        return done.stdout.decode("utf-8", "replace")
    return ""


@dataclass(frozen=True, slots=True)
class Slow:
    """What commands said, and when."""

    battery: BatteryState = field(default_factory=BatteryState)
    thermal: ThermalState = field(default_factory=ThermalState)
    screen_on: bool | None = None
    read_s: float = float("-inf")
    """On the monotonic clock."""


class Sensors:
    """All sensors of one device; every reading is cheap."""

    def __init__(self, sysfs: Path = Path("/sys"), ask: Ask | None = None) -> None:
        """Find out what there is.

        Args:
            sysfs: where the kernel shows its sensors as files.
            ask: runs a command of Android; by default the system's own, where it has ``dumpsys``.
        """
        cpu = sysfs / "devices/system/cpu"
        self._clocks = sorted(cpu.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"), key=_core_of)
        self._ceilings = {_core_of(path): path.with_name("scaling_max_freq") for path in self._clocks}
        self._online, self._possible = cpu / "online", cpu / "possible"
        supplies = sorted((sysfs / "class/power_supply").glob("*")) if (sysfs / "class/power_supply").is_dir() else []
        self._battery = _battery_of(supplies)
        self._supplies = [path for path in supplies if path != self._battery]
        self._ask = ask if ask is not None else (ask_system if which("dumpsys") else None)
        self._slow = Slow()
        self._lock = threading.Lock()
        self._asking = False

    @property
    def any(self) -> bool:
        """Whether this device shows any sensor at all."""
        return bool(self._clocks or self._battery or self._ask)

    def read(self) -> Telemetry:
        """One reading of everything; commands are asked in the background and answer for the next ones."""
        self.refresh(wait=False)
        battery, slow = self._battery, self._fresh()
        tenths = _number(battery / "temp") if battery else None
        raw = _number(battery / "current_now") if battery else None
        voltage = normal_voltage_mv(_number(battery / "voltage_now")) if battery else None
        status = _text(battery / "status") if battery else None
        if raw is None and slow.battery.current_raw is not None:
            raw = float(slow.battery.current_raw)
        celsius = slow.battery.temperature_c if tenths is None else plausible_temperature(tenths / 10)
        charging = slow.battery.charging if status is None else _charging(status)
        current, unit = current_ma(raw, charging)
        counter = _number(battery / "charge_counter") if battery else None
        extra: dict[str, Any] = {
            "current_raw": raw,
            "current_unit": unit,
            "charge_counter_uah": slow.battery.charge_counter_uah if counter is None else counter,
            "plugged": self._plugged(slow),
            "ceiling_mhz": self.ceilings(),
        }
        if slow.battery.frozen:
            extra["battery_frozen"] = True
        online = self.online()
        return Telemetry(
            time_ns=now_ns(),
            battery_temperature_c=celsius,
            battery_current_ma=current,
            battery_voltage_mv=slow.battery.voltage_mv if voltage is None else voltage,
            charging=charging,
            thermal_status=slow.thermal.status,
            core_mhz=tuple(None if (k := _number(p)) is None else k / 1e3 for p in self._clocks) or None,
            online_mask=None if online is None else mask_of(online),
            extra={name: value for name, value in extra.items() if value is not None},
        )

    def online(self) -> tuple[int, ...] | None:
        """Cores that are on-line."""
        text = _text(self._online)
        return None if text is None else parse_cores(text)

    def possible(self) -> tuple[int, ...] | None:
        """Cores that the device has."""
        text = _text(self._possible)
        return None if text is None else parse_cores(text)

    def ceilings(self) -> list[float | None] | None:
        """Highest clock that each core may take now, MHz, by the number of the core."""
        paths = [self._ceilings.get(core) for core in range(max(self._ceilings, default=-1) + 1)]
        found = [None if path is None or (khz := _number(path)) is None else khz / 1e3 for path in paths]
        return found if any(value is not None for value in found) else None

    def screen_on(self) -> bool | None:
        """Whether the screen is on, as far as it was asked."""
        return self._fresh().screen_on

    def refresh(self, *, wait: bool) -> None:
        """Ask the commands again when their answers have become old."""
        if self._ask is None or time.monotonic() - self._slow.read_s < SLOW_PERIOD_S:
            return
        if wait:
            self._ask_all(self._ask)
            return
        with self._lock:
            if self._asking:
                return
            self._asking = True
        threading.Thread(target=self._ask_all, args=(self._ask,), name="as2d-sensors", daemon=True).start()

    def _ask_all(self, ask: Ask) -> None:
        try:
            self._slow = Slow(
                parse_battery(ask(["dumpsys", "battery"])),
                parse_thermal(ask(["dumpsys", "thermalservice"])),
                parse_screen(ask(["dumpsys", "power"])),
                time.monotonic(),
            )
        finally:
            with self._lock:
                self._asking = False

    def _fresh(self) -> Slow:
        slow = self._slow
        return slow if time.monotonic() - slow.read_s < STALE_S else Slow()

    def _plugged(self, slow: Slow) -> bool | None:
        """Whether a supply is connected: a battery that is full or held back still takes no part of the load."""
        online = [value for path in self._supplies if (value := _number(path / "online")) is not None]
        if online:
            return any(online)
        return None if slow.battery.plugged is None else bool(slow.battery.plugged)


def current_ma(raw: float | None, charging: bool | None) -> tuple[float | None, str | None]:
    """A vendor's battery current in mA, negative while the battery gives, and the unit it was taken for.

    Vendors report µA or mA, and either sign for discharge. The unit follows from the size. The sign
    follows from the battery's own status; where that is not known it is left as the vendor gives it.
    """
    if raw is None:
        return None, None
    unit = "uA" if abs(raw) > HIGHEST_RAW_MA else "mA"
    value = raw / 1e3 if unit == "uA" else raw
    if charging is None:
        return value, unit
    return (abs(value) if charging else -abs(value)), unit


def _charging(status: str) -> bool | None:
    return None if status == "Unknown" else status in ("Charging", "Full")


def _battery_of(supplies: Sequence[Path]) -> Path | None:
    """The folder of the device's battery: what calls itself one, or has its name where ``type`` is denied."""
    found = [path for path in supplies if _text(path / "type") == "Battery" or path.name.upper().startswith("BAT")]
    usual = [path for path in found if path.name == "battery"]
    return next(iter(usual or found), None)


def _core_of(path: Path) -> int:
    return int(path.parts[-3][3:])


def _text(path: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="ascii").strip()
    return None


def _number(path: Path) -> float | None:
    text = _text(path)
    with suppress(ValueError, TypeError):
        return float(text or "")
    return None
