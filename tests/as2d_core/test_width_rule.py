import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import MAX_WIDTH, cases

from as2d_core.engines.scripted import ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import run_virtually
from as2d_core.errors import RecordError, RequestError
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.replay.native import replay_run
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.width_rule import WidthRule, ruled_length, width_rule_faults

many = settings(max_examples=100)


@st.composite
def rules(draw, covered=MAX_WIDTH):
    """Any rule that can be applied."""
    tables = [tuple(draw(st.integers(0, ready)) for ready in range(covered + 1)) for _ in range(2)]
    return WidthRule(*tables, name="random")


def everything(covered=MAX_WIDTH):
    return WidthRule(tuple(range(covered + 1)), tuple(range(covered + 1)))


def decoded(case, rule):
    """A case through the decoding method on the virtual clock, with a rule."""
    clock = VirtualClock()
    target = ScriptedTarget(clock, case.tokens, 2, TargetCosts(1.0, case.concurrent_ms, case.idle_ms, case.loop_ms))
    source = ScriptedSource(clock, case.candidates, case.schedule, case.confidences, case.publish_ms)
    request = Request(
        "run",
        "as2d",
        ModelRef("target"),
        AudioRef("audio"),
        budget=case.budget,
        search_window=case.search_window,
        max_tokens=case.cap,
        width_rule=rule,
    )
    return run_virtually(request, target, source, clock)


def test_a_rule_is_looked_up_by_ready_candidates_and_by_whether_the_producer_runs():
    table = WidthRule(concurrent=(0, 1, 1), idle=(0, 0, 2)).table
    assert [ruled_length(table, ready, True) for ready in range(3)] == [0, 1, 1]
    assert [ruled_length(table, ready, False) for ready in range(3)] == [0, 0, 2]


def test_without_a_rule_all_ready_candidates_are_taken():
    assert [ruled_length((), ready, True) for ready in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (WidthRule((), ()), "0 and 0 entries"),
        (WidthRule((0, 1), (0,)), "2 and 1 entries"),
        (WidthRule((0, 2), (0, 1)), "concurrent takes 2 of 1 ready candidates"),
        (WidthRule((0, 1), (0, -1)), "idle takes -1 of 1 ready candidates"),
    ],
)
def test_a_rule_that_cannot_be_applied_says_why(rule, fault):
    assert any(fault in found for found in width_rule_faults(rule))


@many
@given(cases(), rules())
def test_method_and_kernel_take_the_same_decisions_at_the_same_times(case, rule):
    run, replayed = decoded(case, rule), case.kernel(with_rounds=True, width_rule=rule)
    assert run.elapsed_ms == replayed.time_ms
    assert [(r.width, r.accepted, r.cursor_before, r.cursor_after) for r in run.record.rounds] == [
        (r.width, r.accepted, r.cursor_before, r.cursor_after) for r in replayed.round_list
    ]


@many
@given(cases(), rules())
def test_compiled_and_plain_agree_to_the_last_bit(case, rule):
    assert repr(case.kernel(with_rounds=True, width_rule=rule)) == repr(
        case.kernel(with_rounds=True, width_rule=rule, compiled=False)
    )


@many
@given(cases(), rules())
def test_a_rule_never_changes_what_is_committed(case, rule):
    assert list(decoded(case, rule).outcome.tokens) == case.tokens


@many
@given(cases())
def test_a_rule_that_takes_everything_is_no_rule(case):
    assert case.kernel(with_rounds=True, width_rule=everything()) == case.kernel(with_rounds=True)


@many
@given(cases())
def test_a_rule_that_takes_nothing_is_the_k1_loop(case):
    nothing = WidthRule((0,) * (MAX_WIDTH + 1), (0,) * (MAX_WIDTH + 1))
    assert case.kernel(width_rule=nothing).time_ms == case.kernel(budget=0).time_ms


@many
@given(cases(), rules())
def test_a_run_with_a_rule_is_replayed_round_by_round(case, rule):
    assert replay_run(decoded(case, rule).record).equal


@many
@given(cases(), rules())
def test_a_round_that_took_fewer_than_were_ready_says_that_they_were_the_cheapest(case, rule):
    for item in decoded(case, rule).record.rounds:
        if item.width_reason == "cheapest":
            assert item.proposed in {*rule.concurrent, *rule.idle}
            assert item.proposed < case.budget


def test_a_budget_that_the_rule_does_not_cover_is_refused():
    from as2d_core.replay.kernel import replay_as2d

    with pytest.raises(RequestError, match="covers budgets up to 1, not 2"):
        replay_as2d([5, 2], [], [], [], [], 0.0, 1.0, 2, [0, 1.0], [0, 1.0], width_rule=WidthRule((0, 1), (0, 1)))
    with pytest.raises(RequestError, match="cannot be applied: idle takes 3 of 1"):
        replay_as2d([5, 2], [], [], [], [], 0.0, 1.0, 1, [0, 1.0], [0, 1.0], width_rule=WidthRule((0, 1), (0, 3)))


def request(**changes):
    return replace(Request("r", "as2d", ModelRef("t"), AudioRef("a"), budget=1), **changes)


@given(rules())
def test_a_request_with_a_rule_comes_back_from_json(rule):
    asked = request(width_rule=rule)
    assert request_from_json(json.loads(json.dumps(request_to_json(asked)))) == asked


def test_a_request_from_before_there_were_rules_is_still_read():
    body = request_to_json(request())
    del body["width_rule"]
    assert request_from_json(body) == request()


@pytest.mark.parametrize("rule", [{"concurrent": [0, 5], "idle": [0, 1]}, {"concurrent": [0]}, "wide", {"idle": 3}])
def test_a_request_with_a_malformed_rule_is_refused(rule):
    body = request_to_json(request())
    body["width_rule"] = rule
    with pytest.raises(RecordError):
        request_from_json(body)
