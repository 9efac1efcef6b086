"""``as2d published``: the paper's figures recomputed, and its tables beside replays of ours."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from as2d_core.published.comparison import ComparedCell, ComparedTable
from as2d_core.published.ledger import VERDICTS, Recomputed
from as2d_core.published.tables import table_ids
from dashboard.cli_output import Answer, Progress, add_csv, command, number, rows_as_text, table
from dashboard.services.published import PublishedReport, check_published

_FIGURES = ["where", "figure", "published", "recomputed", "deviation", "verdict", "by"]
_CELLS = ["published", "replayed", "deviation", "%", "why"]
_CSV = ["part", "where", "row", "column", "unit", "published", "ours", "deviation", "verdict", "why"]
_TITLE = (
    "Replayed: recorded decisions of a virtual clock with the packaged phone profiles, on the corpus {corpus} "
    "[{label}], which stands in for the paper's traces; nothing is tuned to a row."
)


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "published",
        "check the paper's figures, and compare its tables with replays",
        "as2d published --table 8",
        "Recompute every published figure that follows from others with this project's own accounting, and put "
        "replays of the synthetic corpus on the published phone profiles beside the paper's tables: published, "
        "replayed, deviation, and why they cannot agree where they do not.",
    )
    parser.add_argument(
        "--table", action="append", metavar="N", help=f"only this one; may be repeated: {', '.join(table_ids())}"
    )
    parser.add_argument("--ledger", action="store_true", help="only the ledger of figures that follow from others")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_csv(parser)
    parser.set_defaults(command=published)


def published(options: argparse.Namespace) -> Answer:
    """Check, compare."""
    progress = Progress(options.quiet)
    try:
        tables = options.table if options.table or not options.ledger else []
        with_ledger = options.ledger or not options.table
        report = check_published(tables, with_ledger=with_ledger, progress=progress.say)
    finally:
        progress.done()
    document = as_document(report)
    if report.missing:
        document["error"] = f"{report.missing} cells could not be replayed; their reasons are listed."
    text = rows_as_text(options, _text(report), _CSV, [*map(_ledger_row, report.ledger), *_cell_rows(report)])
    return Answer(document, text, 1 if report.missing else 0)


def as_document(report: PublishedReport) -> dict[str, Any]:
    """Ledger and tables under the names that scripts use."""
    return {
        "ledger": [
            {
                "name": found.figure.name,
                "where": found.figure.where,
                "published": float(found.figure.published),
                "recomputed": found.value,
                "least": found.low,
                "most": found.high,
                "deviation": found.deviation,
                "verdict": found.verdict,
                "by": found.figure.function or "formula",
                "formula": found.figure.formula,
                "inputs": {name: float(value) for name, value in found.figure.inputs.items()},
                "note": found.figure.note,
                "why": found.why,
            }
            for found in report.ledger
        ],
        "verdicts": dict(Counter(found.verdict for found in report.ledger)),
        "tables": [
            {
                "table": compared.table.id,
                "title": compared.table.title,
                "where": compared.table.where,
                "unit": compared.table.unit,
                "corpus": compared.corpus,
                "corpus_label": compared.label,
                "times": "replayed",
                "cells": [
                    {
                        "row": item.cell.row,
                        "column": item.cell.column,
                        "published": item.published,
                        "replayed": item.replayed,
                        "deviation": item.deviation,
                        "deviation_percent": item.deviation_percent,
                        "verdict": item.verdict,
                        "why": item.reasons,
                    }
                    for item in compared.cells
                ],
            }
            for compared in report.tables
        ],
    }


def _text(report: PublishedReport) -> str:
    parts = [_ledger_text(report.ledger)] if report.ledger else []
    if report.tables:
        first = report.tables[0]
        parts.append(_TITLE.format(corpus=first.corpus, label=first.label))
    return "\n\n".join([*parts, *map(_table_text, report.tables)])


def _ledger_text(figures: Sequence[Recomputed]) -> str:
    counted = Counter(found.verdict for found in figures)
    rows = [
        [
            found.figure.where,
            found.figure.name,
            found.figure.published,
            f"{found.value:.7g}",
            f"{found.deviation:+.2g}" if abs(found.deviation) > 1e-9 else "0",
            found.verdict,
            found.figure.function or "formula",
        ]
        for found in figures
    ]
    reasons = [f"{found.figure.name} ({found.figure.where}): {found.why}" for found in figures if found.why]
    summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS)
    lines = [f"{len(figures)} published figures that follow from others: {summary}", "", table(_FIGURES, rows)]
    return "\n".join([*lines, "", "Why not exact:", *reasons] if reasons else lines)


def _table_text(compared: ComparedTable) -> str:
    marks: dict[str, str] = {}
    for item in compared.cells:
        for sentence in item.reasons:
            marks.setdefault(sentence, str(len(marks) + 1))
    rows = [
        [
            item.cell.row,
            item.cell.column,
            item.cell.printed,
            number(item.replayed, digits=_digits(item)),
            _signed(item.deviation, _digits(item)),
            _signed(item.deviation_percent, 1),
            ", ".join(marks[sentence] for sentence in item.reasons) or "agrees",
        ]
        for item in compared.cells
    ]
    unit = f", {compared.table.unit}" if compared.table.unit else ""
    return "\n".join(
        [
            f"{_name(compared)}: {compared.table.title} ({compared.table.where}){unit}",
            table(["", "", *_CELLS], rows),
            *(f"  {mark}: {sentence}" for sentence, mark in marks.items()),
        ]
    )


def _ledger_row(found: Recomputed) -> list[object]:
    figure = found.figure
    return ["ledger", figure.where, figure.name, "", "", *_numbers(found), found.verdict, found.why]


def _numbers(found: Recomputed) -> list[object]:
    return [float(found.figure.published), found.value, found.deviation]


def _cell_rows(report: PublishedReport) -> list[list[object]]:
    return [
        [
            _name(compared),
            compared.table.where,
            item.cell.row,
            item.cell.column,
            compared.table.unit,
            item.published,
            item.replayed,
            item.deviation,
            item.verdict,
            item.why,
        ]
        for compared in report.tables
        for item in compared.cells
    ]


def _name(compared: ComparedTable) -> str:
    number_of = compared.table.id
    return f"Table {number_of}" if number_of.isdecimal() else f"Section {number_of}"


def _digits(item: ComparedCell) -> int:
    return len(item.cell.printed.partition(".")[2])


def _signed(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:+.{digits}f}"
