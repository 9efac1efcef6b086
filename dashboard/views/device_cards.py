"""What is a device, is it ready, how is it now? Facts with how they were read, a checklist, and this moment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from statistics import median
from typing import Any

from as2d_core.conditions import THERMAL_WORDS
from as2d_core.records import RunRecord, Telemetry
from as2d_core.request import METHODS
from dashboard.services.set_up_times import SetUpEstimate
from dashboard.views import numbers
from dashboard.views.text import element, label
from dashboard.views.theme import FONT, Theme, faded
from datastore.queries import RunRow
from device_bridge.facts import Fact, PhoneFacts, cpu_label
from device_bridge.setup.checks import Check, Readiness, Remedy, State

UNKNOWN = "unknown"
_MARKS = {State.OK: ("✓", "accepted"), State.WRONG: ("✕", "rejected"), State.NOT_TRIED: ("○", "retired")}
_GOING_ON = ("→", "target", "being set up")
_WORDS = {State.OK: "holds", State.WRONG: "does not hold", State.NOT_TRIED: "not looked at"}


@dataclass(frozen=True, slots=True)
class FactRow:
    """One line of a card. Plain text."""

    name: str
    value: str
    how: str
    """How it was read; shown when the pointer rests on it."""


def phone_rows(facts: PhoneFacts) -> tuple[FactRow, ...]:
    """Facts of a phone in the order in which one asks for them; what is unknown says so."""
    android = _joined(("Android", facts.value("android")), ("API", facts.value("api_level")))
    gpu = _joined(("", facts.value("gpu")), ("driver", facts.value("gpu_driver")))
    opencl = facts.value("opencl") or ("present, version unknown" if facts.value("opencl_library") else None)
    memory = _of(facts.value("memory_available_bytes"), facts.value("memory_bytes"), "available")
    storage = _of(facts.value("storage_free_bytes"), facts.value("storage_bytes"), "free")
    top = facts.value("task_profile")
    profile = f"{top} can be asked for" if top else None if top is None else "none that a shell process may ask for"
    rows = [
        ("Model", _joined(("", facts.value("maker")), ("", facts.value("model")), comma=False), "model"),
        ("Serial number", facts.value("serial"), "serial"),
        ("Processor", cpu_label(facts), "cores"),
        ("Graphics", gpu, "gpu"),
        ("OpenCL", opencl, "opencl"),
        ("Memory", memory, "memory_bytes"),
        ("Storage", storage, "storage_free_bytes"),
        ("System", android, "android"),
        ("Security patch", facts.value("security_patch"), "security_patch"),
        ("Task profile", profile, "task_profile"),
        ("Runs", _listed(facts.value("abis")), "abis"),
    ]
    return tuple(FactRow(name, str(value or UNKNOWN), _how(facts.facts.get(key))) for name, value, key in rows)


def computer_rows(facts: Mapping[str, Any]) -> tuple[FactRow, ...]:
    """The same of this computer."""
    release = " ".join(str(facts[k]) for k in ("system", "release") if facts.get(k))
    system = ", ".join(filter(None, (release, str(facts.get("machine") or ""))))
    memory = facts.get("ram_bytes")
    cores = facts.get("logical_cores")
    return (
        FactRow("Processor", str(facts.get("cpu") or UNKNOWN), "/proc/cpuinfo, or the system's own name"),
        FactRow("Cores", f"{cores} logical" if cores else UNKNOWN, "the system's count"),
        FactRow("Memory", numbers.size(memory) if memory else UNKNOWN, "psutil"),
        FactRow("System", system or UNKNOWN, "platform"),
        FactRow("Python", str(facts.get("python") or UNKNOWN), "platform"),
    )


def facts_html(rows: Iterable[FactRow], theme: Theme) -> str:
    """Facts as a list of two columns."""
    cells = []
    for row in rows:
        colour = theme.muted if row.value == UNKNOWN else theme.text
        cells.append(element("dt", label(row.name), {"color": theme.muted}))
        cells.append(
            element(
                "dd",
                label(row.value, 240),
                {"margin": "0", "color": colour, "overflow-wrap": "anywhere"},
                title=row.how,
            )
        )
    style = {
        "display": "grid",
        "grid-template-columns": "minmax(84px, max-content) 1fr",
        "gap": "2px 14px",
        "margin": "0",
        "padding": "4px 0 0",
        "font-family": FONT,
        "font-size": "13px",
        "line-height": "1.5",
        "font-variant-numeric": "tabular-nums",
    }
    return element("dl", "".join(cells), style)


def readiness_html(readiness: Readiness, theme: Theme, *, setting_up: bool = False) -> str:
    """The checklist: a mark, what was found, and what to do; told apart by marks, not by colour alone.

    What was not tried is one line, and advice that holds for several lines in a row is given once, below them.

    Args:
        setting_up: the phone is being set up now; what that brings over is not asked for.
    """
    items, checks = [], list(_folded(readiness.checks))
    if setting_up:
        checks = [replace(check, fix="") if _comes(check) else check for check in checks]
    for check, following in zip_longest(checks, checks[1:]):
        mark, role, word = (*_MARKS[check.state], _WORDS[check.state])
        if setting_up and _comes(check):
            mark, role, word = _GOING_ON
        sign = element(
            "span",
            mark,
            {"flex": "0 0 16px", "color": theme.role(role), "font-weight": "700", "text-align": "center"},
            role="img",
            aria_label=word,
        )
        said = [element("span", label(check.title, 300), {"color": theme.text})]
        if check.state is not State.OK or check.found:
            said.append(element("span", f" {label(check.found, 300)}", {"color": theme.muted}))
        if check.fix and (following is None or following.fix != check.fix):
            said.append(element("div", label(check.fix, 300), {"color": theme.text}))
        body = element("div", "".join(said), {"min-width": "0", "overflow-wrap": "anywhere"})
        items.append(element("div", sign + body, {"display": "flex", "gap": "8px"}))
    style = {"font-family": FONT, "font-size": "13px", "line-height": "1.5", "display": "grid", "gap": "3px"}
    return element("div", "".join(items), style)


def _comes(check: Check) -> bool:
    """Whether setting the phone up puts it right."""
    return check.state is State.WRONG and check.remedy is Remedy.SET_UP


def _folded(checks: Iterable[Check]) -> Iterator[Check]:
    """The checks, those in a row that were not tried for the same reason as one."""
    for (not_tried, _), group in groupby(checks, lambda c: (c.state is State.NOT_TRIED, c.found)):
        alike = list(group)
        if not_tried:
            yield replace(alike[0], title=", ".join(check.title for check in alike))
        else:
            yield from alike


@dataclass(frozen=True, slots=True)
class Gauge:
    """One figure of this moment. Plain text."""

    name: str
    value: str
    alarming: bool = False


def phone_gauges(conditions: PhoneFacts) -> tuple[Gauge, ...]:
    """Battery, temperature, cores and screen of a phone; what was not read is n/a."""
    status = conditions.value("thermal_status")
    online = conditions.value("online")
    plugged = conditions.value("plugged")
    level = conditions.value("battery_percent")
    screen = conditions.value("screen_on")
    power = conditions.value("battery_status") or "n/a"
    if plugged:
        power += f" ({', '.join(plugged)})"
    return (
        Gauge("Battery", "n/a" if level is None else f"{level} %", level is not None and level < 15),
        Gauge("Power", power),
        _celsius(conditions.value("battery_temperature_c")),
        _thermal(status),
        Gauge("Cores on-line", "n/a" if online is None else _ranges(online)),
        Gauge("Screen", "n/a" if screen is None else "on" if screen else "off"),
    )


def computer_gauges(reading: Telemetry) -> tuple[Gauge, ...]:
    """The same of this computer; most have fewer sensors."""
    mask = reading.online_mask
    online = None if mask is None else tuple(core for core in range(mask.bit_length()) if mask >> core & 1)
    speeds = [mhz for mhz in reading.core_mhz or () if mhz is not None]
    gauges = [
        Gauge("Cores on-line", "n/a" if online is None else _ranges(online)),
        Gauge("Fastest core", f"{max(speeds):.0f} MHz" if speeds else "n/a"),
    ]
    if reading.charging is not None:
        gauges.append(Gauge("Power", "charging" if reading.charging else "on battery"))
    if reading.battery_temperature_c is not None:
        gauges.append(_celsius(reading.battery_temperature_c))
    return tuple(gauges)


def run_gauges(records: Iterable[RunRecord | None]) -> tuple[Gauge, ...]:
    """The newest reading that runs have sent, while they go on; none where no sensor is read."""
    readings = [record.telemetry[-1] for record in records if record is not None and record.telemetry]
    if not readings:
        return ()
    now = readings[-1]
    here = {gauge.name: gauge for gauge in computer_gauges(now)}
    drawn_w = None
    if now.battery_current_ma is not None and now.battery_voltage_mv is not None:
        drawn_w = abs(now.battery_current_ma * now.battery_voltage_mv) / 1e6
    return (
        Gauge("Power", "charging" if now.charging else numbers.power(drawn_w)),
        _celsius(now.battery_temperature_c),
        _thermal(now.thermal_status),
        here["Cores on-line"],
        here["Fastest core"],
    )


def gauges_html(gauges: Iterable[Gauge], theme: Theme) -> str:
    """Figures side by side, each under its name."""
    cells = []
    for gauge in gauges:
        colour = theme.role("rejected") if gauge.alarming else theme.text
        name = element("div", label(gauge.name), {"color": theme.muted, "font-size": "11px"})
        value = element("div", label(f"{gauge.value}{' !' if gauge.alarming else ''}", 60), {"color": colour})
        cells.append(element("div", name + value, {"min-width": "72px"}))
    style = {
        "display": "flex",
        "flex-wrap": "wrap",
        "gap": "6px 18px",
        "padding": "8px 10px",
        "border-radius": "6px",
        "background": faded(theme.role("retired"), 0.14),
        "font-family": FONT,
        "font-size": "13px",
        "line-height": "1.4",
        "font-variant-numeric": "tabular-nums",
    }
    return element("div", "".join(cells), style)


def wait_text(seconds: float) -> str:
    """How long something will take, for a person who decides whether to begin."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"about {round(minutes)} min" if minutes < 90 else f"about {minutes / 60:.1f} h"


