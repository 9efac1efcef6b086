"""``as2d calibrate``: measure a device's costs and keep them as a profile."""

import argparse
import sys
from contextlib import suppress
from typing import Any

from as2d_core.errors import As2dError
from as2d_core.profiles.profile import Profile
from dashboard.cli_output import Answer, Progress, command, number, table
from dashboard.cli_work import opened, wait
from dashboard.services.calibration import Calibration, CalibrationForm, same_calibration, start
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from device_bridge.local import THIS_COMPUTER

FIT_WAIT_S = 60.0
INTERRUPTED = 130


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "calibrate",
        "measure what every operation costs on this computer",
        "as2d calibrate --repetitions 5",
        "Measure verification by width, draft steps alone and beside the target, publication and loop costs, "
        "and keep them as a profile that `as2d budgets --profile` takes. What an interrupted calibration measured "
        "within a day is not measured again.",
    )
    parser.add_argument("--repetitions", metavar="N", type=int, default=5, help="formal repetitions (default: 5)")
    parser.add_argument("--profile", metavar="ID", default=THIS_COMPUTER, help=f"name (default: {THIS_COMPUTER})")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    parser.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"default: {THIS_COMPUTER}")
    parser.add_argument("--fresh", action="store_true", help="measure everything again after an interruption")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(command=calibrate)


def calibrate(options: argparse.Namespace) -> Answer:
    """Calibrate this computer, wait, and show the profile."""
    form = CalibrationForm(
        options.profile,
        options.device,
        options.repetitions,
        target=options.target,
        drafter=options.drafter,
        resume=not options.fresh,
    )
    return measure(form, quiet=options.quiet)


def measure(form: CalibrationForm, *, quiet: bool = False) -> Answer:
    """Carry a calibration out, wait, and show the profile."""
    workspace, progress = opened(), Progress(quiet)
    profile, interrupted = _left(workspace, form, progress)
    if interrupted:
        stopped = "What an earlier command had left running was cancelled; nothing else was begun."
        return Answer({"error": stopped, "status": "cancelled"}, stopped, INTERRUPTED)
    if profile is not None:
        return _shown(profile)
    calibration = start(workspace, form)
    if calibration.resumed_share:
        progress.keep(f"It goes on where it was interrupted: {calibration.resumed_share:.0%} is measured.")
    progress.keep(f"This takes about {numbers.wait(calibration.expected_s)}.")
    interrupted = _follow(calibration, progress)
    for note in calibration.notes:
        print(note, file=sys.stderr)
    profile = calibration.profile
    if profile is None:
        problem = calibration.problem or "The profile was not fitted in time."
        return Answer({"error": problem, "status": calibration.job.state}, problem, INTERRUPTED if interrupted else 1)
    for warning in calibration.job.warnings:
        print(warning, file=sys.stderr)
    return _shown(profile)


def _left(workspace: Workspace, form: CalibrationForm, progress: Progress) -> tuple[Profile | None, bool]:
    """Wait for what an earlier command, which was ended, left running there.

    Returns:
        The profile, where it measured what is asked for now; and whether the waiting was interrupted.
    """
    for job in workspace.resumed:
        if job.device_id != form.device_id:
            continue
        if not job.wait(0):
            progress.keep(f"{job.title!r} still runs there since an earlier command, and is waited for first.")
            if wait(job, progress):
                return None, True
        left = workspace.left_profiles.get(job.id)
        if left is not None and form.resume and same_calibration(workspace, form, job):
            with suppress(As2dError, TimeoutError):  # what is missing is measured then
                return left.result(FIT_WAIT_S), False
    return None, False


def _follow(calibration: Calibration, progress: Progress) -> bool:
    """Wait until it is over, through all its jobs; returns whether it was interrupted."""
    interrupted = False
    while not calibration.over.is_set():
        interrupted = wait(calibration.job, progress) or interrupted
        calibration.over.wait(0.5)
        if interrupted:
            calibration.over.wait(FIT_WAIT_S)
            break
    return interrupted


def _shown(profile: Profile) -> Answer:
    document = {
        "profile": profile.id,
        "device": profile.name,
        "status": "done",
        "verdict": profile.stability.verdict,
        "reason": profile.stability.reason,
        "target_step_ms": profile.target_step_ms,
        "verify_idle_ms": profile.verify_idle_ms,
        "verify_concurrent_ms": profile.verify_concurrent_ms,
        "draft_serial_ms": profile.draft_serial_ms,
        "draft_overlapped_ms": profile.draft_overlapped_ms,
        "publish_ms": profile.publish_ms,
        "loop_ms": profile.loop_ms,
        "exact_widths": profile.exact_widths,
        "argmax_widths": profile.argmax_widths,
        "failed_width": profile.failed_width,
        "failed_reason": profile.failed_reason,
        "paired_forward_ms": profile.paired_forward_ms,
        "confidence_row_ms": profile.confidence_row_ms,
    }
    rows = [
        [k, profile.verify_idle_ms[k], profile.verify_concurrent_ms.get(k), _ratio(profile, k)]
        for k in sorted(profile.verify_idle_ms)
    ]
    lines = [
        table(["width K", "verify idle ms", "beside drafter ms", "ratio"], rows),
        "",
        f"target-only step {number(profile.target_step_ms, 'ms')}, draft step {number(profile.draft_serial_ms, 'ms')} "
        f"alone and {number(profile.draft_overlapped_ms, 'ms')} beside the target,",
        f"publication {number(profile.publish_ms, 'ms', 3)} a batch, loop {number(profile.loop_ms, 'ms', 3)} a round "
        "[measured]",
        f"SpecASR: {number(profile.paired_forward_ms, 'ms')} a forward of two branches, "
        f"{number(profile.confidence_row_ms, 'ms', 3)} a probability",
        f"Bit-equal widths {_widths(profile.exact_widths)}; "
        f"the greedy tokens of single steps at {_widths(profile.argmax_widths)}",
        *([] if profile.failed_width is None else [f"Width {profile.failed_width} failed: {profile.failed_reason}"]),
        f"{profile.name}, kept as profile {profile.id}: {profile.stability.verdict}, {profile.stability.reason}.",
    ]
    return Answer(document, "\n".join(lines))


def _widths(widths: tuple[int, ...] | None) -> str:
    return "n/a" if widths is None else ", ".join(map(str, widths)) or "none"


def _ratio(profile: Any, width: int) -> float | None:
    concurrent = profile.verify_concurrent_ms.get(width)
    return None if concurrent is None else concurrent / profile.verify_idle_ms[width]
