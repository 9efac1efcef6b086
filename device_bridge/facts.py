"""What is this phone? One round trip reads everything; each fact says how it was read, unknown stays unknown."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from as2d_core.runner.android import parse_battery, parse_cores, parse_screen, parse_thermal, plausible_temperature
from device_bridge import facts_text
from device_bridge.task_profile import APPLIED, ASK, HIGHEST

Shell = Callable[[str], str]
"""Runs one command line on the phone and returns its standard output, whatever its exit code."""

_MARK = "@@as2d "
_FREQUENCIES = (
    "for c in /sys/devices/system/cpu/cpu[0-9]*; do n=${c##*cpu}; "
    'echo "$n|$(cat $c/cpufreq/related_cpus 2>/dev/null)|$(cat $c/cpufreq/cpuinfo_max_freq 2>/dev/null)"; done'
)
_OPENCL = (
    "for f in /vendor/lib64/libOpenCL_adreno.so /vendor/lib64/libOpenCL.so /vendor/lib64/egl/libGLES_mali.so "
    "/vendor/lib64/libPVROCL.so /system/vendor/lib64/libOpenCL.so /system/lib64/libOpenCL.so; do "
    "[ -e $f ] && echo \"$f|$(grep -a -o 'OpenCL [1-3]\\.[0-9]' $f 2>/dev/null | sort -u | tr '\\n' ' ')\"; done"
)
_ZONES = (
    'for z in /sys/class/thermal/thermal_zone*; do echo "$(cat $z/type 2>/dev/null)|$(cat $z/temp 2>/dev/null)"; done'
)
COMMANDS: Mapping[str, str] = {
    "getprop": "getprop",
    "cpuinfo": "cat /proc/cpuinfo",
    "frequencies": _FREQUENCIES,
    "possible": "cat /sys/devices/system/cpu/possible",
    "online": "cat /sys/devices/system/cpu/online",
    "meminfo": "cat /proc/meminfo",
    "df": "df -k /data/local/tmp",
    "battery": "dumpsys battery",
    "thermal": "dumpsys thermalservice",
    "zones": _ZONES,
    "gles": "dumpsys SurfaceFlinger | grep -m1 GLES:",
    "kgsl": "cat /sys/class/kgsl/kgsl-3d0/gpu_model",
    "opencl": _OPENCL,
    "kernel": "uname -r",
    "profile": ASK,
    "screen": "dumpsys power | grep -E -m3 'Display Power: state=|mWakefulness'",
}
"""What is asked, by the name of the section. A command that fails leaves its section empty."""
CONDITIONS = ("online", "battery", "thermal", "screen")
"""Sections that change while a phone lies there."""
_WORTH_NAMING = ("asimddp", "fphp", "asimdhp", "i8mm", "bf16", "sve", "sve2", "sme", "avx2", "avx512f")
"""Features of processors that decide which kernels run."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known about a phone, or was asked in vain."""

    name: str
    value: Any
    """``None`` = unknown."""
    how: str
    """Command, file or property it was read from; what was asked when it is unknown."""


@dataclass(frozen=True, slots=True)
class PhoneFacts:
    """Everything ``read_facts`` found. A fact that is not there was not asked for."""

    facts: Mapping[str, Fact]

    def value(self, name: str) -> Any:
        """Value of a fact; ``None`` when it is unknown."""
        fact = self.facts.get(name)
        return None if fact is None else fact.value

    @property
    def cores(self) -> tuple[facts_text.Core, ...]:
        return self.value("cores") or ()

    def as_json(self) -> dict[str, Any]:
        """Values by name for a record, with how each was read under ``how``; unknown ones are null."""
        values = {name: _plain(fact.value) for name, fact in self.facts.items()}
        return {**values, "how": {name: fact.how for name, fact in self.facts.items()}}


def read_facts(shell: Shell) -> PhoneFacts:
    """Ask a phone everything in one command.

    Raises:
        whatever ``shell`` raises when the phone cannot be reached.
    """
    return facts_from(sections(shell(batch(COMMANDS))))


