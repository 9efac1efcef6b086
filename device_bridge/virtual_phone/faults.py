"""What can go wrong with a phone on demand? Each fault by name, with the values it takes."""

import asyncio
import errno
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from device_bridge.virtual_phone.files import BATTERY, CPU, WORK, battery_text, get, put, thermal_text
from device_bridge.virtual_phone.isolation import remount_work
from device_bridge.virtual_phone.presets import Preset
from device_bridge.virtual_phone.programs import PROFILE_DENIED, program_texts

FAULTS: dict[str, str] = {
    "drop": "s=SECONDS: pull the plug, and put it back after so many seconds (without s: leave it out)",
    "plug": "put the plug back",
    "wifi": "the phone is connected a second time, over the air",
    "wifi-off": "it is not",
    "cable": "s=SECONDS: pull the cable alone, see wifi; what is over the air stays (without s: leave it out)",
    "freeze": "s=SECONDS: the phone answers nothing (without s: until thaw)",
    "thaw": "it answers again",
    "slow": "bytes_per_s=N: a slow connection; 0 for a fast one",
    "unauthorized": "the phone asks whether to trust this computer, and nobody answers",
    "authorize": "somebody says yes",
    "offline": "the phone is seen but does not answer, until online",
    "online": "it answers again",
    "disk-full": "free_bytes=N: so much room is left in the work folder (default 0)",
    "disk-free": "the room is back",
    "read-only": "nothing can be written to the work folder",
    "noexec": "nothing can be executed from the work folder",
    "remount": "the work folder can be written to and executed from again",
    "low-memory-kill": "the largest process is killed, as Android does when memory runs out",
    "clock-drop": "khz=N: the ceiling and the current frequency of all cores fall",
    "clock-restore": "frequencies are as they were",
    "core-offline": "core=N",
    "core-online": "core=N",
    "charging": "the battery is being charged",
    "discharging": "it is not",
    "current-sign": "the sign of the battery current is flipped",
    "temperature": "celsius=T: of the battery",
    "thermal-status": "status=0..6",
    "sysfs-denied": "readings of battery, temperature and frequency are refused",
    "sysfs-allowed": "they are readable again",
    "task-profile-denied": "no shell process may ask for a task profile",
    "task-profile-missing": "there is no program to ask with, as on old phones",
    "task-profile-allowed": "one may be asked for again",
    "adbd-restart": "s=SECONDS: the phone's adb daemon starts again, which drops every command (default 0.5)",
    "reboot": "s=SECONDS: everything that runs on the phone ends, and it is away so long (default 1)",
    "set": "path=P value=V: write any file of the phone",
    "power-off": "the virtual phone ends",
}
_DENIED = (BATTERY, "/sys/class/thermal", f"{CPU}/cpu0/cpufreq", f"{CPU}/cpu7/cpufreq")
_FILLER = "/data/local/tmp/.filler"
_FILL_STEPS = (1 << 20, 1 << 16, 1 << 12)


class Controlled(Protocol):
    """What faults act on."""

    root: Path
    preset: Preset
    jailed: bool
    auth: str
    thawed: asyncio.Event
    bytes_per_s: float

    async def unplug(self, *, air: bool = True) -> None: ...
    async def wifi(self, *, on: bool) -> None: ...
    async def plug(self) -> None: ...
    def descendants(self) -> Mapping[int, int]: ...
    def end_processes(self) -> None: ...
    def later(self, seconds: float, action: Callable[[], Any]) -> None: ...


class RefusedError(Exception):
    """The fault cannot be had on this phone; the text says why."""


async def inflict(phone: Controlled, name: str, values: Mapping[str, Any]) -> None:
    """Let one fault happen, or end it.

    Raises:
        RefusedError: it is unknown, or cannot be had here.
        KeyError, ValueError: a value is missing or is none.
    """
    if name not in FAULTS:
        raise RefusedError("there is no such fault")
    seconds = float(values["s"]) if "s" in values else None
    if name in {"wifi", "wifi-off"}:
        await phone.wifi(on=name == "wifi")
    elif name in {"drop", "adbd-restart", "reboot", "cable"}:
        if name == "reboot":
            phone.end_processes()
        await phone.unplug(air=name != "cable")
        away_s = seconds if seconds is not None else {"adbd-restart": 0.5, "reboot": 1.0}.get(name)
        if away_s is not None:
            phone.later(away_s, phone.plug)
    elif name == "plug":
        await phone.plug()
    elif name == "freeze":
        phone.thawed.clear()
        if seconds is not None:
            phone.later(seconds, phone.thawed.set)
    elif name == "thaw":
        phone.thawed.set()
    elif name == "slow":
        phone.bytes_per_s = float(values["bytes_per_s"])
    elif name in {"unauthorized", "offline", "authorize", "online"}:
        await phone.unplug()
        phone.auth = {"unauthorized": "ask", "offline": "silent"}.get(name, "trusted")
        if name == "offline":
            phone.later(0.0, phone.plug)  # the server waits for an answer that does not come
        else:
            await phone.plug()
    else:
        _on_the_phone(phone, name, values)


