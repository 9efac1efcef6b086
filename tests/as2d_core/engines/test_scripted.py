import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.accounting import summarise
from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import (
    ListRecorder,
    RoundCost,
    ScriptedModel,
    ScriptedSource,
    ScriptedTarget,
    TargetCosts,
    VirtualClock,
)
from as2d_core.engines.scripted_run import RunFacts, run_virtually
from as2d_core.errors import EngineError, ProfileError
from as2d_core.protocol import parse
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request

EOS = 2
COSTS = TargetCosts(50.0, {k: 60.0 + 8 * k for k in range(1, 30)}, {k: 50.0 + 8 * k for k in range(1, 30)}, 10.0)


def request(method="as2d", **values):
    return Request("run", method, ModelRef("target"), AudioRef("audio"), **values)


def test_virtual_clock_gives_nanoseconds_and_never_goes_back():
    clock = VirtualClock()
    clock.advance_to(1.5)
    assert clock.now_ns() == 1_500_000
    with pytest.raises(EngineError, match=r"cannot move to 1\.0 ms"):
        clock.advance_to(1.0)
    with pytest.raises(EngineError):
        clock.advance_to(float("nan"))


def test_target_only_charges_the_scalar_step_for_every_token_but_the_first():
    clock = VirtualClock()
    run = run_virtually(request("target-only"), ScriptedTarget(clock, [5, 6, 7, EOS], EOS, COSTS), None, clock)
    assert run.outcome.tokens == (5, 6, 7, EOS)
    assert run.elapsed_ms == 150.0
    assert run.record.status == "eos"


def test_virtual_run_is_a_complete_stream_of_the_runner_protocol():
    clock = VirtualClock()
    tokens = [*range(10, 40), EOS]
    source = ScriptedSource(clock, tokens[:-1], autoregressive_schedule(30, 8, 20.0, 2.0), [0.9] * 30, 2.0)
    facts = RunFacts({"name": "phone"}, "synthetic", "2026-01-01T00:00:00Z", {"note": "x"}, "text")
    run = run_virtually(request(budget=7), ScriptedTarget(clock, tokens, EOS, COSTS), source, clock, facts)
    read = parse(run.lines)
    assert read.problems == []
    assert read == run.record
    assert read.tokens == tokens
    assert read.candidates == tokens[:-1]
    assert (read.header.source, read.header.clock, read.end.text) == ("synthetic", "virtual", "text")
    assert list(read.marks) == ["request", "decode_start", "eos", "drained"]


def test_producer_spans_hold_one_forward_per_candidate_and_one_publication_per_batch():
    clock = VirtualClock()
    tokens = [*range(10, 30), EOS]
    source = ScriptedSource(clock, tokens[:-1], autoregressive_schedule(20, 8, 20.0, 2.0), None, 2.0)
    costs = TargetCosts(500.0, dict.fromkeys(range(1, 9), 500.0), dict.fromkeys(range(1, 9), 500.0))
    record = run_virtually(request(budget=7), ScriptedTarget(clock, tokens, EOS, costs), source, clock).record
    drafts = [s for s in record.spans if s.work == "draft"]
    published = [s for s in record.spans if s.work == "publish"]
    assert [s.operations for s in drafts] == [7, 8, 5]
    assert sum(s.end_ns - s.start_ns for s in drafts) == 20 * 20_000_000
    assert [s.end_ns for s in published] == [p.time_ns for p in record.publications]


def test_running_producer_is_cancelled_at_its_next_operation_boundary():
    clock = VirtualClock()
    source = ScriptedSource(clock, [7] * 40, autoregressive_schedule(40, 8, 30.0))
    target = ScriptedTarget(clock, [5, 6, EOS], EOS, COSTS)
    run = run_virtually(request(budget=7), target, source, clock)
    # Two K = 1 rounds of 78 ms, then the end of the sixth 30 ms operation.
    assert run.outcome.eos_ns == 156_000_000
    assert run.outcome.end_ns == 180_000_000
    assert [(s.start_ns, s.end_ns) for s in run.record.spans if s.work == "drain"] == [(156_000_000, 180_000_000)]
    account = summarise(run.record).account
    assert (account.draft_ns, account.verify_ns, account.overlap_ns) == (180_000_000, 156_000_000, 156_000_000)


