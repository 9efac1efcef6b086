"""A Perfetto trace as bytes, field by field: what a phone's power data source writes, and what it never would."""

import struct

BOOT_NS = 1_772_359_200_000_000_000
"""2026-03-01 10:00 UTC: wall clock at which the phone's boot-time clock was 0."""


def varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number: int, value: float | str | bytes) -> bytes:
    """One field: whole numbers as varints, floats with 4 bytes, text and bytes with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def message(*pairs: tuple[int, object]) -> bytes:
    return b"".join(field(number, value) for number, value in pairs)


def packet(*pairs: tuple[int, object]) -> bytes:
    return field(1, message(*pairs))


def clocks(*pairs: tuple[int, int]) -> bytes:
    """A snapshot of clocks: id and time in ns."""
    return packet((6, b"".join(field(1, message((1, clock), (2, time))) for clock, time in pairs)))


def gauge(time_ns: int, clock: int | None = None, **values: float) -> bytes:
    """Battery counters: ``charge``, ``capacity``, ``current``, ``voltage``."""
    numbers = {"charge": 1, "capacity": 2, "current": 3, "average": 4, "voltage": 7}
    body = message(*((numbers[name], value) for name, value in values.items()))
    return packet((8, time_ns), *(() if clock is None else ((58, clock),)), (38, body))


def rail_names(*names: str) -> bytes:
    return packet((40, b"".join(field(1, message((1, i), (2, name))) for i, name in enumerate(names))))


def rails(time_ms: int, *energies_uws: int) -> bytes:
    parts = (message((1, i), (2, time_ms), (3, energy)) for i, energy in enumerate(energies_uws))
    return packet((8, time_ms * 1_000_000), (40, b"".join(field(2, part) for part in parts)))


def power_trace(
    first_ms: int = 0, last_ms: int = 20_000, boot_ns: int | None = BOOT_NS, watts: float = 4.0, step_ms: int = 250
) -> bytes:
    """A phone that draws ``watts`` from its battery at 4 V, a quarter of it by its CPU rail."""
    out = [clocks((6, first_ms * 1_000_000), *(() if boot_ns is None else ((1, boot_ns + first_ms * 1_000_000),)))]
    out += [packet((45, message((2, "Xiaomi/x:16")))), rail_names("CPU", "GPU")]
    for time_ms in range(first_ms, last_ms + 1, step_ms):
        spent_uws = round((time_ms - first_ms) * 1e3 * watts)
        out.append(
            gauge(
                time_ms * 1_000_000,
                current=-round(watts / 4 * 1e6),
                voltage=4_000_000,
                charge=3_000_000 - round(spent_uws / 4 / 3600),
            )
        )
        out.append(rails(time_ms, 5_000_000 + spent_uws // 4, 7_000))
    return b"".join(out)
