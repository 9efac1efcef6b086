from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import EOS, cases, profile

from as2d_core.engines.scripted import RoundCost, ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import run_virtually
from as2d_core.errors import ProfileError, RecordError
from as2d_core.models.demo_catalog import demo_windows
from as2d_core.replay.native import (
    fit_costs,
    profile_costs,
    replay_run,
    timing_agreement,
    timing_error,
)
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request

some = settings(max_examples=60)
BODY = [*range(10, 40)]


def request(**values):
    return Request("run", "as2d", ModelRef("target"), AudioRef("audio"), **{"budget": 7, **values})


def run_of(costs, tokens=(*BODY, EOS), candidates=tuple(BODY), draft_ms=7.0, publish_ms=0.5, **values):
    """The record of a run on the virtual clock, which a native run's record looks like."""
    clock = VirtualClock()
    schedule = autoregressive_schedule(len(candidates), 8, draft_ms, publish_ms)
    source = ScriptedSource(clock, candidates, schedule, [0.9] * len(candidates), publish_ms)
    return run_virtually(request(**values), ScriptedTarget(clock, list(tokens), EOS, costs), source, clock).record


CONSTANT = TargetCosts(1.0, {k: 20.0 + k for k in range(1, 10)}, {k: 18.0 + k for k in range(1, 10)}, loop_ms=1.5)


@some
@given(cases(), st.randoms(use_true_random=False))
def test_run_with_any_round_costs_is_replayed_decision_by_decision(case, chance):
    costs = [RoundCost(chance.random(), 1 + 40 * chance.random(), chance.random()) for _ in case.tokens]
    clock = VirtualClock()
    source = ScriptedSource(clock, case.candidates, case.schedule, case.confidences)
    asked = request(budget=case.budget, search_window=case.search_window, max_tokens=case.cap)
    record = run_virtually(asked, ScriptedTarget(clock, case.tokens, EOS, costs), source, clock).record
    replayed = replay_run(record)
    assert replayed.problem is None
    assert [item.differences for item in replayed.rounds] == [()] * len(record.rounds)
    assert replayed.equal
    assert replayed.replayed_ms == pytest.approx(replayed.native_ms, abs=1e-5)


@pytest.mark.parametrize("name", ["accepted", "width", "cursor_after", "visible"])
def test_decision_that_replay_would_not_take_is_named(name):
    record = run_of(CONSTANT)
    wide = next(i for i, r in enumerate(record.rounds) if r.width > 1)
    record.rounds[wide] = replace(record.rounds[wide], **{name: getattr(record.rounds[wide], name) + 1})
    replayed = replay_run(record)
    assert not replayed.equal
    assert replayed.rounds[wide].differences == (name,)


def test_batch_that_was_used_before_it_was_received_is_found():
    record = run_of(CONSTANT)
    last = record.publications[-1]
    record.publications[-1] = replace(last, received_ns=None)
    replayed = replay_run(record)
    assert not replayed.equal
    assert "visible" in {d for item in replayed.rounds for d in item.differences}


def test_publications_received_out_of_order_are_refused():
    record = run_of(CONSTANT)
    record.publications[0] = replace(record.publications[0], received_ns=record.rounds[-1].start_ns)
    with pytest.raises(RecordError, match="Run run did not receive its publications in order"):
        replay_run(record)


def test_run_with_more_rounds_in_replay_than_it_had_says_so():
    record = run_of(CONSTANT)
    record.publications[:] = [replace(p, received_ns=None) for p in record.publications]
    replayed = replay_run(record)
    assert "has no measured cost" in replayed.problem
    assert not replayed.equal


def test_one_token_run_is_replayed_without_rounds():
    record = run_of(CONSTANT, tokens=[EOS], candidates=(5, 6, 7))
    assert replay_run(record).equal
    assert replay_run(record).rounds == ()


