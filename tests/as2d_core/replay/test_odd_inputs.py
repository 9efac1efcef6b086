"""What docs/replay.md promises for odd input: a named error, or a defined result with every method."""

import math

import pytest
from replay_cases import EOS, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, TrajectoryError
from as2d_core.profiles.codec import profile_from_json, profile_to_json
from as2d_core.replay.branches import ErrorChannel
from as2d_core.replay.every_method import plan_methods, replay_methods
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.method_rows import compare_methods
from as2d_core.replay.method_times import MethodCase
from as2d_core.replay.windows import DrafterTrajectory

PRICED = {
    "paired_forward_ms": 18.0,
    "confidence_row_ms": 0.5,
    "refresh_base_ms": 1.0,
    "refresh_token_ms": 2.0,
    "deployed_budget": 5,
    "asp_cap": 7,
}


def drafter(tokens, candidates=None):
    """A drafter that every method can run with, right after every true prefix."""
    count = len(tokens)
    said = tuple(t for t in tokens if t != EOS) if candidates is None else tuple(candidates)
    return DrafterTrajectory(
        "small",
        said,
        (0.9,) * len(said),
        agrees=(True,) * count,
        prefix_confidences=(0.9,) * count,
        error_channel=ErrorChannel((0,) * count, (0,) * count),
    )


def everything(whole, costs):
    cases = [case for case in plan_methods(whole, costs, budgets=[5]) if case.method != "width-rule"]
    return replay_methods(whole, costs, cases)


def test_an_output_of_one_token_takes_no_time_with_any_method():
    whole = corpus(window("w0", (EOS,), drafters=(drafter((EOS,)),)))
    found = everything(whole, profile(**PRICED))
    assert {item.problem for item in found} == {None}
    for item in found:
        # As²d stops a producer that has nothing to do at once, too.
        assert item.time_ms.tolist() == [0.0]
        assert item.ledgers[0].total_ns == 0
    rows = compare_methods(replay_grid(whole, profile(**PRICED), [5]), found, resamples=20)
    assert {row.tps for row in rows} == {None}


def test_an_output_of_eos_only_is_refused():
    with pytest.raises(TrajectoryError, match="Window 'w0', target: EOS at position 0; EOS may only be the last token"):
        corpus(window("w0", (EOS, EOS), drafters=()))


def test_a_source_that_goes_on_beyond_the_output_costs_no_more_than_its_drain():
    tokens = (5, 6, 7, 8, 9, EOS)
    short = corpus(window("w0", tokens, drafters=(drafter(tokens),)), output_cap=10)
    long = corpus(window("w0", tokens, drafters=(drafter(tokens, (*tokens[:-1], *range(10, 400))),)), output_cap=10)
    one, other = (everything(whole, profile(**PRICED)) for whole in (short, long))
    for a, b in zip(one, other, strict=True):
        a_entry, b_entry = a.ledgers[0], b.ledgers[0]
        if a.case.method in ("as2d", "without-bc"):
            assert b_entry.total_ns - b_entry.drain_ns >= 0
            assert b_entry.drain_ns <= profile().draft_overlapped_ms * 1e6
        else:
            assert a_entry == b_entry


def test_an_empty_set_and_duplicate_windows_are_refused():
    with pytest.raises(TrajectoryError, match="has no windows; there is nothing to replay"):
        corpus(windows=())
    with pytest.raises(TrajectoryError, match="Window 'w0' appears 2 times"):
        corpus(window("w0"), window("w0"))


@pytest.mark.parametrize("value", [0.0, -3.0, math.nan, math.inf])
@pytest.mark.parametrize("method", ["as2d", "sd", "specasr", "lookahead"])
def test_a_verification_that_costs_nothing_less_or_no_number_is_refused(method, value):
    widths = {"verify_idle_ms": {1: 50.0, 2: value}, "verify_concurrent_ms": {1: 50.0, 2: value}}
    costs = profile(**{**PRICED, **widths})
    tokens = (*range(5, 40), EOS)
    whole = corpus(window("w0", tokens, drafters=(drafter(tokens),)))
    case = MethodCase(method, "small", 2 if method == "sd" else 1, "serial" if method == "specasr" else None)
    with pytest.raises(ProfileError, match="at K = 2 is"):
        replay_methods(whole, costs, [case])
    with pytest.raises(ProfileError, match=r"verify_idle_ms\.2 is"):
        profile_from_json(profile_to_json(costs))


def test_a_budget_of_zero_is_the_k1_loop_and_drafts_nothing_elsewhere():
    tokens = (5, 6, 7, EOS)
    whole = corpus(window("w0", tokens, drafters=(drafter(tokens),)))
    cases = [MethodCase("as2d", "small", 0), MethodCase("without-td", "small", 0, "serial")]
    loop, nothing = replay_methods(whole, profile(**PRICED), [*cases])
    assert loop.counts["k1_rounds"].tolist() == [3]
    assert nothing.problem == "a budget of 0 drafts nothing"


def test_a_budget_beyond_every_width_is_not_feasible_and_never_priced():
    whole = corpus(window("w0", (5, 6, EOS), drafters=(drafter((5, 6, EOS)),)))
    (item,) = replay_methods(whole, profile(widths=4, **PRICED), [MethodCase("as2d", "small", 99)])
    assert math.isnan(item.time_ms[0])
    assert item.problem == "'here' lacks a cost of a width up to 100"
    with pytest.raises(RequestError, match="The proposal budget is -1"):
        plan_methods(whole, profile(), budgets=[-1])


def test_a_profile_without_k1_is_refused_from_memory_and_from_a_file():
    costs = profile(verify_concurrent_ms={2: 50.0})
    with pytest.raises(ProfileError, match="verify_concurrent_ms has no cost at K = 1"):
        replay_methods(corpus(), costs, [MethodCase("target-only")])
    with pytest.raises(ProfileError, match="verify_concurrent_ms has no cost at K = 1"):
        profile_from_json(profile_to_json(costs))
