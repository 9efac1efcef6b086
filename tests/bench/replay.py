"""How fast is replay? The paper's whole catalog, the same in plain Python, and one cost that follows a slider.

Every figure is measured in one run on one core, in time on that core; those that depend on a fresh process come
from child processes and are wall time.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from as2d_core.profiles import Profile, load_profile
from as2d_core.replay import load_corpus, loops
from as2d_core.replay.grid import grid_inputs, replay_drafter, replay_grid
from as2d_core.replay.kernel import NO_BOUNDARIES, NO_TABLE
from as2d_core.replay.packing import PackedCorpus, pack
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet

PHONES = ("k70", "11pro", "mi14", "note9")
SEARCHED = {"k70": 24, "11pro": 14, "mi14": 14, "note9": 14}
"""Largest budget of each phone's search (D.4.3)."""
CATALOG = 94_540
"""Phone, window, drafter and budget combinations of the paper."""
SECOND, THIRD = "second", "third"
STAND_INS = {SECOND: 252, THIRD: 625}
"""Two further sources stand in for the paper's, on as many windows as make up its number of combinations."""
SKIPS_THIRD = "11pro"
COMPILED, ARRAYS, LISTS = "compiled", "plain on arrays", "plain on lists"
"""The same function: as machine code, as plain Python on the same input, and on lists, which plain Python prefers."""
PLAIN_WINDOWS = 20
REPETITIONS = 5
LIMITS = {
    "ns_per_round": 25.0,
    "plain_over_compiled": 60.0,
    "warm_start_s": 0.5,
    "peak_mb": 500.0,
    "ten_times_the_windows": 10.0,
    "slider_ms": 50.0,
}
WARM_START = """
import time
start = time.perf_counter()
from as2d_core.replay import replay_as2d
costs = [float("nan"), 60.0, 61.0]
replay_as2d([5, 6, 7], [6, 7], [False, False], [2], [1.0], 1.0, 1.0, 1, costs, costs)
print(time.perf_counter() - start)
"""


def catalog_set() -> TrajectorySet:
    """The synthetic corpus with stand-ins for two further sources: the first one, its errors elsewhere."""
    whole = load_corpus("paper-688")
    windows = []
    for i, window in enumerate(whole.windows):
        (first,) = window.drafters
        drafters = [first]
        for number, (name, count) in enumerate(STAND_INS.items(), 2):
            if i * count // len(whole.windows) != (i + 1) * count // len(whole.windows):
                drafters.append(DrafterTrajectory(name, _other(first.candidates, number), batch_tokens=8 * number))
        windows.append(replace(window, drafters=tuple(drafters)))
    return replace(whole, id="paper-catalog", windows=tuple(windows))


def pairs(phone: str) -> dict[str, range]:
    """The catalog of one phone."""
    budgets = range(1, SEARCHED[phone] + 1)
    names = [load_corpus("paper-688").drafters[0], SECOND, THIRD]
    return {name: budgets for name in names if not (phone == SKIPS_THIRD and name == THIRD)}


