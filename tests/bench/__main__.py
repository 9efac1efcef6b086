"""``make bench``: replay; transfers to a phone; every method on all bundled transcription windows, interleaved; and
whether every method's output is target-only's on the bundled translations and questions, too.

Figures are ratios within one run.

Prints a table and verdicts; ``--json FILE`` keeps every figure. Exit code 1 when an output differs
from target-only's or a run did not end by itself; the speed figures are printed, never asserted,
because machines are noisy.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from as2d_core.calibration.fit import fit_profile
from as2d_core.errors import RequestError
from as2d_core.models.demo_catalog import DRAFTER, LIGHT, TARGET, demo_windows
from as2d_core.models.window_index import RecordedWindow
from as2d_core.profiles import Profile
from as2d_core.records import RunRecord
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.trajectories import TrajectorySet, load_corpus
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.selection import select_budget
from tests.bench.arms import Arm, Choice, arms, request, rotated
from tests.bench.devices import Device
from tests.bench.figures import CHECK_RUNS, figures, render
from tests.bench.native import measure_native
from tests.bench.native_figures import render_native
from tests.bench.pages import measure_pages, render_pages
from tests.bench.push import measure_push, render_push
from tests.bench.replay import measure_replay, render_replay
from tests.bench.tasks import measure_tasks, render_tasks

PAPER_RATIO = 0.39
"""Draft step over target step of the paper's K70 (23.347 of 59.391 ms in the packaged profile k70)."""
PAIRS = {"runs": (DRAFTER, "demo", None), "light": (LIGHT, "demo-light", None), "paced": (DRAFTER, "demo", PAPER_RATIO)}
"""Native runs of every method: the drafter, the trajectories that its settings are chosen on, and the share of the
target's step to which the drafter is slowed down (emulated), if any."""
PARTS = ("replay", "push", "pages", *PAIRS, "tasks", "native")
"""Replay; transfers to a virtual phone (Linux only); pages over many stored runs; native runs with each drafter, and
with a paced one; outputs of translations and questions; the native runner against the Python runner (with
``--native-runner`` only)."""

SEARCH_WINDOWS = (8, 10, 12, 14, 16, 24)
"""Search windows W among which replay chooses, on development and validation windows,"""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""and confidence thresholds."""
CHECKED_WINDOWS = 20
"""Windows on which replay is held against native runs."""
CALIBRATION_WINDOWS = ("clean_06", "far_field_09", "long_00")


def calibrate(device: Device, windows: dict[str, RecordedWindow], repetitions: int, drafter: Path) -> Profile:
    """This computer's profile, measured now."""
    records = []
    for name in CALIBRATION_WINDOWS:
        window = windows[name]
        item = Request(
            run_id=f"calibrate {name}",
            method="calibrate",
            target=ModelRef(str(TARGET), exact_widths=device.widths),
            drafter=ModelRef(str(drafter)),
            audio=AudioRef(str(window.path), window_id=name),
            instruction=window.instruction,
            options={"repetitions": repetitions, "episodes": repetitions},
        )
        records.append(device.run(item))
    return fit_profile(records, "this-computer", "This computer")


