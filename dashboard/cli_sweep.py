"""``as2d sweep``: one request along a recording, or again and again; stopped, gone on with, shown."""

import argparse
from typing import Any

from dashboard.cli_output import Answer, Progress, add_csv, command, rows_as_text, table
from dashboard.cli_run import INTERRUPTED, add_arguments, run_form
from dashboard.cli_work import opened, wait
from dashboard.services.sweeps import (
    BLOCKS,
    KINDS,
    POSITIONS,
    SUSTAINED,
    Sweep,
    SweepForm,
    SweepPlan,
    list_sweeps,
    load_sweep,
    plan_sweep,
    resume_sweep,
    start_sweep,
)
from dashboard.services.workspace import Workspace
from dashboard.views.sweep_info import SweepInfo, sweep_info, sweep_table
from datastore.sweeps import group_readings, preparation_ms
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER

_SUMMARY = {
    POSITIONS: "the same request at many places of a recording",
    BLOCKS: "a recording in blocks end to end: would the device keep pace with speech?",
    SUSTAINED: "one request again and again: does throughput last?",
}
_EXAMPLE = {
    POSITIONS: "as2d sweep positions --audio talk.wav --methods target-only,as2d --length 30 --step 30",
    BLOCKS: "as2d sweep blocks --audio talk.wav --length 4",
    SUSTAINED: "as2d sweep sustained --window long_00 --minutes 10",
}

_SOME = "s20260301-100000-1a2b3c4d"


def register(commands: Any) -> None:
    """Add the command with everything that can be done with a sweep."""
    parser = command(
        commands,
        "sweep",
        "measure along a recording, or for a long time",
        _EXAMPLE[SUSTAINED],
        "Run one plan of many requests. Everything that came to its end is kept; a sweep that was stopped goes on "
        "with `as2d sweep resume ID`, the dashboard's Sweep page shows it in between.",
    )
    verbs = parser.add_subparsers(title="what to do", required=True, metavar="WHAT")
    for kind in KINDS:
        verb = command(verbs, kind, _SUMMARY[kind], _EXAMPLE[kind])
        verb.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"{THIS_COMPUTER}, or a phone")
        verb.add_argument("--methods", metavar="M,M,...", help="taking turns at every place (default: --method)")
        if kind != SUSTAINED:
            verb.add_argument("--length", metavar="S", type=float, default=4.0, help="of each view (default: 4 s)")
        if kind == POSITIONS:
            verb.add_argument("--step", metavar="S", type=float, help="from view to view (default: its length)")
        if kind == SUSTAINED:
            verb.add_argument("--minutes", metavar="M", type=float, help="begin no request after so many minutes")
            verb.add_argument("--times", metavar="N", type=int, help="so many requests of each method")
        add_arguments(verb, repeated=False)
        add_csv(verb)
        verb.set_defaults(command=run, kind=kind)
    verb = command(
        verbs, "resume", "go on with a sweep that was stopped", "as2d sweep resume s20260301-100000-1a2b3c4d"
    )
    verb.add_argument("sweep", metavar="ID")
    verb.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_csv(verb)
    verb.set_defaults(command=resume)
    verb = command(verbs, "show", "what a sweep has shown so far", f"as2d sweep show {_SOME}")
    verb.add_argument("sweep", metavar="ID")
    add_csv(verb)
    verb.set_defaults(command=show)
    verb = command(verbs, "list", "sweeps that were planned here", "as2d sweep list")
    verb.set_defaults(command=show_list)


def run(options: argparse.Namespace) -> Answer:
    """Plan a sweep, run it, say what came out."""
    workspace = opened()
    methods = options.method if options.methods is None else options.methods
    form = SweepForm(
        options.kind,
        run_form(workspace, options),
        tuple(name.strip() for name in methods.split(",")),
        getattr(options, "length", 4.0),
        _step(options),
        getattr(options, "times", None),
        getattr(options, "minutes", None),
    )
    plan = plan_sweep(workspace, form, options.device)
    return _finish(workspace, options, plan, start_sweep(workspace, plan))


