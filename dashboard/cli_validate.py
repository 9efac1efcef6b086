"""``as2d validate``: is a run file whole, and does it keep its own rules?"""

import argparse
from pathlib import Path
from typing import Any

from dashboard.cli_output import Answer, command
from dashboard.services.folders import user_folders
from dashboard.services.validation import first_finding, validate_file
from datastore.files import safe_name


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "validate",
        "check a run",
        "as2d validate run.ndjson",
        "Check a run file: every line, the counts and the hash of its end, and the inner rules of a run. "
        "Exit code 0 and the counts for a good file; otherwise 1 and one line, FILE:LINE: what is wrong.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a run file, or the id of a run that is kept here")
    parser.set_defaults(command=validate)


def validate(options: argparse.Namespace) -> Answer:
    """Check it."""
    path = _named(options.file)
    report = validate_file(path)
    finding = first_finding(path, report)
    document: dict[str, Any] = {"file": path, "lines": report.lines, "counts": report.counts}
    if report.record is not None:
        document.update(run_id=report.record.run_id, status=report.record.status, tokens=len(report.record.tokens))
    if finding is None:
        counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
        return Answer(document, f"{path}: {report.lines} lines ({counts}), {document['tokens']} tokens")
    document["findings"] = [{"line": line, "sentence": sentence} for line, sentence in report.findings]
    # The finding is the answer, so it goes to standard output and is not said twice.
    return Answer({**document, "error": finding}, finding, 1)


def _named(path: Path) -> Path:
    """The file itself, or the log of the run that has this id."""
    kept = user_folders().runs / f"{safe_name(str(path))}.ndjson"
    return kept if not path.exists() and kept.exists() else path
