"""Two records of one request, or of two methods, differ in what must not differ, or in times alone."""

from dataclasses import replace

import pytest

from as2d_core.profiles import load_profile
from as2d_core.protocol import parse
from as2d_core.records import Engine
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from tests.bench.native_figures import differences, native_figures, render_native, speed
from tests.bench.tasks import render_tasks, task_figures


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("demo")


@pytest.fixture
def run(corpus):
    def replayed(method="as2d", profile="k70", **settings):
        settings = settings or {"as2d": {"budget": 7}, "sd": {"width": 5}}.get(method, {})
        return parse(list(replay_window(corpus, "clean_00", load_profile(profile), method, **settings).lines))

    return replayed


def test_runs_that_took_other_times_differ_in_nothing(run):
    assert differences(run(), run(profile="note9")) == []


def test_another_token_is_a_difference(run):
    python, native = run(), run()
    last = native.rounds[-1]
    native.rounds[-1] = replace(last, committed=(*last.committed[:-1], 1))
    assert any(what.startswith("tokens differ") for what in differences(python, native))


def test_another_hash_of_the_audio_is_a_difference(run):
    python, native = run(), run()
    request = native.request
    other = replace(request, audio=replace(request.audio, sha256="0" * 64))
    native.header = replace(native.header, request=other)
    assert [what.split(" differ")[0] for what in differences(python, native)] == ["hash of the audio"]


def test_another_round_of_a_method_that_waits_is_a_difference(run):
    python, native = run("sd"), run("sd")
    native.rounds[0] = replace(native.rounds[0], physical_width=9)
    assert "rounds differ" in differences(python, native)


def test_another_candidate_is_a_difference_and_one_more_is_none(run):
    python, native = run(), run()
    cut = native.publications.pop()
    assert not any(what.startswith("candidate") for what in differences(python, native))
    native.publications.append(replace(cut, tokens=(1, *cut.tokens[1:])))
    assert any(what.startswith("candidate") for what in differences(python, native))


def test_models_on_other_cores_are_a_difference(run):
    engine = Engine("drafter", "light", "0" * 64, "3.6.1", "cpu", 1, "high", "high", (1,), (), (1,))
    python, native = run(), run()
    python.engines["drafter"] = engine
    native.engines["drafter"] = replace(engine, cores=(0,))
    assert differences(python, native) == ["cores differ: {'drafter': (1,)} and {'drafter': (0,)}"]


def test_a_run_that_failed_is_a_difference(run):
    python, native = run(), run()
    native.end = replace(native.end, status="failed", error="The engine failed.")
    assert any("failed: The engine failed." in what for what in differences(python, native))


def test_a_figure_that_nothing_was_measured_for_is_not_available(run):
    assert speed([])["tps"] is None
    assert speed([run("target-only")])["overlap_share"] is None


def test_the_figures_are_ratios_of_one_runner_to_the_other(run):
    slow, fast = run(profile="note9"), run()
    result = native_figures({("", "target-only"): [(slow, fast)]})
    (row,) = result["rows"]
    assert row["native"]["tps"] / row["python"]["tps"] == pytest.approx(speed([fast])["tps"] / speed([slow])["tps"])
    text = render_native({**result, "load": [0.5, 1.0]})
    assert "What differs: 0" in text
    assert "Load average 0.5" in text


def test_an_output_that_is_not_target_onlys_and_a_run_that_failed_are_named(run):
    reference, same, other, failed = run("target-only"), run(), run(), run("sd")
    last = other.rounds[-1]
    other.rounds[-1] = replace(last, committed=(*last.committed[:-1], 1))
    failed.end = replace(failed.end, status="failed")
    runs = [("translate", "light", arm, record) for arm, record in (("A", same), ("B", other), ("C", failed))]
    result = task_figures({"clean_00": "translate"}, {"clean_00": reference}, runs)
    assert result["different"] == ["B light on clean_00"]
    assert result["failed"] == ["C light on clean_00: failed"]
    assert (result["windows"], result["runs"]) == ({"translate": 1}, 4)
    assert [row["runs"] for row in result["rows"]] == [1, 1, 1]
    assert "Outputs that differ from target-only: 1; failed runs: 1" in render_tasks(result)
