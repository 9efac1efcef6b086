"""``as2d windows``: which recordings come with the program?"""

import argparse
from typing import Any

from dashboard.cli_output import Answer, add_csv, command, rows_as_text, table
from dashboard.services.audio_inputs import list_windows
from dashboard.views import text

HEADINGS = ("window", "group", "task", "seconds", "reference")


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "windows",
        "list the bundled recordings",
        "as2d windows --task transcribe",
        "List the bundled recordings and what is asked about each: names for `as2d run --window` and "
        "`as2d collect --window`.",
    )
    parser.add_argument("--task", help="only those of this task: transcribe, translate, question")
    parser.add_argument("--group", help="only those of this group: clean, far_field, fast, new_voice, long")
    add_csv(parser)
    parser.set_defaults(command=windows)


def windows(options: argparse.Namespace) -> Answer:
    """All of them, or those of a task or group."""
    found = list_windows(options.task, options.group)
    rows = [[w.window_id, w.group, w.task, w.duration_s, w.reference] for w in found]
    if not rows:
        return Answer({"windows": [], "error": "No bundled recording matches."}, "No bundled recording matches.", 1)
    shown = [[*row[:3], f"{row[3]:.1f}", text.shortened(str(row[4]), 60)] for row in rows]
    document = {"windows": [dict(zip(HEADINGS, row, strict=True)) for row in rows]}
    return Answer(document, rows_as_text(options, table(HEADINGS, shown), HEADINGS, rows))
