"""Translations and questions: on every such bundled window, every method with both drafters, against target-only."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from as2d_core.accounting import summarise
from as2d_core.models.demo_catalog import DRAFTER, LIGHT, demo_windows
from as2d_core.records import RunRecord
from tests.bench.arms import TARGET_ONLY, Arm, request
from tests.bench.devices import Device

TASKS = ("translate", "question")
DRAFTERS = (DRAFTER, LIGHT)
METHODS = (
    Arm("standard SD K = 4", "sd", width=4),
    Arm("standard SD K = 8", "sd", width=8),
    Arm("SpecASR cap 7", "specasr", draft_cap=7),
    Arm("SpecASR cap 14", "specasr", draft_cap=14),
    Arm("As²d b = 3", "as2d", budget=3),
    Arm("As²d b = 7", "as2d", budget=7),
    Arm("As²d b = 15", "as2d", budget=15),
)


def measure_tasks(windows: int | None, say: Callable[[str], None]) -> dict[str, Any]:
    """Run target-only and then all methods on windows of both tasks; ``windows`` = at most so many of each task."""
    chosen = [w for task in TASKS for w in [w for w in demo_windows() if w.task == task][:windows]]
    device = Device()
    start = time.monotonic()
    references: dict[str, RunRecord] = {}
    runs: list[tuple[str, str, str, RunRecord]] = []
    try:
        for drafter in DRAFTERS:
            for number, window in enumerate(chosen, start=1):
                if window.window_id not in references:
                    asked = request(TARGET_ONLY, window, 0, device.widths, drafter)
                    references[window.window_id] = device.run(asked)
                for arm in METHODS:
                    asked = request(arm, window, 0, device.widths, drafter)
                    record = device.run(replace(asked, run_id=f"{drafter.name} {asked.run_id}"))
                    runs.append((window.task, drafter.name, arm.name, record))
                say(f"{drafter.name}: {number} of {len(chosen)} windows, {time.monotonic() - start:.0f} s")
    finally:
        device.close()
    return task_figures({w.window_id: w.task for w in chosen}, references, runs)


def task_figures(
    tasks: Mapping[str, str], references: Mapping[str, RunRecord], runs: list[tuple[str, str, str, RunRecord]]
) -> dict[str, Any]:
    """What differs, what failed, and how much of what was proposed was accepted.

    Args:
        tasks: task of each window.
        references: target-only's run on each window.
        runs: task, drafter, arm and record of every other run.
    """
    every = [*(("", "", TARGET_ONLY.name, record) for record in references.values()), *runs]
    named = [(f"{arm} {drafter} on {record.request.audio.window_id}", record) for _, drafter, arm, record in every]
    rows = []
    for task, drafter, arm in dict.fromkeys((task, drafter, arm) for task, drafter, arm, _ in runs):
        mine = [summarise(record) for *key, record in runs if key == [task, drafter, arm]]
        proposed = sum(s.proposed for s in mine)
        rows.append(
            {
                "task": task,
                "drafter": drafter,
                "name": arm,
                "runs": len(mine),
                "accepted_share": sum(s.accepted for s in mine) / proposed if proposed else None,
            }
        )
    return {
        "windows": dict(Counter(tasks.values())),
        "runs": len(every),
        "different": [
            name for name, record in named if record.tokens != references[record.request.audio.window_id or ""].tokens
        ],
        "failed": [f"{name}: {record.status}" for name, record in named if record.status not in ("eos", "capped")],
        "rows": rows,
    }


def render_tasks(result: Mapping[str, Any]) -> str:
    """The figures as text for a terminal."""
    counts = " and ".join(f"{count} windows to {task}" for task, count in result["windows"].items())
    lines = [
        f"{counts}, {result['runs']} runs; measured here. Outputs that differ from target-only: "
        f"{len(result['different'])}; failed runs: {len(result['failed'])}",
        *(f"  {what}" for what in [*result["different"], *result["failed"]][:20]),
        "",
        f"{'task':12}{'drafter':10}{'method':22}{'runs':>6}{'accepted':>10}",
    ]
    for row in result["rows"]:
        share = "n/a" if row["accepted_share"] is None else f"{row['accepted_share']:.1%}"
        lines.append(f"{row['task']:12}{row['drafter']:10}{row['name']:22}{row['runs']:6}{share:>10}")
    return "\n".join(lines)
