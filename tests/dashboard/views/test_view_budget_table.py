import csv
import io
import json

import numpy as np
import pytest

from as2d_core.profiles import load_profile
from as2d_core.replay.acceptance import learn_width_rules
from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.trajectories import load_corpus
from dashboard.views.budget_table import COLUMN_HELP, COLUMNS, budget_csv, budget_styled, budget_table


@pytest.fixture(scope="module")
def table():
    corpus, profile = load_corpus("demo"), load_profile("k70")
    return compare_budgets(replay_grid(corpus, profile, (1, 7, 60)), resamples=50)


def test_budgets_come_first_then_the_baselines(table):
    frame = budget_table(table)
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["Method"][:3]) == ["As²d"] * 3
    assert list(frame["Method"][-2:]) == ["Target-only", "Oracle"]


def test_figures_are_those_of_the_comparison(table):
    row = budget_table(table).iloc[1]
    assert row["b"] == 7
    assert row["TPS (tok/s)"] == table.rows[1].tps
    assert row["Slower (%)"] == table.rows[1].slower_share * 100


def test_a_budget_that_cannot_run_has_no_number(table):
    row = budget_table(table).iloc[2]
    assert row["b"] == 60
    assert np.isnan(row["TPS (tok/s)"])


def test_the_grid_shows_text_with_decimals(table):
    assert f"{table.rows[1].tps:,.2f}" in budget_styled(table).to_html()


def test_the_file_says_what_it_holds_and_reads_back(table):
    first, rest = budget_csv(table, {"corpus": "demo"}).decode().split("\n", 1)
    about = json.loads(first.removeprefix("# "))
    assert (about["times"], about["trajectories"], about["corpus"]) == ("replayed", "measured", "demo")
    rows = list(csv.DictReader(io.StringIO(rest)))
    assert float(rows[1]["TPS (tok/s)"]) == table.rows[1].tps
    assert rows[2]["TPS (tok/s)"] == ""


def test_a_width_rule_has_a_row_in_the_grid_and_in_the_file():
    corpus, profile = load_corpus("demo"), load_profile("k70")
    rules, _ = learn_width_rules(corpus, profile)
    grids = [replay_grid(corpus, profile, (1, 7), width_rules=r) for r in (None, rules)]
    table = compare_budgets(grids[0], resamples=20, ruled=grids[1])
    frame = budget_table(table)
    row = frame.iloc[2]
    assert list(frame["Method"][:3]) == ["As²d", "As²d", "As²d, cheapest width"]
    assert (row["b"], row["TPS (tok/s)"]) == (7, table.rule_rows[0].tps)
    assert "As²d, cheapest width" in budget_styled(table).to_html()
    rows = list(csv.DictReader(io.StringIO(budget_csv(table, {}).decode().split("\n", 1)[1])))
    assert float(rows[2]["TPS (tok/s)"]) == table.rule_rows[0].tps


def test_only_columns_that_exist_are_explained():
    assert set(COLUMN_HELP) <= set(COLUMNS)
