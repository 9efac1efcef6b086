"""Is a phone ready to run requests? Looked at in one round trip; whatever is missing comes with what to do."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from as2d_core.errors import ModelError
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.servers import AdbServer
from device_bridge.errors import DeviceError, UnauthorizedError
from device_bridge.setup.checks import Check, Readiness, Remedy, State
from device_bridge.setup.chosen import ASK_CHOSEN, NativeRunner, chosen_of
from device_bridge.setup.wanted import SPARE_BYTES, Wanted, check_fits

SET_UP_FIX = "Set the phone up, here or with: as2d phone setup"
TITLES = {
    "server": "adb server",
    "phone": "Phone",
    "authorisation": "Authorisation",
    "processor": "Processor",
    "storage": "Room",
    "memory": "Memory",
    "runtime": "Python and MNN",
    "core": "as2d_core",
    "native": "Native runner",
    "model": "Model",
}
_CONTENT = ("processor", "storage", "memory", "runtime", "core")
LOOK_S = 15.0
_LOOK = f"""
getprop ro.product.cpu.abilist
stat -f -c '%a %S' /data/local/tmp
grep MemAvailable: /proc/meminfo || echo
{ASK_CHOSEN}for folder in "$@"; do cat "$folder/.complete" 2> /dev/null || printf '{{}}'; echo; done
"""


def check_readiness(phone: AdbPhone, wanted: Wanted, name: str = "the phone") -> Readiness:
    """All checks, none of which changes anything or takes long. Never raises for what is wrong with a phone.

    Args:
        name: what a person calls the phone.
    """
    checks = _connection(phone)
    known: dict[str, Any] | None = None
    if all(check.ok for check in checks):
        try:
            known = look(phone, wanted)
        except DeviceError as error:
            checks.append(from_error("processor", error))
    if known is None:
        tried = {check.key for check in checks}
        checks += [not_tried(key) for key in _CONTENT if key not in tried]
        checks += [not_tried("model", f"Model {info.name}") for info in wanted.models]
        return Readiness(phone.id, tuple(checks))
    marks = known["marks"]
    return Readiness(
        phone.id,
        (*checks, *_content(known, wanted, name)),
        _python_bytes(marks, wanted),
        _model_bytes(marks, wanted),
        () if known["native"] is None else known["native"].backends,
    )


def look(phone: AdbPhone, wanted: Wanted) -> dict[str, Any]:
    """What is on the phone: ``abis``, ``free_bytes``, ``available_bytes``, ``native`` and ``marks`` by folder.

    ``native`` is the native runner that it uses, or ``None``.

    Raises:
        DeviceError: it cannot be asked.
    """
    folders = [f for f in (wanted.runtime_folder, wanted.core_folder, *wanted.model_folders) if f]
    lines = phone.script(_LOOK, *folders, timeout_s=LOOK_S, what="looking").text.split("\n")
    lines += [""] * (5 + len(folders))
    known: dict[str, Any] = {"abis": lines[0].strip(), "free_bytes": None, "available_bytes": None, "marks": {}}
    known["native"] = chosen_of(lines[3:5])
    with suppress(ValueError):
        blocks, block = lines[1].split()
        known["free_bytes"] = int(blocks) * int(block)
    with suppress(ValueError, IndexError):
        known["available_bytes"] = int(lines[2].split()[1]) * 1024
    for folder, line in zip(folders, lines[5:], strict=False):
        with suppress(ValueError):
            known["marks"][folder] = json.loads(line)
    return known


def ok(key: str, found: str, title: str = "") -> Check:
    """A tick."""
    return Check(key, title or TITLES[key], State.OK, found)


def wrong(key: str, found: str, fix: str, remedy: Remedy = Remedy.NONE, title: str = "") -> Check:
    """What is wrong, and what to do."""
    return Check(key, title or TITLES[key], State.WRONG, found, fix, remedy)


def from_error(key: str, error: Exception, title: str = "", remedy: Remedy = Remedy.NONE) -> Check:
    """An error as a check; its hint is what to do."""
    hint = error.hint if isinstance(error, DeviceError) else ""
    return wrong(key, str(error).removesuffix(hint).strip(), hint, remedy, title)


def not_tried(key: str, title: str = "") -> Check:
    """Something that an earlier failure leaves open."""
    return Check(key, title or TITLES[key], State.NOT_TRIED, "Not tried, because of what is wrong above.")


def server_check(server: AdbServer) -> Check:
    """Whether an adb server answers."""
    try:
        return ok("server", f"The adb server at {server} answers (version {server.version()}).")
    except DeviceError as error:
        return from_error("server", error, remedy=Remedy.START_SERVER if server.is_local else Remedy.NONE)


def _connection(phone: AdbPhone) -> list[Check]:
    """Server, phone, authorisation."""
    checks = [server_check(phone.server)]
    try:
        entries = {entry.serial: entry for entry in phone.server.phones()} if checks[0].ok else {}
    except DeviceError as error:
        return [*checks, from_error("phone", error), not_tried("authorisation")]
    if not checks[0].ok:
        return [*checks, not_tried("phone"), not_tried("authorisation")]
    entry = entries.get(phone.serial)
    if entry is None:
        gone = f"The adb server at {phone.server} does not know {phone.serial} now."
        return [*checks, wrong("phone", gone, "Plug it in, or connect it."), not_tried("authorisation")]
    problem = entry.problem()
    if isinstance(problem, UnauthorizedError):
        return [*checks, ok("phone", f"{entry.name} is connected."), from_error("authorisation", problem)]
    if problem is not None:
        return [*checks, from_error("phone", problem), not_tried("authorisation")]
    trusts = "The phone trusts this computer."
    return [*checks, ok("phone", f"{entry.name} is connected."), ok("authorisation", trusts)]


def _content(known: dict[str, Any], wanted: Wanted, name: str) -> Iterator[Check]:
    """What is on the phone."""
    yield _processor(known["abis"])
    native: NativeRunner | None = known["native"]
    program = _python(known["marks"], wanted) if native is None else [_native(native)]
    placed = [*program, *_models(known["marks"], wanted)]
    yield _storage(known["free_bytes"], wanted, placed)
    yield _memory(known["available_bytes"], wanted, name)
    yield from placed


def _holds(marks: dict[str, Any], folder: str | None, key: str, value: str) -> bool:
    return folder is not None and marks.get(folder, {}).get(key) == value


def _python_bytes(marks: dict[str, Any], wanted: Wanted) -> int | None:
    if wanted.runtime is None:
        return None
    parts = ((wanted.runtime, wanted.runtime_folder), (wanted.core, wanted.core_folder))
    return sum(
        part.archive_bytes for part, folder in parts
        if not _holds(marks, folder, "archive_sha256", part.archive_sha256)
    )  # fmt: skip


def _model_bytes(marks: dict[str, Any], wanted: Wanted) -> int:
    pairs = zip(wanted.models, wanted.model_folders, strict=True)
    return sum(info.size_bytes for info, folder in pairs if not _holds(marks, folder, "sha256", info.sha256))


def _processor(abis: str) -> Check:
    if "arm64-v8a" in abis.split(","):
        return ok("processor", "A 64-bit ARM processor (arm64-v8a).")
    return wrong(
        "processor", f"Its processor runs {abis or 'something unknown'}, and what we have is for arm64-v8a.",
        "Use a phone with a 64-bit ARM processor.",
    )  # fmt: skip


def _native(native: NativeRunner) -> Check:
    if native.backends:
        return ok("native", f"The phone uses {native.title}.")
    return wrong(
        "native", f"The phone uses {native.title}, which runs scripted requests only.",
        "Set it up with a runner that holds MNN, or with Python: as2d phone setup", Remedy.SET_UP,
    )  # fmt: skip


def _python(marks: dict[str, Any], wanted: Wanted) -> list[Check]:
    checks = []
    runtime, folder = wanted.runtime, wanted.runtime_folder
    if runtime is None or folder is None:
        missing = "No Python for phones has been built on this computer yet."
        checks.append(wrong("runtime", missing, SET_UP_FIX, Remedy.SET_UP))
    elif marks.get(folder, {}).get("archive_sha256") == runtime.archive_sha256:
        said = (
            f"Python {runtime.versions.get('python')} and MNN {runtime.versions.get('mnn')} are there ({runtime.id})."
        )
        checks.append(ok("runtime", said))
    else:
        checks.append(wrong("runtime", f"Python and MNN are not there yet ({runtime.id}).", SET_UP_FIX, Remedy.SET_UP))
    core = wanted.core
    if marks.get(wanted.core_folder, {}).get("archive_sha256") == core.archive_sha256:
        checks.append(ok("core", f"The version of this program is there ({core.id})."))
    else:
        gone = f"The version of this program is not there yet ({core.id})."
        checks.append(wrong("core", gone, SET_UP_FIX, Remedy.SET_UP))
    return checks


def _models(marks: dict[str, Any], wanted: Wanted) -> list[Check]:
    checks = []
    for info, place in zip(wanted.models, wanted.model_folders, strict=True):
        title = f"Model {info.name}"
        if marks.get(place, {}).get("sha256") == info.sha256:
            checks.append(ok("model", f"On the phone ({info.size_bytes / 1e6:,.1f} MB).", title))
        else:
            checks.append(wrong("model", "Not on the phone yet.", SET_UP_FIX, Remedy.SET_UP, title))
    return checks


def _storage(free_bytes: int | None, wanted: Wanted, placed: list[Check]) -> Check:
    if free_bytes is None:
        return wrong("storage", "The phone does not say how much room it has.", "Start it again.")
    missing = {check.title for check in placed if not check.ok}
    need = SPARE_BYTES + sum(info.size_bytes for info in wanted.models if f"Model {info.name}" in missing)
    if wanted.runtime is not None and TITLES["runtime"] in missing:
        need += wanted.runtime.archive_bytes + wanted.runtime.unpacked_bytes
    if free_bytes < need:
        short = f"{free_bytes / 1e6:,.0f} MB are free, and {need / 1e6:,.0f} MB are needed."
        return wrong("storage", short, "Remove something, or earlier versions: as2d phone clean", Remedy.CLEAN)
    return ok("storage", f"{free_bytes / 1e9:,.1f} GB are free.")


def _memory(available_bytes: int | None, wanted: Wanted, name: str) -> Check:
    try:
        check_fits(wanted, available_bytes, name)
    except ModelError as error:
        said, _, fix = str(error).partition("; ")
        return wrong("memory", f"{said}.", f"{fix[:1].upper()}{fix[1:]}")
    if available_bytes is None:
        return ok("memory", "The phone does not say how much memory it has available.")
    need = f", and the models need about {wanted.memory_bytes / 1e9:.1f} GB" if wanted.models else ""
    return ok("memory", f"{available_bytes / 1e9:.1f} GB are available{need}.")
