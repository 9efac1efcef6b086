"""What do a Perfetto trace's power counters say? Battery and rails over the phone's boot-time clock, nothing else.

Only what Android's power data source writes is read: battery counters, rail descriptors and energies, clock
snapshots, the build. Everything else of a trace is passed over unread.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from datastore.errors import ForeignError
from datastore.perfetto_wire import BYTES, VARINT, CutOffError, Inflated, TooMuchError, fields, packets, real, signed
from datastore.run_row import clean

MOST_BYTES = 500_000_000
MOST_READINGS = 2_000_000
"""Readings of all counters of one trace; at 4 Hz and 30 counters this is over four hours."""
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
_SNAPSHOT, _TIME, _SEQUENCE, _BATTERY, _RAILS, _SYSTEM, _CLOCK, _DEFAULTS = 6, 8, 10, 38, 40, 45, 58, 59
_GAUGE = {
    1: ("charge counter", "µAh"),
    2: ("capacity", "%"),
    3: ("current", "µA"),
    4: ("current, averaged by the phone", "µA"),
    6: ("energy counter", "µWh"),
    7: ("voltage", "µV"),
}
_NAME = 5


@dataclass(frozen=True, slots=True)
class PowerCounter:
    """One counter over time."""

    kind: str
    """``battery`` or ``rail``."""
    name: str
    """``current`` and the like, or what the phone calls the rail."""
    unit: str
    time_ns: tuple[int, ...]
    """Rising, on the phone's boot-time clock."""
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PowerTrace:
    """All power counters of a trace."""

    counters: tuple[PowerCounter, ...]
    boot_ns: int | None
    """Wall-clock time at which the phone's boot-time clock was 0, in ns since 1970; ``None``: the trace has none."""
    build: str | None
    """The phone's build, where the trace says it."""
    notes: tuple[str, ...]
    """Sentences about what is odd or was not read."""


@dataclass(slots=True)
class _Reading:
    snapshots: list[dict[int, int]] = field(default_factory=list)
    defaults: dict[int, int] = field(default_factory=dict)
    """Default clock by packet sequence."""
    gauge: dict[tuple[str, str], list[tuple[int, int, float]]] = field(default_factory=lambda: defaultdict(list))
    """By counter: clock, time, value."""
    rails: dict[int, str] = field(default_factory=dict)
    energies: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    build: str | None = None
    primary: int = BOOTTIME
    readings: int = 0
    damaged: int = 0


def looks_like_trace(data: bytes) -> bool:
    """Whether bytes begin as a Perfetto trace does: a packet, whose first field is a packet's."""
    if data[:1] != b"\x0a":
        return False
    try:
        number, _, packet = next(fields(memoryview(data[:65_536])))
        first = next(fields(packet)) if isinstance(packet, memoryview) else None
    except CutOffError:
        return data[1:2] >= b"\x80"  # the first packet is longer than what was looked at, or cut off
    except (ForeignError, StopIteration):
        return False
    return number == 1 and first is not None and first[0] < 2_000


def read_power_trace(data: bytes, name: str) -> PowerTrace:
    """Read the power counters of a trace.

    Raises:
        ForeignError: it is no trace, holds no power counter, or is too large; the message says what to record.
    """
    if len(data) > MOST_BYTES:
        raise ForeignError(f"{name} has {len(data) / 1e6:.0f} MB; a trace of power counters has at most 500.")
    found, inflated = _Reading(), Inflated()
    count, cut = _read(memoryview(data), name, found, inflated)
    notes = []
    if cut:
        notes.append(f"{name} is cut off or damaged after {count:,} packets; what came before was read.")
    if found.damaged + inflated.damaged:
        damaged = found.damaged + inflated.damaged
        said = (
            "1 packet of {} is damaged and was" if damaged == 1 else f"{damaged:,} packets of {{}} are damaged and were"
        )
        notes.append(f"{said.format(name)} passed over.")
    counters = tuple(_counters(found, name, notes))
    if not counters:
        raise ForeignError(
            f"{name} holds no power counter"
            + ("" if not notes else f" that could be read ({' '.join(notes)})")
            + "; record it with the data source android.power (battery_counters, collect_power_rails)."
        )
    boot_ns = _boot_ns(found.snapshots)
    if boot_ns is None:
        notes.append(f"{name} has no wall clock beside its boot-time clock, so it cannot be laid beside a run.")
    return PowerTrace(counters, boot_ns, found.build, tuple(notes))


def _read(data: memoryview, name: str, found: _Reading, inflated: Inflated) -> tuple[int, bool]:
    """Read packet by packet; returns how many, and whether the bytes ended or became nonsense before their end."""
    count = 0
    try:
        for packet in packets(data, inflated):
            count += 1
            _take(packet, found)
            if found.readings > MOST_READINGS:
                break
    except TooMuchError as error:
        raise ForeignError(f"{name} was not read: {error}.") from error
    except ForeignError as error:
        if count == 0:
            raise ForeignError(f"{name} is no Perfetto trace: {error}.") from error
        return count, True
    if found.readings > MOST_READINGS:
        raise ForeignError(f"{name} holds over {MOST_READINGS:,} readings; record a shorter trace.")
    return count, False


