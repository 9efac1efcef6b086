"""Every bundled window and method on the Python runner and on a native one, in turn."""

import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError
from as2d_core.models.demo_catalog import DRAFTER, LIGHT, demo_windows
from as2d_core.request import Request
from tests.bench.arms import Arm, request, rotated
from tests.bench.devices import Device, NativeDevice
from tests.bench.native_figures import Pair, native_figures

METHODS = (
    Arm("target-only", "target-only"),
    Arm("sd", "sd", width=5),
    Arm("specasr", "specasr", draft_cap=7),
    Arm("as2d", "as2d", budget=7),
)
DRAFTERS = (DRAFTER, LIGHT)
BLOCK = 16
"""Windows with one drafter before the other one is loaded."""


def measure_native(program: Path, windows: int, repetitions: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Run both runners on windows spread evenly over the bundled ones; 0 = all of them. Ctrl+C ends it early.

    Raises:
        RequestError: there is no such program, or not so many windows.
    """
    everything = list(demo_windows())
    if not program.is_file():
        raise RequestError(f"There is no native runner at {program}; build it with MNN and give its path.")
    if not 0 <= windows <= len(everything):
        raise RequestError(f"Choose 1 to {len(everything)} windows.")
    step = len(everything) / (windows or len(everything))
    chosen = [everything[int(i * step)] for i in range(windows or len(everything))]
    # Windows of every task early, so that what is broken off says something about all of them.
    blocks = [chosen[i :: -(-len(chosen) // BLOCK)] for i in range(-(-len(chosen) // BLOCK))]
    pairs: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    start, load = time.monotonic(), os.getloadavg()[0]
    python, native = Device(), NativeDevice(program.absolute())
    try:
        for done, (block, drafter) in enumerate(product(blocks, DRAFTERS), start=1):
            arms = [arm for arm in METHODS if drafter == DRAFTERS[0] or arm.method != "target-only"]
            for (number, window), repetition in product(enumerate(block), range(repetitions)):
                for arm in rotated(arms, number + repetition):
                    asked = request(arm, window, repetition, None, drafter)
                    asked = replace(asked, run_id=f"{drafter.name} {asked.run_id}")
                    order = (python, native) if (number + repetition) % 2 else (native, python)
                    found = {id(device): device.run(_with_widths(asked, device.widths)) for device in order}
                    key = ("" if arm.method == "target-only" else drafter.name, arm.method)
                    pairs[key].append((found[id(python)], found[id(native)]))
            say(f"{done} of {len(blocks) * len(DRAFTERS)} parts, {time.monotonic() - start:.0f} s")
    except KeyboardInterrupt:
        say("Broken off; the figures are of what was measured until now.")
    finally:
        python.close()
        native.close()
    return {**native_figures(pairs), "load": [load, os.getloadavg()[0]]}


def _with_widths(asked: Request, widths: tuple[int, ...] | None) -> Request:
    return replace(asked, target=replace(asked.target, exact_widths=widths))
