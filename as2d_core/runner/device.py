"""What is this device? Facts for the run header; what cannot be read is left out, never guessed."""

import hashlib
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

from as2d_core.runner.placement import TASK_PROFILE_VARIABLE
from as2d_core.runner.sensors import ask_system

VIRTUAL_SUFFIX = " (virtual)"
"""Ends the name of a virtual phone wherever its runs are listed."""
UNIT_DIGITS = 12


@cache
def device_facts() -> dict[str, Any]:
    """Facts about the machine the runner is on."""
    facts: dict[str, Any] = {
        "name": "This computer",
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpu": cpu_name(),
        "logical_cores": os.cpu_count(),
    }
    with suppress(ImportError, OSError):
        import psutil

        facts["ram_bytes"] = psutil.virtual_memory().total
    facts |= _android_facts()
    facts |= _task_profile()
    return {k: v for k, v in facts.items() if v not in (None, "")}


def android_facts(properties: Mapping[str, str]) -> dict[str, Any]:
    """What a phone's properties say for the header of its runs; a virtual phone says so in its name, too."""
    model = properties.get("ro.product.model")
    if not model:
        return {}
    virtual = properties.get("ro.as2d.virtual") == "1"
    name = properties.get("ro.product.marketname") or model
    api = properties.get("ro.build.version.sdk", "")
    soc = [properties.get("ro.soc.manufacturer"), properties.get("ro.soc.model")]
    return {
        "name": f"{name}{VIRTUAL_SUFFIX}" if virtual else name,
        "model": model,
        "maker": properties.get("ro.product.manufacturer"),
        "system": "Android",
        "release": properties.get("ro.build.version.release"),
        "api_level": int(api) if api.isdecimal() else None,
        "security_patch": properties.get("ro.build.version.security_patch"),
        "soc": " ".join(filter(None, soc)),
        "unit": unit_of(properties.get("ro.serialno") or properties.get("ro.boot.serialno")),
        "virtual": virtual or None,
    }


def unit_of(serial: str | None) -> str | None:
    """Which one of all phones of its model: digits of a hash of its serial number, which records do not give away."""
    return hashlib.sha256(serial.encode("utf-8", "surrogateescape")).hexdigest()[:UNIT_DIGITS] if serial else None


def _android_facts() -> dict[str, Any]:
    """Empty on what is no phone."""
    names = ("ro.product.model", "ro.product.marketname", "ro.product.manufacturer", "ro.build.version.release")
    more = ("ro.build.version.sdk", "ro.build.version.security_patch", "ro.soc.manufacturer", "ro.soc.model")
    if which("getprop") is None:
        return {}
    asked = (*names, *more, "ro.serialno", "ro.boot.serialno", "ro.as2d.virtual")
    return android_facts({name: ask_system(["getprop", name]).strip() for name in asked})


def _task_profile() -> dict[str, Any]:
    """Under which task profile this process was started, and where the system has put it: what came of it."""
    profile = os.environ.get(TASK_PROFILE_VARIABLE)
    if not profile:
        return {}
    groups = ""
    with suppress(OSError):
        groups = " ".join(Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").split())[:400]
    return {"task_profile": profile, "cgroups": groups}


@cache
def cpu_name() -> str:
    """Model name of the processor, with its feature set where it decides which kernels run."""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Hardware"):
                features = next((x for x in text.splitlines() if x.startswith(("flags", "Features"))), "")
                known = [f for f in ("avx2", "avx512f", "avx512_vnni", "asimddp", "i8mm", "sve2") if f in features]
                return " ".join([value.strip(), *known])
    return platform.processor() or platform.machine()
