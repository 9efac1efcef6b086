"""``as2d phone run``: one setting on one recording, on a phone."""

import argparse
from typing import Any

from dashboard import cli_run
from dashboard.cli_output import Answer, command
from dashboard.services.phones import meant_phone


def register(actions: Any) -> None:
    """Add the command to the group ``phone``."""
    parser = command(
        actions,
        "run",
        "run one method on one recording on a phone",
        "as2d phone run --window long_00 --method as2d --budget 7",
        "Bring to the phone what is missing there, run one method on one recording, and keep the run. Target-only is "
        "run first, so that it is known whether the tokens are the same.",
    )
    parser.add_argument("--phone", metavar="PHONE", help="id, serial, model or name; not needed when there is only one")
    cli_run.add_arguments(parser)
    parser.set_defaults(command=phone_run)


def phone_run(options: argparse.Namespace) -> Answer:
    """Find the phone, run there, and say what came out."""
    options.device = meant_phone(options.phone).id
    return cli_run.run(options)
