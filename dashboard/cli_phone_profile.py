"""``as2d phone profile``: measure what every operation costs on a phone, and keep it as a profile."""

import argparse
from typing import Any

from dashboard.cli_calibrate import measure
from dashboard.cli_conditions import add_limits, limits
from dashboard.cli_output import Answer, command
from dashboard.services.calibration import PHONE_WINDOWS, CalibrationForm, phone_profile_id
from dashboard.services.phones import meant_phone
from dashboard.services.requests import BACKENDS, CPU


def register(actions: Any) -> None:
    """Add the command to the group ``phone``."""
    parser = command(
        actions,
        "profile",
        "measure what every operation costs on a phone",
        "as2d phone profile --phone 8f3a12",
        "Sweep the verification widths at three offsets, idle and beside the drafter, the drafter's own operations and "
        "whole requests, one warm-up and five repetitions each, in interleaved order. Before each episode the phone "
        "rests and its conditions are checked. Interrupted, it goes on with what is missing when it is started again.",
    )
    parser.add_argument("--phone", metavar="PHONE", help="id, serial, model or name; not needed when there is only one")
    parser.add_argument("--repetitions", metavar="N", type=int, default=5, help="formal repetitions (default: 5)")
    parser.add_argument("--profile", metavar="ID", help="name of the profile (default: made from the phone's id)")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    for role in ("target", "drafter"):
        parser.add_argument(
            f"--{role}-backend", choices=BACKENDS, default=CPU, help="opencl needs a native runner that has it"
        )
    parser.add_argument("--fresh", action="store_true", help="measure everything again after an interruption")
    add_limits(parser)
    parser.add_argument("--top-profile", action="store_true", help="ask the phone for its highest task profile")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(command=phone_profile)


def phone_profile(options: argparse.Namespace) -> Answer:
    """Measure, wait, and show the profile."""
    phone = meant_phone(options.phone)
    form = CalibrationForm(
        options.profile or phone_profile_id(phone.id, options.target_backend, options.drafter_backend),
        phone.id,
        options.repetitions,
        PHONE_WINDOWS,
        target=options.target,
        drafter=options.drafter,
        gates=limits(options),
        top_profile=options.top_profile,
        target_backend=options.target_backend,
        drafter_backend=options.drafter_backend,
        resume=not options.fresh,
    )
    return measure(form, quiet=options.quiet)
