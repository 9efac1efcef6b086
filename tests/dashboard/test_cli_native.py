"""``as2d replay --native`` over stored runs."""

import csv
import io
import json

import pytest

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import ScriptedModel, ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import RunFacts, run_virtually
from as2d_core.profiles import load_profile, write_profile
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.cli import main
from datastore.ingest import ingest_run

EOS = 2
TOKENS = [*range(10, 50), EOS]
COSTS = TargetCosts(50.0, {k: 47.0 + k for k in range(1, 10)}, {k: 46.0 + k for k in range(1, 10)}, loop_ms=2.0)


def stored(workspace, tmp_path, run_id, method, label="measured", window="w0", **parameters):
    """A run in the store, with the record that a native run leaves."""
    clock = VirtualClock()
    request = Request(run_id, method, ModelRef("t"), AudioRef("a.wav", window_id=window), ModelRef("d"), **parameters)
    if method == "as2d":
        source = ScriptedSource(clock, TOKENS[:-1], autoregressive_schedule(40, 8, 15.0, 0.5), [0.9] * 40, 0.5)
    else:
        source = BranchDrafter(
            ScriptedModel(clock, lambda read: (TOKENS[len(read)] if len(read) % 9 else 99, 0.9), EOS, lambda _: 15.0)
        )
    run = run_virtually(
        request,
        ScriptedTarget(clock, TOKENS, EOS, COSTS),
        None if method == "target-only" else source,
        clock,
        RunFacts(source=label, created_at="2026-09-15T10:00:00Z"),
    )
    path = tmp_path / f"{run_id}.ndjson"
    path.write_text("".join(run.lines), encoding="utf-8")
    ingest_run(workspace.store, path)


@pytest.fixture
def as2d(workspace, tmp_path, capsys):
    """Runs a command with --json; gives exit code and its one document. Three runs are stored."""
    stored(workspace, tmp_path, "run-a", "as2d", budget=7)
    stored(workspace, tmp_path, "run-s", "sd", width=5)
    stored(workspace, tmp_path, "run-t", "target-only")
    stored(workspace, tmp_path, "seen", "as2d", label="replayed", budget=7)

    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def costs(tmp_path):
    """A profile file with costs that are not those of the runs."""
    path = tmp_path / "mine.json"
    write_profile(load_profile("k70"), path)
    return path


def test_all_measured_runs_take_the_same_rounds_and_are_timed(as2d, costs):
    code, out = as2d("replay", "--native", "all", "--profile", costs)
    assert (code, [run["run_id"] for run in out["runs"]]) == (0, ["run-a", "run-s", "run-t"])
    assert all(run["equal"] and run["differing_rounds"] == 0 and run["rounds"] for run in out["runs"])
    assert [entry["name"] for entry in out["by_method"]] == ["as2d", "sd", "target-only"]
    step = load_profile("k70").target_step_ms
    assert out["runs"][2]["error_percent"] == pytest.approx(100 * (50.0 / step - 1))
    absolute = [abs(run["error_percent"]) for run in out["runs"]]
    assert out["overall"]["mean_absolute_percent"] == pytest.approx(sum(absolute) / 3)
    assert out["overall"]["max_absolute_percent"] == pytest.approx(max(absolute))


def test_without_any_profile_costs_are_fitted_to_the_runs_themselves(as2d):
    code, out = as2d("replay", "--native", "run-a")
    assert (code, out["costs"]) == (0, "these runs")
    assert out["overall"]["error_percent"] == pytest.approx(0.0, abs=1e-3)


def test_a_run_that_is_not_timed_is_a_failure_that_names_it(as2d):
    code, out = as2d("replay", "--native", "run-s", "run-a")
    assert code == 1
    assert out["error"].startswith("Run run-s is timed with a profile only")
    assert [run["equal"] for run in out["runs"]] == [True, True]


def test_a_replayed_run_is_no_native_run(as2d):
    code, out = as2d("replay", "--native", "seen")
    assert (code, out["error"]) == (1, "Run seen is replayed; only measured runs are compared with replay.")


def test_csv_is_one_line_a_run(as2d, costs, capsys):
    as2d("runs")
    assert main(["replay", "--native", "all", "--profile", str(costs), "--csv", "--quiet"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["run"] for row in rows] == ["run-a", "run-s", "run-t"]
    assert all(float(row["absolute error %"]) == abs(float(row["error %"])) for row in rows)


def test_people_see_the_pooled_errors(as2d, costs, capsys):
    as2d("runs")
    assert main(["replay", "--native", "all", "--profile", str(costs)]) == 0
    out = capsys.readouterr().out
    assert "with mean costs of k70" in out
    assert "mean absolute error by window" in out
