import csv
import io
import json

import pytest
from small_sets import few_windows, narrow_profile

from dashboard.cli import main

COMMON = ("oracle", "--profile", "k70", "--corpus", "demo", "--budgets", "1,3,7")


@pytest.fixture
def as2d(data_folder, capsys):
    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert len(said.out.splitlines()) == 1
        return code, json.loads(said.out), said.err

    return call


def test_the_deployed_budget_stands_beside_the_oracle_the_rule_and_the_fastest(as2d):
    code, out, err = as2d(*COMMON, "--split", "test")
    assert (code, out["choices"][0]["origin"], out["choices"][0]["budget"]) == (0, "deployed", 7)
    assert any("width rule" in item["name"] for item in out["choices"])
    rows = {(row["choice"], row["group"]): row for row in out["rows"]}
    mine, best = rows[out["choice"], "all"], rows["oracle", "all"]
    assert mine["oracle_tps"] == best["tps"]
    assert mine["gap_percent"] == pytest.approx(100 * (1 - mine["tps"] / best["tps"]))
    assert mine["gap_interval"]["low"] <= mine["gap_percent"] <= mine["gap_interval"]["high"]
    assert {group for choice, group in rows if choice == "oracle"} > {"all"}
    assert sum(pick["windows"] for pick in out["oracle_picks"]) == out["windows"] == mine["windows"]
    assert [s["scenario"] for s in out["sensitivity"]] == ["nominal", "low", "high"]
    assert len(out["cdf_tps"]["oracle"]) == out["windows"]
    assert any(row["width_rule"] for row in out["fixed_controls"])
    assert out["within"] is None
    assert "Replaying every drafter" in err


def test_the_best_widths_are_searched_on_request(as2d):
    code, out, _ = as2d(
        "oracle", "--profile", "k70", "--corpus", "demo", "--budgets", "1,3", "--split", "test", "--within", "--quiet"
    )
    within = out["within"]
    assert code == 0
    assert within["rows"][0]["exact_windows"] == within["exact_windows"]
    assert len(within["by_window"]) == out["windows"]
    assert within["rows"][0]["bound_over_oracle_percent"] >= within["rows"][0]["over_oracle_percent"] >= -1e-9


def test_a_choice_can_be_given_and_compared(as2d):
    code, out, _ = as2d(*COMMON, "--choice", 1, "--against", "drafter:3")
    assert code == 0
    assert (out["choices"][0]["budget"], out["choices"][0]["origin"]) == (1, "given")
    first = out["differences"][0]
    assert first["against"] == "drafter b=3"
    assert first["faster_windows"] + first["slower_windows"] + first["tied_windows"] == out["windows"]


def test_csv_has_one_figure_a_row(data_folder, capsys):
    assert main([*COMMON, "--split", "test", "--csv", "--quiet"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["part"] for row in rows} == {"gap", "difference", "fixed", "picks", "sensitivity", "cdf"}
    gap = next(row for row in rows if row["figure"] == "gap" and row["choice"] == "drafter b=7")
    assert float(gap["low"]) <= float(gap["value"]) <= float(gap["high"])
    assert sum(row["part"] == "cdf" and row["choice"] == "oracle" for row in rows) == int(gap["windows"])


def test_a_choice_that_cannot_run_is_an_error_in_every_form(as2d, tmp_path, capsys):
    files = ("--profile", narrow_profile(tmp_path), "--corpus", few_windows(tmp_path))
    arguments = ("oracle", *files, "--budgets", "1,5", "--choice", 5)
    code, out, _ = as2d(*arguments)
    assert (code, out["error"]) == (1, "drafter b=5 cannot run on every window with 'narrow': a width has no cost.")
    assert main([*map(str, arguments), "--quiet"]) == 1
    said = capsys.readouterr()
    assert "n/a" in said.out
    assert "cannot run on every window" in said.err


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--choice", "many"), "--choice is 'many'"),
        (("--choice", "9"), "Budget 9 was not replayed"),
        (("--against", "draftr:3"), "Did you mean 'drafter'"),
        (("--threshold", "2"), "--threshold is '2'"),
        (("--budgets", "1,x"), "--budgets is '1,x'"),
        (("--split", "tset"), "Did you mean 'test'"),
        (("--search-window", "-1"), "search window"),
    ],
)
def test_what_cannot_be_is_one_sentence(as2d, extra, sentence):
    code, out, _ = as2d(*COMMON, *extra)
    assert code == 1
    assert sentence in out["error"]


def test_the_table_of_budgets_has_a_row_of_the_width_rule_in_every_form(as2d, capsys):
    arguments = ("budgets", "--profile", "k70", "--corpus", "demo", "--budgets", "1,3,7")
    _, out, _ = as2d(*arguments)
    assert out["width_rule"]["width_rule"]
    assert main([*arguments, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["budget"] for row in rows[:3]] == ["1", "3", "7"]
    assert float(rows[3]["tps"]) == out["width_rule"]["tps"]
    assert rows[3]["width_rule"] == out["width_rule"]["width_rule"]
    assert main(list(arguments)) == 0
    assert "width rule: the cheapest width up to this budget" in capsys.readouterr().out
