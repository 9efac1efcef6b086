"""``as2d replay``: every method on recorded tokens with a device's costs, and replay held against native runs."""

import argparse
from typing import Any

from as2d_core.errors import RequestError
from as2d_core.replay.every_method import REPLAYED_METHODS
from as2d_core.replay.ledger import CHARGES
from as2d_core.replay.method_rows import MethodRow
from as2d_core.replay.method_times import MethodCase, MethodTimes
from dashboard.cli_native import compare_runs
from dashboard.cli_output import Answer, Progress, add_csv, command, number, rows_as_text, table
from dashboard.services.budgets import ALL_WINDOWS
from dashboard.services.folders import user_folders
from dashboard.services.methods import MethodReport, replay_corpus

EXAMPLES = """as2d replay --profile k70 --corpus demo
  as2d replay --profile k70 --corpus paper-688 --method sd --width 4 --width 5 --method as2d --budget 7
  as2d replay --profile note9 --corpus demo --split test --method as2d --budget 7 --windows --csv
  as2d replay --native all --profile mine"""

_ROW_HEADINGS = [
    "method",
    "drafter",
    "parameter",
    "value",
    "form",
    "tok/s",
    "low",
    "high",
    "gain %",
    "gap %",
    "slower windows",
    "median loss %",
    "max loss %",
    "rounds",
]
_CHARGES = [name.removesuffix("_ns") for name in CHARGES]


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "replay",
        "replay every method, or hold replay against native runs",
        EXAMPLES,
        "Replay recorded tokens with the costs of a device: target-only, standard SD, SpecASR, As²d under every "
        "budget and with a width rule, without target-decoupled drafting, without budget configuration, and prefix "
        "lookahead. With --windows every window has its ledger: what each millisecond was charged for. "
        "With --native, stored runs are replayed with their own measured costs (do they take the same rounds?), and "
        "timed with mean costs (by how much is the predicted throughput off?).",
    )
    parser.add_argument("--profile", metavar="ID", help="a profile id, or a profile file")
    parser.add_argument("--corpus", metavar="ID", help="a trajectory set id, or a Parquet file")
    parser.add_argument("--split", default=ALL_WINDOWS, help="all (default), development, validation or test")
    parser.add_argument(
        "--method", action="append", metavar="NAME", help=f"may be repeated: {', '.join(REPLAYED_METHODS)}"
    )
    parser.add_argument("--drafter", action="append", metavar="NAME", help="only this one; may be repeated")
    for name, letter, what in (
        ("--budget", "B", "proposal budget"),
        ("--width", "K", "physical width of standard SD (default: 5 to 8)"),
        ("--cap", "N", "draft cap of SpecASR (default: 7, 14 and the device's)"),
    ):
        parser.add_argument(name, action="append", type=int, metavar=letter, help=f"{what}; may be repeated")
    parser.add_argument("--windows", action="store_true", help="one ledger for every window and row")
    parser.add_argument("--native", metavar="RUN", nargs="+", help="stored runs, or all: compare replay with them")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_csv(parser)
    parser.set_defaults(command=replay)


def replay(options: argparse.Namespace) -> Answer:
    """Replay a corpus, or compare with native runs."""
    if options.native:
        return compare_runs(options)
    if not options.profile or not options.corpus:
        raise RequestError("A replay needs --profile and --corpus; or give --native with stored runs.")
    progress = Progress(options.quiet)
    try:
        report = replay_corpus(
            user_folders(),
            options.profile,
            options.corpus,
            options.split,
            options.method,
            options.drafter,
            options.budget,
            options.width,
            options.cap,
            progress.say,
        )
    finally:
        progress.done()
    document = as_document(report, with_windows=options.windows)
    failed = [row for row in report.rows if options.method and row.tps is None and row.problem]
    if failed:
        document["error"] = f"{_named(failed[0].case)} cannot be replayed everywhere: {failed[0].problem}."
    if options.windows:
        headings, rows = _window_table(report)
    else:
        headings, rows = [*_ROW_HEADINGS, *_CHARGES, "missing windows", "extrapolated", "note"], _csv_rows(report)
    return Answer(document, rows_as_text(options, _text(report, options.windows), headings, rows), 1 if failed else 0)


def as_document(report: MethodReport, *, with_windows: bool = False) -> dict[str, Any]:
    """The replay under the names that scripts use; all figures over the same windows."""
    grid = report.grid
    rows = [_row_document(row) for row in report.rows]
    document: dict[str, Any] = {
        "profile": report.profile.id,
        "profile_kind": report.profile.kind,
        "corpus": report.corpus.id,
        "corpus_label": report.corpus.label,
        "times": "replayed",
        "split": report.split,
        "windows": len(grid.windows),
        "tokens": int(grid.tokens.sum()),
        "threshold": grid.threshold,
        "search_window": grid.search_window,
        "oracle_tps": report.best.tps,
        "oracle_budgets": [grid.budgets[0], grid.budgets[-1]],
        "rows": rows,
    }
    if with_windows:
        document["ledgers"] = [
            {**_case_document(item.case), "windows": [_window_document(report, item, w) for w in _all(item)]}
            for item in report.times
        ]
    return document


def _case_document(case: MethodCase) -> dict[str, Any]:
    return {
        "method": case.method,
        "drafter": case.drafter,
        "parameter": case.letter or None,
        "value": case.parameter,
        "form": case.form,
    }


