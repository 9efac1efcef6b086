"""What is this device? Facts for the run header; what cannot be read is left out, never guessed."""

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


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
    return {k: v for k, v in facts.items() if v not in (None, "")}


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
