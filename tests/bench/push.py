"""How fast does a file get to a phone, beside ``adb push`` of the same file? Both in turns, in one run.

The phone is a virtual one behind the real adb server. Phone, server and both programs share the processors of this
computer: without a limit of the link it is processor time that is compared, which a phone has of its own. There
``adb push``, which compares no content, has a lead that nobody can take away who does: what SHA-256 on both sides costs
alone is measured beside it. What is hashed here already (models, programs, audio) is sent without being hashed again.
"""

import hashlib
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
from device_bridge.adb.transfer import push_file, remote_sha256
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
            say("SHA-256 alone, here and on the phone")
            found["hashing"] = _hashing(phone, local)
        finally:
            phones.close()
            own.stop()
    return found


def render_push(found: Mapping[str, Any]) -> str:
    """The figures as text for a terminal."""
    lines = [f"{found['megabytes']} MB to a virtual phone, medians of {found['pairs']} turns, all ways in each:"]
    for link, one in found["links"].items():
        lines += [
            f"  {link}: adb push {one['adb_s']:.2f} s ({one['adb_cpu_s']:.2f} s of processor time)",
            *(
                f"    {words} {one[f'{way}_s']:.2f} s ({one[f'{way}_cpu_s']:.2f} s): "
                f"{one[f'{way}_ratio']:.2f} of the speed of adb push, {WANTED} is wanted"
                for way, words in (("ours", "ours"), ("known", "ours, hashed here before"))
            ),
        ]
    here, there = found["hashing"]["here_cpu_s"], found["hashing"]["phone_cpu_s"]
    free = found["links"]["no limit"]["adb_cpu_s"]
    lines.append(
        f"  SHA-256 of the file alone takes {here:.2f} s of processor time here and {there:.2f} s on the phone: where "
        f"that is all that decides, nobody who compares content gets beyond {free / (free + here + there):.2f} of adb "
        f"push, or {free / (free + there):.2f} with what was hashed here before"
    )
    return "\n".join(lines)


def _link(phone: VirtualPhone, local: Path) -> dict[str, float]:
    push = [adb_program(), "-P", str(phone.server.port), "-s", phone.serial, "push", str(local), f"{WORK}/other"]
    known = hashlib.sha256(local.read_bytes()).hexdigest()
    ways: dict[str, Callable[[], object]] = {
        "adb": lambda: subprocess.run(push, check=True, capture_output=True, timeout=LONGEST_S),
        "ours": lambda: push_file(phone.phone, local, f"{WORK}/file"),
        "known": lambda: push_file(phone.phone, local, f"{WORK}/file", sha256=known),
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
    figures = {}
    for name in ways:
        figures[f"{name}_s"] = statistics.median(times[name])
        figures[f"{name}_cpu_s"] = statistics.median(spent[name])
        figures[f"{name}_ratio"] = figures["adb_s"] / figures[f"{name}_s"]
    return figures


def _hashing(phone: VirtualPhone, local: Path) -> dict[str, float]:
    """Medians of processor seconds for the content of the file alone, here and on the phone."""
    content = local.read_bytes()
    push_file(phone.phone, local, f"{WORK}/file")
    ways: dict[str, Callable[[], object]] = {
        "here_cpu_s": lambda: hashlib.sha256(content),
        "phone_cpu_s": lambda: remote_sha256(phone.phone, f"{WORK}/file"),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(PAIRS):
        for name, work in ways.items():
            before = _cpu_s()
            work()
            spent[name].append(_cpu_s() - before)
    return {name: statistics.median(values) for name, values in spent.items()}


def _cpu_s() -> float:
    """Processor seconds of this process, of what it has started, and of what those have started and seen end."""
    spent = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # one that ends just now is counted with its parent
            times = process.cpu_times()
            spent += times.user + times.system + times.children_user + times.children_system
    return spent
