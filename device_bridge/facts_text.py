"""What do a phone's files and commands say about its hardware? Pure parsers; what is not said is ``None``."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from as2d_core.runner.android import parse_cores

_PROPERTY = re.compile(r"^\[([^\]]+)\]: \[(.*)$")
_ARM_PARTS = {
    "0xd03": "Cortex-A53",
    "0xd04": "Cortex-A35",
    "0xd05": "Cortex-A55",
    "0xd07": "Cortex-A57",
    "0xd08": "Cortex-A72",
    "0xd09": "Cortex-A73",
    "0xd0a": "Cortex-A75",
    "0xd0b": "Cortex-A76",
    "0xd0d": "Cortex-A77",
    "0xd41": "Cortex-A78",
    "0xd44": "Cortex-X1",
    "0xd46": "Cortex-A510",
    "0xd47": "Cortex-A710",
    "0xd48": "Cortex-X2",
    "0xd4d": "Cortex-A715",
    "0xd4e": "Cortex-X3",
    "0xd80": "Cortex-A520",
    "0xd81": "Cortex-A720",
    "0xd82": "Cortex-X4",
    "0xd85": "Cortex-X925",
    "0xd87": "Cortex-A725",
}
"""Part numbers of Arm Ltd (implementer 0x41) from their technical reference manuals (MIDR_EL1)."""
_QUALCOMM_PARTS = {
    "0x800": "Kryo 2xx Gold",
    "0x801": "Kryo 2xx Silver",
    "0x802": "Kryo 3xx Gold",
    "0x803": "Kryo 3xx Silver",
    "0x804": "Kryo 4xx Gold",
    "0x805": "Kryo 4xx Silver",
    "0x001": "Oryon",
}
"""Part numbers of Qualcomm (implementer 0x51) as the Linux kernel names them."""
_SOC_PROPERTIES = ("ro.soc.model", "ro.vendor.qti.soc_model", "ro.hardware.chipname", "ro.chipname")
_BOARD_PROPERTIES = ("ro.board.platform", "ro.mediatek.platform", "ro.hardware")


@dataclass(frozen=True, slots=True)
class Core:
    """One core."""

    number: int
    cluster: int
    """Cores of one cluster share their clock; numbered from the slowest."""
    max_mhz: float | None
    part: str | None
    """Design, where its number is known; else the number."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """``/proc/cpuinfo``."""

    parts: Mapping[int, str]
    """Design by core; cores that were off-line when it was read are missing."""
    features: tuple[str, ...]
    hardware: str | None
    """The vendor's line ``Hardware``, which newer kernels leave out."""


@dataclass(frozen=True, slots=True)
class Storage:
    """``df`` of one folder."""

    total_bytes: int
    free_bytes: int


def parse_properties(text: str) -> dict[str, str]:
    """All properties of ``getprop``; a value may run over several lines."""
    found: dict[str, str] = {}
    name, value = "", ""
    for line in text.splitlines():
        start = _PROPERTY.match(line)
        if start:
            name, value = start.groups()
        elif name:
            value += "\n" + line
        if name and value.endswith("]"):
            found[name] = value[:-1]
            name = ""
    return found


def parse_cpuinfo(text: str) -> Cpu:
    """Designs, features and name of the processor."""
    parts: dict[int, str] = {}
    features: tuple[str, ...] = ()
    hardware: str | None = None
    core, implementer = 0, ""
    for line in text.splitlines():
        name, _, value = (piece.strip() for piece in line.partition(":"))
        if name == "processor" and value.isdecimal():
            core = int(value)
        elif name == "CPU implementer":
            implementer = value
        elif name == "CPU part":
            parts[core] = _part(implementer, value)
        elif name in ("Features", "flags") and not features:
            features = tuple(value.split())
        elif name == "Hardware":
            hardware = value or None
        elif name == "model name" and value:
            parts.setdefault(core, value)
    return Cpu(parts, features, hardware)


