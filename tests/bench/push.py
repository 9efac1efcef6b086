"""How fast does a file get to a phone, beside ``adb push`` of the same file? Both in turns, in one run.

The phone is a virtual one behind the real adb server. Phone, server and both programs share the processors of this
computer: without a limit of the link it is processor time that is compared, which a phone has of its own.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from device_bridge.adb.servers import adb_program
from device_bridge.adb.transfer import push_file
from device_bridge.virtual_phone import VirtualPhone
from tests.virtual_phones import OwnAdbServer, Phones

MEGABYTES = 128
PAIRS = 5
LINKS = {"USB 2 (40 MB/s)": 40_000_000.0, "USB 3 (200 MB/s)": 200_000_000.0, "no limit": 0.0}
WANTED = 0.9
WORK = "/data/local/tmp"
LONGEST_S = 300.0


def measure_push(say: Callable[[str], None]) -> dict[str, Any]:
    """Medians of seconds, and of processor seconds of everything together, for each link and program."""
    found: dict[str, Any] = {"megabytes": MEGABYTES, "pairs": PAIRS, "links": {}}
    with tempfile.TemporaryDirectory(prefix="as2d-bench-") as name:
        folder = Path(name)
        local = folder / "file"
        local.write_bytes(os.urandom(MEGABYTES * 1_000_000))
        own = OwnAdbServer(folder)
        phones = Phones(own.server, folder)
        try:
            phone = phones("k70", storage_mb=4 * MEGABYTES)
            for link, bytes_per_s in LINKS.items():
                say(f"Pushing {MEGABYTES} MB, {link}")
                phone.fault("slow", bytes_per_s=bytes_per_s)
                found["links"][link] = _link(phone, local)
        finally:
            phones.close()
            own.stop()
    return found


def render_push(found: Mapping[str, Any]) -> str:
    """The figures as text for a terminal."""
    lines = [f"{found['megabytes']} MB to a virtual phone, medians of {found['pairs']} pairs in turns:"]
    for link, one in found["links"].items():
        lines.append(
            f"  {link}: adb push {one['adb_s']:.2f} s ({one['adb_cpu_s']:.2f} s of processor time), "
            f"ours {one['ours_s']:.2f} s ({one['ours_cpu_s']:.2f} s): "
            f"{one['ratio']:.2f} of the speed of adb push, {WANTED} is wanted"
        )
    return "\n".join(lines)


def _link(phone: VirtualPhone, local: Path) -> dict[str, float]:
    push = [adb_program(), "-P", str(phone.server.port), "-s", phone.serial, "push", str(local), f"{WORK}/other"]
    ways: dict[str, Callable[[], object]] = {
        "adb": lambda: subprocess.run(push, check=True, capture_output=True, timeout=LONGEST_S),
        "ours": lambda: push_file(phone.phone, local, f"{WORK}/file"),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(PAIRS):
        for name in reversed(ways) if turn % 2 else ways:
            phone.phone.script("rm -rf /data/local/tmp/*")
            before, began = _cpu_s(), time.monotonic()
            ways[name]()
            times[name].append(time.monotonic() - began)
            spent[name].append(_cpu_s() - before)
    seconds = {name: statistics.median(values) for name, values in times.items()}
    cpu = {name: statistics.median(values) for name, values in spent.items()}
    return {
        "adb_s": seconds["adb"],
        "ours_s": seconds["ours"],
        "ratio": seconds["adb"] / seconds["ours"],
        "adb_cpu_s": cpu["adb"],
        "ours_cpu_s": cpu["ours"],
    }


def _cpu_s() -> float:
    """Processor seconds of this process, of what it has started, and of what those have started and seen end."""
    spent = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # one that ends just now is counted with its parent
            times = process.cpu_times()
            spent += times.user + times.system + times.children_user + times.children_system
    return spent