@pytest.mark.parametrize("budget", [1, 3, 7])
def test_costs_fitted_to_a_run_of_constant_costs_are_these_costs_and_give_its_time(budget):
    record = run_of(CONSTANT, budget=budget)
    costs = fit_costs([record])
    assert costs.loop_ms == pytest.approx(1.5)
    assert costs.draft_ms == pytest.approx(7.0)
    assert costs.publish_ms == pytest.approx(0.5)
    for item in record.rounds:
        table = costs.verify_concurrent_ms if item.source_running else costs.verify_idle_ms
        assert table[item.width] == pytest.approx(item.call_ns / 1e6)
    error = timing_error(record, costs)
    assert error.percent == pytest.approx(0.0, abs=1e-4)
    assert (error.tokens, error.source_complete) == (31, True)


def test_timing_error_is_signed_by_throughput():
    record = run_of(CONSTANT, budget=0)
    costs = fit_costs([record])
    slower = replace(costs, loop_ms=costs.loop_ms + 5.0)
    assert timing_error(record, slower).percent < 0
    assert timing_error(record, replace(costs, loop_ms=0.0)).percent > 0


def test_widths_that_were_not_met_are_estimated_and_say_so():
    costs = fit_costs([run_of(CONSTANT, budget=7)])
    assert set(costs.substituted) | set(costs.interpolated) < set(range(1, 9))
    between = next(iter(costs.interpolated))
    assert costs.verify_idle_ms[between - 1] < costs.verify_idle_ms[between]
    other = timing_error(run_of(CONSTANT, budget=between - 1), costs)
    assert other.estimated_widths


def test_profile_can_price_a_run_and_its_missing_width_is_named():
    record = run_of(CONSTANT)
    assert timing_error(record, profile_costs(profile())).percent < 0
    with pytest.raises(ProfileError, match="Run run needs a cost at width"):
        timing_error(record, profile_costs(profile(widths=2)))


def test_agreement_pools_throughput_and_names_what_it_left_out():
    record = run_of(CONSTANT)
    costs = fit_costs([record])
    other = run_of(CONSTANT, tokens=[*BODY[:12], EOS], candidates=tuple(BODY[:12]))
    short = run_of(CONSTANT, tokens=[EOS], candidates=())
    agreement = timing_agreement([record, other, short], replace(costs, loop_ms=4.0))
    native = sum(e.native_ms for e in agreement.errors)
    replayed = sum(e.replayed_ms for e in agreement.errors)
    assert agreement.pooled_percent == pytest.approx(100 * (native / replayed - 1))
    percents = [abs(e.percent) for e in agreement.errors]
    assert agreement.mean_absolute_percent == pytest.approx(sum(percents) / 2)
    assert len(agreement.excluded) == 1
    assert "took no time" in agreement.excluded[0][1]
    empty = timing_agreement([], costs)
    assert (empty.pooled_percent, empty.mean_absolute_percent) == (None, None)


def incomplete(record):
    record.problems.append("9: the end line is missing")
    return record


def of_another_method(record):
    record.header = replace(record.header, request=replace(record.request, method="sd"))
    return record


def without_a_start(record):
    del record.marks["decode_start"]
    return record


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (incomplete, "Run run is incomplete"),
        (of_another_method, "is a run of sd, not of As²d"),
        (without_a_start, "does not say when decoding began"),
    ],
)
@pytest.mark.parametrize("use", [replay_run, lambda r: fit_costs([r]), lambda r: timing_error(r, None)])
def test_run_that_cannot_be_compared_is_refused(change, sentence, use):
    with pytest.raises(RecordError) as caught:
        use(change(run_of(CONSTANT)))
    assert sentence in str(caught.value)


def test_costs_cannot_be_fitted_without_rounds_forwards_or_a_k1_round():
    with pytest.raises(RecordError, match="no rounds or no draft forwards"):
        fit_costs([run_of(CONSTANT, tokens=[EOS], candidates=())])
    record = run_of(CONSTANT)
    record.rounds[:] = [r for r in record.rounds if r.width > 1]
    with pytest.raises(RecordError, match="no K = 1 round"):
        fit_costs([record])


@pytest.mark.models
def test_real_runs_of_the_demo_models_are_replayed_decision_by_decision(runner, ask):
    records = [runner.run(ask("as2d", item.window_id, budget=7)) for item in demo_windows()[:3]]
    for record in records:
        assert replay_run(record).equal
    agreement = timing_agreement(records, fit_costs(records))
    assert agreement.excluded == ()
