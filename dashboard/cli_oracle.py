"""``as2d oracle``: how far is a choice from the best pair of every window, and how far is that from the best widths?"""

import argparse
from typing import Any

from as2d_core.replay.oracle_report import ALL_GROUPS, Difference, GapRow, Quartiles
from as2d_core.replay.pooling import Interval
from dashboard.cli_budgets import row_document
from dashboard.cli_choices import add_chain, add_sources, pair, threshold, whole_numbers
from dashboard.cli_output import Answer, Progress, add_csv, command, number, rows_as_text, table
from dashboard.services.budgets import open_corpus
from dashboard.services.folders import user_folders
from dashboard.services.hindsight import OracleFindings, compare_with_oracle
from dashboard.services.profiles import load_profile

_CSV = ["part", "group", "choice", "figure", "value", "low", "high", "unit", "windows"]
_GAPS = ["choice", "windows of", "n", "tok/s", "gain %", "gap %", "gap 95 %", "slower", "median loss %", "max loss %"]
_SPREADS = ["choice", "windows of", "tok/s: median", "quartiles", "change %: median", "quartiles"]
_EXACT = "Found sequences can be run; no sequence is faster than the bound; a window is exact where both are the same."


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "oracle",
        "compare a choice with the best choice for every window in hindsight",
        "as2d oracle --profile k70 --corpus paper-838 --split test --within",
        "Replay every drafter and budget and choose for every window with hindsight (the per-window oracle). Gaps, "
        "slowdowns, distributions and paired differences of one choice, of the width rule and of fixed controls, on "
        "all windows and dataset by dataset, with 95 % bootstrap intervals over windows. --within also searches the "
        "best sequence of widths inside every window.",
    )
    add_sources(parser)
    parser.add_argument("--drafter", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--budgets", metavar="B,B,...", help="default: all that the profile can price")
    parser.add_argument(
        "--choice", metavar="[DRAFTER:]B", help="default: the deployed budget, else the selected, else the fastest"
    )
    parser.add_argument(
        "--against", metavar="[DRAFTER:]B", action="append", default=[], help="compare with this one; may be repeated"
    )
    parser.add_argument("--within", action="store_true", help="search the best sequence of widths of every window")
    add_chain(parser)
    add_csv(parser)
    parser.set_defaults(command=oracle)


def oracle(options: argparse.Namespace) -> Answer:
    """Compare."""
    progress = Progress(options.quiet)
    folders = user_folders()
    try:
        found = compare_with_oracle(
            load_profile(folders, options.profile),
            open_corpus(folders, options.corpus),
            options.split,
            options.drafter,
            None if options.budgets is None else whole_numbers(options.budgets, "--budgets"),
            None if options.choice is None else pair(options.choice, "--choice"),
            [pair(text, "--against") for text in options.against],
            threshold(options.threshold),
            options.search_window,
            with_within=options.within,
            say=progress.say,
        )
    finally:
        progress.done()
    document = as_document(found)
    problem = _problem(found)
    if problem is not None:
        document["error"] = problem
    text = rows_as_text(options, _text(found), _CSV, _csv_rows(found))
    return Answer(document, text, 1 if problem else 0)


def as_document(found: OracleFindings) -> dict[str, Any]:
    """The findings under the names that scripts use."""
    budgets, report = found.budgets, found.report
    grid = budgets.grid
    return {
        "profile": budgets.profile.id,
        "profile_kind": budgets.profile.kind,
        "corpus": budgets.corpus.id,
        "corpus_label": budgets.corpus.label,
        "times": "replayed",
        "split": budgets.split,
        "windows": len(grid.windows),
        "tokens": int(grid.tokens.sum()),
        "drafters": grid.drafters,
        "budgets": grid.budgets,
        "threshold": grid.threshold,
        "search_window": grid.search_window,
        "choice": found.choices[0].name,
        "choices": [
            {
                "name": item.name,
                "origin": item.origin,
                "drafter": item.drafter,
                "budget": item.budget,
                "extrapolated": item.extrapolated,
            }
            for item in found.choices
        ],
        "rows": [_row_document(row) for row in (*report.rows, *report.oracle_rows)],
        "oracle_picks": [
            {"drafter": drafter, "budget": budget, "windows": count}
            for (drafter, budget), count in report.oracle.picks.items()
        ],
        "differences": [_difference_document(item) for item in report.differences],
        "fixed_controls": [row_document(row) for row in (*budgets.table.rows, *budgets.table.rule_rows)],
        "sensitivity": [
            {"scenario": s.name, "tps": s.tps, "oracle_tps": s.oracle_tps, "gap_percent": s.gap}
            for s in found.scenarios
        ],
        "sensitivity_problem": found.scenario_problem,
        "cdf_tps": {name: rates.tolist() for name, rates in report.cdf.items()},
        "within": _within_document(found),
    }


def _problem(found: OracleFindings) -> str | None:
    row = found.report.row(found.choices[0].name)
    if row.tps is None:
        return f"{row.choice} cannot run on every window with {found.budgets.profile.id!r}: a width has no cost."
    if row.oracle_tps is None:
        return f"No drafter and budget can run on every window with {found.budgets.profile.id!r}."
    return found.scenario_problem


def _row_document(row: GapRow) -> dict[str, Any]:
    slower = row.slowdown
    return {
        "choice": row.choice,
        "group": row.group,
        "windows": row.windows,
        "tokens": row.tokens,
        "tps": row.tps,
        "tps_interval": row.tps_interval,
        "gain_percent": row.gain,
        "gain_interval": row.gain_interval,
        "oracle_tps": row.oracle_tps,
        "gap_percent": row.gap,
        "gap_interval": row.gap_interval,
        "slower_windows": None if slower is None else slower.slower,
        "tied_windows": None if slower is None else slower.ties,
        "median_loss_percent": None if slower is None else slower.median_loss,
        "max_loss_percent": None if slower is None else slower.max_loss,
        "window_tps": row.window_tps,
        "window_change_percent": row.window_change,
    }


def _difference_document(item: Difference) -> dict[str, Any]:
    return {
        "choice": item.choice,
        "against": item.against,
        "tps": item.tps,
        "tps_interval": item.tps_interval,
        "percent": item.percent,
        "percent_interval": item.percent_interval,
        "faster_windows": item.faster,
        "slower_windows": item.slower,
        "tied_windows": item.ties,
    }


def _within_document(found: OracleFindings) -> dict[str, Any] | None:
    within = found.within
    if within is None:
        return None
    return {
        "exact_windows": within.exact_windows,
        "largest_doubt_percent": within.largest_doubt_percent,
        "rows": [
            {
                "group": row.group,
                "windows": row.windows,
                "exact_windows": row.exact_windows,
                "tps": row.tps,
                "bound_tps": row.bound_tps,
                "over_oracle_percent": row.over_oracle,
                "bound_over_oracle_percent": row.bound_over_oracle,
            }
            for row in found.within_rows
        ],
        "by_window": [
            {
                "window": name,
                "drafter": drafter,
                "time_ms": float(time_ms),
                "bound_ms": float(bound_ms),
                "exact": bool(exact),
                "lengths": lengths,
            }
            for name, drafter, time_ms, bound_ms, exact, lengths in zip(
                found.budgets.grid.windows,
                within.drafters,
                within.time_ms,
                within.bound_ms,
                within.exact,
                within.lengths,
                strict=True,
            )
        ],
    }


def _text(found: OracleFindings) -> str:
    budgets, report = found.budgets, found.report
    grid = budgets.grid
    parts = [
        f"{budgets.profile.name} [{budgets.profile.kind}], corpus {budgets.corpus.id} [{budgets.corpus.label}], "
        f"{len(grid.windows)} windows ({budgets.split}), {int(grid.tokens.sum())} tokens; times are replayed, "
        "intervals are 95 % over windows",
        "\n".join(f"{item.name}: {item.origin}{_flag(item.extrapolated)}" for item in found.choices),
        table(_GAPS, [_gap_cells(row) for row in (*report.rows, *report.oracle_rows)]),
        "Windows by themselves (each counts once)\n"
        + table(_SPREADS, [_spread_cells(row) for row in (*report.rows, *report.oracle_rows)]),
        "The oracle takes "
        + ", ".join(f"{d} b={b} on {n}" for (d, b), n in list(report.oracle.picks.items())[:10])
        + (f" and {len(report.oracle.picks) - 10} more pairs" if len(report.oracle.picks) > 10 else ""),
        *("\n".join(map(_difference_text, report.differences)),) * bool(report.differences),
        _sensitivity_text(found),
    ]
    if found.within is not None:
        parts.append(_within_text(found))
    if not any(row.width_rule for row in budgets.table.rule_rows):
        parts.append("The width rule has no row: this set has no development windows to learn acceptance on.")
    return "\n\n".join(parts)


def _flag(extrapolated: bool) -> str:
    return " [may use a width whose cost was not measured]" if extrapolated else ""


def _gap_cells(row: GapRow) -> list[object]:
    slower = row.slowdown
    return [
        row.choice,
        row.group,
        row.windows,
        row.tps,
        row.gain,
        row.gap,
        _between(row.gap_interval),
        None if slower is None else slower.slower,
        "" if slower is not None and slower.slower == 0 else None if slower is None else number(slower.median_loss),
        "" if slower is not None and slower.slower == 0 else None if slower is None else number(slower.max_loss),
    ]


def _spread_cells(row: GapRow) -> list[object]:
    return [row.choice, row.group, *_quartile_cells(row.window_tps), *_quartile_cells(row.window_change)]


def _quartile_cells(found: Quartiles | None) -> list[object]:
    return [None, None] if found is None else [found.median, f"{found.low:.2f} to {found.high:.2f}"]


def _difference_text(item: Difference) -> str:
    return (
        f"{item.choice} against {item.against}: {_signed(item.tps)} tok/s {_between(item.tps_interval)}, "
        f"{_signed(item.percent)} % {_between(item.percent_interval)}; faster on {item.faster} windows, slower on "
        f"{item.slower}, same on {item.ties} (paired)"
    )


def _sensitivity_text(found: OracleFindings) -> str:
    if found.scenario_problem is not None:
        return f"Sensitivity: n/a. {found.scenario_problem}"
    if len(found.scenarios) == 1:
        return "Sensitivity: every width was measured beside a running source, so that nothing is assumed."
    return "If wide verification beside a running source costs what was assumed, the least or the most\n" + table(
        ["concurrent ratio", "tok/s", "oracle tok/s", "gap %"],
        [[s.name, s.tps, s.oracle_tps, s.gap] for s in found.scenarios],
    )


def _within_text(found: OracleFindings) -> str:
    within = found.within
    doubt = None if within is None else within.largest_doubt_percent
    headings = ["windows of", "n", "exact", "found tok/s", "bound tok/s", "found over oracle %", "bound over oracle %"]
    return (
        f"The best sequence of widths within every window. {_EXACT}\n"
        + table(
            headings,
            [
                [r.group, r.windows, r.exact_windows, r.tps, r.bound_tps, r.over_oracle, r.bound_over_oracle]
                for r in found.within_rows
            ],
        )
        + f"\nA window may be at most {number(doubt, '%', 3)} faster than what was found."
    )


def _csv_rows(found: OracleFindings) -> list[list[object]]:
    rows: list[list[object]] = []
    report = found.report
    for row in (*report.rows, *report.oracle_rows):
        about = ("gap", row.group, row.choice)
        slower = row.slowdown
        rows += [
            [*about, "tps", row.tps, *_ends(row.tps_interval), "tok/s", row.windows],
            [*about, "gain", row.gain, *_ends(row.gain_interval), "%", row.windows],
            [*about, "gap", row.gap, *_ends(row.gap_interval), "%", row.windows],
            [*about, "slower windows", None if slower is None else slower.slower, None, None, "", row.windows],
            [*about, "median loss", None if slower is None else slower.median_loss, None, None, "%", row.windows],
            [*about, "max loss", None if slower is None else slower.max_loss, None, None, "%", row.windows],
        ]
        for name, unit, spread in (("window tps", "tok/s", row.window_tps), ("window change", "%", row.window_change)):
            low, high = (None, None) if spread is None else (spread.low, spread.high)
            median = None if spread is None else spread.median
            rows.append([*about, f"{name}, median and quartiles", median, low, high, unit, row.windows])
    windows = len(found.budgets.grid.windows)
    for item in report.differences:
        name = f"{item.choice} against {item.against}"
        rows.append(["difference", ALL_GROUPS, name, "tps", item.tps, *_ends(item.tps_interval), "tok/s", windows])
        rows.append(["difference", ALL_GROUPS, name, "tps", item.percent, *_ends(item.percent_interval), "%", windows])
    for control in (*found.budgets.table.rows, *found.budgets.table.rule_rows):
        name = f"{control.drafter} b={control.budget}" + (" width rule" if control.width_rule else "")
        about = ("fixed", ALL_GROUPS, name)
        rows.append([*about, "tps", control.tps, control.tps_low, control.tps_high, "tok/s", windows])
        rows.append([*about, "gap", control.gap, None, None, "%", windows])
    for (drafter, budget), count in report.oracle.picks.items():
        rows.append(["picks", ALL_GROUPS, f"{drafter} b={budget}", "windows", count, None, None, "", windows])
    for scenario in found.scenarios:
        about = ("sensitivity", ALL_GROUPS, found.choices[0].name)
        rows.append([*about, f"gap, {scenario.name} ratio", scenario.gap, None, None, "%", windows])
    for inner in found.within_rows:
        about = ("within", inner.group, "best widths")
        rows.append([*about, "tps, found and bound", inner.tps, inner.tps, inner.bound_tps, "tok/s", inner.windows])
        rows.append([*about, "exact windows", inner.exact_windows, None, None, "", inner.windows])
    for name, rates in report.cdf.items():
        rows += [
            ["cdf", ALL_GROUPS, name, f"quantile {(i + 1) / len(rates):.6f}", rate, None, None, "tok/s", len(rates)]
            for i, rate in enumerate(rates.tolist())
        ]
    return rows


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _between(interval: Interval | None) -> str:
    return "n/a" if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"


def _signed(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.2f}"
