"""``as2d run``: one setting on one recording, on this computer."""

import argparse
import sys
from pathlib import Path
from typing import Any

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.request import METHODS
from as2d_core.runner.android import parse_cores
from dashboard.cli_conditions import add_gates, gates
from dashboard.cli_figures import figures
from dashboard.cli_output import Answer, Progress, command, number
from dashboard.cli_work import opened, wait
from dashboard.services.deploying import deployed_form
from dashboard.services.requests import BACKENDS, CPU, RunForm, last_seconds
from dashboard.services.running import start_run
from dashboard.services.runs import RunRow, get_run
from dashboard.services.workspace import Workspace
from dashboard.views.numbers import MINUS
from dashboard.views.run_labels import ended, same_output
from datastore.errors import RunNotFoundError
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.setup.provision import lies_on_phone

INTERRUPTED = 130
_WINDOW_HELP = f"as2d: how far alignment looks past the cursor (default: {DEFAULT_SEARCH_WINDOW})"
_DEPLOYED = ("budget", "threshold", "search_window")
_OWN_PARAMETER = {"as2d": "budget", "sd": "width", "specasr": "draft_cap"}


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "run",
        "run one method on one recording",
        "as2d run --window long_00 --method as2d --budget 7 --json",
        "Run one method on one recording and keep the run. When the store holds no target-only run of the "
        "same work, target-only is run first, so that it is known whether the tokens are the same.",
    )
    parser.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"{THIS_COMPUTER} (default), or a phone")
    add_arguments(parser)
    parser.set_defaults(command=run)


def add_arguments(parser: argparse.ArgumentParser, *, repeated: bool = True) -> None:
    """Everything that a run may be told, but for where it runs.

    Args:
        repeated: also how often it is run, and whether target-only is run before it.
    """
    heard = parser.add_mutually_exclusive_group(required=True)
    heard.add_argument("--window", metavar="ID", help="a bundled window, such as long_00")
    heard.add_argument("--audio", metavar="FILE", type=Path, help="a WAV, FLAC, OGG or MP3 file, here or on the phone")
    parser.add_argument("--start", metavar="S", type=float, default=0.0, help="begin of the view in seconds")
    parser.add_argument("--end", metavar="S", type=float, help="end of the view in seconds")
    parser.add_argument("--last", metavar="S", type=float, help="hear the last so many seconds instead")
    parser.add_argument("--method", default="as2d", help=f"{', '.join(METHODS)} (default: as2d)")
    parser.add_argument("--budget", metavar="B", type=int, help="as2d: candidates in one verification")
    parser.add_argument("--width", metavar="K", type=int, help="sd: width, K - 1 drafted tokens and the root")
    parser.add_argument("--draft-cap", metavar="N", type=int, help="specasr: most tokens drafted at once")
    parser.add_argument("--threshold", metavar="P", type=float, help="confidence that ends a chain (default: 0.4)")
    parser.add_argument("--search-window", metavar="W", type=int, help=_WINDOW_HELP)
    parser.add_argument(
        "--deployment",
        metavar="FILE",
        type=Path,
        help="as2d: drafter, budget, threshold, search window and width rule of `as2d select --freeze FILE`",
    )
    parser.add_argument("--drafter-pace", metavar="MS", type=float, help="emulate a slower drafter: least ms a token")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    parser.add_argument("--instruction", metavar="TEXT", help="what to do with the audio")
    parser.add_argument("--task", metavar="NAME", help="name of the task, kept with the run")
    parser.add_argument("--max-tokens", metavar="N", type=int, default=320, help="output cap (default: 320)")
    parser.add_argument("--plain-step", action="store_true", help="target-only: plain one-row steps, as a control")
    for role in ("target", "drafter"):
        parser.add_argument(f"--{role}-threads", metavar="N", type=int, default=1)
        parser.add_argument(f"--{role}-cores", metavar="LIST", help="such as 4-7 or 0,2 (default: left to the runner)")
        parser.add_argument(
            f"--{role}-backend", choices=BACKENDS, default=CPU, help="opencl needs a native runner that has it"
        )
    add_gates(parser)
    parser.add_argument("--top-profile", action="store_true", help="ask a phone for its highest task profile")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    if repeated:
        parser.add_argument("--repetitions", metavar="N", type=int, default=1, help="runs that count (default: 1)")
        parser.add_argument("--warm-ups", metavar="N", type=int, default=0, help="runs before those")
        parser.add_argument("--no-reference", action="store_true", help="do not run target-only first")


def run(options: argparse.Namespace) -> Answer:
    """Run it, wait, and say what came out."""
    for method, name in _OWN_PARAMETER.items():
        if getattr(options, name) is not None and method != options.method:
            print(f"--{name.replace('_', '-')} is not used by {options.method}.", file=sys.stderr)
    if options.repetitions < 1 or options.warm_ups < 0:
        raise RequestError("--repetitions is at least 1, --warm-ups at least 0.")
    workspace = opened()
    form = run_form(workspace, options)
    job = start_run(
        workspace,
        form,
        options.device,
        options.repetitions,
        options.warm_ups,
        with_reference=not options.no_reference,
    )
    interrupted = wait(job, Progress(options.quiet))
    for warning in job.warnings:
        print(warning, file=sys.stderr)
    answer = _answer(workspace, job, options.repetitions)
    return Answer(answer.document, answer.text, INTERRUPTED) if interrupted else answer