def main() -> int:
    """Run the bench."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--json", type=Path, help="keep every figure in this file")
    parser.add_argument("--keep", type=Path, help="keep every run's stream in this folder")
    parser.add_argument("--windows", type=int, help="how many of the windows, spread evenly; default: all")
    parser.add_argument("--repetitions", type=int, default=2, help="measured repetitions of every arm and window")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--native-runner", type=Path, help="a native runner that was built with MNN")
    options = parser.parse_args()
    if "native" in (options.part or ()) and options.native_runner is None:
        parser.error("--part native needs --native-runner FILE")
    result: dict[str, object] = {}
    good = True
    if "replay" in (options.part or PARTS):
        result["replay"] = measure_replay(say)
        print(render_replay(result["replay"]), end="\n\n")
    if "push" in (options.part or PARTS) and sys.platform == "linux":
        result["push"] = measure_push(say)
        print(render_push(result["push"]), end="\n\n")
    if "pages" in (options.part or PARTS):
        result["pages"] = measure_pages(say)
        print(render_pages(result["pages"]), end="\n\n")
    for part, pair in PAIRS.items():
        if part in (options.part or PARTS):
            found = measure_runs(options, *pair)
            good = good and found["different_outputs"] == 0 and found["failed_runs"] == 0
            result[part] = found
    if "tasks" in (options.part or PARTS):
        found = measure_tasks(options.windows, say)
        print(render_tasks(found), end="\n\n")
        good = good and not found["different"] and not found["failed"]
        result["tasks"] = found
    if options.native_runner is not None and "native" in (options.part or PARTS):
        found = measure_native(options.native_runner, options.windows or 0, options.repetitions, say)
        print(render_native(found), end="\n\n")
        good = good and not found["differences"]
        result["native"] = found
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if good else 1


def measure_runs(
    options: argparse.Namespace, drafter: Path, corpus_id: str, pace_share: float | None = None
) -> dict[str, Any]:
    """Native runs of every method with one drafter, interleaved, and replay held against them.

    Args:
        pace_share: makes every drafted token last at least this share of the target's step (emulated).
    """
    everything = {w.window_id: w for w in demo_windows() if w.task == "transcribe"}
    count = len(everything) if options.windows is None else options.windows
    if not 1 <= count <= len(everything) or options.repetitions < 1:
        raise RequestError(f"Choose 1 to {len(everything)} windows and at least one repetition.")
    step = len(everything) / count
    windows = [list(everything.values())[int(i * step)] for i in range(count)]
    device = Device()
    try:
        say(f"Drafter {drafter.name}: measuring this computer's costs")
        profile = calibrate(device, everything, 5, drafter)
        pace_ms = None if pace_share is None else pace_share * profile.target_step_ms
        if pace_ms is not None:
            profile = replace(profile, draft_serial_ms=pace_ms, draft_overlapped_ms=pace_ms)
        corpus = load_corpus(corpus_id)
        chosen = choose(profile, corpus)
        grid = replay_grid(corpus, profile, threshold=chosen.threshold, search_window=chosen.search_window)
        rows = arms(chosen)
        checks = check_replay(device, windows[:: max(1, len(windows) // CHECKED_WINDOWS)], drafter, pace_ms)
        records = measure(device, rows, windows, options.repetitions, drafter, pace_ms)
    finally:
        device.close()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        for name, found in records.items():
            for window, runs in found.items():
                for record in runs:
                    path = options.keep / f"{drafter.name} {name} {window} {record.request.repetition}.ndjson"
                    path.write_text("".join(device.streams[record.run_id]), encoding="utf-8")
    result = {**figures(rows, records, checks, profile, grid, chosen), "pace_ms": pace_ms}
    print(render(result), end="\n\n")
    return result


def choose(profile: Profile, corpus: TrajectorySet) -> Choice:
    """Budget, search window and threshold with the best pooled TPS on validation windows, screened on development."""
    choices = {}
    for window, threshold in product(SEARCH_WINDOWS, THRESHOLDS):
        grid = replay_grid(corpus, profile, threshold=threshold, search_window=window)
        choices[window, threshold] = select_budget(grid.of_split("development", "validation"))
    best = max(choices, key=lambda settings: choices[settings].validation_tps)
    return Choice(choices[best].budget, *best)


def check_replay(
    device: Device, windows: list[RecordedWindow], drafter: Path, pace_ms: float | None
) -> dict[str, list[RunRecord]]:
    """As²d b = 7 on some windows: a warm-up, then by turns a run that gives costs and one to check against."""
    arm = Arm("replay check", "as2d", budget=7)
    return {
        window.window_id: [
            device.run(request(arm, window, turn, device.widths, drafter, pace_ms))
            for turn in range(1 + 2 * CHECK_RUNS)
        ]
        for window in windows
    }


def measure(
    device: Device,
    rows: list[Arm],
    windows: list[RecordedWindow],
    repetitions: int,
    drafter: Path,
    pace_ms: float | None = None,
) -> dict[str, dict[str, list[RunRecord]]]:
    """Run all arms on all windows, the order rotated from window to window and turned from repetition to repetition.

    Returns:
        Records by arm name and window id.
    """
    records: dict[str, dict[str, list[RunRecord]]] = defaultdict(lambda: defaultdict(list))
    start = time.monotonic()
    for number, window in enumerate(windows):
        for repetition in range(repetitions):
            order = rotated(rows, number + repetition)
            if repetition % 2:
                order.reverse()
            for arm in order:
                record = device.run(request(arm, window, repetition, device.widths, drafter, pace_ms))
                records[arm.name][window.window_id].append(record)
        say(f"{number + 1} of {len(windows)} windows, {time.monotonic() - start:.0f} s")
    return records


def say(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