def parse_clusters(lines: Iterable[str], parts: Mapping[int, str]) -> tuple[Core, ...]:
    """Cores from lines ``<core>|<related cores>|<maximum kHz>``; unreadable fields are empty.

    ``related_cpus`` of the kernel holds spaces; a core without it is grouped by its maximum clock
    and its design, which is how clusters differ.
    """
    rows: dict[int, tuple[tuple[int, ...] | None, float | None]] = {}
    for line in lines:
        core, related, khz = (*line.split("|"), "", "")[:3]
        if not core.strip().isdecimal():
            continue
        sharing = parse_cores(",".join(related.split())) if related.strip() else None
        rows[int(core)] = (sharing, int(khz) / 1e3 if khz.strip().isdecimal() and int(khz) else None)
    groups: dict[object, list[int]] = defaultdict(list)
    for number, (group, mhz) in sorted(rows.items()):
        groups[group or (mhz, parts.get(number))].append(number)
    ordered = sorted(groups.values(), key=lambda members: (rows[members[0]][1] or 0.0, members[0]))
    cluster = {number: index for index, members in enumerate(ordered) for number in members}
    return tuple(Core(number, cluster[number], rows[number][1], parts.get(number)) for number in sorted(rows))


def parse_memory(text: str) -> dict[str, int]:
    """``/proc/meminfo`` in bytes."""
    found = re.findall(r"^(\w+):\s*(\d+) kB", text, re.MULTILINE)
    return {name: int(kilobytes) * 1024 for name, kilobytes in found}


def parse_storage(text: str) -> Storage | None:
    """``df -k`` of one folder: the last line, which older programs break behind a long device name."""
    words = " ".join(text.split("\n")[1:]).split()
    for at in range(len(words) - 3):
        if all(word.isdecimal() for word in words[at : at + 3]) and words[at + 3].endswith("%"):
            return Storage(int(words[at]) * 1024, int(words[at + 2]) * 1024)
    return None


@dataclass(frozen=True, slots=True)
class Gpu:
    """What draws the screen says about itself."""

    name: str | None = None
    driver: str | None = None
    opengl: str | None = None


def parse_gpu(text: str) -> Gpu:
    """GPU and driver from the ``GLES:`` line of ``dumpsys SurfaceFlinger``."""
    found = re.search(r"^\s*GLES:\s*(.+)$", text, re.MULTILINE)
    if not found:
        return Gpu()
    pieces = [piece.strip() for piece in found.group(1).split(",")]
    version = ", ".join(pieces[2:])
    driver = re.search(r"\bV@([\w.]+)|\bv\d+\.(r\d+p\d+[\w.-]*)|build ([\w.@]+)", version)
    opengl = re.search(r"OpenGL ES [\d.]+", version)
    name = pieces[1] if len(pieces) > 1 else pieces[0]
    return Gpu(
        name.replace("(TM)", "").replace("  ", " ").strip() or None,
        next((g for g in driver.groups() if g), None) if driver else None,
        opengl.group() if opengl else None,
    )


def parse_opencl(text: str) -> tuple[str | None, str | None]:
    """Version and path from lines ``<library>|<text of the library that names its version>``.

    Returns:
        The highest version any library names (``3.0``), and the library; ``None`` for what is not there.
    """
    best: tuple[tuple[int, int], str] | None = None
    path: str | None = None
    for line in text.splitlines():
        library, _, said = line.partition("|")
        if not library.startswith("/"):
            continue
        path = path or library
        for major, minor in re.findall(r"OpenCL (\d)\.(\d)", said):
            version = (int(major), int(minor))
            if best is None or version > best[0]:
                best = (version, library)
    if best is None:
        return None, path
    return f"{best[0][0]}.{best[0][1]}", best[1]


def soc_name(properties: Mapping[str, str], hardware: str | None) -> tuple[str | None, str]:
    """Name of the system on a chip and the property (or file) it was read from."""
    maker = properties.get("ro.soc.manufacturer", "")
    for name in _SOC_PROPERTIES:
        model = properties.get(name, "")
        if model and model.lower() != "unknown":
            return f"{maker} {model}".strip() if name == "ro.soc.model" else model, f"getprop {name}"
    if hardware:
        return hardware, "/proc/cpuinfo Hardware"
    for name in _BOARD_PROPERTIES:
        if properties.get(name):
            return properties[name], f"getprop {name}"
    return None, ""


def _part(implementer: str, part: str) -> str:
    known = {"0x41": _ARM_PARTS, "0x51": _QUALCOMM_PARTS}.get(implementer.lower(), {})
    return known.get(part.lower(), f"{implementer or '?'} {part}")
