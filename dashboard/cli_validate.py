"""``as2d validate``: is a run file whole, and does it keep its own rules?"""

import argparse
from pathlib import Path
from typing import Any

from dashboard.cli_output import Answer, command
from dashboard.services.validation import first_finding, validate_file


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "validate",
        "check a run file",
        "as2d validate run.ndjson",
        "Check a run file: every line, the counts and the hash of its end, and the inner rules of a run. "
        "Exit code 0 and the counts for a good file; otherwise 1 and one line, FILE:LINE: what is wrong.",
    )
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.set_defaults(command=validate)


def validate(options: argparse.Namespace) -> Answer:
    """Check it."""
    report = validate_file(options.file)
    finding = first_finding(options.file, report)
    document: dict[str, Any] = {"file": options.file, "lines": report.lines, "counts": report.counts}
    if report.record is not None:
        document.update(run_id=report.record.run_id, status=report.record.status, tokens=len(report.record.tokens))
    if finding is None:
        counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
        return Answer(document, f"{options.file}: {report.lines} lines ({counts}), {document['tokens']} tokens")
    document["findings"] = [{"line": line, "sentence": sentence} for line, sentence in report.findings]
    # The finding is the answer, so it goes to standard output and is not said twice.
    return Answer({**document, "error": finding}, finding, 1)