def read_conditions(shell: Shell) -> PhoneFacts:
    """Only what changes: cores on-line, battery, temperature, screen. For showing an idle phone."""
    asked = {name: COMMANDS[name] for name in CONDITIONS}
    found = sections(shell(batch(asked)))
    facts = [*_condition_facts(found)]
    return PhoneFacts({fact.name: fact for fact in facts})


def batch(commands: Mapping[str, str]) -> str:
    """One command line that runs all commands and marks where the output of each begins."""
    return "; ".join(f"echo '{_MARK}{name}'; {{ {command}; }} 2>/dev/null" for name, command in commands.items())


def sections(text: str) -> dict[str, str]:
    """Output of each command of a batch by its name; what stands before the first mark is dropped."""
    found: dict[str, str] = {}
    for piece in re.split(rf"^{_MARK}", text.replace("\r\n", "\n"), flags=re.MULTILINE)[1:]:
        name, _, body = piece.partition("\n")
        found[name.strip()] = body
    return found


def facts_from(found: Mapping[str, str]) -> PhoneFacts:
    """All facts from the output of ``COMMANDS``."""
    properties = facts_text.parse_properties(found.get("getprop", ""))
    cpu = facts_text.parse_cpuinfo(found.get("cpuinfo", ""))
    cores = facts_text.parse_clusters(found.get("frequencies", "").splitlines(), cpu.parts)
    memory = facts_text.parse_memory(found.get("meminfo", ""))
    storage = facts_text.parse_storage(found.get("df", ""))
    soc, soc_how = facts_text.soc_name(properties, cpu.hardware)
    facts = [
        *_identity(properties),
        Fact("soc", soc, soc_how or "getprop ro.soc.model"),
        Fact("cores", cores or None, "/sys/devices/system/cpu/cpu*/cpufreq, /proc/cpuinfo"),
        Fact("cpu_features", cpu.features or None, "/proc/cpuinfo"),
        *_gpu(found),
        Fact("memory_bytes", memory.get("MemTotal"), "/proc/meminfo MemTotal"),
        Fact("memory_available_bytes", memory.get("MemAvailable"), "/proc/meminfo MemAvailable"),
        Fact("storage_bytes", storage and storage.total_bytes, "df -k /data/local/tmp"),
        Fact("storage_free_bytes", storage and storage.free_bytes, "df -k /data/local/tmp"),
        Fact("task_profile", _profile(found), f"settaskprofile $$ {HIGHEST}"),
        Fact("kernel", found.get("kernel", "").strip() or None, "uname -r"),
        *_condition_facts(found),
    ]
    return PhoneFacts({fact.name: fact for fact in facts})


def cpu_label(facts: PhoneFacts) -> str | None:
    """Processor in a few words: name, clusters from the fastest, features that matter; ``None`` when unknown."""
    groups: dict[int, list[facts_text.Core]] = {}
    for core in facts.cores:
        groups.setdefault(core.cluster, []).append(core)
    clusters = []
    for _, members in sorted(groups.items(), reverse=True):
        mhz, part = members[0].max_mhz, members[0].part
        named = [part or "cores", "" if mhz is None else f"{mhz / 1e3:.2f} GHz"]
        clusters.append(f"{len(members)}x {' '.join(filter(None, named))}")
    features = [name for name in _WORTH_NAMING if name in (facts.value("cpu_features") or ())]
    parts = [facts.value("soc"), ", ".join(clusters), " ".join(features)]
    return "; ".join(filter(None, parts)) or None