def run_text(rows: Iterable[RunRow]) -> str:
    """How long a request takes on a device, as its last ones did: the median of those that ended."""
    ended = [row for row in rows if row.method in METHODS and row.status in ("eos", "capped")]
    took_ms = [row.elapsed_ms for row in ended if row.elapsed_ms is not None]
    return wait_text(median(took_ms) / 1e3) if took_ms else "time n/a: none has ended here"


def set_up_text(expected: SetUpEstimate) -> str:
    """What setting up sends, and how long it takes, for a person who decides whether to begin."""
    if expected.to_send_bytes is None:
        return "how much is to be sent is not known yet, nor how long it takes (n/a)"
    sent = f"at most {expected.to_send_bytes / 1e6:,.1f} MB to send" if expected.to_send_bytes else "nothing to send"
    if expected.seconds is not None:
        return f"{sent}, {wait_text(expected.seconds)} as seen here before"
    if expected.to_send_bytes and expected.sending_s is not None:
        return f"{sent}, which takes {wait_text(expected.sending_s)} as seen here before; the rest n/a"
    return f"{sent}, time n/a: not seen on this phone before"


def _celsius(value: float | None) -> Gauge:
    return Gauge("Battery temperature", numbers.temperature(value), value is not None and value > 40)


def _thermal(status: int | None) -> Gauge:
    if status is None:
        return Gauge("Thermal status", "n/a")
    word = THERMAL_WORDS[status] if 0 <= status < len(THERMAL_WORDS) else str(status)
    return Gauge("Thermal status", word, status > 1)


def _ranges(cores: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs) or "none"


def _of(part: float | None, whole: float | None, word: str) -> str | None:
    if part is None and whole is None:
        return None
    shown = [f"{numbers.size(part)} {word}" if part is not None else "", numbers.size(whole) if whole else ""]
    return " of ".join(filter(None, shown))


def _joined(*parts: tuple[str, object], comma: bool = True) -> str | None:
    shown = [f"{name} {value}".strip() for name, value in parts if value not in (None, "")]
    return (", " if comma else " ").join(shown) or None


def _listed(values: object) -> str | None:
    return ", ".join(map(str, values)) if isinstance(values, tuple | list) and values else None


def _how(fact: Fact | None) -> str:
    return "" if fact is None else f"Read from: {fact.how}"
