import math
from dataclasses import replace

import numpy as np
import pytest
from examples import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from replay_cases import EOS, MAX_WIDTH, Case, bodies, cases, disturbed, dyadic_ms, width_costs

from as2d_core.accounting import summarise
from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import ScriptedModel, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import run_virtually
from as2d_core.errors import ProfileError, RequestError, TrajectoryError
from as2d_core.replay.kernel import replay_standard_sd, replay_target_only
from as2d_core.replay.schedule import Schedule, autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request

many = examples(60, 200)
some = examples(30, 60)


def same(a, b):
    """Equal to the last bit, NaN included."""
    return repr(a) == repr(b)


def decisions(a):
    return a.width, a.accepted, a.cursor_before, a.cursor_after, a.visible, a.source_running


@many
@given(cases())
def test_compiled_and_plain_as2d_agree_to_the_last_bit(case):
    assert same(case.kernel(with_rounds=True), case.kernel(with_rounds=True, compiled=False))


@some
@given(cases(), st.floats(0.1, 100.0), st.floats(0.1, 100.0))
def test_compiled_and_plain_agree_to_the_last_bit_on_any_cost(case, factor, draft_ms):
    concurrent, idle = case.arrays()
    schedule = autoregressive_schedule(len(case.candidates), 3, draft_ms, draft_ms / 7)
    changes = {
        "verify_concurrent_ms": concurrent * factor,
        "verify_idle_ms": idle / factor,
        "batch_ends": schedule.batch_ends,
        "batch_times_ms": schedule.batch_times_ms,
        "producer_end_ms": schedule.producer_end_ms,
        "operation_ms": schedule.operation_ms,
    }
    assert same(case.kernel(**changes), case.kernel(**changes, compiled=False))


@many
@given(cases())
def test_method_on_the_virtual_clock_takes_the_kernels_decisions_at_the_same_times(case):
    run = case.method()
    replayed = case.kernel(with_rounds=True)
    assert run.elapsed_ms == replayed.time_ms
    assert [decisions(r) for r in run.record.rounds] == [decisions(r) for r in replayed.round_list]
    assert [r.end_ns for r in run.record.rounds] == [round(r.end_ms * 1e6) for r in replayed.round_list]


@many
@given(cases())
def test_committed_tokens_equal_the_reference_for_any_source_budget_and_window(case):
    run = case.method()
    assert list(run.outcome.tokens) == case.tokens
    assert run.outcome.status == ("eos" if case.tokens[-1] == EOS else "capped")


@some
@given(cases())
def test_time_of_any_virtual_run_is_accounted_for(case):
    account = summarise(case.method().record).account
    assert account.total_ns == account.draft_ns + account.verify_ns - account.overlap_ns + account.idle_ns
    assert account.total_ns >= account.bound_ns
    assert account.overlap_ns <= min(account.draft_ns, account.verify_ns)


@some
@given(cases())
def test_ledger_of_a_replay_sums_up_to_its_time(case):
    replayed = case.kernel(with_rounds=True)
    assert math.isclose(replayed.verify_ms + replayed.drain_ms, replayed.time_ms)
    assert math.isclose(sum(r.end_ms - r.start_ms for r in replayed.round_list), replayed.verify_ms, abs_tol=1e-9)
    assert replayed.drain_ms >= 0


@some
@given(cases())
def test_every_round_commits_the_accepted_tokens_and_one_more(case):
    replayed = case.kernel()
    assert replayed.accepted + replayed.rounds == len(case.tokens) - 1
    assert replayed.k1_rounds <= replayed.rounds
    assert replayed.accepted <= replayed.proposed


@some
@given(cases())
def test_source_that_publishes_nothing_gives_exactly_the_k1_loop(case):
    silent = replace(case, candidates=[], confidences=None, schedule=Schedule((), (), 0.0, 1.0))
    replayed = silent.kernel()
    _, idle = case.arrays()
    expected = 0.0
    for _ in case.tokens[1:]:
        expected += float(idle[1])
    assert replayed.time_ms == expected
    assert replayed.rounds == replayed.k1_rounds == len(case.tokens) - 1


