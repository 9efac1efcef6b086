"""Which cores do the two models run on? Asked for, set where the system allows, and read back."""

import os
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from as2d_core.request import Placement

TASK_PROFILE_VARIABLE = "AS2D_TASK_PROFILE"
"""Set by whoever has started the runner under one of Android's task profiles, to its name."""


def allowed_cores() -> tuple[int, ...]:
    """Cores this process may use; empty where the system does not tell (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    with suppress(ImportError, AttributeError, OSError):
        import psutil

        return tuple(psutil.Process().cpu_affinity() or ())
    return ()


def choose(placement: Placement) -> Placement:
    """Fill in the cores that the request leaves open.

    The target gets the first physical core, the drafter the next one; hyper-threads of one core
    are not split between the two. With a single core both share it.
    """
    if placement.target_cores and placement.drafter_cores:
        return placement
    groups = _physical_cores(allowed_cores())
    if not groups:
        return placement
    need = max(1, placement.target_threads)
    target = placement.target_cores or tuple(g[0] for g in groups[:need])
    rest = [g[0] for g in groups if not set(g) & set(target)]
    drafter = placement.drafter_cores or tuple(rest[: max(1, placement.drafter_threads)]) or target
    return replace(placement, target_cores=target, drafter_cores=drafter)


def pool_of_target(placement: Placement) -> tuple[int, tuple[int, ...]] | None:
    """Number and cores of the threads that MNN starts for the target; ``None`` where it needs no pool of them.

    A process has one pool, with the size and on the cores of whoever asked first: who asks for other ones later gets
    fewer threads without a word, and on other cores, so that the target then needs another process.
    """
    if placement.backend != "cpu" or placement.target_threads < 2:
        return None
    return placement.target_threads, placement.target_cores


def pin(cores: tuple[int, ...], otherwise: tuple[int, ...] = ()) -> tuple[int, ...] | None:
    """Bind this process to ``cores`` if the system can; returns what it may use now, or ``None``.

    Where it cannot, the process goes to ``otherwise``: a drafter would stay on the core that it
    inherited from the target.
    """
    if cores and not _bind(cores) and otherwise:
        _bind(otherwise)
    return allowed_cores() or None


def _bind(cores: tuple[int, ...]) -> bool:
    try:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, cores)
        else:
            import psutil

            psutil.Process().cpu_affinity(list(cores))
    except (OSError, ValueError, OverflowError, AttributeError, ImportError):
        return False
    return True


def step_back() -> None:
    """Let this process not push a model from its core when it wakes up: it only relays."""
    _schedule("SCHED_BATCH")


def step_forward() -> None:
    """Undo an inherited ``step_back``: this process runs a model."""
    _schedule("SCHED_OTHER")


def _schedule(policy: str) -> None:
    with suppress(OSError, AttributeError):  # Linux only
        os.sched_setscheduler(0, getattr(os, policy), os.sched_param(0))


def _physical_cores(allowed: tuple[int, ...]) -> list[list[int]]:
    """Allowed logical cores grouped by physical core, fastest first where clocks differ."""
    groups: dict[str, list[int]] = defaultdict(list)
    for core in allowed:
        siblings = _read(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        groups[siblings or str(core)].append(core)
    return sorted(groups.values(), key=lambda g: (-_max_khz(g[0]), g[0]))


def _max_khz(core: int) -> int:
    text = _read(f"/sys/devices/system/cpu/cpu{core}/cpufreq/cpuinfo_max_freq")
    return int(text) if text.isdigit() else 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