def _on_the_phone(phone: Controlled, name: str, values: Mapping[str, Any]) -> None:
    if name in {"disk-full", "disk-free"}:
        _fill(phone, int(values.get("free_bytes", 0)) if name == "disk-full" else None)
    elif name in {"read-only", "noexec", "remount"}:
        _remount(phone, name)
    elif name == "low-memory-kill":
        _kill_largest(phone)
    elif name in {"clock-drop", "clock-restore"}:
        _clocks(phone, int(values["khz"]) if name == "clock-drop" else None)
    elif name in {"core-offline", "core-online"}:
        _switch_core(phone, int(values["core"]), online=name == "core-online")
    elif name in {"charging", "discharging"}:
        _charge(phone, charging=name == "charging")
    elif name == "current-sign":
        put(phone.root, f"{BATTERY}/current_now", f"{-int(get(phone.root, f'{BATTERY}/current_now'))}\n")
    elif name == "temperature":
        put(phone.root, f"{BATTERY}/temp", f"{round(float(values['celsius']) * 10)}\n")
        _write_battery(phone)
    elif name == "thermal-status":
        put(phone.root, "/system/dumpsys/thermalservice.txt", thermal_text(int(values["status"])))
    elif name in {"sysfs-denied", "sysfs-allowed"}:
        for path in _DENIED:
            place = phone.root / path.lstrip("/")
            if place.is_dir():
                place.chmod(0o000 if name == "sysfs-denied" else 0o755)
    elif name.startswith("task-profile-"):
        _task_profile(phone, name.rpartition("-")[2])
    elif name == "set":
        put(phone.root, str(values["path"]), str(values["value"]))
    elif name == "power-off":
        phone.later(0.05, lambda: os._exit(0))


def _task_profile(phone: Controlled, how: str) -> None:
    texts = program_texts("" if phone.jailed else str(phone.root))
    text = PROFILE_DENIED if how == "denied" else texts["settaskprofile"]
    put(phone.root, "/system/bin/settaskprofile", text, 0o644 if how == "missing" else 0o755)


def _fill(phone: Controlled, free_bytes: int | None) -> None:
    """Fill the work folder with a file of real blocks, or remove that file."""
    filler = phone.root / _FILLER.lstrip("/")
    filler.unlink(missing_ok=True)
    if free_bytes is None:
        return
    if not phone.jailed or not _is_bounded(phone):
        raise RefusedError("a full disk needs a jailed phone with a work folder of a fixed size (storage_mb)")
    with filler.open("wb") as file:
        size = 0
        for step in _FILL_STEPS:  # somebody else may be writing: take what there is, in ever smaller pieces
            found = os.statvfs(filler.parent)
            while found.f_bavail * found.f_frsize - step >= free_bytes:
                try:
                    os.posix_fallocate(file.fileno(), size, step)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    break
                size += step
                found = os.statvfs(filler.parent)


def _is_bounded(phone: Controlled) -> bool:
    work = os.stat(f"{phone.root}{WORK}" if str(phone.root) != "/" else WORK)  # noqa: PTH116 - compared below
    return work.st_dev != os.stat(phone.root).st_dev  # noqa: PTH116


def _remount(phone: Controlled, name: str) -> None:
    if not phone.jailed:
        raise RefusedError("this needs a jailed phone: the host forbids mounts")
    try:
        remount_work(read_only=name == "read-only", no_exec=name == "noexec")
    except OSError as error:
        raise RefusedError(f"the work folder is in use ({error.strerror})") from error


def _kill_largest(phone: Controlled) -> None:
    sizes = phone.descendants()
    if not sizes:
        raise RefusedError("nothing runs on the phone")
    os.kill(max(sizes, key=lambda pid: sizes[pid]), signal.SIGKILL)


def _clocks(phone: Controlled, khz: int | None) -> None:
    for cluster in phone.preset.clusters:
        for core in range(cluster.first, cluster.last + 1):
            value = cluster.max_khz if khz is None else min(khz, cluster.max_khz)
            for name in ("scaling_max_freq", "scaling_cur_freq"):
                put(phone.root, f"{CPU}/cpu{core}/cpufreq/{name}", f"{value}\n")


def _switch_core(phone: Controlled, core: int, *, online: bool) -> None:
    put(phone.root, f"{CPU}/cpu{core}/online", f"{int(online)}\n")
    cores = range(phone.preset.clusters[-1].last + 1)
    up = [n for n in cores if get(phone.root, f"{CPU}/cpu{n}/online").strip() == "1"]
    put(phone.root, f"{CPU}/online", _ranges(up) + "\n")


def _ranges(numbers: list[int]) -> str:
    """Numbers as the kernel lists them: ``0-3,5``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _charge(phone: Controlled, *, charging: bool) -> None:
    put(phone.root, f"{BATTERY}/status", "Charging\n" if charging else "Discharging\n")
    magnitude = phone.preset.current_ua
    put(phone.root, f"{BATTERY}/current_now", f"{-magnitude if charging else magnitude}\n")
    _write_battery(phone)


def _write_battery(phone: Controlled) -> None:
    def value(name: str) -> int:
        return int(get(phone.root, f"{BATTERY}/{name}"))

    text = battery_text({
        "charging": get(phone.root, f"{BATTERY}/status").strip() == "Charging",
        "charge_counter": value("charge_counter"),
        "level": value("capacity"),
        "voltage": value("voltage_now") // 1000,
        "temperature": value("temp"),
    })  # fmt: skip
    put(phone.root, "/system/dumpsys/battery.txt", text)