@some
@given(cases())
def test_budget_zero_gives_the_k1_loop(case):
    replayed = case.kernel(budget=0)
    assert replayed.k1_rounds == replayed.rounds == len(case.tokens) - 1
    assert replayed.proposed == 0


@some
@given(cases(), st.integers(1, 64))
def test_time_never_rises_when_every_cost_is_lowered_to_a_fraction(case, share):
    fraction = share / 64
    concurrent, idle = case.arrays()
    lowered = case.kernel(
        batch_times_ms=[t * fraction for t in case.schedule.batch_times_ms],
        producer_end_ms=case.schedule.producer_end_ms * fraction,
        operation_ms=case.schedule.operation_ms * fraction,
        verify_concurrent_ms=concurrent * fraction,
        verify_idle_ms=idle * fraction,
    )
    assert lowered.time_ms <= case.kernel().time_ms
    assert lowered.rounds == case.kernel().rounds


@some
@given(cases(), st.integers(0, 64))
def test_publishing_earlier_never_changes_the_tokens(case, share):
    fraction = share / 64
    earlier = Schedule(
        case.schedule.batch_ends,
        tuple(t * fraction for t in case.schedule.batch_times_ms),
        case.schedule.producer_end_ms,
        case.schedule.operation_ms,
    )
    assert list(replace(case, schedule=earlier).method().outcome.tokens) == case.tokens


@some
@given(cases())
def test_width_without_a_cost_gives_no_time_never_zero(case):
    concurrent, idle = case.arrays()
    full = case.kernel(with_rounds=True)
    widest = max((r.width for r in full.round_list), default=1)
    assume(widest > 1)
    replayed = case.kernel(verify_concurrent_ms=concurrent[:widest], verify_idle_ms=idle[:widest])
    assert math.isnan(replayed.time_ms)
    assert not replayed.feasible
    assert replayed.missing_width == widest
    assert replayed.rounds is None


def simple(**changes):
    values = {
        "tokens": [5, 6, 7, 8, EOS],
        "candidates": [5, 6, 7, 8],
        "confidences": None,
        "schedule": autoregressive_schedule(4, 8, 10.0),
        "concurrent_ms": dict.fromkeys(range(1, 10), 50.0),
        "idle_ms": dict.fromkeys(range(1, 10), 40.0),
        "loop_ms": 5.0,
        "budget": 7,
        "search_window": 16,
        "cap": 320,
    }
    return Case(**{**values, **changes})


@pytest.mark.parametrize("run", [lambda c: c.kernel(), lambda c: c.kernel(compiled=False)])
def test_hand_computed_window(run):
    # K = 1 beside the source (55 ms), then the batch at 40 ms is seen: one candidate matches the
    # known tokens, "6" too, and "7 8" is verified alone at K = 3 (45 ms), EOS being the bonus.
    replayed = run(simple())
    assert (replayed.time_ms, replayed.rounds, replayed.k1_rounds) == (100.0, 2, 1)
    assert (replayed.proposed, replayed.accepted, replayed.drain_ms) == (2, 2, 0.0)


def test_running_producer_is_drained_once_at_its_operation_boundary():
    long_source = simple(candidates=[9] * 40, schedule=autoregressive_schedule(40, 8, 30.0), tokens=[5, EOS])
    replayed = long_source.kernel()
    assert (replayed.verify_ms, replayed.time_ms) == (55.0, 60.0)
    late = simple(candidates=[9] * 2, schedule=Schedule((2,), (56.0,), 58.0, 30.0), tokens=[5, EOS])
    assert late.kernel().time_ms == 58.0


def test_one_token_output_takes_no_time():
    replayed = simple(tokens=[EOS], candidates=[], schedule=autoregressive_schedule(0, 8, 10.0)).kernel()
    assert (replayed.time_ms, replayed.rounds) == (0.0, 0)


def test_source_longer_than_the_output_cap_changes_nothing_but_the_drain():
    case = simple(candidates=[5, 6, 7, 8, *[9] * 60], schedule=autoregressive_schedule(64, 8, 10.0), cap=5)
    assert list(case.method().outcome.tokens) == case.tokens
    assert case.kernel().time_ms == case.method().elapsed_ms