def resume(options: argparse.Namespace) -> Answer:
    """Run what a sweep lacks."""
    workspace = opened()
    job = resume_sweep(workspace, options.sweep)
    return _finish(workspace, options, load_sweep(workspace, options.sweep).plan, job)


def show(options: argparse.Namespace) -> Answer:
    """What is there of a sweep."""
    workspace = opened()
    return _answer(workspace, options, load_sweep(workspace, options.sweep))


def show_list(options: argparse.Namespace) -> Answer:  # noqa: ARG001 - one signature
    """All plans, the newest first."""
    workspace = opened()
    sweeps = [load_sweep(workspace, plan.id) for plan in list_sweeps(workspace)]
    document = {"sweeps": [_head(item) for item in sweeps]}
    rows = [[s.plan.id, s.plan.title, s.plan.device_id, s.done, "yes" if s.complete else "no"] for s in sweeps]
    text = table(["sweep", "what", "device", "requests done", "complete"], rows) if rows else "Nothing was swept yet."
    return Answer(document, text)


def _step(options: argparse.Namespace) -> float:
    """From view to view: blocks follow each other, positions do so unless it is said otherwise."""
    step = getattr(options, "step", None)
    return float(getattr(options, "length", 4.0) if step is None else step)


def _finish(workspace: Workspace, options: argparse.Namespace, plan: SweepPlan, job: Job) -> Answer:
    interrupted = wait(job, Progress(options.quiet), _said)
    answer = _answer(workspace, options, load_sweep(workspace, plan.id))
    if interrupted:
        return Answer(answer.document, answer.text, INTERRUPTED)
    if job.state == "done":
        return answer
    reason = job.error or f"The sweep is {job.state}."
    said = f"{reason} Go on with: as2d sweep resume {plan.id}"
    return Answer({**answer.document, "error": said}, answer.text, 1)


def _said(job: Job) -> str:
    """One kind of sentence for the whole sweep, so that a log is not flooded."""
    return f"Sweeping, {job.progress.done} of {job.progress.total} requests are done"


def _answer(workspace: Workspace, options: argparse.Namespace, sweep: Sweep) -> Answer:
    group = sweep.plan.id
    readings = group_readings(workspace.store, group)
    info = sweep_info(sweep.rows, preparation_ms(workspace.store, group), readings, sweep.plan.kind)
    rows = sweep_table(info)
    values = rows.astype(object).where(rows.notna(), None).to_numpy().tolist()
    document = {
        **_head(sweep),
        "sentences": [*info.sentences, *info.notes],
        "drift": dict(info.drifts),
        "pace": {
            name: {"active_rtf": pace.active_rtf, "keeps_pace": pace.keeps_pace, "times": "solved"}
            for name, pace in info.paces.items()
        },
        "requests": [dict(zip(rows.columns, row, strict=True)) for row in values],
        "failures": [item.run_id for item in info.failures],
    }
    return Answer(document, rows_as_text(options, _text(sweep, info, values), list(rows.columns), values))


def _head(sweep: Sweep) -> dict[str, Any]:
    plan = sweep.plan
    return {
        "sweep": plan.id,
        "kind": plan.kind,
        "title": plan.title,
        "device": plan.device_id,
        "created_at": plan.created_at,
        "done": sweep.done,
        "planned": plan.formal,
        "minutes": plan.minutes,
        "complete": sweep.complete,
        "running": sweep.job is not None,
    }


def _text(sweep: Sweep, info: SweepInfo, values: list[list[Any]]) -> str:
    labels = ", ".join(sorted({row.label for row in sweep.rows})) or "nothing measured yet"
    lines = [f"{sweep.plan.title} on {sweep.plan.device_id} [{labels}]", f"sweep {sweep.plan.id}", ""]
    if values:
        cells = [[row[0], *row[2:4], *row[5:7]] for row in values]
        lines += [table(["method", info.x_column, "tok/s", "preparation s", "decoding s"], cells), ""]
    state = "complete" if sweep.complete else f"go on with: as2d sweep resume {sweep.plan.id}"
    return "\n".join([*lines, *(info.sentences or ([info.empty] if info.empty else [])), *info.notes, state])
