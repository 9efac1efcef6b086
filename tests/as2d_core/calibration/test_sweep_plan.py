"""What was measured is counted by cell and not measured again; the first width that fails is kept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.calibration.plan import (
    Plan,
    cells,
    expected_seconds,
    failed_width,
    plan_from,
    share_done,
    sweep_cell,
    trying,
    turns_done,
)
from as2d_core.errors import RequestError
from as2d_core.gates import Gates
from as2d_core.operation_records import Sample
from as2d_core.records import End, RunHeader, RunRecord
from as2d_core.request import AudioRef, ModelRef, Request


def sample(turn, name="verify", width=3, running=False, offset=0, **fields):
    return Sample(name, 1, running, width, offset, max(turn, 0), turn < 0, **fields)


def record(marks=(), samples=(), status="failed", error="The target process ended: it crashed.", extra=None):
    request = Request("r", "calibrate", ModelRef("t"), AudioRef("a"))
    run = RunRecord(RunHeader(1, "r", request, {}, {}, "virtual"))
    for width in marks:
        run.add(trying(width, 1))
    run.samples = list(samples)
    if status == "incomplete":
        run.problems = ["9: the end line is missing"]
    else:
        run.end = End(status, 0, {}, "", None, error, extra or {})
    return run


def test_turns_are_counted_by_cell_and_the_warm_up_is_one():
    done = turns_done([sample(-1), sample(0), sample(1), sample(-1, running=True), sample(0, offset=64)])
    assert done == {"verify.3@0": 3, "verify.3@0+": 1, "verify.3@64": 0}


def test_a_cell_is_wanted_from_its_first_open_turn_on():
    plan = Plan(done={"verify.3@0": 3})
    assert [turn for turn in plan.turns if plan.wants(sweep_cell(3, 0, False), turn)] == [2, 3, 4]


def test_an_episode_counts_once_its_last_sample_is_there():
    begun = sample(0, "step", None, origin="episode", extra={"method": "sd"})
    ended = sample(-1, "loop", None, origin="episode", extra={"method": "as2d"})
    assert turns_done([begun, ended]) == {"episode as2d": 1}


def test_a_failed_try_is_no_measured_turn():
    assert turns_done([sample(-1, extra={"failed": "shape"})]) == {}


def test_all_cells_done_is_a_whole_plan_and_none_is_nothing():
    plan = Plan()
    assert share_done(plan, {}) == 0
    assert share_done(plan, dict(cells(plan))) == 1
    assert share_done(plan, dict(cells(plan, 9)), 9) == 1
    assert share_done(plan, dict(cells(plan, 9))) < 1


@given(st.dictionaries(st.sampled_from([cell for cell, _ in cells(Plan())]), st.integers(0, 6)))
def test_the_more_was_measured_the_less_time_is_left_and_the_options_survive_json(done):
    plan = plan_from(json.loads(json.dumps({"done": done, "repetitions": 5})))
    assert plan.done == done
    rest = expected_seconds(plan, Gates(), 59.4, 23.3, 239)
    assert 0 <= rest <= expected_seconds(Plan(), Gates(), 59.4, 23.3, 239)


def test_a_plan_that_is_done_takes_no_time():
    assert expected_seconds(Plan(done=dict(cells(Plan()))), Gates(), 59.4, 23.3, 239) == 0


def test_gates_make_every_episode_wait():
    bare, gated = (expected_seconds(Plan(), gates, 59.4, 23.3, 239) for gates in (None, Gates()))
    episodes = 6 * 2 + 6 + 6 * 3
    assert gated - bare == pytest.approx(20.0 * episodes)


@pytest.mark.parametrize(
    "options", [{"done": 3}, {"done": {"a": -1}}, {"offsets_tokens": "0"}, {"profile": 3}, {"max_width": True}]
)
def test_options_of_the_wrong_kind_are_refused(options):
    with pytest.raises(RequestError):
        plan_from(options)


def test_a_width_that_the_engine_refuses_is_kept_with_its_sentence():
    run = record(marks=(1, 2, 3), samples=[sample(-1, extra={"failed": "wrong shape"})], status="eos", error=None)
    found = failed_width([run])
    assert (found.width, found.reason) == (3, "wrong shape")


def test_a_width_that_takes_the_process_with_it_is_the_last_that_was_tried():
    run = record(marks=(1, 2, 3), samples=[sample(-1, width=1), sample(-1, width=2)])
    found = failed_width([run])
    assert (found.width, found.reason) == (3, "The target process ended: it crashed.")


def test_a_stream_that_was_cut_off_accuses_a_width_only_the_second_time():
    run = record(marks=(1, 2), samples=[sample(-1, width=1)], status="incomplete")
    assert failed_width([run]) is None
    assert failed_width([run, run]).width == 2


@pytest.mark.parametrize(
    "run",
    [
        record(marks=(1,), samples=[sample(-1, width=1)]),
        record(marks=(1, 2), samples=[sample(-1, width=1)], status="cancelled", error=None),
        record(marks=(1, 2), samples=[sample(-1, width=1)], extra={"stops_batch": True}),
    ],
)
def test_a_run_that_ended_for_another_reason_accuses_no_width(run):
    assert failed_width([run]) is None
