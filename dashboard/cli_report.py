"""``as2d report``: runs as a report that opens anywhere."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError
from dashboard.cli_output import Answer, command, table
from dashboard.cli_work import opened
from dashboard.reports.templates import TEMPLATES, Words
from dashboard.services.notebooks import import_file
from dashboard.services.reporting import make_report, write_html, write_shared
from dashboard.views.foreign import foreign_table


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "report",
        "write a report as one HTML file, or with its runs as a bundle",
        "as2d report 20260915-1 20260915-2 --output comparison.html",
        "Fill in a template with runs and write it: .html is one file that opens anywhere, offline too; .zip is a "
        "bundle of a Jupyter notebook and the runs as Parquet, which runs again where as2d is installed.",
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
    parser.add_argument(
        "--output", metavar="FILE", type=Path, default=Path("report.html"), help=".html or .zip; default: report.html"
    )
    parser.set_defaults(command=report)
    parser = command(
        commands,
        "import",
        "take in runs of somebody else",
        "as2d import as2d-comparison.zip",
        "Take in bundles, archives of logs, other data folders, single logs, or results of MNN's llm_bench and of "
        "llama-bench (JSON). What is there is not taken twice.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path)
    parser.set_defaults(command=import_)


def report(options: argparse.Namespace) -> Answer:
    """Make it and write it."""
    suffix = options.output.suffix.lower()
    if suffix not in (".html", ".htm", ".zip"):
        raise RequestError(f"A report is written as .html or .zip, not {suffix or 'without a suffix'!r}.")
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
    size = (write_shared if suffix == ".zip" else write_html)(store, notebook, options.output)
    document = {"file": options.output, "bytes": size, "template": template, "runs": list(notebook.runs)}
    return Answer(document, f"Written: {options.output} ({size / 1e6:.1f} MB)")


def import_(options: argparse.Namespace) -> Answer:
    """Take them in; what was refused is said, and is the exit code."""
    store = opened().store
    taken = [import_file(store, path) for path in options.paths]
    document: dict[str, Any] = {
        name: [item for one in taken for item in getattr(one, name)]
        for name in ("added", "extended", "present", "refused", "profiles", "earlier_profiles", "corpora")
    }
    document["notebooks"] = [notebook.id for one in taken for notebook in one.notebooks]
    counts = ", ".join(f"{len(document[name])} {name}" for name in ("added", "extended", "present", "refused"))
    rates = [item for one in taken for item in one.foreign]
    notes = [sentence for one in taken for sentence in one.notes]
    counters = [name for one in taken for name in one.counters]
    document |= {"foreign": rates, "counters": counters, "notes": notes}
    runs = any(one.runs or one.refused for one in taken)
    lines = [f"Runs: {counts}."] if runs or not (rates or counters) else []
    lines += [f"Power counters: {', '.join(counters)}."] if counters else []
    lines += [*notes, *document["refused"]]
    if rates:
        shown = foreign_table(rates)
        lines.append(table(list(shown.columns), shown.to_numpy().tolist()))
    text = "\n".join(lines)
    if document["refused"]:
        count = len(document["refused"])
        said = "1 thing was" if count == 1 else f"{count} things were"
        document["error"] = f"{said} not taken: {document['refused'][0]}"
    return Answer(document, text, 1 if document["refused"] else 0)


def _usual(options: argparse.Namespace) -> str:
    if options.corpus:
        return "budget"
    if options.profile:
        return "profile"
    return "run" if len(options.run_ids) == 1 else "comparison"
