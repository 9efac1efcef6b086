"""Every budget and every baseline of a comparison as one table, on a page and as CSV."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from as2d_core.replay.budgets import BudgetTable
from dashboard.views import numbers
from datastore.csv_cells import csv_cell

COLUMNS = (
    "Method",
    "Drafter",
    "b",
    "TPS (tok/s)",
    "TPS low",
    "TPS high",
    "Gain (%)",
    "Gap (%)",
    "Slower windows",
    "Slower (%)",
    "Median loss (%)",
    "Largest loss (%)",
    "Rounds",
    "K = 1 rounds",
    "Proposed",
    "Accepted",
    "Extrapolated",
)

MAIN = (*COLUMNS[:8], "Slower (%)", "Median loss (%)")
"""Columns that have room on a page 900 px wide."""

COLUMN_HELP: Mapping[str, str] = {
    "b": "Proposal budget: most candidates in one verification. For SD, K - 1. Cheapest width: the most it may take.",
    "TPS (tok/s)": "Sum of committed tokens over sum of time, all windows.",
    "TPS low": "Lower end of the 95 % bootstrap interval over windows.",
    "TPS high": "Upper end of it.",
    "Gain (%)": "Pooled TPS over target-only.",
    "Gap (%)": "Pooled TPS below the oracle, which has hindsight for every window.",
    "Slower windows": "Windows slower than target-only.",
    "Median loss (%)": "Median loss of TPS over the slower windows.",
    "Extrapolated": "Uses a width whose cost was not measured on this device.",
}


def budget_table(table: BudgetTable) -> pd.DataFrame:
    """Numbers (NaN: n/a), budgets first, then the baselines."""
    alone = table.target_only_tps
    rows: list[dict[str, Any]] = [
        {
            "Method": "As²d" if row.width_rule is None else "As²d, cheapest width",
            "Drafter": row.drafter,
            "b": row.budget,
            "TPS (tok/s)": row.tps,
            "TPS low": row.tps_low,
            "TPS high": row.tps_high,
            "Gain (%)": row.gain,
            "Gap (%)": row.gap,
            "Slower windows": row.slower_windows,
            "Slower (%)": None if row.slower_share is None else row.slower_share * 100,
            "Median loss (%)": row.median_loss,
            "Largest loss (%)": row.max_loss,
            "Rounds": row.rounds,
            "K = 1 rounds": row.k1_rounds,
            "Proposed": row.proposed,
            "Accepted": row.accepted,
            "Extrapolated": "yes" if row.extrapolated else "no",
        }
        for row in (*table.rows, *table.rule_rows)
    ]
    rows += [
        {
            "Method": f"SD K={sd.width}",
            "Drafter": sd.drafter,
            "b": sd.width - 1,
            "TPS (tok/s)": sd.tps,
            "TPS low": sd.tps_low,
            "TPS high": sd.tps_high,
            "Gain (%)": None if sd.tps is None or not alone else 100 * (sd.tps / alone - 1),
            "Slower windows": sd.slower_windows,
            "Slower (%)": None if sd.slower_share is None else sd.slower_share * 100,
        }
        for sd in table.sd_rows
    ]
    for name, tps, interval in (
        ("Target-only", alone, table.target_only_interval),
        ("Oracle", table.oracle_tps, table.oracle_interval),
    ):
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        gain = None if tps is None or not alone else 100 * (tps / alone - 1)
        rows.append({"Method": name, "TPS (tok/s)": tps, "TPS low": low, "TPS high": high, "Gain (%)": gain})
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in COLUMNS:
        if name not in ("Method", "Drafter", "Extrapolated"):
            frame[name] = pd.to_numeric(frame[name], errors="coerce").astype("float64")
    return frame


def budget_styled(table: BudgetTable) -> Any:
    """The table as a grid shows it: formatted text that still sorts by the numbers."""
    frame = budget_table(table)
    return frame.style.format({name: _format(name) for name in frame.columns})


def budget_csv(table: BudgetTable, about: Mapping[str, Any]) -> bytes:
    """The table as CSV; the first line is a comment with what the numbers are."""
    head = f"# {json.dumps({'program': 'as2d', 'times': 'replayed', 'trajectories': table.label, **about})}\n"
    return (head + budget_table(table).map(csv_cell).to_csv(index=False, lineterminator="\n")).encode()


def _format(name: str) -> Callable[[Any], str]:
    def written(value: Any) -> str:
        if isinstance(value, str):
            return value
        if value is None or pd.isna(value):
            return numbers.NA
        if "TPS" in name:
            return numbers.decimals(value, 2)
        return numbers.decimals(value, 1 if "(%)" in name else 0, signed=name.startswith("Gain"))

    return written
