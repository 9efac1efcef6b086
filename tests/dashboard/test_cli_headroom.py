import csv
import io
import json

import pytest
from small_sets import few_windows, narrow_profile

from dashboard.cli import main

COMMON = ("headroom", "--profile", "k70", "--corpus", "demo")
WHAT = {"draft", "verify", "loop", "publish", "readiness", "source errors"}


@pytest.fixture
def as2d(data_folder, capsys):
    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert len(said.out.splitlines()) == 1
        return code, json.loads(said.out), said.err

    return call


def test_every_cost_is_asked_and_the_bottleneck_is_named(as2d):
    code, out, err = as2d(*COMMON, "--split", "test")
    assert (code, out["windows"], out["budget"]) == (0, 60, 7)
    named = {item["what"]: item for item in out["levers"]}
    assert set(named) >= WHAT
    assert any(name.startswith("verify K = ") for name in named)
    assert (
        named["verify"]["move_interval"]["low"] <= named["verify"]["move"] <= named["verify"]["move_interval"]["high"]
    )
    assert out["D_ms"] + out["V_ms"] - out["O_ms"] + out["H_ms"] == pytest.approx(out["tokens"] / out["tps"] * 1e3)
    assert out["bound_tps"] >= out["tps"]
    assert out["sentence"].startswith("On Redmi K70 Pro ")
    assert ". " not in out["sentence"]
    assert "Replaying" in err


def test_the_sentence_is_said_first_and_csv_has_one_cost_a_row(data_folder, capsys):
    assert main([*COMMON, "--split", "test", "--quiet"]) == 0
    said = capsys.readouterr()
    assert "is the bottleneck" in said.out.splitlines()[2]
    assert said.err == ""
    assert main([*COMMON, "--split", "test", "--quiet", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["what"] for row in rows} >= WHAT | {"as it is", "bound N / (max(D, V) + H)"}
    assert next(row for row in rows if row["what"] == "verify")["gone_tps"] == ""


def test_a_width_rule_is_learned_on_request(as2d):
    _, plain, _ = as2d(*COMMON, "--split", "test", "--budget", "12")
    _, ruled, _ = as2d(*COMMON, "--split", "test", "--budget", "12", "--rule")
    assert plain["width_rule"] is None
    assert "development windows" in ruled["width_rule"]
    assert ruled["tps"] != plain["tps"]


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--split", "tset"), "Did you mean 'test'"),
        (("--drafter", "draftr"), "Did you mean 'drafter'"),
        (("--budget", "-1"), "budget is -1"),
        (("--budget", "99"), "needs widths up to 100"),
        (("--budget", "30", "--rule"), "needs widths up to 31"),
    ],
)
def test_what_cannot_be_is_one_sentence(as2d, extra, sentence):
    code, out, _ = as2d(*COMMON, *extra)
    assert (code, sentence in out["error"]) == (1, True), out["error"]


def test_a_set_without_the_needed_windows_is_one_sentence(as2d, tmp_path):
    arguments = ("headroom", "--profile", narrow_profile(tmp_path), "--corpus", few_windows(tmp_path))
    code, out, _ = as2d(*arguments, "--budget", 2, "--split", "validation")
    assert (code, out["error"]) == (1, "The set 'few' has no validation windows.")
    code, out, _ = as2d(*arguments, "--budget", 2, "--rule")
    assert (code, "no development windows" in out["error"]) == (1, True)
    code, out, _ = as2d(*arguments)
    assert (code, out["error"]) == (1, "No budget is given, and 'narrow' has no deployed one.")
