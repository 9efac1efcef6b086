"""Is a run file whole, and does it keep its own rules?"""

from pathlib import Path

from as2d_core.validation import Report, check_file

__all__ = ["Report", "first_finding", "validate_file"]


def validate_file(path: Path) -> Report:
    """Read and check one run file; never raises for what the file holds."""
    return check_file(path)


def first_finding(path: Path, report: Report) -> str | None:
    """``FILE:LINE: what is wrong`` about the first finding, always one line; ``None`` for a good file."""
    if not report.findings:
        return None
    line, sentence = report.findings[0]
    place = report.lines if line is None else line
    return f"{printable(str(path))}:{max(place, 1)}: {printable(sentence)}"


def printable(text: str) -> str:
    """Text that any terminal can show in one line; everything else is escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