def _take(packet: memoryview, found: _Reading) -> None:
    time_ns = clock = None
    sequence, default = 0, None
    gauge: list[memoryview] = []
    rails: list[memoryview] = []
    try:
        for number, kind, value in fields(packet):
            if kind == VARINT and isinstance(value, int):
                if number == _TIME:
                    time_ns = value
                elif number == _CLOCK:
                    clock = value
                elif number == _SEQUENCE:
                    sequence = value
            elif kind == BYTES and not isinstance(value, int):
                if number == _BATTERY:
                    gauge.append(value)
                elif number == _RAILS:
                    rails.append(value)
                elif number == _SNAPSHOT:
                    _take_snapshot(value, found)
                elif number == _SYSTEM:
                    found.build = next((_text(v) for n, _, v in fields(value) if n == 2), found.build)
                elif number == _DEFAULTS:
                    default = next((v for n, _, v in fields(value) if n == _CLOCK and isinstance(v, int)), None)
        if default is not None:
            found.defaults[sequence] = default
        ruled = clock if clock is not None else found.defaults.get(sequence, found.primary)
        for body in gauge:
            _take_gauge(body, ruled, time_ns, found)
        for body in rails:
            _take_rails(body, ruled, time_ns, found)
    except ForeignError:
        found.damaged += 1


def _take_snapshot(body: memoryview, found: _Reading) -> None:
    clocks: dict[int, int] = {}
    for number, _, value in fields(body):
        if number == 1 and not isinstance(value, int):
            parts = {n: v for n, _, v in fields(value) if isinstance(v, int)}
            if 1 in parts and 2 in parts and not parts.get(3):
                clocks[parts[1]] = parts[2] * max(parts.get(4, 1), 1)
        elif number == 2 and isinstance(value, int):
            found.primary = value
    found.snapshots.append(clocks)


def _take_gauge(body: memoryview, clock: int, time_ns: int | None, found: _Reading) -> None:
    values: list[tuple[int, float]] = []
    which = ""
    for number, kind, value in fields(body):
        if number == _NAME:
            which = _text(value)
        elif number in _GAUGE and isinstance(value, int) and kind == VARINT:
            values.append((number, float(signed(value))))
        elif number == 2 and not isinstance(value, int) and len(value) == 4 and math.isfinite(real(value)):
            values.append((number, real(value)))
    if time_ns is None:
        found.damaged += 1
        return
    for field_number, reading in values:
        name, unit = _GAUGE[field_number]
        found.gauge[f"{which}: {name}" if which else name, unit].append((clock, time_ns, reading))
        found.readings += 1


def _take_rails(body: memoryview, clock: int, time_ns: int | None, found: _Reading) -> None:
    for number, _, value in fields(body):
        if isinstance(value, int):
            continue
        parts = list(fields(value))
        plain = {n: v for n, _, v in parts if isinstance(v, int)}
        index = plain.get(1, 0)
        if number == 1:
            texts = {n: _text(v) for n, _, v in parts if not isinstance(v, int)}
            found.rails[index] = " / ".join(filter(None, (texts.get(3), texts.get(2))))
        elif number == 2 and 3 in plain:
            # The rail's own time is boot time in ms; without it, that of the packet, which is only used as boot time.
            when = plain[2] * 1_000_000 if 2 in plain else time_ns if clock == BOOTTIME else None
            if when is None:
                found.damaged += 1
                continue
            found.energies[index].append((when, float(plain[3])))
            found.readings += 1


def _text(value: int | memoryview) -> str:
    return "" if isinstance(value, int) else str(clean(bytes(value[:400]).decode("utf-8", "replace")))


def _counters(found: _Reading, name: str, notes: list[str]) -> Iterator[PowerCounter]:
    unknown = 0
    for (counter, unit), rows in found.gauge.items():
        placed = [(when, value) for clock, time, value in rows if (when := _boot_time(clock, time, found)) is not None]
        unknown += len(rows) - len(placed)
        if placed:
            yield _counter("battery", counter, unit, placed, name, notes)
    for index, energies in sorted(found.energies.items()):
        yield _counter("rail", found.rails.get(index) or f"rail {index}", "µWs", energies, name, notes)
    if unknown:
        notes.append(f"{unknown:,} readings of {name} are on a clock that cannot be told from boot time; left out.")


def _counter(
    kind: str, counter: str, unit: str, rows: list[tuple[int, float]], name: str, notes: list[str]
) -> PowerCounter:
    ordered = sorted(dict(rows).items())
    values = [value for _, value in ordered]
    if kind == "rail" and any(after < before for before, after in pairwise(values)):
        notes.append(f"The energy of {counter} in {name} falls: the counter was reset; differences across it are n/a.")
    return PowerCounter(kind, counter, unit, tuple(when for when, _ in ordered), tuple(values))


def _boot_time(clock: int, time_ns: int, found: _Reading) -> int | None:
    """A time on another clock as boot time, by the snapshot that is nearest on that clock."""
    if clock == BOOTTIME:
        return time_ns
    both = sorted((shot[clock], shot[BOOTTIME]) for shot in found.snapshots if clock in shot and BOOTTIME in shot)
    if not both or clock > 63:
        return None
    place = bisect_left(both, (time_ns, 0))
    near = min(both[max(place - 1, 0) : place + 1], key=lambda pair: abs(pair[0] - time_ns))
    return near[1] + time_ns - near[0]


def _boot_ns(snapshots: list[dict[int, int]]) -> int | None:
    offsets = sorted(shot[REALTIME] - shot[BOOTTIME] for shot in snapshots if REALTIME in shot and BOOTTIME in shot)
    middle = offsets[len(offsets) // 2] if offsets else None
    return middle if middle is not None and 0 <= middle < 1 << 62 else None
