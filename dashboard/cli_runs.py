"""``as2d runs`` and ``as2d show``: what has been run."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError
from dashboard.cli_figures import figures
from dashboard.cli_output import Answer, command, number, table
from dashboard.cli_work import opened
from dashboard.services.runs import RunFilter, RunRow, count_runs, get_run, list_runs, load_record, run_details
from dashboard.views.energy import energy_info
from dashboard.views.facts import self_test_text
from dashboard.views.numbers import moment
from dashboard.views.run_labels import ended, kind, same_output
from dashboard.views.theme import method_parameter
from datastore.export import export_file
from datastore.queries import row_as_json


def register(commands: Any) -> None:
    """Add both commands."""
    parser = command(commands, "runs", "list runs", "as2d runs --method as2d --limit 20")
    parser.add_argument("--method", action="append", default=[], help="may be given several times")
    parser.add_argument("--window", action="append", default=[], metavar="ID")
    parser.add_argument("--status", action="append", default=[], help="eos, capped, cancelled, failed, incomplete")
    parser.add_argument("--group", action="append", default=[], metavar="ID", help="runs that were started together")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--text", default="", help="found in ids, texts, notes, errors, models or tags")
    parser.add_argument("--all", action="store_true", help="calibrations and collections, too")
    parser.add_argument("--limit", metavar="N", type=int, default=50)
    parser.add_argument("--export", metavar="FILE", type=Path, help="write them: .csv, .parquet, .json, .ndjson, .zip")
    parser.set_defaults(command=runs)
    parser = command(commands, "show", "show one run", "as2d show 20260915-1", "Show one run and its figures.")
    parser.add_argument("run_id", metavar="RUN", help="id of a run, or a unique beginning of it")
    parser.add_argument("--trace", metavar="FILE", type=Path, help="write a trace for ui.perfetto.dev, as JSON")
    parser.set_defaults(command=show)


def runs(options: argparse.Namespace) -> Answer:
    """Runs, newest first."""
    if options.limit < 0:
        raise RequestError(f"--limit is {options.limit}; give 0 or more.")
    where = RunFilter(
        methods=tuple(options.method),
        windows=tuple(options.window),
        statuses=tuple(options.status),
        groups=tuple(options.group),
        tags=tuple(options.tag),
        text=options.text,
        operations=options.all or bool(options.method),
    )
    workspace = opened()
    if options.export is not None:
        path = export_file(workspace.store, options.export, where)
        return Answer({"file": path, "runs": count_runs(workspace, where)}, f"Written: {path}")
    rows, total = list_runs(workspace, where, limit=options.limit), count_runs(workspace, where)
    text = table(
        ["run", "method", "parameter", "window", "status", "tokens", "tok/s", "output", "label"],
        [
            [
                row.run_id,
                row.method,
                parameter(row),
                row.window_id,
                ended(row.status),
                row.committed_tokens,
                row.tps,
                same_output(row.matches_target_only),
                kind(row_as_json(row)),
            ]
            for row in rows
        ],
    )
    more = f"\n{total - len(rows)} more; see --limit." if total > len(rows) else ""
    nothing = "No run matches."
    return Answer({"runs": [row_as_json(row) for row in rows], "count": total}, text + more if rows else nothing)


def show(options: argparse.Namespace) -> Answer:
    """One run."""
    workspace = opened()
    row = get_run(workspace, options.run_id)
    if options.trace is not None:
        from dashboard.services.exports import write_trace  # traces need all that draws timelines

        path = write_trace(workspace, [row.run_id], options.trace)
        return Answer({"run": row.run_id, "file": path}, f"Written: {path} (open it in ui.perfetto.dev)")
    details = run_details(workspace, row.run_id)
    record = load_record(workspace, row.run_id, ("marks", "telemetry", "other_events"))
    energy = energy_info(record)
    document = {**row_as_json(row), **figures(workspace, row), "group": [item.run_id for item in details.group]}
    document["energy"] = energy
    shown = {
        "run": row.run_id,
        "started": moment(row.created_at),
        "method": f"{row.method} {parameter(row) or ''}".strip(),
        "window": row.window_id,
        "device": row.device_name,
        "models": f"{row.target_name}, {row.drafter_name or 'no drafter'}",
        "status": ended(row.status),
        "error": row.error or ("; ".join(row.problems) or None),
        "text": row.text,
        "tokens": row.committed_tokens,
        "time": number(row.elapsed_ms, "ms"),
        "speed": number(row.tps, "tok/s"),
        "response": number(row.response_ms, "ms"),
        "rounds": f"{row.rounds}, {row.k1_rounds} of them with K = 1",
        "candidates": f"{row.proposed} proposed, {row.accepted} accepted",
        "D, V, O, H": ", ".join(
            number(None if t is None else t / 1e6, "ms")
            for t in (row.draft_ns, row.verify_ns, row.overlap_ns, row.idle_ns)
        ),
        "energy": "n/a: no battery was read" if energy is None else energy.text,
        "output against target-only": same_output(row.matches_target_only),
        "width self-test": self_test_text(record) or "n/a: none in this run",
        "label": kind(row_as_json(row)),
        "tags": ", ".join(row.tags) or None,
        "note": row.notes,
        "started with": ", ".join(item.run_id for item in details.group if item.run_id != row.run_id) or None,
    }
    width = max(map(len, shown))
    lines = [f"{name.ljust(width)}  {'n/a' if value is None else value}" for name, value in shown.items()]
    return Answer(document, "\n".join(lines))


def parameter(row: RunRow) -> str | None:
    """The parameter of a run's method."""
    return method_parameter(row.method, row.budget, row.width, row.draft_cap)
