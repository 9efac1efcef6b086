"""``as2d calibrate``: measure this computer's costs and keep them as a profile."""

import argparse
import sys
from typing import Any

from dashboard.cli_output import Answer, Progress, command, number, table, wait
from dashboard.services.calibration import expected_seconds, start_calibration
from dashboard.services.workspace import open_workspace
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
        "and keep them as a profile that `as2d budgets --profile` takes.",
    )
    parser.add_argument("--repetitions", metavar="N", type=int, default=5, help="formal repetitions (default: 5)")
    parser.add_argument("--profile", metavar="ID", default=THIS_COMPUTER, help=f"name (default: {THIS_COMPUTER})")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    parser.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"default: {THIS_COMPUTER}")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(command=calibrate)


def calibrate(options: argparse.Namespace) -> Answer:
    """Calibrate, wait, and show the profile."""
    workspace = open_workspace()
    calibration = start_calibration(
        workspace,
        options.profile,
        options.device,
        options.repetitions,
        target=options.target,
        drafter=options.drafter,
    )
    progress = Progress(options.quiet)
    progress.say(f"This takes about {expected_seconds(options.repetitions):.0f} s.")
    interrupted = wait(calibration.job, progress)
    calibration.over.wait(FIT_WAIT_S)
    profile = calibration.profile
    if profile is None:
        problem = calibration.problem or "The profile was not fitted in time."
        return Answer({"error": problem, "status": calibration.job.state}, problem, INTERRUPTED if interrupted else 1)
    for warning in calibration.job.warnings:
        print(warning, file=sys.stderr)
    document = {
        "profile": profile.id,
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
        f"Kept as profile {profile.id}: {profile.stability.verdict}, {profile.stability.reason}.",
    ]
    return Answer(document, "\n".join(lines))


def _ratio(profile: Any, width: int) -> float | None:
    concurrent = profile.verify_concurrent_ms.get(width)
    return None if concurrent is None else concurrent / profile.verify_idle_ms[width]