def run_form(workspace: Workspace, options: argparse.Namespace) -> RunForm:
    """What the arguments of ``add_arguments`` ask for, with what a deployment chose.

    Raises:
        RequestError, SelectionError, UnknownNameError, ModelError: the deployment cannot be run, or not with these.
    """
    form = _form(options)
    if options.last is not None:
        if options.start or options.end is not None:
            raise RequestError("--last says what is heard; leave --start and --end out.")
        form = last_seconds(workspace, form, options.last)
    if options.deployment is None:
        return form
    for name in _DEPLOYED:
        if getattr(options, name) is not None:
            raise RequestError(f"--{name.replace('_', '-')} is part of the deployment; give one of them.")
    return deployed_form(workspace, form, options.deployment)


def _form(options: argparse.Namespace) -> RunForm:
    on_phone = options.device != THIS_COMPUTER and options.audio is not None and lies_on_phone(str(options.audio))
    return RunForm(
        method=options.method,
        window_id=options.window,
        audio=None if on_phone else options.audio,
        phone_audio=str(options.audio) if on_phone else None,
        view_start_s=options.start,
        view_end_s=options.end,
        target=options.target,
        drafter=options.drafter,
        task=options.task,
        instruction=options.instruction,
        budget=options.budget,
        width=options.width,
        draft_cap=options.draft_cap,
        threshold=DEFAULT_THRESHOLD if options.threshold is None else options.threshold,
        search_window=DEFAULT_SEARCH_WINDOW if options.search_window is None else options.search_window,
        max_tokens=options.max_tokens,
        plain_step=options.plain_step,
        drafter_pace_ms=options.drafter_pace,
        target_threads=options.target_threads,
        drafter_threads=options.drafter_threads,
        target_cores=_cores(options, "target"),
        drafter_cores=_cores(options, "drafter"),
        target_backend=options.target_backend,
        drafter_backend=options.drafter_backend,
        gates=gates(options),
        top_profile=options.top_profile,
    )


def _cores(options: argparse.Namespace, role: str) -> tuple[int, ...]:
    given: str | None = getattr(options, f"{role}_cores")
    cores = () if given is None else parse_cores(given)
    if cores is None:
        raise RequestError(f"--{role}-cores {given!r} is no list of cores; write it like 4-7 or 0,2.")
    return cores


def _answer(workspace: Workspace, job: Job, repetitions: int) -> Answer:
    runs = job.runs[-repetitions:]
    rows = []
    for live in runs:
        try:
            rows.append(get_run(workspace, live.request.run_id))
        except RunNotFoundError:
            continue  # it never got as far as a header
    whole = [row for row in rows if row.tps is not None]
    # With several repetitions the one of median time stands for all, so that its figures belong together.
    shown = sorted(whole, key=lambda row: row.elapsed_ms or 0.0)[(len(whole) - 1) // 2] if whole else None
    shown = shown or (rows[0] if rows else None)
    document: dict[str, Any] = {"run_id": runs[0].request.run_id, "status": job.state}
    if shown is not None:
        document = figures(workspace, shown)
    names = ("run_id", "status", "elapsed_ms", "tps", "matches_target_only", "error")
    document["repetitions"] = [{name: getattr(row, name) for name in names} for row in rows]
    complete = job.state == "done" and len(whole) == repetitions
    if not complete:
        document["error"] = job.error or next((r.error for r in runs if r.error), None) or f"The job is {job.state}."
    return Answer(document, "" if shown is None else _text(shown, len(whole)), 0 if complete else 1)


def _text(row: RunRow, repetitions: int) -> str:
    account = [number(None if t is None else t / 1e6) for t in (row.draft_ns, row.verify_ns, row.overlap_ns)]
    idle = number(None if row.idle_ns is None else row.idle_ns / 1e6)
    median = f"  (median of {repetitions} repetitions)" if repetitions > 1 else ""
    pace = f", emulated drafter pace {row.drafter_pace_ms:g} ms" if row.emulated else ""
    virtual = ", virtual phone" if row.virtual else ""
    heading = f"{row.run_id}  {row.method}  {ended(row.status)}  [{row.label}{virtual}{pace}]{median}"
    if row.elapsed_ms is None:
        return heading  # it never decoded; the sentence that follows says why
    return "\n".join(
        [
            row.text or "",
            "",
            heading,
            f"{row.committed_tokens} tokens in {number(row.elapsed_ms, 'ms', 1)} = {number(row.tps, 'tok/s')}; "
            f"response after {number(row.response_ms, 'ms', 1)}",
            f"{row.rounds} rounds, {row.proposed} candidates proposed, {row.accepted} accepted; "
            f"output against target-only: {same_output(row.matches_target_only)}",
            f"T = D + V {MINUS} O + H: {number(row.elapsed_ms)} = {account[0]} + {account[1]} "
            f"{MINUS} {account[2]} + {idle} ms",
        ]
    )
