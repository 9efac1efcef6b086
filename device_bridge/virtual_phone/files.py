"""What lies on a virtual phone? Properties, processor, memory, thermal and battery files, as Android has them."""

import os
from collections.abc import Iterator
from pathlib import Path

from device_bridge.virtual_phone.presets import Cluster, Preset
from device_bridge.virtual_phone.programs import program_texts

WORK = "/data/local/tmp"
"""Where a shell user of a phone may write and execute."""
BATTERY = "/sys/class/power_supply/battery"
CPU = "/sys/devices/system/cpu"
_ZONES = (("cpu-0-0", 41_500), ("gpuss-0", 39_000), ("skin", 33_100), ("battery", 31_200))


def make_files(root: Path, preset: Preset, serial: str, prefix: str) -> None:
    """Write everything under ``root``; what a user has put into the work folder stays.

    Args:
        serial: of the hardware, not the address.
        prefix: what the phone's own programs put before absolute paths: empty inside a jail.
    """
    for folder in ("data/local/tmp", "system/bin", "vendor/bin", "sdcard", "tmp"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "data/local/tmp").chmod(0o771)
    for path, text in _texts(preset, serial):
        put(root, path, text)
    for name, text in program_texts(prefix).items():
        put(root, f"/system/bin/{name}", text, 0o755)
    shell = root / "system/bin/sh"
    if not os.path.lexists(shell):
        shell.symlink_to("/bin/sh")


def put(root: Path, path: str, text: str, mode: int = 0o644) -> None:
    """Write one file of the phone, whatever was there."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.chmod(0o644)
    place.write_text(text, encoding="utf-8")
    place.chmod(mode)


def get(root: Path, path: str) -> str:
    """Read one file of the phone."""
    return (root / path.lstrip("/")).read_text(encoding="utf-8")


def battery_text(values: dict[str, int | bool]) -> str:
    """What ``dumpsys battery`` prints.

    Args:
        values: ``charging``, ``charge_counter`` (µAh), ``level``, ``voltage`` (mV), ``temperature`` (0.1 °C).
    """
    charging = bool(values["charging"])
    return f"""Current Battery Service state:
  AC powered: false
  USB powered: {str(charging).lower()}
  Wireless powered: false
  Max charging current: {500_000 if charging else 0}
  Max charging voltage: {5_000_000 if charging else 0}
  Charge counter: {values["charge_counter"]}
  status: {2 if charging else 3}
  health: 2
  present: true
  level: {values["level"]}
  scale: 100
  voltage: {values["voltage"]}
  temperature: {values["temperature"]}
  technology: Li-poly
