"""What must a report say about its runs? Devices, versions, models, settings, gates, what is left out and why.

All of it is read from the runs; what they do not say is n/a. Runs that share a value share a line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from as2d_core.records import RunRecord
from dashboard.views import numbers
from dashboard.views.energy import energy_info
from dashboard.views.runs_compare import POOLED
from dashboard.views.theme import method_of

_DEVICE = ("name", "model", "soc", "cpu", "system", "release", "android", "machine", "ram_bytes", "logical_cores")
SHORT_HASH = 16


@dataclass(frozen=True, slots=True)
class Fact:
    """One value, and which of the runs it holds for (empty: for all of them)."""

    value: str
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactsInfo:
    """Plain text throughout."""

    kinds: tuple[tuple[str, int], ...]
    """What the numbers are (``measured``, ``replayed`` ...) with the number of runs."""
    facts: tuple[tuple[str, tuple[Fact, ...]], ...]
    """Name and values, in the order of a report."""
    exclusions: tuple[str, ...]
    """Which runs do not count in pooled figures, and why; and what else keeps a number from being plain."""


def facts_info(records: Sequence[RunRecord]) -> FactsInfo:
    """Everything that a report states about these runs, in any number."""
    kinds: dict[str, int] = {}
    for record in records:
        for kind in _kinds(record):
            kinds[kind] = kinds.get(kind, 0) + 1
    return FactsInfo(
        kinds=tuple(kinds.items()),
        facts=tuple((name, _shared(records, read)) for name, read in _FACTS if any(read(r) for r in records)),
        exclusions=_exclusions(records),
    )


def _kinds(record: RunRecord) -> list[str]:
    header = record.header
    out = [header.source]
    if header.clock == "virtual" and header.source == "measured":
        out.append("virtual")
    if header.device.get("virtual"):
        out.append("virtual")
    if record.request.drafter_pace_ms is not None:
        out.append("emulated")
    return list(dict.fromkeys(out))


def _shared(records: Sequence[RunRecord], read: Callable[[RunRecord], str]) -> tuple[Fact, ...]:
    found: dict[str, list[str]] = {}
    for record in records:
        found.setdefault(read(record) or numbers.NA, []).append(record.run_id)
    if len(found) == 1:
        return (Fact(next(iter(found))),)
    return tuple(Fact(value, tuple(runs)) for value, runs in found.items())


def _exclusions(records: Sequence[RunRecord]) -> tuple[str, ...]:
    out = []
    for record in records:
        if record.status not in POOLED:
            reason = record.end.error if record.end is not None else None
            more = f": {reason}" if reason else (f": {record.problems[0]}" if record.problems else "")
            out.append(f"Run {record.run_id} is {record.status} and is left out of pooled figures{more}.")
        elif record.request.warm_up:
            out.append(f"Run {record.run_id} is a warm-up and is left out of pooled figures.")
        if record.status == "capped":
            out.append(f"Run {record.run_id} was cut at its output cap of {record.request.max_tokens:,} tokens.")
        if record.request.drafter_pace_ms is not None:
            pace = numbers.duration(record.request.drafter_pace_ms)
            out.append(f"The drafter of run {record.run_id} was slowed down on purpose to at least {pace} a token.")
    return tuple(out)


def _device(record: RunRecord) -> str:
    return device_text(record.header.device)


def device_text(device: Mapping[str, Any]) -> str:
    """What is known of a device, on a line."""
    parts: list[str] = []
    for name in _DEVICE:
        value = device.get(name)
        if value in (None, ""):
            continue
        if name == "ram_bytes" and isinstance(value, int | float):
            parts.append(f"{numbers.size(value)} of memory")
        elif name == "logical_cores":
            parts.append(numbers.counted(value, "logical core") if isinstance(value, int) else f"{value} cores")
        elif str(value) not in parts:
            parts.append(str(value))
    return ", ".join(parts)


def _versions(record: RunRecord) -> str:
    known = {name: str(version) for name, version in record.header.versions.items()}
    known |= dict.fromkeys(
        ["mnn"] if record.engines else [], next((e.mnn_version for e in record.engines.values()), "")
    )
    return versions_text(known)


def versions_text(versions: Mapping[str, str]) -> str:
    """Names and versions of programs, on a line."""
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))


def _model(role: str) -> Callable[[RunRecord], str]:
    def read(record: RunRecord) -> str:
        model = getattr(record.request, role)
        engine = record.engines.get(role)
        if model is None:
            return "none" if engine is None else engine.model
        digest = model.sha256 or (engine.model_sha256 if engine is not None else None)
        return f"{model.name or model.path} (sha256 {digest or numbers.NA})"

    return read


def _method(record: RunRecord) -> str:
    request = record.request
    parts = [method_of(request)]
    if request.method == "as2d":
        parts += [f"search window {request.search_window}", f"batches of {request.batch_tokens}"]
    if request.method in ("as2d", "specasr"):
        parts.append("no confidence threshold" if request.threshold is None else f"threshold {request.threshold:g}")
    if request.plain_step:
        parts.append("plain K = 1 steps")
    if request.width_rule is not None:
        parts.append("cheapest width")
    return ", ".join(parts)


def _settings(record: RunRecord) -> str:
    request, place = record.request, record.request.placement
    threads = numbers.counted(place.target_threads, "thread")
    parts = [f"{place.backend}, target on {threads}{_cores(place.target_cores)}"]
    if request.drafter is not None:
        where = "" if place.drafter_backend in (None, place.backend) else f"{place.drafter_backend}, "
        parts.append(
            f"drafter on {where}{numbers.counted(place.drafter_threads, 'thread')}{_cores(place.drafter_cores)}"
        )
    if place.task_profile is not None:
        parts.append(f"task profile {place.task_profile}")
    parts += [f"precision {request.precision}", f"memory {request.memory}", f"output cap {request.max_tokens:,}"]
    return ", ".join(parts)


def _cores(cores: Sequence[int]) -> str:
    return f" (cores {', '.join(map(str, cores))})" if cores else ""


def _engines(record: RunRecord) -> str:
    parts = []
    for role, engine in sorted(record.engines.items()):
        cores = _cores(engine.cores or ())
        shown = f"{engine.backend}, {numbers.counted(engine.threads, 'thread')}{cores}, {engine.precision}"
        parts.append(f"{role}: {shown}")
    return "; ".join(parts)


def _work(record: RunRecord) -> str:
    audio = record.request.audio
    length = "" if audio.duration_s is None else f", {numbers.duration(audio.duration_s * 1e3)}"
    digest = f", sha256 {audio.sha256}" if audio.sha256 else ""
    return f"{audio.window_id or audio.path}{length}{digest}; {record.request.task}: {record.request.instruction}"


def _gates(record: RunRecord) -> str:
    gates = record.request.gates
    if gates is None:
        return "none were asked for"
    parts = [f"{gates.rest_s:g} s of rest", f"{gates.checks} checks {gates.check_gap_s:g} s apart"]
    parts += ["all cores on-line"] if gates.all_cores else []
    parts += [] if gates.ceiling_mhz is None else [f"a ceiling of at least {gates.ceiling_mhz:g} MHz"]
    parts += [] if gates.max_battery_c is None else [f"battery at most {gates.max_battery_c:g} °C"]
    parts += [] if gates.max_thermal_status is None else [f"thermal status at most {gates.max_thermal_status}"]
    looks = len(record.conditions)
    passed = sum(look.passed for look in record.conditions)
    return ", ".join(parts) + f"; {passed} of {numbers.counted(looks, 'look')} passed"


def _energy(record: RunRecord) -> str:
    info = energy_info(record)
    return "" if info is None else info.text


def self_test_text(record: RunRecord) -> str:
    """Which widths were bit-equal in the self-test of a run, and near ties by width; empty where there was none."""
    return "; ".join(
        f"{test.model_sha256[:SHORT_HASH]}: {test.grade} at {', '.join(map(str, test.exact_widths)) or 'no width'}, "
        f"{_near_ties(test.argmax_differences)}"
        for test in record.self_tests
    )


def _near_ties(differences: Mapping[str, int]) -> str:
    """Rows of each width whose best token is another one than that of single steps."""
    if not differences:
        return f"near ties {numbers.NA}"
    found = [f"{numbers.counted(count, 'row')} at width {width}" for width, count in differences.items() if count]
    return f"near ties that fell the other way: {', '.join(found) or 'none at any width'}"


def _started(record: RunRecord) -> str:
    return numbers.moment(record.header.created_at)


def _clock(record: RunRecord) -> str:
    return record.header.clock


_FACTS: tuple[tuple[str, Callable[[RunRecord], str]], ...] = (
    ("Device", _device),
    ("Versions", _versions),
    ("Target", _model("target")),
    ("Drafter", _model("drafter")),
    ("Method", _method),
    ("Recording and task", _work),
    ("Settings asked for", _settings),
    ("Engines as loaded", _engines),
    ("Width self-test", self_test_text),
    ("Gates", _gates),
    ("Energy", _energy),
    ("Started", _started),
    ("Clock", _clock),
)
