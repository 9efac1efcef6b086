"""What do Android's own commands say? Their printed text as values; what they do not say is ``None``.

Vendors add lines, leave lines out and use other units, so that every value is looked for by itself.
"""

import re
from dataclasses import dataclass

_STATUS = {1: "unknown", 2: "charging", 3: "discharging", 4: "not charging", 5: "full"}
_PAIR = re.compile(r"^\s*([A-Za-z][A-Za-z _-]*?)\s*[:=]\s*(.*?)\s*$")
_TEMPERATURE = re.compile(r"Temperature\{mValue=(-?[\d.]+), mType=(-?\d+), mName=([^,}]*), mStatus=(-?\d+)")
_LOW_RAW_UV = 100_000
"""Above it a voltage is in microvolts: no phone's battery has 100 V."""
_HIGH_RAW_V = 20
"""Below it a voltage is in volts: no phone's battery has 20 mV."""
_NO_TEMPERATURE_C = (-60.0, 150.0)
"""What lies outside is an error code of the sensor."""


@dataclass(frozen=True, slots=True)
class BatteryState:
    """``dumpsys battery``."""

    level_percent: int | None = None
    status: str | None = None
    """``charging``, ``discharging``, ``not charging``, ``full`` or ``unknown``."""
    plugged: tuple[str, ...] | None = None
    """Supplies that are connected (``AC``, ``USB``, ...); ``None`` when no supply is listed."""
    temperature_c: float | None = None
    voltage_mv: float | None = None
    current_raw: int | None = None
    """Battery current as the vendor prints it, where it does; unit and sign are the vendor's own."""
    charge_counter_uah: int | None = None
    frozen: bool = False
    """Updates are stopped (``dumpsys battery set``): the values are made up."""

    @property
    def charging(self) -> bool | None:
        """Whether the battery says that it is charging or full."""
        return None if self.status in (None, "unknown") else self.status in ("charging", "full")


@dataclass(frozen=True, slots=True)
class ThermalState:
    """``dumpsys thermalservice``."""

    status: int | None = None
    """0 none, 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown."""
    temperatures_c: tuple[tuple[str, float], ...] = ()
    """Name of each sensor and its reading; the service's latest ones."""


def parse_battery(text: str) -> BatteryState:
    """State of the battery from ``dumpsys battery``."""
    pairs = _pairs(text)
    supplies = {name.removesuffix(" powered").upper(): v for name, v in pairs.items() if name.endswith(" powered")}
    status = _whole(pairs.get("status"))
    tenths = _whole(pairs.get("temperature"))
    current = pairs.get("current now") or pairs.get("current_now") or pairs.get("battery current")
    return BatteryState(
        level_percent=_percent(_whole(pairs.get("level")), _whole(pairs.get("scale"))),
        status=None if status is None else _STATUS.get(status, "unknown"),
        plugged=tuple(sorted(name for name, v in supplies.items() if v == "true")) if supplies else None,
        temperature_c=None if tenths is None else plausible_temperature(tenths / 10),
        voltage_mv=normal_voltage_mv(_whole(pairs.get("voltage"))),
        current_raw=_whole(current),
        charge_counter_uah=_whole(pairs.get("charge counter")),
        frozen="UPDATES STOPPED" in text,
    )


def parse_thermal(text: str) -> ThermalState:
    """Thermal status and sensor readings from ``dumpsys thermalservice``."""
    found = re.search(r"Thermal Status:\s*(-?\d+)", text)
    status = int(found.group(1)) if found else None
    readings: dict[str, float] = {}
    for value, _, name, _ in _TEMPERATURE.findall(text):
        celsius = plausible_temperature(float(value))
        if celsius is not None:
            readings[name] = celsius  # what the hardware says now comes after what was cached
    return ThermalState(None if status is not None and status < 0 else status, tuple(readings.items()))


def parse_screen(text: str) -> bool | None:
    """Whether the screen is on, from ``dumpsys power`` or ``dumpsys display``."""
    for pattern, on in (
        (r"Display Power: state=(\w+)", ("ON",)),
        (r"mScreenState=(\w+)", ("ON",)),
        (r"mWakefulness(?:Raw)?=(\w+)", ("Awake",)),
    ):
        found = re.search(pattern, text)
        if found:
            return found.group(1) in on
    return None


def parse_cores(text: str) -> tuple[int, ...] | None:
    """Core numbers of a list like ``0-3,6``; ``None`` when it is none."""
    cores: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last.isdecimal() or not last):
            return None
        low, high = int(first), int(last or first)
        if not low <= high < 1024:
            return None
        cores.update(range(low, high + 1))
    return tuple(sorted(cores))


def mask_of(cores: tuple[int, ...]) -> int:
    """Bit n is set when core n is in the list."""
    return sum(1 << core for core in set(cores))


def normal_voltage_mv(raw: float | None) -> float | None:
    """A battery voltage in mV, whether the vendor reports V, mV or µV."""
    if raw is None or raw <= 0:
        return None
    if raw > _LOW_RAW_UV:
        return raw / 1e3
    return raw * 1e3 if raw < _HIGH_RAW_V else float(raw)


def plausible_temperature(celsius: float) -> float | None:
    """The temperature, or ``None`` for what can only be the error code of a sensor."""
    low, high = _NO_TEMPERATURE_C
    return celsius if low < celsius < high else None


def _pairs(text: str) -> dict[str, str]:
    """Lines ``name: value`` by the name in small letters; the first of a name counts."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        found = _PAIR.match(line)
        if found:
            pairs.setdefault(found.group(1).lower(), found.group(2))
    return pairs


def _whole(text: str | None) -> int | None:
    found = re.match(r"[-+]?\d+(?![\d.]*\d)", text or "")
    return int(found.group()) if found else None


def _percent(level: int | None, scale: int | None) -> int | None:
    if level is None or not (0 <= level <= (scale or 100)):
        return None
    return round(100 * level / scale) if scale else level