def _identity(properties: Mapping[str, str]) -> list[Fact]:
    def first(name: str, *keys: str) -> Fact:
        for key in keys:
            if properties.get(key):
                return Fact(name, properties[key], f"getprop {key}")
        return Fact(name, None, f"getprop {keys[0]}")

    api = first("api_level", "ro.build.version.sdk")
    number = int(api.value) if api.value and api.value.isdecimal() else None
    abis = first("abis", "ro.product.cpu.abilist", "ro.product.cpu.abi")
    marked = properties.get("ro.as2d.virtual") == "1"
    return [
        Fact("virtual", marked if properties else None, "getprop ro.as2d.virtual"),
        first("serial", "ro.serialno", "ro.boot.serialno"),
        first("maker", "ro.product.manufacturer", "ro.product.brand"),
        first("model", "ro.product.model", "ro.product.vendor.model"),
        first("name", "ro.product.marketname", "ro.product.vendor.marketname", "ro.config.marketing_name"),
        first("android", "ro.build.version.release"),
        Fact("api_level", number, api.how),
        first("security_patch", "ro.build.version.security_patch"),
        first("build", "ro.build.version.incremental", "ro.build.display.id"),
        Fact("abis", tuple(abis.value.split(",")) if abis.value else None, abis.how),
    ]


def _profile(found: Mapping[str, str]) -> str | bool | None:
    """The highest task profile, if a shell process may ask for it; ``False`` when it was asked for in vain."""
    if "profile" not in found:
        return None
    return HIGHEST if APPLIED in found["profile"] else False


def _gpu(found: Mapping[str, str]) -> list[Fact]:
    gpu = facts_text.parse_gpu(found.get("gles", ""))
    kgsl = found.get("kgsl", "").strip() or None
    version, library = facts_text.parse_opencl(found.get("opencl", ""))
    how = "dumpsys SurfaceFlinger, line GLES"
    from_kgsl = gpu.name is None and kgsl is not None
    return [
        Fact("gpu", gpu.name or kgsl, "/sys/class/kgsl/kgsl-3d0/gpu_model" if from_kgsl else how),
        Fact("gpu_driver", gpu.driver, how),
        Fact("opengl", gpu.opengl, how),
        Fact("opencl", version, f"text in {library}" if library else "libraries below /vendor/lib64"),
        Fact("opencl_library", library, "ls"),
    ]


def _condition_facts(found: Mapping[str, str]) -> list[Fact]:
    battery = parse_battery(found.get("battery", ""))
    thermal = parse_thermal(found.get("thermal", ""))
    facts = [
        Fact("online", parse_cores(found.get("online", "")), "/sys/devices/system/cpu/online"),
        Fact("battery_percent", battery.level_percent, "dumpsys battery"),
        Fact("battery_status", battery.status, "dumpsys battery"),
        Fact("plugged", battery.plugged, "dumpsys battery"),
        Fact("battery_temperature_c", battery.temperature_c, "dumpsys battery"),
        Fact("battery_voltage_mv", battery.voltage_mv, "dumpsys battery"),
        Fact("thermal_status", thermal.status, "dumpsys thermalservice"),
        Fact("screen_on", parse_screen(found.get("screen", "")), "dumpsys power"),
    ]
    if battery.frozen:
        facts.append(Fact("battery_frozen", True, "dumpsys battery"))
    temperatures = thermal.temperatures_c or _zones(found.get("zones", ""))
    how = "dumpsys thermalservice" if thermal.temperatures_c else "/sys/class/thermal"
    if "zones" in found or thermal.temperatures_c:
        facts.append(Fact("temperatures_c", temperatures or None, how))
    if "possible" in found:
        facts.append(Fact("possible", parse_cores(found["possible"]), "/sys/devices/system/cpu/possible"))
    return facts


def _zones(text: str) -> tuple[tuple[str, float], ...]:
    """Thermal zones in °C; kernels report millidegrees, some vendors degrees."""
    found: list[tuple[str, float]] = []
    for line in text.splitlines():
        name, _, raw = line.partition("|")
        if not re.fullmatch(r"-?\d+", raw.strip()):
            continue
        value = int(raw)
        celsius = plausible_temperature(value / 1e3 if abs(value) >= 1000 else float(value))
        if name and celsius is not None:
            found.append((name, celsius))
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, facts_text.Core):
        return {"core": value.number, "cluster": value.cluster, "max_mhz": value.max_mhz, "part": value.part}
    return value
