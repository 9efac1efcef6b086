"""Serial native runs replayed with their own measured costs take the same rounds, and are timed with mean costs."""

from dataclasses import replace

import pytest
from drafter_cases import CAP, EOS, THRESHOLD, spoken_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import profile

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import RoundCost, ScriptedModel, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import run_virtually
from as2d_core.errors import ProfileError, RecordError
from as2d_core.models.demo_catalog import demo_windows
from as2d_core.replay.agreement import FITTED, agreement
from as2d_core.replay.native_serial import replay_native, serial_timing_error
from as2d_core.request import AudioRef, ModelRef, Request

some = settings(max_examples=60)
PARAMETERS = {
    "target-only": {},
    "sd": {"width": 5},
    "specasr": {"draft_cap": 7, "threshold": THRESHOLD},
    "as2d": {"budget": 7},
}


def serial_run(name, target, drafter, costs, output_cap=320, forward_ms=float, window="w0", **parameters):
    """The record of a serial run on the virtual clock, which a native run's record looks like."""
    clock = VirtualClock()
    request = Request(
        "run",
        name,
        ModelRef("target"),
        AudioRef("audio", window_id=window),
        max_tokens=output_cap,
        **{**PARAMETERS[name], **parameters},
    )
    model = ScriptedModel(clock, drafter.predict, EOS, forward_ms)
    source = None if name == "target-only" else BranchDrafter(model)
    return run_virtually(request, ScriptedTarget(clock, list(target), EOS, costs), source, clock).record


@st.composite
def serial_runs(draw):
    """Runs with round costs that never repeat."""
    target, drafter, output_cap = draw(spoken_cases())
    chance = draw(st.randoms(use_true_random=False))
    name = draw(st.sampled_from(["target-only", "sd", "specasr"]))
    costs = [RoundCost(chance.random(), 1 + 40 * chance.random(), chance.random()) for _ in target]
    parameters = {"sd": {"width": draw(st.integers(2, 9))}, "specasr": {"draft_cap": draw(st.integers(1, CAP))}}
    return serial_run(name, target, drafter, costs, output_cap, lambda fed: 1 + fed / 7, **parameters.get(name, {}))


@some
@given(serial_runs())
def test_a_serial_run_is_replayed_decision_by_decision_in_its_own_time(record):
    found = replay_native(record)
    assert found.problem is None
    assert [item.differences for item in found.rounds] == [()] * len(record.rounds)
    assert found.equal
    assert found.replayed_ms == pytest.approx(found.native_ms, abs=1e-4)


def spoken(errors=250, seed=11, length=40):
    """One output with a drafter that errs."""
    from drafter_cases import SpokenDrafter

    target = [*(3 + (7 * i) % 50 for i in range(length)), EOS]
    return target, SpokenDrafter(seed, target, errors)


CONSTANT = TargetCosts(50.0, {}, {k: 46.0 + 4.0 * k for k in range(1, 10)}, loop_ms=5.0)


@pytest.mark.parametrize("method", ["sd", "specasr"])
@pytest.mark.parametrize("name", ["accepted", "width", "committed", "width_reason"])
def test_a_decision_that_replay_would_not_take_is_named(method, name):
    record = serial_run(method, *spoken(), CONSTANT)
    value = {"width_reason": "cap", "committed": (9, 9)}.get(name, getattr(record.rounds[0], name))
    if isinstance(value, int):
        value += 1
    changed = replace(record.rounds[0], **{name: value})
    record.rounds[0] = changed
    found = replay_native(record)
    assert not found.equal
    assert found.problem or name in found.rounds[0].differences


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_a_run_that_did_not_end_is_refused(status):
    record = serial_run("sd", *spoken(), CONSTANT)
    record.end = replace(record.end, status=status)
    with pytest.raises(RecordError, match=f"Run run is {status}; only a run that ended can be compared"):
        replay_native(record)


@pytest.mark.parametrize("method", ["target-only", "sd", "specasr"])
def test_a_run_of_constant_costs_is_timed_without_error_by_its_profile(method):
    record = serial_run(method, *spoken(), CONSTANT, forward_ms=lambda fed: 15.0 * fed)
    error = serial_timing_error(record, profile())
    assert error.percent == pytest.approx(0.0, abs=1e-4)
    assert serial_timing_error(record, profile(target_step_ms=60.0, loop_ms=9.0)).percent < 0
    assert serial_timing_error(record, profile(target_step_ms=40.0, loop_ms=1.0)).percent > 0


def test_a_width_that_the_profile_does_not_hold_is_named():
    record = serial_run("sd", *spoken(), CONSTANT, width=8)
    with pytest.raises(ProfileError, match="Run run needs a cost at width 8"):
        serial_timing_error(record, profile(widths=7))


def test_errors_are_signed_absolute_by_window_and_pooled():
    fast, slow = (replace(profile(), target_step_ms=step_ms) for step_ms in (40.0, 80.0))
    target, drafter = spoken()
    record = serial_run("target-only", target, drafter, CONSTANT)
    slower = replace(CONSTANT, step_ms=60.0)
    other = serial_run("target-only", [*target[:9], EOS], drafter, slower, window="w1")
    found = agreement([record, record, other], replace(profile(), target_step_ms=48.0))
    signed = [100 * (50 / 48 - 1), 100 * (60 / 48 - 1)]
    assert [item.signed for item in found.by_window] == pytest.approx(signed)
    assert (found.overall.runs, found.overall.timed, found.overall.equal) == (3, 3, 3)
    # Two repetitions of a window count once.
    assert found.overall.mean_absolute == pytest.approx(sum(signed) / 2)
    assert found.overall.max_absolute == pytest.approx(signed[1])
    assert found.overall.signed == pytest.approx(100 * ((2 * 40 * 50 + 9 * 60) / ((2 * 40 + 9) * 48) - 1))
    assert agreement([record], fast).overall.signed > 0 > agreement([record], slow).overall.signed


def test_without_a_profile_serial_runs_are_replayed_but_not_timed():
    found = agreement([serial_run("sd", *spoken(), CONSTANT)])
    assert (found.costs, found.overall.equal, found.overall.timed) == (FITTED, 1, 0)
    assert found.overall.signed is None
    assert "is timed with a profile only" in found.runs[0].problem


def test_a_run_that_cannot_be_compared_keeps_its_place():
    whole = serial_run("sd", *spoken(), CONSTANT)
    broken = serial_run("specasr", *spoken(), CONSTANT)
    broken.end = replace(broken.end, status="failed")
    found = agreement([whole, broken], profile())
    assert [(item.equal, item.timing is None) for item in found.runs] == [(True, False), (None, True)]
    assert "only a run that ended can be compared" in found.runs[1].problem
    assert (found.overall.runs, found.overall.timed) == (2, 1)


def test_no_runs_are_refused():
    with pytest.raises(RecordError, match="no runs to compare"):
        agreement([])


@pytest.mark.models
def test_real_runs_of_the_demo_models_take_the_same_rounds_with_every_method(runner, ask):
    windows = [demo_windows()[0].window_id, demo_windows()[4].window_id]
    asked = [ask(name, window, **parameters) for window in windows for name, parameters in PARAMETERS.items()]
    records = [runner.run(one) for one in asked]
    found = agreement(records, profile(widths=16))
    assert [(item.method, item.equal, item.problem) for item in found.runs] == [
        (one.method, True, None) for one in asked
    ]
    assert all(item.replay.rounds for item in found.runs)
    assert found.overall.timed == len(asked)
