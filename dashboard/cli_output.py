"""What do commands share? Their answers as one document or one text, the workspace, and waiting for a job."""

import argparse
import csv
import io
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError, one_line
from datastore.csv_cells import csv_cell


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of one command."""

    document: Mapping[str, Any]
    """For ``--json``; ``error`` says what failed."""
    text: str
    code: int = 0


def command(
    commands: Any, name: str, summary: str, example: str, description: str | None = None
) -> argparse.ArgumentParser:
    """Add a command with ``--json`` and an example in its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description or f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    return parser


def command_group(commands: Any, name: str, summary: str, example: str, description: str) -> Any:
    """Add a command that has actions, with what it is about and an example in its help; returns its actions."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"example:\n  {example}\n\nas2d {name} ACTION --help says what an action takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(title="actions", required=True, metavar="ACTION")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: what is not a number is null, never 0."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return value


def visible(text: str) -> str:
    """Foreign text for a terminal: control characters and marks that turn the writing are shown, not obeyed."""
    return one_line(text, "\n\t")


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns; text to the left, numbers to the right, missing values as n/a."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
    right = [bool(rows) and all(isinstance(row[i], int | float | None) for row in rows) for i in range(len(headings))]

    def line(values: Sequence[str]) -> str:
        aligned = [v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True)]
        return "  ".join(aligned).rstrip()

    return "\n".join([line(list(headings)), *map(line, cells)])


def add_csv(parser: argparse.ArgumentParser) -> None:
    """Add ``--csv`` to a command; ``rows_as_text`` obeys it."""
    parser.add_argument("--csv", action="store_true", help="print comma-separated values and nothing else")


def rows_as_text(options: argparse.Namespace, text: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """``text``, or with ``--csv`` the rows in full precision; a missing value is an empty field.

    Raises:
        RequestError: ``--json`` was given, too.
    """
    if not options.csv:
        return text
    if options.json:
        raise RequestError("--json and --csv cannot both be printed; give one of them.")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*map(csv_cell, headings)])
    writer.writerows([["" if plain(value) is None else csv_cell(plain(value)) for value in row] for row in rows])
    return out.getvalue().rstrip("\n")


def number(value: float | None, unit: str = "", digits: int = 2) -> str:
    """A figure with its unit, or n/a."""
    if value is None or not math.isfinite(value):
        return "n/a"
    return f"{value:.{digits}f} {unit}".rstrip()


class Progress:
    """Says on standard error what is happening: in one line on a terminal, else whenever it changes."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last = ""

    def say(self, sentence: str) -> None:
        """Show a sentence; on a terminal it replaces the one before."""
        if self._quiet or sentence == self._last:
            return
        # Counts grow all the time: a log needs only the kind of work.
        if not self._live and _kind(sentence) == _kind(self._last):
            return
        self._last = sentence
        sentence = one_line(sentence)
        print(f"\r\x1b[K{sentence}" if self._live else sentence, end="" if self._live else "\n", file=sys.stderr)
        sys.stderr.flush()

    def keep(self, sentence: str) -> None:
        """Show a sentence that stays: what one wants to know all the time."""
        if not self._quiet:
            self.done()
            print(one_line(sentence), file=sys.stderr, flush=True)

    def done(self) -> None:
        """Leave the line."""
        if self._live and self._last and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _kind(sentence: str) -> str:
    return sentence.partition(", ")[0]


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "n/a"
    return f"{value:.2f}" if isinstance(value, float) else visible(str(value)).replace("\n", "\\n")