def measure_replay(say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Measure everything; seconds of work."""
    say("Laying the catalog out")
    corpus = catalog_set()
    packed = pack(corpus)
    profiles = {phone: load_profile(phone) for phone in PHONES}
    combinations = sum(
        int(drafter.present.sum()) * len(pairs(phone)[drafter.name])
        for phone in PHONES
        for drafter in packed.drafters
        if drafter.name in pairs(phone)
    )
    say(f"Replaying {combinations} combinations, one budget after the other")
    run_catalog(packed, profiles)  # compiles, if that was not done before
    seconds, rounds = run_catalog(packed, profiles, REPETITIONS)
    grid_s = best_of(lambda: [replay_grid(corpus, profiles[phone], pairs(phone)) for phone in PHONES])
    say("The same in plain Python, on some windows")
    part = pack(replace(corpus, windows=corpus.windows[:: len(corpus.windows) // PLAIN_WINDOWS]))
    arrays_s = timed(lambda: run_phones(part, profiles, ARRAYS))
    lists_s = timed(lambda: run_phones(part, profiles, LISTS))
    compiled_s = best_of(lambda: run_phones(part, profiles, COMPILED))
    say("Ten times the windows")
    ratio = ten_times(corpus, profiles["k70"])
    say("One cost after the other")
    slider = {name: statistics.median(times) for name, times in slider_ms(profiles["k70"]).items()}
    say("Fresh processes")
    child([sys.executable, "-c", WARM_START])
    return {
        "combinations": combinations,
        "rounds": rounds,
        "catalog_s": seconds,
        "catalog_grids_s": grid_s,
        "ns_per_round": seconds / rounds * 1e9,
        "plain_over_compiled": arrays_s / compiled_s,
        "plain_on_lists_over_compiled": lists_s / compiled_s,
        "warm_start_s": min(float(child([sys.executable, "-c", WARM_START])) for _ in range(3)),
        "peak_mb": float(child([sys.executable, "-m", "tests.bench.replay", "memory"])),
        "ten_times_the_windows": ratio,
        "slider": slider,
        "slider_ms": max(slider.values()),
        "limits": LIMITS,
    }


def render_replay(found: Mapping[str, Any]) -> str:
    """The figures as text for a terminal."""
    rows = [
        ("combinations of the whole catalog", f"{found['combinations']:,}", f"{CATALOG:,}"),
        ("verification rounds, every one replayed", f"{found['rounds']:,}", ""),
        ("ns per verification round, one core", f"{found['ns_per_round']:.1f}", "at most 25"),
        ("plain Python over compiled, same arrays", f"{found['plain_over_compiled']:.0f} x", "at least 60"),
        ("plain Python on lists over compiled", f"{found['plain_on_lists_over_compiled']:.0f} x", ""),
        ("catalog as grids, equal budgets shared, baselines too", f"{found['catalog_grids_s'] * 1e3:.0f} ms", ""),
        ("start from a warm cache, imports included", f"{found['warm_start_s']:.2f} s", "under 0.5 s"),
        ("peak memory of the whole catalog", f"{found['peak_mb']:.0f} MB", "under 500 MB"),
        ("ten times the windows take", f"{found['ten_times_the_windows']:.2f} x", "10 x, not more"),
        *(
            (f"688 windows, 24 budgets, after a change of {name}", f"{ms:.1f} ms", "under 50 ms")
            for name, ms in found["slider"].items()
        ),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join(f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c}".rstrip() for a, b, c in rows)


def run_catalog(packed: PackedCorpus, profiles: Mapping[str, Profile], times: int = 1) -> tuple[float, int]:
    """Replay every combination by itself, budget by budget.

    Returns:
        ``(seconds, rounds)``: the least of several ``times`` of every drafter and budget, summed; all rounds.
    """
    seconds, rounds = 0.0, 0
    for phone, profile in profiles.items():
        budgets = pairs(phone)
        for drafter in packed.drafters:
            for budget in budgets.get(drafter.name, ()):
                work = partial(replay_drafter, packed, drafter, profile, [budget])
                seconds += best_of(work, times)
                _, counts = work()
                rounds += int(counts[..., 0][counts[..., 0] > 0].sum())
    return seconds, rounds


def run_phones(packed: PackedCorpus, profiles: Mapping[str, Profile], how: str) -> None:
    """The same, all budgets of a drafter in one call: little is left but the round loop itself."""
    for phone, profile in profiles.items():
        for drafter in packed.drafters:
            budgets = pairs(phone).get(drafter.name)
            if budgets is None:
                continue
            if how != ARRAYS:
                replay_drafter(packed, drafter, profile, budgets, compiled=how == COMPILED)
                continue
            shape = (len(budgets), packed.windows)
            inputs = grid_inputs(packed, drafter, profile, budgets)
            outputs = np.empty(shape), np.empty((*shape, 4), np.int64)
            loops.as2d_grid_loop(*inputs, NO_TABLE, NO_BOUNDARIES, *outputs)


def ten_times(corpus: TrajectorySet, profile: Profile) -> float:
    """Time of ten copies of a set over the time of one, laying out included neither time."""
    copies = tuple(replace(w, window_id=f"{w.window_id}/{i}") for i in range(10) for w in corpus.windows)
    many = replace(corpus, windows=copies)
    pack(many)
    pack(corpus)
    one = best_of(lambda: replay_grid(corpus, profile, pairs("k70")))
    return best_of(lambda: replay_grid(many, profile, pairs("k70"))) / one


def slider_ms(profile: Profile) -> dict[str, list[float]]:
    """Milliseconds of a whole grid after one cost was changed, change by change."""
    corpus = load_corpus("paper-688")
    replay_grid(corpus, profile, range(1, 25))
    found: dict[str, list[float]] = {"drafting": [], "verification at K = 8": [], "the loop": []}
    for step in range(1, 10):
        factor = 1 + step / 50
        changed = {
            "drafting": replace(profile, draft_overlapped_ms=profile.draft_overlapped_ms * factor),
            "verification at K = 8": replace(
                profile, verify_idle_ms={**profile.verify_idle_ms, 8: profile.verify_idle_ms[8] * factor}
            ),
            "the loop": replace(profile, loop_ms=profile.loop_ms * factor),
        }
        for name, costs in changed.items():
            found[name].append(timed(lambda costs=costs: replay_grid(corpus, costs, range(1, 25))) * 1e3)
    return found


def timed(work: Callable[[], Any]) -> float:
    """Seconds that one call keeps its core busy; other programs that get the core meanwhile are not counted."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def best_of(work: Callable[[], Any], times: int = REPETITIONS) -> float:
    """Least seconds of several calls: what the work takes when nothing comes between."""
    return min(timed(work) for _ in range(times))


def child(command: list[str]) -> str:
    """What a fresh process prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    return done.stdout


def _other(candidates: tuple[int, ...], number: int) -> tuple[int, ...]:
    """The same words with further errors: every 5 or 7 times ``number`` candidates one is wrong."""
    return tuple(token + 1_000_000 if k % (4 * number + 1) == number else token for k, token in enumerate(candidates))


def main() -> None:
    """Print the peak memory of the whole catalog in MB; for a process of its own."""
    run_catalog(pack(catalog_set()), {phone: load_profile(phone) for phone in PHONES})
    # Kilobytes on Linux, bytes on macOS.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


if __name__ == "__main__":
    main()