def test_chain_that_itself_reaches_the_end_of_the_output_completes_it():
    # An output that its own cap cut short, replayed under a larger one.
    case = simple(tokens=[5, 6, 7, 8], candidates=[5, 6, 7, 8, 9], schedule=Schedule((5,), (0.0,), 0.0, 10.0))
    replayed = case.kernel()
    assert (replayed.rounds, replayed.accepted) == (1, 3)
    assert same(replayed, case.kernel(compiled=False))


def test_budget_beyond_the_profile_is_feasible_while_its_widths_do_not_arise():
    assert simple(budget=99).kernel().feasible
    wide = simple(tokens=[*range(10, 40), EOS], candidates=list(range(10, 40)))
    wide = replace(wide, schedule=Schedule((30,), (0.0,), 1.0, 1.0), budget=99)
    assert wide.kernel().missing_width == 30


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"budget": -1}, RequestError, "budget is -1"),
        ({"budget": 2.5}, RequestError, "budget is 2.5"),
        ({"budget": True}, RequestError, "budget is True"),
        ({"search_window": -1}, RequestError, "search window is -1"),
        ({"target_tokens": []}, TrajectoryError, "no target tokens"),
        ({"target_tokens": [[5]]}, TrajectoryError, "target tokens are not a list"),
        ({"output_cap": 3}, TrajectoryError, "more than the cap of 3"),
        ({"low_confidence": [False]}, TrajectoryError, "4 candidates but 1 confidence flags"),
        ({"candidates": [5], "low_confidence": [False]}, TrajectoryError, "publish 4 of 1"),
        ({"batch_ends": [2, 2], "batch_times_ms": [1.0, 2.0]}, TrajectoryError, "Batch 1 of a schedule ends at"),
        ({"batch_ends": [2, 4], "batch_times_ms": [2.0, 1.0]}, TrajectoryError, "Batch 1 of a schedule is visible"),
        ({"batch_ends": [2, 4]}, TrajectoryError, "2 batch ends but 1 batch times"),
        ({"batch_times_ms": [math.nan]}, TrajectoryError, "visible at nan"),
        ({"producer_end_ms": 3.0}, TrajectoryError, "before its last batch"),
        ({"operation_ms": -1.0}, TrajectoryError, "operation length"),
        ({"verify_idle_ms": [math.nan, -1.0]}, ProfileError, "verify_idle_ms at K = 1 is -1.0 ms"),
        ({"verify_idle_ms": [math.nan, 1.0, 0.0]}, ProfileError, "verify_idle_ms at K = 2 is 0.0 ms"),
        ({"verify_concurrent_ms": [math.nan, math.inf]}, ProfileError, "K = 1 is inf"),
        ({"verify_concurrent_ms": [math.nan, math.nan, 3.0]}, ProfileError, "no cost at K = 1"),
        ({"verify_concurrent_ms": []}, ProfileError, "no cost at K = 1"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(changes, error, sentence):
    with pytest.raises(error) as caught:
        simple().kernel(**changes)
    assert sentence in str(caught.value)


@st.composite
def agreements(draw):
    flags = draw(st.lists(st.booleans() | st.just(True), min_size=1, max_size=60))
    return flags, draw(st.integers(2, 9)), draw(width_costs()), draw(dyadic_ms), draw(dyadic_ms)


def verify_array(costs):
    return np.array([math.nan, *costs.values()])


@many
@given(agreements(), st.integers(0, 20))
def test_compiled_and_plain_standard_sd_agree_to_the_last_bit(case, slack):
    flags, width, costs, draft_ms, loop_ms = case
    arguments = (flags, width, draft_ms / 3, verify_array(costs) / 7, loop_ms / 3, len(flags) + slack)
    assert same(replay_standard_sd(*arguments), replay_standard_sd(*arguments, compiled=False))


@many
@given(agreements(), st.booleans(), st.integers(0, 20))
def test_standard_sd_method_and_replay_take_the_same_rounds_forwards_and_time(case, capped, slack):
    flags, width, costs, draft_ms, loop_ms = case
    tokens = list(range(10, 10 + len(flags)))
    if not capped:
        tokens[-1] = EOS
    cap = len(tokens) if capped else len(tokens) + slack

    def predict(prefix):
        i = len(prefix)
        on_path = list(prefix) == tokens[:i]
        return (tokens[i] if on_path and i < len(tokens) and flags[i] else 1), 0.5

    clock = VirtualClock()
    target = ScriptedTarget(clock, tokens, EOS, TargetCosts(1.0, {}, costs, loop_ms))
    drafter = BranchDrafter(ScriptedModel(clock, predict, EOS, draft_ms))
    request = Request("run", "sd", ModelRef("target"), AudioRef("audio"), width=width, max_tokens=cap)
    run = run_virtually(request, target, drafter, clock)
    replayed = replay_standard_sd(flags, width, draft_ms, verify_array(costs), loop_ms, cap)
    assert list(run.outcome.tokens) == tokens
    assert len(run.record.rounds) == replayed.rounds
    assert sum(s.operations for s in run.record.spans if s.lane == "drafter") == replayed.draft_forwards
    assert run.elapsed_ms == pytest.approx(replayed.time_ms, rel=1e-12)
    assert replayed.draft_ms + replayed.verify_ms == pytest.approx(replayed.time_ms, rel=1e-12)


def test_standard_sd_pays_one_forward_more_after_a_full_acceptance_that_was_not_the_last():
    verify = np.array([math.nan, 10.0, 10.0, 10.0])
    # Two rounds of K = 3: all accepted with the bonus (3 tokens), then the last two and the end.
    replayed = replay_standard_sd([True] * 6, 3, 1.0, verify, 0.0)
    assert (replayed.rounds, replayed.draft_forwards, replayed.time_ms) == (2, 2 + 3, 25.0)
    rejected = replay_standard_sd([True, False, True, True, True], 3, 1.0, verify, 0.0)
    assert (rejected.rounds, rejected.draft_forwards) == (2, 2 + 2)


def test_standard_sd_is_cut_by_the_output_cap_only():
    verify = np.array([math.nan, *[10.0] * 8])
    assert replay_standard_sd([True] * 4, 8, 1.0, verify, 0.0, output_cap=4).draft_forwards == 2
    assert replay_standard_sd([True] * 4, 8, 1.0, verify, 0.0).draft_forwards == 7


def test_standard_sd_without_the_cost_of_its_width_has_no_time():
    replayed = replay_standard_sd([True] * 9, 8, 1.0, [math.nan, 10.0], 0.0)
    assert math.isnan(replayed.time_ms)
    assert replayed.missing_width == 8


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (([], 4, 1.0, [0, 1.0], 0.0), TrajectoryError, "no target tokens"),
        (([True], 1, 1.0, [0, 1.0], 0.0), RequestError, "width 1 drafts nothing"),
        (([True], 4, 0.0, [0, 1.0], 0.0), ProfileError, "draft forward of 0.0 ms"),
        (([True], 4, 1.0, [0, -1.0], 0.0), ProfileError, "verify_ms at K = 1 is -1.0"),
        (([True], 4, 1.0, [0, 1.0], -1.0), ProfileError, "loop of -1.0 ms"),
    ],
)
def test_standard_sd_refuses_bad_input_with_a_sentence(arguments, error, sentence):
    with pytest.raises(error) as caught:
        replay_standard_sd(*arguments)
    assert sentence in str(caught.value)


def test_target_only_pays_for_every_token_but_the_first():
    assert replay_target_only(239, 59.391) == 238 * 59.391
    assert replay_target_only(1, 59.391) == 0.0
    with pytest.raises(TrajectoryError, match="0 tokens"):
        replay_target_only(0, 59.391)
    with pytest.raises(ProfileError, match=r"0\.0 ms"):
        replay_target_only(2, 0.0)


@some
@given(st.data())
def test_wider_search_never_changes_what_is_committed(data):
    body = data.draw(bodies(30))
    case = simple(tokens=[*body, EOS], candidates=data.draw(disturbed(body)), budget=MAX_WIDTH - 4)
    case = replace(case, schedule=autoregressive_schedule(len(case.candidates), 3, 2.0))
    for search_window in (0, 1, 16, 1000):
        assert list(replace(case, search_window=search_window).method().outcome.tokens) == case.tokens
