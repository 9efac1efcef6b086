import csv
import io

import pytest

from as2d_core.replay.every_method import REPLAYED_METHODS
from dashboard.cli import main

FEW = ("replay", "--profile", "k70", "--corpus", "demo", "--method", "target-only", "--method", "as2d", "--budget", "7")


def test_every_method_has_rows_beside_the_budgets(as2d):
    code, out = as2d("replay", "--profile", "k70", "--corpus", "demo")
    assert (code, out["times"], out["corpus_label"], out["windows"]) == (0, "replayed", "measured", 260)
    assert {row["method"] for row in out["rows"]} == set(REPLAYED_METHODS)
    assert [row["value"] for row in out["rows"] if row["method"] == "as2d"] == list(range(1, 25))
    assert all(row["tps"] and row["problem"] is None for row in out["rows"])
    assert {row["extrapolated"] for row in out["rows"] if row["method"] == "as2d" and row["value"] > 8} == {True}
    assert "ledgers" not in out


def test_each_window_has_a_ledger_on_request(as2d):
    code, out = as2d(*FEW, "--windows")
    assert (code, [entry["method"] for entry in out["ledgers"]]) == (0, ["target-only", "as2d"])
    for entry in out["ledgers"]:
        assert len(entry["windows"]) == out["windows"]
        for one in entry["windows"]:
            account = one["account_ms"]
            assert sum(one["charges_ms"].values()) == pytest.approx(one["time_ms"], abs=1e-5)
            assert account["D"] + account["V"] - account["O"] + account["H"] == pytest.approx(account["T"], abs=1e-5)


def test_the_split_decides_which_windows_are_pooled(as2d):
    counts = {split: as2d(*FEW, "--split", split)[1]["windows"] for split in ("development", "validation", "test")}
    assert sum(counts.values()) == as2d(*FEW)[1]["windows"]


def test_csv_is_one_line_a_row_or_one_a_window(run):
    code, out, said = run(*FEW, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, [row["method"] for row in rows]) == (0, ["target-only", "as2d"])
    assert float(rows[1]["tok/s"]) > float(rows[0]["tok/s"])
    assert "Replaying" in said
    windows = list(csv.DictReader(io.StringIO(run(*FEW, "--windows", "--csv")[1])))
    assert len(windows) == 520
    total_ms = sum(float(row["ms"]) for row in windows if row["method"] == "as2d")
    tokens = sum(int(row["tokens"]) for row in windows if row["method"] == "as2d")
    assert tokens / total_ms * 1e3 == pytest.approx(float(rows[1]["tok/s"]))


def test_people_see_where_the_time_goes(run):
    code, out, said = run(*FEW, "--quiet")
    assert (code, said) == (0, "")
    assert "times are replayed" in out
    assert "b = 7" in out
    assert "verify 100.0 %" in out


def test_synthetic_tokens_are_labelled_in_the_first_line(run):
    arguments = ("--corpus", "paper-688", "--method", "target-only", "--quiet")
    assert "[synthetic]" in run("replay", "--profile", "k70", *arguments)[1].splitlines()[0]


def test_a_method_that_was_asked_for_and_cannot_run_is_a_failure(as2d):
    code, out = as2d("replay", "--profile", "k70", "--corpus", "demo", "--method", "as2d", "--budget", "90")
    assert code == 1
    assert "as2d at b = 90 with drafter cannot be replayed everywhere" in out["error"]
    assert [row["tps"] for row in out["rows"]] == [None]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay"], "A replay needs --profile and --corpus"),
        (["replay", "--profile", "k70"], "A replay needs --profile and --corpus"),
        (["replay", "--profile", "k7O", "--corpus", "demo"], "k70"),
        (["replay", "--profile", "k70", "--corpus", "dmo"], "demo"),
        (["replay", "--profile", "k70", "--corpus", "demo", "--method", "as3d"], "as2d"),
        (["replay", "--profile", "k70", "--corpus", "demo", "--drafter", "draft"], "drafter"),
        (["replay", "--profile", "k70", "--corpus", "demo", "--split", "tst"], "test"),
        (["replay", "--profile", "k70", "--corpus", "demo", "--method", "sd", "--width", "1"], "at least 2"),
        (["replay", "--native", "all"], "No measured run that ended is stored"),
        (["replay", "--native", "r1"], "r1"),
    ],
)
def test_what_cannot_be_replayed_is_a_sentence(as2d, arguments, said):
    code, out = as2d(*arguments)
    assert code == 1
    assert said in out["error"]


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit):
        main(["replay", "--help"])
    assert "as2d replay --profile k70 --corpus demo" in capsys.readouterr().out