"""


def thermal_text(status: int) -> str:
    """What ``dumpsys thermalservice`` prints at a thermal status from 0 (none) to 6 (shutdown)."""
    readings = "".join(
        f"\tTemperature{{mValue={value}, mType={kind}, mName={name}, mStatus={status}}}\n"
        for name, kind, value in (("CPU0", 0, 41.5), ("skin", 3, 33.1), ("battery", 2, 31.2))
    )
    return (
        f"IsStatusOverride: false\nThermalEventListeners:\nThermalStatusListeners:\nThermal Status: {status}\n"
        f"Cached temperatures:\n{readings}HAL Ready: true\nHAL connection:\n"
        f"Current temperatures from HAL:\n{readings}"
    )


def properties(preset: Preset, serial: str) -> dict[str, str]:
    """``getprop`` of the phone. ``ro.as2d.virtual`` marks it as no real one."""
    return {
        "ro.product.model": preset.model,
        "ro.product.marketname": preset.name,
        "ro.product.name": preset.device,
        "ro.product.device": preset.device,
        "ro.product.manufacturer": "Xiaomi",
        "ro.product.brand": preset.name.partition(" ")[0],
        "ro.product.board": preset.platform,
        "ro.board.platform": preset.platform,
        "ro.hardware": "qcom",
        "ro.soc.manufacturer": "QTI",
        "ro.soc.model": preset.soc,
        "ro.product.cpu.abi": "arm64-v8a",
        "ro.product.cpu.abilist": "arm64-v8a",
        "ro.build.version.release": str(preset.android),
        "ro.build.version.sdk": str(preset.api),
        "ro.build.version.security_patch": "2025-06-01",
        "ro.build.fingerprint": f"as2d/virtual/{preset.device}:{preset.android}/virtual/1:user/release-keys",
        "ro.build.type": "user",
        "ro.debuggable": "0",
        "ro.serialno": serial,
        "ro.as2d.virtual": "1",
    }


def _texts(preset: Preset, serial: str) -> Iterator[tuple[str, str]]:
    yield "/system/build.prop", "".join(f"{k}={v}\n" for k, v in properties(preset, serial).items())
    yield "/system/proc/meminfo", _memory(preset)
    yield "/system/proc/cpuinfo", "".join(_cores(preset))
    yield "/sys/class/kgsl/kgsl-3d0/gpu_model", preset.gpu + "\n"
    state: dict[str, int | bool] = {
        "charging": False, "charge_counter": preset.charge_full_uah * 87 // 100, "level": 87, "voltage": 4231,
        "temperature": 312,
    }  # fmt: skip
    yield "/system/dumpsys/battery.txt", battery_text(state)
    yield "/system/dumpsys/thermalservice.txt", thermal_text(0)
    yield "/system/dumpsys/power.txt", "POWER MANAGER (dumpsys power)\n\n  mWakefulness=Awake\n  mStayOn=false\n"
    for name, value in {
        "current_now": preset.current_ua, "voltage_now": 4_231_000, "temp": 312, "capacity": 87,
        "type": "Battery", "status": "Discharging", "charge_counter": preset.charge_full_uah * 87 // 100,
        "charge_full": preset.charge_full_uah,
    }.items():  # fmt: skip
        yield f"{BATTERY}/{name}", f"{value}\n"
    for number, (name, millidegrees) in enumerate(_ZONES):
        yield f"/sys/class/thermal/thermal_zone{number}/type", name + "\n"
        yield f"/sys/class/thermal/thermal_zone{number}/temp", f"{millidegrees}\n"
    for cluster in preset.clusters:
        for core in range(cluster.first, cluster.last + 1):
            yield from _core_files(core, cluster)
    last = preset.clusters[-1].last
    for name in ("possible", "present", "online"):
        yield f"{CPU}/{name}", f"0-{last}\n"


def _core_files(core: int, cluster: Cluster) -> Iterator[tuple[str, str]]:
    folder = f"{CPU}/cpu{core}"
    yield f"{folder}/online", "1\n"
    for name, value in {
        "cpuinfo_max_freq": cluster.max_khz,
        "cpuinfo_min_freq": cluster.min_khz,
        "scaling_max_freq": cluster.max_khz,
        "scaling_min_freq": cluster.min_khz,
        "scaling_cur_freq": cluster.max_khz,
        "scaling_governor": "walt",
        "related_cpus": " ".join(str(n) for n in range(cluster.first, cluster.last + 1)),
    }.items():
        yield f"{folder}/cpufreq/{name}", f"{value}\n"


def _cores(preset: Preset) -> Iterator[str]:
    for cluster in preset.clusters:
        for core in range(cluster.first, cluster.last + 1):
            yield (
                f"processor\t: {core}\nBogoMIPS\t: 38.40\nFeatures\t: {preset.features}\nCPU implementer\t: 0x41\n"
                f"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {cluster.part}\nCPU revision\t: 0\n\n"
            )
    yield f"Hardware\t: Qualcomm Technologies, Inc {preset.soc}\n"


def _memory(preset: Preset) -> str:
    total = preset.memory_kb
    rows = {
        "MemTotal": total,
        "MemFree": total // 10,
        "MemAvailable": total * 11 // 20,
        "Buffers": 3_912,
        "Cached": total * 2 // 5,
        "SwapTotal": total // 2,
        "SwapFree": total // 2,
    }
    return "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in rows.items())