def test_publication_at_the_instant_of_a_boundary_is_seen_by_it():
    clock = VirtualClock()
    source = ScriptedSource(clock, list(range(8)), autoregressive_schedule(8, 8, 10.0))
    source.start(0)
    clock.advance_to(70.0)
    assert [p.tokens for p in source.poll()] == [tuple(range(8))]
    assert source.running
    clock.advance_to(80.0)
    assert source.poll() == []
    assert not source.running


def test_width_without_a_cost_stops_the_replay_with_its_name():
    clock = VirtualClock()
    tokens = [*range(10, 30), EOS]
    source = ScriptedSource(clock, tokens[:-1], autoregressive_schedule(20, 8, 1.0))
    costs = TargetCosts(50.0, {1: 50.0}, {1: 50.0})
    with pytest.raises(ProfileError, match="width 8"):
        run_virtually(request(budget=7), ScriptedTarget(clock, tokens, EOS, costs), source, clock)


def test_measured_round_costs_are_charged_in_order_and_never_invented():
    clock = VirtualClock()
    target = ScriptedTarget(clock, [5, 6, 7, EOS], EOS, [RoundCost(1.0, 20.0, 3.0), RoundCost(1.0, 30.0, 3.0)])
    with pytest.raises(EngineError, match="Round 2 has no measured cost"):
        run_virtually(request("target-only"), target, None, clock)
    assert clock.now_ms == 58.0


def test_scripted_target_refuses_a_root_that_is_not_the_output():
    clock = VirtualClock()
    target = ScriptedTarget(clock, [5, 6, EOS], EOS, COSTS)
    with pytest.raises(EngineError, match="root at position 0 is 6"):
        target.verify(6, [], False)


def test_scripted_target_answers_eos_behind_a_wrong_candidate():
    clock = VirtualClock()
    target = ScriptedTarget(clock, [5, 6, 7, 8, EOS], EOS, COSTS)
    assert target.verify(5, [6, 99, 8], False).greedy == (6, 7, EOS, EOS)


def test_cancelled_run_is_recorded_as_cancelled():
    clock = VirtualClock()
    recorder = ListRecorder(clock, cancel_after=2)
    from as2d_core.methods.target_only import decode

    outcome = decode(ScriptedTarget(clock, [5, 6, 7, 8, EOS], EOS, COSTS), None, request("target-only"), recorder)
    assert (outcome.status, outcome.tokens) == ("cancelled", (5, 6, 7))


def test_scripted_model_follows_a_table_and_refuses_an_unknown_prefix():
    clock = VirtualClock()
    model = ScriptedModel(clock, {(): (5, 0.9), (5,): (6, 0.8)}, EOS, 10.0)
    assert model.first == (5, 0.9)
    assert model.forward([5]).greedy == (6,)
    with pytest.raises(EngineError, match=r"no prediction after \[5, 6\]"):
        model.forward([6])
    model.keep(0)
    assert model.forward([5]).confidences == (0.8,)


@given(st.lists(st.integers(3, 6), min_size=1, max_size=20), st.integers(2, 6), st.integers(0, 2**30))
def test_standard_sd_with_any_drafter_gives_the_reference(body, width, seed):
    tokens = [*body, EOS]
    clock = VirtualClock()

    def predict(prefix):
        draw = hash((seed, prefix)) % 8
        return (tokens[len(prefix)] if draw < 5 and len(prefix) < len(tokens) else draw), 0.5

    drafter = BranchDrafter(ScriptedModel(clock, predict, EOS, 7.0))
    run = run_virtually(request("sd", width=width), ScriptedTarget(clock, tokens, EOS, COSTS), drafter, clock)
    assert list(run.outcome.tokens) == tokens


@given(st.lists(st.integers(3, 6), min_size=1, max_size=20), st.integers(1, 6), st.integers(0, 2**30))
def test_specasr_with_any_drafter_gives_the_reference_and_overlaps_nothing(body, cap, seed):
    tokens = [*body, EOS]
    clock = VirtualClock()

    def predict(prefix):
        draw = hash((seed, prefix)) % 8
        return (tokens[len(prefix)] if draw < 5 and len(prefix) < len(tokens) else draw), draw / 8

    model = ScriptedModel(clock, predict, EOS, lambda fed: 7.0 if fed == 1 else 3.0 + 2.0 * fed)
    run = run_virtually(
        request("specasr", draft_cap=cap), ScriptedTarget(clock, tokens, EOS, COSTS), BranchDrafter(model), clock
    )
    assert list(run.outcome.tokens) == tokens
    account = summarise(run.record).account
    assert account.overlap_ns == 0
    assert account.total_ns == account.draft_ns + account.verify_ns + account.idle_ns
