"""In which condition is the device: may a measured episode begin, has it lost a core?

Readings that a device does not give are recorded as unknown and hold nothing up.
"""

from collections.abc import Iterator, Sequence

from as2d_core.gates import Gates
from as2d_core.records import Telemetry

THERMAL_WORDS = ("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")


def missing(gates: Gates, reading: Telemetry, possible: Sequence[int] | None) -> tuple[str, ...]:
    """What keeps an episode from beginning, as clauses; empty when it may begin.

    Args:
        reading: what the sensors say now.
        possible: cores the device has; ``None`` when that is not known.
    """
    return tuple(_missing(gates, reading, possible))


def _missing(gates: Gates, reading: Telemetry, possible: Sequence[int] | None) -> Iterator[str]:
    if gates.all_cores and possible and reading.online_mask is not None:
        off = [core for core in possible if not reading.online_mask >> core & 1]
        if off:
            yield f"core {', '.join(map(str, off))} is off-line"
    ceilings: Sequence[float | None] = reading.extra.get("ceiling_mhz") or ()
    if gates.ceiling_mhz is not None:
        yield from _low_ceiling(gates.ceiling_mhz, gates.ceiling_core, ceilings)
    celsius = reading.battery_temperature_c
    if gates.max_battery_c is not None and celsius is not None and celsius > gates.max_battery_c:
        yield f"the battery has {celsius:.1f} °C, more than {gates.max_battery_c:g}"
    status = reading.thermal_status
    if gates.max_thermal_status is not None and status is not None and status > gates.max_thermal_status:
        word = THERMAL_WORDS[status] if status < len(THERMAL_WORDS) else str(status)
        yield f"the thermal status is {word} ({status}), above {gates.max_thermal_status}"


def _low_ceiling(least_mhz: float, core: int | None, ceilings: Sequence[float | None]) -> Iterator[str]:
    known = [value for value in ceilings if value is not None]
    if core is None:
        if known and max(known) < least_mhz:
            yield f"no core may run faster than {max(known):.0f} MHz, less than {least_mhz:g}"
        return
    now = ceilings[core] if core < len(ceilings) else None
    if now is not None and now < least_mhz:
        yield f"core {core} may run at {now:.0f} MHz at most, less than {least_mhz:g}"


def lost_cores(first_mask: int | None, now_mask: int | None) -> tuple[int, ...]:
    """Cores that were on-line and are not any more."""
    if first_mask is None or now_mask is None:
        return ()
    gone = first_mask & ~now_mask
    return tuple(core for core in range(gone.bit_length()) if gone >> core & 1)


def online_text(mask: int | None) -> str:
    """Cores of a mask as the kernel writes them: ``0-3,6``; ``n/a`` when it was not read."""
    if mask is None:
        return "n/a"
    cores = [core for core in range(mask.bit_length()) if mask >> core & 1]
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
