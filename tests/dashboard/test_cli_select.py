import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from as2d_core.deployment_file import read_deployment
from as2d_core.models.demo_catalog import DRAFTER
from as2d_core.replay import load_corpus, load_profile
from dashboard.cli import main
from dashboard.services.choosing import choose_deployment
from dashboard.services.runs import load_record
from dashboard.services.workspace import open_workspace

COMMON = ("select", "--profile", "k70", "--corpus", "demo", "--budgets", "1,4,7")


@pytest.fixture
def as2d(data_folder, capsys):
    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert len(said.out.splitlines()) == 1
        return code, json.loads(said.out), said.err

    return call


@pytest.fixture
def frozen(as2d, tmp_path):
    path = tmp_path / "choice.json"
    code, out, _ = as2d(*COMMON, "--freeze", path)
    assert code == 0
    return path, out


def test_test_windows_stay_unseen_until_the_choice_is_frozen(as2d):
    code, out, err = as2d(*COMMON)
    assert (code, out["test"], out["frozen"]) == (0, None, None)
    assert out["windows"] == {"development": 100, "validation": 100, "test": 60}
    assert len(out["split_sha256"]["test"]) == 64
    assert out["budget"]["validation_tps"] == max(p["tps"] for p in out["budget"]["finalists_on_validation"])
    assert {item["width_rule"] for item in out["considered"]} == {True, False}
    assert "Judging" not in err


def test_freezing_writes_the_file_and_then_judges_it(frozen):
    path, out = frozen
    kept = read_deployment(path)
    assert (kept.fixed.drafter, kept.fixed.budget) == (out["budget"]["drafter"], out["budget"]["budget"])
    assert out["test"]["budget"]["windows"] == 60
    assert out["test"]["budget"]["test_sha256"] == kept.test_sha256
    assert out["test"]["width_rule"]["gap_interval"]["low"] <= out["test"]["width_rule"]["gap_percent"]
    assert out["deployed"] == ("budget" if kept.deployed is kept.fixed else "width rule")


def test_a_frozen_choice_is_judged_again_with_the_same_result(frozen, as2d):
    path, out = frozen
    code, again, _ = as2d(*COMMON, "--frozen", path)
    assert (code, again["test"], again["considered"]) == (0, out["test"], out["considered"])


def test_a_frozen_choice_is_not_overwritten_unasked_and_keeps_its_test_windows(frozen, as2d):
    path, _ = frozen
    before = path.read_bytes()
    code, out, _ = as2d(*COMMON, "--freeze", path)
    assert (code, "not overwritten without --replace" in out["error"]) == (1, True)
    code, out, _ = as2d(*COMMON, "--freeze", path, "--replace", "--seed", 3, "--deal")
    assert (code, "are test windows of a choice that is already frozen" in out["error"]) == (1, True)
    assert path.read_bytes() == before
    code, out, _ = as2d(*COMMON, "--freeze", path, "--replace", "--seed", 3)
    assert (code, out["deal"]) == (0, {"scope": "selection", "seed": 3})


def test_a_frozen_choice_with_other_costs_is_shown_but_not_judged(frozen, as2d):
    path, _ = frozen
    code, out, _ = as2d("select", "--profile", "mi14", "--corpus", "demo", "--frozen", path)
    assert (code, out["test"]) == (1, None)
    assert "costs of 'mi14' have changed" in out["error"]
    assert out["profile"] == "k70"


def test_thresholds_and_search_windows_are_choices_too(as2d):
    _, out, _ = as2d(*COMMON, "--thresholds", "0.4,none", "--search-windows", "8,16", "--no-rule")
    assert [(c["threshold"], c["search_window"]) for c in out["considered"]] == [
        (0.4, 8),
        (0.4, 16),
        (None, 8),
        (None, 16),
    ]
    best = max(out["considered"], key=lambda c: c["validation_tps"])
    assert (out["budget"]["threshold"], out["budget"]["search_window"]) == (best["threshold"], best["search_window"])
    assert out["width_rule"] is None


