"""``as2d budgets``: every drafter and budget on a device, replayed, and the one to choose."""

import argparse
from typing import Any

from as2d_core.replay.budgets import BudgetRow
from dashboard.cli_choices import whole_numbers
from dashboard.cli_output import Answer, add_csv, command, number, rows_as_text, table
from dashboard.services.budgets import ALL_WINDOWS, BudgetReport, compare
from dashboard.services.folders import user_folders
from dashboard.views.choice_steps import chosen_name


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "budgets",
        "compare budgets by replay",
        "as2d budgets --profile k70 --corpus demo --split test",
        "Replay recorded tokens with the costs of a device under every drafter and budget. The choice is made on "
        "development and validation windows only; the rows, the oracle and the gap cover the windows of --split. A set "
        "without such windows is compared, and one sentence says that nothing is chosen; `as2d select` fails then.",
    )
    parser.add_argument("--profile", metavar="ID", required=True, help="a profile id, or a profile file")
    parser.add_argument("--corpus", metavar="ID", required=True, help="a trajectory set id, or a Parquet file")
    parser.add_argument("--split", default=ALL_WINDOWS, help="all (default), development, validation or test")
    parser.add_argument("--drafter", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--budgets", metavar="B,B,...", help="default: all that the profile can price")
    add_csv(parser)
    parser.set_defaults(command=budgets)


def budgets(options: argparse.Namespace) -> Answer:
    """Compare them."""
    chosen = None if options.budgets is None else whole_numbers(options.budgets, "--budgets")
    report = compare(user_folders(), options.profile, options.corpus, options.split, options.drafter, chosen)
    document = as_document(report)
    rows = [row_document(row) for row in (*report.table.rows, *report.table.rule_rows)]
    return Answer(document, rows_as_text(options, _text(report), list(rows[0]), [list(row.values()) for row in rows]))


def as_document(report: BudgetReport) -> dict[str, Any]:
    """The comparison under the names that scripts use; all figures over the same windows."""
    grid, picked = report.grid, report.selection
    return {
        "profile": report.profile.id,
        "profile_kind": report.profile.kind,
        "corpus": report.corpus.id,
        "corpus_label": report.corpus.label,
        "times": "replayed",
        "split": report.split,
        "windows": len(grid.windows),
        "window_ids": grid.windows,
        "splits": {name: grid.splits.count(name) for name in sorted(set(grid.splits))},
        "tokens": report.table.tokens,
        "threshold": grid.threshold,
        "search_window": grid.search_window,
        "target_only_tps": report.table.target_only_tps,
        "rows": [row_document(row) for row in report.table.rows],
        "width_rule": None if report.rule_selected is None else row_document(report.rule_selected),
        "oracle_tps": report.table.oracle_tps,
        "standard_sd": [
            {"drafter": mean.drafter, "widths": mean.widths, "tps": mean.tps} for mean in report.table.sd_means
        ],
        "selected": None if picked is None else {"drafter": picked.drafter, "budget": picked.budget},
        "selection_problem": report.selection_problem,
        "selected_on": None if picked is None else {k: len(ids) for k, ids in picked.window_ids.items()},
        "selected_tps": None if report.selected is None else report.selected.tps,
        "gap_percent": report.gap_percent,
    }


def row_document(row: BudgetRow) -> dict[str, Any]:
    """One row of a table of budgets under the names that scripts use."""
    return {
        "drafter": row.drafter,
        "budget": row.budget,
        "width_rule": row.width_rule,
        "tps": row.tps,
        "tps_low": row.tps_low,
        "tps_high": row.tps_high,
        "gain_percent": row.gain,
        "gap_percent": row.gap,
        "slower_windows": row.slower_windows,
        "median_loss_percent": row.median_loss,
        "fallback_windows": row.fallback_windows,
        "extrapolated": row.extrapolated,
        "feasible": row.feasible,
    }


def _text(report: BudgetReport) -> str:
    grid, table_, deployed = report.grid, report.table, report.deployed
    ruled = deployed is not None and deployed.width_rule is not None
    called = "fixed choice" if ruled else "selected"
    lines = [
        f"{report.profile.name} [{report.profile.kind}], corpus {report.corpus.id} [{report.corpus.label}], "
        f"{len(grid.windows)} windows ({report.split}), {table_.tokens} tokens; times are replayed",
        "",
        table(
            ["drafter", "budget", "tok/s", "gain %", "gap %", "slower windows", "notes"],
            [
                [
                    row.drafter,
                    row.budget,
                    row.tps,
                    row.gain,
                    row.gap,
                    row.slower_windows,
                    ", ".join(
                        note
                        for note, holds in [
                            (called, row is report.selected),
                            ("selected", ruled and row is report.rule_selected),
                            ("width rule: the cheapest width up to this budget", row.width_rule is not None),
                            ("extrapolated width", row.extrapolated),
                            ("not feasible", not row.feasible),
                            (f"{row.fallback_windows} windows by the first drafter", row.fallback_windows > 0),
                        ]
                        if holds
                    ),
                ]
                for row in (*table_.rows, *table_.rule_rows)
            ],
        ),
        "",
        f"target-only {number(table_.target_only_tps, 'tok/s')}, oracle {number(table_.oracle_tps, 'tok/s')}",
    ]
    if report.selection_problem is not None:
        lines.append(report.selection_problem)
    if report.selection is not None:
        on = ", ".join(f"{len(ids)} {name}" for name, ids in report.selection.window_ids.items())
        lines.append(
            f"{called} {chosen_name(report.selection)}, on {on} windows; gap here {number(report.gap_percent, '%')}"
        )
        if deployed is not None and ruled:
            lines.append(
                f"selected {chosen_name(deployed)}, which has {number(deployed.validation_tps, 'tok/s')} on validation "
                f"windows; the fixed choice {number(report.selection.validation_tps, 'tok/s')}"
            )
    return "\n".join(lines)
