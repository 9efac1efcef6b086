"""``as2d replay --native``: stored native runs against their replay."""

import argparse
from typing import Any

from as2d_core.replay.agreement import Agreement, PooledError, RunAgreement
from dashboard.cli_output import Answer, Progress, number, rows_as_text, table
from dashboard.cli_work import opened
from dashboard.services.native_runs import compare_with_native

_HEADINGS = [
    "run",
    "method",
    "window",
    "rounds",
    "differing rounds",
    "native ms",
    "replayed ms",
    "error %",
    "absolute error %",
    "problem",
]


def compare_runs(options: argparse.Namespace) -> Answer:
    """Compare; exit code 0 when every run was compared and every round decided alike."""
    progress = Progress(options.quiet)
    try:
        found = compare_with_native(opened(), options.native, options.profile, progress.say)
    finally:
        progress.done()
    document = as_document(found)
    problem = next((item for item in found.runs if item.problem or not item.equal), None)
    if problem is not None:
        document["error"] = _sentence(problem)
    rows = [_row(item) for item in found.runs]
    text = rows_as_text(options, _text(found, rows), _HEADINGS, rows)
    return Answer(document, text, 0 if problem is None else 1)


def as_document(found: Agreement) -> dict[str, Any]:
    """The comparison under the names that scripts use; errors are percent of native TPS."""
    return {
        "costs": found.costs,
        "runs": [
            {
                "run_id": item.run_id,
                "method": item.method,
                "window": item.window,
                "equal": item.equal,
                "rounds": None if item.replay is None else len(item.replay.rounds),
                "differing_rounds": item.differing_rounds,
                "differences": [] if item.replay is None else _differences(item),
                "tokens": None if item.timing is None else item.timing.tokens,
                "native_ms": None if item.timing is None else item.timing.native_ms,
                "replayed_ms": None if item.timing is None else item.timing.replayed_ms,
                "error_percent": None if item.timing is None else item.timing.percent,
                "estimated_widths": None if item.timing is None else item.timing.estimated_widths,
                "source_complete": None if item.timing is None else item.timing.source_complete,
                "problem": item.problem,
            }
            for item in found.runs
        ],
        "by_method": [_pooled(item) for item in found.by_method],
        "by_window": [_pooled(item) for item in found.by_window],
        "overall": _pooled(found.overall),
    }


def _differences(item: RunAgreement) -> list[dict[str, Any]]:
    rounds = () if item.replay is None else item.replay.rounds
    return [{"round": one.index, "decisions": one.differences} for one in rounds if not one.equal]


def _pooled(item: PooledError) -> dict[str, Any]:
    return {
        "name": item.name,
        "runs": item.runs,
        "timed": item.timed,
        "equal": item.equal,
        "error_percent": item.signed,
        "mean_absolute_percent": item.mean_absolute,
        "max_absolute_percent": item.max_absolute,
    }


def _row(item: RunAgreement) -> list[Any]:
    timing = item.timing
    return [
        item.run_id,
        item.method,
        item.window,
        None if item.replay is None else len(item.replay.rounds),
        item.differing_rounds,
        None if timing is None else timing.native_ms,
        None if timing is None else timing.replayed_ms,
        None if timing is None else timing.percent,
        None if timing is None else abs(timing.percent),
        item.problem or "",
    ]


def _text(found: Agreement, rows: list[list[Any]]) -> str:
    headings = ["", "runs", "same rounds", "timed", "error %", "mean absolute %", "max absolute %"]
    pooled = [
        [item.name, item.runs, item.equal, item.timed, item.signed, item.mean_absolute, item.max_absolute]
        for item in (*found.by_method, found.overall)
    ]
    return "\n".join(
        [
            table(_HEADINGS, rows),
            "",
            f"predicted against native throughput, with mean costs of {found.costs}",
            table(headings, pooled),
            f"over all runs {number(found.overall.signed, '%')} pooled, "
            f"{number(found.overall.mean_absolute, '%')} mean absolute error by window",
        ]
    )


def _sentence(item: RunAgreement) -> str:
    if item.problem:
        return item.problem
    return f"Run {item.run_id} is replayed with other decisions in {item.differing_rounds} rounds."
