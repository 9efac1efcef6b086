from dataclasses import replace
from itertools import pairwise

import pytest

from as2d_core.errors import RequestError, UnknownNameError
from dashboard.services import sweeps
from dashboard.services.requests import RunForm
from dashboard.services.sweeps import (
    BLOCKS,
    POSITIONS,
    SUSTAINED,
    Sweep,
    SweepForm,
    forget_sweep,
    list_sweeps,
    load_sweep,
    plan_sweep,
    request_count,
    resume_sweep,
    start_sweep,
    views,
)
from device_bridge.errors import DeviceBusyError

DEADLINE_S = 120
BASE = RunForm(window_id="clean_00")
TWO = ("target-only", "as2d")


def form(kind=SUSTAINED, **changes):
    return SweepForm(kind, changes.pop("base", BASE), **changes)


def finished(job):
    assert job.wait(DEADLINE_S)
    return job


@pytest.fixture
def said(workspace):
    """A form whose requests tell the fake runner how to behave."""
    return lambda what, **changes: form(base=replace(BASE, instruction=what), **changes)


def test_positions_step_through_the_recording_and_stay_inside():
    assert views(form(POSITIONS, length_s=4.0, step_s=3.0), 12.0) == [(0.0, 4.0), (3.0, 7.0), (6.0, 10.0)]


def test_blocks_follow_each_other_without_a_gap():
    found = views(form(BLOCKS, length_s=0.1, step_s=9.0), 30.0)
    assert len(found) == 300
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": POSITIONS, "length_s": 31.0}, "0.1 to 30 s"),
        ({"kind": POSITIONS, "length_s": 20.0}, "less than one view"),
        ({"kind": POSITIONS, "length_s": 1.0, "step_s": 0.0}, "step of 0 s"),
        ({"kind": POSITIONS, "length_s": float("nan")}, "nan s cannot be"),
        ({}, "one of the two"),
        ({"times": 3, "minutes": 1.0}, "one of the two"),
        ({"minutes": float("nan")}, "nan minutes cannot be"),
        ({"times": 0}, "cannot be"),
        ({"times": 10_000}, "cannot be"),
        ({"times": 3, "methods": ()}, "at least one method"),
    ],
)
def test_a_sweep_that_cannot_be_is_a_sentence(changes, said):
    with pytest.raises(RequestError, match=said):
        request_count(form(**changes), 10.0)


def test_an_unknown_kind_suggests_a_known_one():
    with pytest.raises(UnknownNameError, match="blocks"):
        request_count(form("block"), 10.0)


def test_methods_take_turns_and_every_second_turn_is_backwards(workspace):
    plan = plan_sweep(workspace, form(POSITIONS, methods=TWO, length_s=1.0, step_s=0.5))
    warm_up, *formal = plan.requests
    assert (warm_up.warm_up, plan.formal) == (True, len(formal))
    assert [r.method for r in formal[:4]] == ["target-only", "as2d", "as2d", "target-only"]
    assert [r.audio.view_start_s for r in formal[:4]] == [0.0, 0.0, 0.5, 0.5]
    assert {r.group_id for r in plan.requests} == {plan.id}
    assert len({r.run_id for r in plan.requests}) == len(plan.requests)


def test_a_sweep_is_kept_as_runs_of_one_group_and_complete(workspace, said):
    plan = plan_sweep(workspace, said("ok", times=3))
    finished(start_sweep(workspace, plan))
    sweep = load_sweep(workspace, plan.id)
    assert (sweep.done, sweep.complete, sweep.share, sweep.job) == (3, True, 1.0, None)
    assert [row.run_order for row in sweep.rows] == [1, 2, 3]
    with pytest.raises(RequestError, match="complete"):
        resume_sweep(workspace, plan.id)


def test_a_stopped_sweep_keeps_what_was_run_and_goes_on_with_the_rest(workspace, said, tmp_path):
    gate = tmp_path / "go"
    plan = plan_sweep(workspace, said(f"until {gate}", times=2))
    job = start_sweep(workspace, plan)
    assert load_sweep(workspace, plan.id).job is job
    job.cancel()
    finished(job)
    stopped = load_sweep(workspace, plan.id)
    assert (stopped.done, stopped.complete, stopped.job) == (0, False, None)
    gate.touch()
    finished(resume_sweep(workspace, plan.id))
    whole = load_sweep(workspace, plan.id)
    assert (whole.done, whole.complete) == (2, True)


def test_a_request_that_failed_is_tried_again_and_stays_in_the_table(workspace, said):
    plan = plan_sweep(workspace, said("fail", times=1))
    finished(start_sweep(workspace, plan))
    assert load_sweep(workspace, plan.id).done == 0
    finished(resume_sweep(workspace, plan.id))
    assert [row.status for row in load_sweep(workspace, plan.id).rows] == ["failed", "failed"]


def test_a_sweep_whose_time_is_up_is_complete_however_few_requests_it_had(workspace, said):
    plan = replace(plan_sweep(workspace, said("ok", minutes=1.0)), minutes=0.0)
    finished(start_sweep(workspace, plan))
    assert load_sweep(workspace, plan.id).complete
    assert list_sweeps(workspace)[0].ended


def test_a_sweep_of_minutes_whose_first_request_has_not_ended_has_spent_none(workspace):
    begun = Sweep(plan_sweep(workspace, form(minutes=1.0)), (), None)
    assert (begun.spent_minutes, begun.share, begun.complete) == (0.0, 0.0, False)


def test_a_plan_survives_its_program(workspace, said):
    plan = plan_sweep(workspace, said("ok", times=2))
    finished(start_sweep(workspace, plan))
    assert list_sweeps(workspace) == [plan]


def test_a_plan_that_the_device_refuses_is_not_kept(workspace, said, tmp_path):
    job = start_sweep(workspace, plan_sweep(workspace, said(f"until {tmp_path / 'never'}", times=1)))
    with pytest.raises(DeviceBusyError):
        start_sweep(workspace, plan_sweep(workspace, said("ok", times=1)))
    assert len(list_sweeps(workspace)) == 1
    job.cancel()
    finished(job)


def test_forgetting_a_plan_leaves_its_runs(workspace, said):
    plan = plan_sweep(workspace, said("ok", times=1))
    finished(start_sweep(workspace, plan))
    forget_sweep(workspace, plan.id)
    assert list_sweeps(workspace) == []
    assert len(sweeps.sweep_rows(workspace, plan.id)) == 1


def test_a_damaged_plan_is_left_out_and_a_name_cannot_leave_the_folder(workspace):
    folder = workspace.folders.root / "sweeps"
    folder.mkdir(parents=True)
    (folder / "bad.sweep.json").write_text("[]")
    assert list_sweeps(workspace) == []
    with pytest.raises(RequestError, match="cannot be read"):
        load_sweep(workspace, "bad")
    with pytest.raises(RequestError, match="cannot be the id"):
        load_sweep(workspace, "../as2d")
