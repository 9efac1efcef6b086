"""What holds for every method, whatever its drafter says: the output, the cap, the cancellation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import (
    ListRecorder,
    ScriptedModel,
    ScriptedSource,
    ScriptedTarget,
    TargetCosts,
    VirtualClock,
)
from as2d_core.errors import EngineError, RequestError, UnknownNameError
from as2d_core.methods import method
from as2d_core.records import Round
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import METHODS, AudioRef, ModelRef, Request
from as2d_core.verification import accept

EOS = 2
COSTS = TargetCosts(50.0, {k: 60.0 + 8 * k for k in range(1, 40)}, {k: 50.0 + 8 * k for k in range(1, 40)}, 10.0)
BODIES = st.lists(st.integers(3, 6), min_size=1, max_size=30)
CANDIDATES = st.lists(st.tuples(st.integers(3, 6), st.sampled_from([0.1, 0.39, 0.4, 0.9])), max_size=40)
SETTINGS = {"sd": {"width": 5}, "specasr": {"draft_cap": 6}, "as2d": {"budget": 4}, "target-only": {}}


def run(name, body, candidates=(), seed=0, cancel_after=None, **fields):
    """Run a method on a scripted target; serial drafters are right about two thirds of the time."""
    clock = VirtualClock()
    reference = [*body, EOS]
    recorder = ListRecorder(clock, cancel_after)
    request = Request("run", name, ModelRef("target"), AudioRef("audio"), **{**SETTINGS[name], **fields})
    target = ScriptedTarget(clock, reference, EOS, COSTS)

    def predict(prefix):
        draw = hash((seed, prefix)) % 9
        return (reference[len(prefix)] if draw < 6 and len(prefix) < len(reference) else draw - 3), draw / 8

    proposer = None
    if name == "as2d":
        tokens = [token for token, _ in candidates]
        schedule = autoregressive_schedule(len(tokens), 4, 20.0, 1.0)
        proposer = ScriptedSource(clock, tokens, schedule, [confidence for _, confidence in candidates], 1.0)
    elif name != "target-only":
        proposer = BranchDrafter(ScriptedModel(clock, predict, EOS, 7.0))
    outcome = method(name)(target, proposer, request, recorder)
    return outcome, [event for event in recorder.events if isinstance(event, Round)]


@pytest.mark.parametrize("name", METHODS)
@given(body=BODIES, candidates=CANDIDATES, seed=st.integers(0, 2**30))
def test_the_output_is_the_reference(name, body, candidates, seed):
    outcome, _ = run(name, body, candidates, seed)
    assert (outcome.status, list(outcome.tokens)) == ("eos", [*body, EOS])


@pytest.mark.parametrize("name", METHODS)
@given(body=BODIES, candidates=CANDIDATES, seed=st.integers(0, 2**30), cap=st.integers(2, 30))
def test_the_cap_cuts_the_output_and_nothing_else(name, body, candidates, seed, cap):
    outcome, _ = run(name, body, candidates, seed, max_tokens=cap)
    reference = [*body, EOS]
    assert list(outcome.tokens) == reference[:cap]
    assert outcome.status == ("eos" if len(reference) <= cap else "capped")


@pytest.mark.parametrize("name", METHODS)
@given(body=BODIES, candidates=CANDIDATES, seed=st.integers(0, 2**30), after=st.integers(0, 10))
def test_a_cancelled_output_is_a_beginning_of_the_reference(name, body, candidates, seed, after):
    outcome, rounds = run(name, body, candidates, seed, cancel_after=after)
    assert list(outcome.tokens) == [*body, EOS][: len(outcome.tokens)]
    assert len(rounds) <= after
    assert outcome.status == ("eos" if outcome.tokens[-1] == EOS else "cancelled")


@pytest.mark.parametrize("name", METHODS)
@given(body=BODIES, candidates=CANDIDATES, seed=st.integers(0, 2**30))
def test_the_rounds_commit_the_output_between_them(name, body, candidates, seed):
    outcome, rounds = run(name, body, candidates, seed)
    assert [body[0], *(token for item in rounds for token in item.committed)] == list(outcome.tokens)


@pytest.mark.parametrize("name", METHODS)
@given(body=BODIES, candidates=CANDIDATES, seed=st.integers(0, 2**30))
def test_a_round_commits_its_accepted_tokens_and_one_of_the_targets_unless_the_output_ends(
    name, body, candidates, seed
):
    _, rounds = run(name, body, candidates, seed)
    for item in rounds[:-1]:
        assert len(item.committed) == item.accepted + 1


@pytest.mark.parametrize("name", METHODS)
@given(candidates=CANDIDATES, seed=st.integers(0, 2**30))
def test_an_output_that_ends_with_its_first_token_needs_no_round(name, candidates, seed):
    outcome, rounds = run(name, [], candidates, seed)
    assert (outcome.tokens, rounds) == ((EOS,), [])


@given(body=BODIES, candidates=CANDIDATES)
def test_no_as2d_round_is_wider_than_its_budget_and_the_root(body, candidates):
    _, rounds = run("as2d", body, candidates, budget=3)
    assert all(item.width <= 4 for item in rounds)


@given(body=BODIES)
def test_a_source_that_publishes_nothing_gives_the_loop_of_single_steps(body):
    _, rounds = run("as2d", body)
    assert [item.width for item in rounds] == [1] * len(body)


@given(body=BODIES, seed=st.integers(0, 2**30), width=st.integers(2, 8))
def test_standard_sd_is_cut_only_by_the_output_cap(body, seed, width):
    _, rounds = run("sd", body, seed=seed, width=width)
    assert {item.width for item in rounds} == {width}


@given(body=BODIES, seed=st.integers(0, 2**30))
def test_standard_sd_near_the_cap_drafts_only_what_still_fits(body, seed):
    _, rounds = run("sd", body, seed=seed, width=8, max_tokens=9)
    committed = 1
    for item in rounds:
        assert item.width == min(8, 9 - committed)
        committed += len(item.committed)


@pytest.mark.parametrize(
    ("name", "fields", "sentence"),
    [
        ("as2d", {"budget": None}, "needs a proposal budget"),
        ("sd", {"width": None}, "needs a width K of at least 2"),
        ("sd", {"width": 1}, "needs a width K of at least 2"),
        ("specasr", {"draft_cap": None}, "needs a draft cap of at least 1"),
        ("specasr", {"draft_cap": 0}, "needs a draft cap of at least 1"),
    ],
)
def test_a_method_refuses_to_run_without_its_parameter(name, fields, sentence):
    with pytest.raises(RequestError, match=sentence):
        run(name, [5, 6], **fields)


def test_a_method_that_is_not_known_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'specasr'"):
        method("specsar")


def test_an_engine_that_returns_other_rows_than_it_was_given_is_found_out():
    with pytest.raises(EngineError, match="returned 1 rows for a width of 3"):
        accept([5, 6], [5])