def _row_document(row: MethodRow) -> dict[str, Any]:
    return {
        **_case_document(row.case),
        "mean_of_widths": row.mean_of or None,
        "tps": row.tps,
        "tps_low": row.tps_low,
        "tps_high": row.tps_high,
        "gain_percent": row.gain,
        "gap_percent": row.gap,
        "slower_windows": row.slower_windows,
        "median_loss_percent": row.median_loss,
        "max_loss_percent": row.max_loss,
        "rounds": row.rounds,
        "charges_ms": row.charges_ms,
        "missing_windows": row.missing_windows,
        "extrapolated": row.extrapolated,
        "substituted": row.substituted,
        "problem": row.problem,
    }


def _window_document(report: MethodReport, item: MethodTimes, w: int) -> dict[str, Any]:
    entry = item.ledgers[w]
    account = None if entry is None else entry.account
    return {
        "window": item.windows[w],
        "tokens": int(report.grid.tokens[w]),
        "time_ms": item.time_ms[w],
        "counts": {name: _count(int(values[w])) for name, values in item.counts.items()},
        "charges_ms": None
        if entry is None
        else {name.removesuffix("_ns"): getattr(entry, name) / 1e6 for name in CHARGES},
        "account_ms": None
        if account is None
        else {
            "T": account.total_ns / 1e6,
            "D": account.draft_ns / 1e6,
            "V": account.verify_ns / 1e6,
            "O": account.overlap_ns / 1e6,
            "H": account.idle_ns / 1e6,
        },
    }


def _window_table(report: MethodReport) -> tuple[list[str], list[list[Any]]]:
    headings = ["method", "drafter", "parameter", "value", "form", "window", "group", "split", "tokens", "ms", "tok/s"]
    headings += ["rounds", "proposed", "accepted", *(f"{name} ms" for name in _CHARGES), "D ms", "V ms", "O ms", "H ms"]
    rows = []
    for item in report.times:
        for w in _all(item):
            found = _window_document(report, item, w)
            charges, account, counts = found["charges_ms"] or {}, found["account_ms"] or {}, found["counts"]
            time_ms = float(item.time_ms[w])
            rows.append(
                [
                    *_case_document(item.case).values(),
                    found["window"],
                    report.grid.groups[w],
                    report.grid.splits[w],
                    found["tokens"],
                    time_ms,
                    found["tokens"] / time_ms * 1e3 if time_ms > 0 else None,
                    *(counts.get(name) for name in ("rounds", "proposed", "accepted")),
                    *(charges.get(name) for name in _CHARGES),
                    *(account.get(name) for name in "DVOH"),
                ]
            )
    return headings, rows


def _csv_rows(report: MethodReport) -> list[list[Any]]:
    return [
        [
            *_case_document(row.case).values(),
            row.tps,
            row.tps_low,
            row.tps_high,
            row.gain,
            row.gap,
            row.slower_windows,
            row.median_loss,
            row.max_loss,
            row.rounds,
            *((row.charges_ms or {}).get(name) for name in _CHARGES),
            row.missing_windows,
            row.extrapolated,
            _note(row),
        ]
        for row in report.rows
    ]


def _text(report: MethodReport, with_windows: bool) -> str:
    grid = report.grid
    lines = [
        f"{report.profile.name} [{report.profile.kind}], corpus {report.corpus.id} [{report.corpus.label}], "
        f"{len(grid.windows)} windows ({report.split}), {int(grid.tokens.sum())} tokens; times are replayed",
        "",
        table(
            ["method", "drafter", "parameter", "tok/s", "gain %", "gap %", "slower windows", "time goes to", "notes"],
            [
                [
                    row.case.method,
                    row.case.drafter or "",
                    _parameter(row),
                    row.tps,
                    row.gain,
                    row.gap,
                    row.slower_windows,
                    _shares(row),
                    _note(row),
                ]
                for row in report.rows
            ],
        ),
        "",
        f"oracle {number(report.best.tps, 'tok/s')} over budgets {grid.budgets[0]} to {grid.budgets[-1]}",
    ]
    if with_windows:
        headings, rows = _window_table(report)
        lines += ["", table(headings, [["" if cell is None else cell for cell in row] for row in rows])]
    return "\n".join(lines)


def _parameter(row: MethodRow) -> str:
    if row.mean_of:
        return f"mean of K = {row.mean_of[0]} to {row.mean_of[-1]}"
    if row.case.parameter is None:
        return "" if row.case.method == "target-only" else "n/a"
    return f"{row.case.letter} = {row.case.parameter}" + (f", {row.case.form}" if row.case.form else "")


def _shares(row: MethodRow) -> str:
    if row.charges_ms is None:
        return "n/a"
    total_ms = sum(row.charges_ms.values())
    shares = sorted(((ms, name) for name, ms in row.charges_ms.items() if ms > 0), reverse=True)
    return ", ".join(f"{name} {100 * ms / total_ms:.1f} %" for ms, name in shares if total_ms > 0)


def _note(row: MethodRow) -> str:
    notes = ["extrapolated width"] if row.extrapolated else []
    notes += row.substituted
    if row.problem:
        notes.append(f"{row.missing_windows} windows missing: {row.problem}")
    return "; ".join(notes)


def _named(case: MethodCase) -> str:
    value = f" at {case.letter} = {case.parameter}" if case.parameter is not None else ""
    return f"{case.method}{value}" + (f" with {case.drafter}" if case.drafter else "")


def _all(item: MethodTimes) -> range:
    return range(len(item.windows))


def _count(value: int) -> int | None:
    return None if value < 0 else value
