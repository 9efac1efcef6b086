"""``as2d report``: runs as a report that opens anywhere."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError
from dashboard.cli_output import Answer, command, opened
from dashboard.reports.templates import TEMPLATES, Words
from dashboard.services.reporting import make_report, write_html


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "report",
        "write a report as one HTML file",
        "as2d report 20260915-1 20260915-2 --output comparison.html",
        "Fill in a template with runs and write it as one HTML file that opens anywhere, offline too.",
    )
    parser.add_argument("run_ids", metavar="RUN", nargs="*", help="ids of runs, or unique beginnings of them")
    parser.add_argument("--template", choices=list(TEMPLATES), help="default: run for one run, comparison for several")
    parser.add_argument("--profile", metavar="ID", help="of a profile or budget report")
    parser.add_argument("--corpus", metavar="ID", help="trajectory set of a budget report")
    parser.add_argument("--split", default="all", help="windows of a budget report: all, development, validation, test")
    parser.add_argument("--drafter", metavar="NAME", help="of a budget report; default: the chosen one")
    parser.add_argument("--budget", metavar="B", type=int, help="of a budget report; default: the chosen one")
    parser.add_argument("--title", default="")
    parser.add_argument("--hypothesis", default="", help="what was expected")
    parser.add_argument("--conclusion", default="", help="what came out")
    parser.add_argument("--tag", action="append", default=[], help="may be given several times")
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")
    parser.set_defaults(command=report)


def report(options: argparse.Namespace) -> Answer:
    """Make it and write it."""
    if options.output.suffix.lower() not in (".html", ".htm"):
        raise RequestError(f"A report is written as .html, not {options.output.suffix or 'without a suffix'!r}.")
    store = opened().store
    template = options.template or _usual(options)
    notebook = make_report(
        store,
        template,
        options.run_ids,
        Words(options.title, options.hypothesis, options.conclusion, tuple(options.tag)),
        profile=options.profile,
        corpus=options.corpus,
        split=options.split,
        drafter=options.drafter,
        budget=options.budget,
    )
    size = write_html(store, notebook, options.output)
    document = {"file": options.output, "bytes": size, "template": template, "runs": list(notebook.runs)}
    return Answer(document, f"Written: {options.output} ({size / 1e6:.1f} MB)")


def _usual(options: argparse.Namespace) -> str:
    if options.corpus:
        return "budget"
    if options.profile:
        return "profile"
    return "run" if len(options.run_ids) == 1 else "comparison"