def test_csv_has_one_figure_a_row(data_folder, tmp_path, capsys):
    assert main([*COMMON, "--freeze", str(tmp_path / "c.json"), "--csv", "--quiet"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["part"] for row in rows} == {"development", "validation", "test"}
    assert {row["figure"] for row in rows if row["part"] == "test"} == {"tps", "gain", "gap", "slower windows"}


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--thresholds", "x"), "--thresholds is 'x'"),
        (("--search-windows", "a"), "--search-windows is 'a'"),
        (("--search-windows", "-1"), "search window is -1"),
        (("--finalists", "0"), "0 finalists leave nothing"),
        (("--deal",), "--deal needs a seed"),
        (("--drafter", "draftr"), "Did you mean 'drafter'"),
    ],
)
def test_what_cannot_be_is_one_sentence(as2d, extra, sentence):
    code, out, _ = as2d(*COMMON, *extra)
    assert (code, sentence in out["error"]) == (1, True), out["error"]


def test_a_set_of_test_windows_only_is_not_chosen_on(as2d):
    code, out, _ = as2d("select", "--profile", "k70", "--corpus", "paper-688")
    assert (code, "no development and validation windows" in out["error"]) == (1, True)


# -- running what was chosen ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A frozen choice, written without a command: a command closes the workspace that the runs below need."""
    path = tmp_path_factory.mktemp("frozen") / "choice.json"
    choose_deployment(load_profile("k70"), load_corpus("demo"), (0.4,), (16,), (1, 4, 7), freeze=path)
    return path


@pytest.fixture
def choice(kept, tmp_path):
    """A copy of it that a test may change."""
    return Path(shutil.copy(kept, tmp_path / "choice.json"))


def requested(run_id):
    return load_record(open_workspace(), run_id, ("rounds",)).request


RUN = ("run", "--window", "clean_00", "--instruction", "ok 4", "--no-reference")


def test_a_run_takes_everything_from_the_deployment(workspace, as2d, choice):
    body = json.loads(choice.read_text())
    code, out, _ = as2d(*RUN, "--deployment", choice)
    assert code == 0
    request = requested(out["run_id"])
    chosen = read_deployment(choice).deployed
    assert (request.budget, request.threshold, request.search_window) == (
        chosen.budget,
        chosen.threshold,
        chosen.search_window,
    )
    assert request.width_rule == chosen.width_rule
    assert request.drafter.path == str(DRAFTER)
    assert body["models"]["drafter"] == request.drafter.sha256


def test_a_width_rule_that_was_faster_goes_into_the_request(workspace, as2d, choice):
    body = json.loads(choice.read_text())
    body["width_rule"]["finalists_on_validation"][0]["tps"] = body["choice"]["validation_tps"] + 1.0
    body["deployed"] = "width_rule"
    choice.write_text(json.dumps(body))
    _, out, _ = as2d(*RUN, "--deployment", choice)
    request = requested(out["run_id"])
    assert list(request.width_rule.idle) == body["width_rule"]["idle"]
    assert request.budget == body["width_rule"]["budget"]


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--budget", "3"), "--budget is part of the deployment"),
        (("--threshold", "0.3"), "--threshold is part of the deployment"),
        (("--method", "sd"), "A deployment says how As²d runs, not sd"),
        (("--drafter", "demo-target"), "was chosen with drafter 'drafter', which 'demo-target' is not"),
    ],
)
def test_what_contradicts_the_deployment_is_refused(workspace, as2d, choice, extra, sentence):
    code, out, _ = as2d(*RUN, "--deployment", choice, *extra)
    assert (code, sentence in out["error"]) == (1, True), out["error"]


@pytest.mark.parametrize(
    ("name", "sentence"), [("target", "another target model"), ("drafter", "none of the models here")]
)
def test_a_deployment_for_other_models_is_refused(workspace, as2d, choice, name, sentence):
    body = json.loads(choice.read_text())
    choice.write_text(json.dumps({**body, "models": {**body["models"], name: "0" * 64}}))
    code, out, _ = as2d(*RUN, "--deployment", choice)
    assert (code, sentence in out["error"]) == (1, True), out["error"]
