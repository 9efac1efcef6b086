import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import RequestError, SelectionError, UnknownNameError
from as2d_core.replay.acceptance import (
    Acceptance,
    largest_budget,
    learn_acceptance,
    learn_width_rules,
    make_width_rule,
)
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.windows import DrafterTrajectory

some = settings(max_examples=30, deadline=None)
TOKENS = (*range(10, 42), EOS)


def known(rates=(0.9, 0.9, 0.9), chains=10_000):
    """Acceptance that was seen often enough to be what it is."""
    tried, accepted, alive = [], [], chains
    for rate in rates:
        tried.append(alive)
        alive = int(alive * rate)
        accepted.append(alive)
    return Acceptance("small", tuple(tried), tuple(accepted), "few", 3, "here")


def costs(idle, concurrent=None, loop_ms=0.0):
    values = dict(enumerate(idle, 1))
    return profile(
        verify_idle_ms=values,
        verify_concurrent_ms=values if concurrent is None else dict(enumerate(concurrent, 1)),
        loop_ms=loop_ms,
    )


def test_candidates_are_counted_by_position_where_all_before_them_were_accepted():
    # One wrong candidate in the middle of a chain that is ready at once.
    candidates = (*TOKENS[:4], 9, *TOKENS[5:-1])
    few = corpus(window("w", TOKENS, candidates, split="development"))
    found = learn_acceptance(few, profile(draft_overlapped_ms=0.001), "small")
    assert found.windows == 1
    assert found.tried[0] >= found.tried[1] >= found.tried[-1]
    for position in range(len(found.tried) - 1):
        assert found.tried[position + 1] <= found.accepted[position] <= found.tried[position]


def test_other_splits_are_not_looked_at():
    wrong = (9,) * 20
    learned = window("dev", TOKENS, split="development")
    alone = learn_acceptance(corpus(learned), profile(), "small")
    beside = [window(f"{name}", TOKENS, wrong, split=name) for name in ("validation", "test")]
    assert learn_acceptance(corpus(learned, *beside), profile(), "small") == alone


def test_the_output_cap_judges_no_candidate():
    capped = window("w", TOKENS[:-1], split="development", target_capped=True)
    found = learn_acceptance(corpus(capped), profile(draft_overlapped_ms=0.001), "small")
    assert found.accepted == found.tried


def test_without_development_windows_nothing_is_learned():
    with pytest.raises(SelectionError, match="has no development windows that 'small' takes"):
        learn_acceptance(corpus(), profile(), "small")
    with pytest.raises(UnknownNameError, match="small"):
        learn_acceptance(corpus(), profile(), "smal")


def test_rare_positions_are_pulled_towards_the_mean_and_frequent_ones_are_not():
    seen = Acceptance("small", (10_000, 1), (9_000, 0), "few", 3, "here")
    assert seen.rate(0) == pytest.approx(0.9, abs=1e-3)
    assert 0.7 < seen.rate(1) < 0.9
    assert seen.rate(99) == pytest.approx(0.9, abs=1e-3)


def test_expected_tokens_add_the_chance_that_a_chain_gets_so_far():
    assert known((1.0, 1.0)).expected_tokens(0) == 1.0
    assert known((0.5, 0.5)).expected_tokens(2) == pytest.approx(1.75, abs=1e-2)


def test_a_width_that_costs_a_jump_is_avoided_until_it_pays():
    # K = 5 to 8 cost 1.6 times K = 4: with four to six ready candidates, three are taken.
    steps = [100, 112, 124, 136, 212, 215, 218, 221]
    rule = make_width_rule(known((0.9,) * 7), costs(steps))
    assert rule.idle == rule.concurrent == (0, 1, 2, 3, 3, 3, 3, 7)


def test_concurrent_and_idle_costs_make_their_own_tables():
    rule = make_width_rule(known(), costs([100, 101, 102, 103], [100, 900, 901, 902]))
    assert (rule.idle, rule.concurrent) == ((0, 1, 2, 3), (0, 0, 0, 0))


def test_the_loop_counts_into_the_price_of_a_round():
    dear = [50, 110, 165, 220]
    assert make_width_rule(known(), costs(dear)).idle == (0, 0, 0, 0)
    assert make_width_rule(known(), costs(dear, loop_ms=1000.0)).idle == (0, 1, 2, 3)


def test_width_without_a_cost_is_passed_over():
    few = replace(costs([100, 101, 102, 103]), verify_idle_ms={1: 100.0, 2: 101.0, 4: 103.0})
    with pytest.raises(RequestError, match="'here' ends at 1"):
        make_width_rule(known(), few, 3)
    assert make_width_rule(known(), few).idle == (0, 1)


def test_the_rule_names_its_origin():
    rule = make_width_rule(known(), costs([1, 1, 1]))
    assert rule.name == "here, 3 development windows of few with small"


@given(st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8))
def test_ruinous_verification_degenerates_to_the_k1_loop(rates):
    rule = make_width_rule(known(rates), costs([100.0] + [1e9] * 8))
    assert set(rule.idle) == set(rule.concurrent) == {0}


@given(st.lists(st.floats(0.1, 1.0), min_size=8, max_size=8))
def test_width_for_nothing_degenerates_to_the_budget(rates):
    rule = make_width_rule(known(rates), costs([100.0] * 9))
    assert rule.idle == rule.concurrent == tuple(range(9))


@given(st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8), st.lists(st.floats(1.0, 500.0), min_size=9, max_size=9))
def test_no_shorter_chain_is_cheaper_per_expected_token(rates, idle):
    acceptance = known(rates)
    rule = make_width_rule(acceptance, costs(idle))
    for ready, taken in enumerate(rule.idle):
        price = idle[taken] / acceptance.expected_tokens(taken)
        assert all(price <= idle[k] / acceptance.expected_tokens(k) for k in range(ready + 1))


@given(st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8), st.lists(st.floats(1.0, 500.0), min_size=9, max_size=9))
def test_scaling_every_cost_changes_no_width(rates, idle):
    # Powers of two, so that a tie stays a tie.
    rule = make_width_rule(known(rates), costs(idle))
    assert make_width_rule(known(rates), costs([cost * 4 for cost in idle])).idle == rule.idle


@some
@given(corpora(splits=("development", "test")))
def test_with_ruinous_verification_the_ruled_grid_is_the_k1_loop(windows):
    if "development" not in {w.split for w in windows.windows}:
        return
    dear = profile(
        verify_idle_ms={k: 50.0 if k == 1 else 1e9 for k in range(1, 10)},
        verify_concurrent_ms={k: 50.0 if k == 1 else 1e9 for k in range(1, 10)},
    )
    rules, _ = learn_width_rules(windows, dear)
    ruled = replay_grid(windows, dear, width_rules=rules)
    assert (ruled.time_ms == replay_grid(windows, dear, [0]).time_ms).all()


@some
@given(corpora(splits=("development",)))
def test_where_width_costs_nothing_the_ruled_grid_is_the_grid_of_budgets(windows):
    flat = profile(
        verify_idle_ms=dict.fromkeys(range(1, 10), 50.0), verify_concurrent_ms=dict.fromkeys(range(1, 10), 50.0)
    )
    rules, _ = learn_width_rules(windows, flat)
    assert (replay_grid(windows, flat, width_rules=rules).time_ms == replay_grid(windows, flat).time_ms).all()


def test_rules_are_asked_for_by_drafter():
    rule = make_width_rule(known(), profile())
    with pytest.raises(RequestError, match="no width rule for drafter 'small'"):
        replay_grid(corpus(), profile(), width_rules={"other": rule})
    two = corpus(window(drafters=(DrafterTrajectory("a", (5,)), DrafterTrajectory("b", (5,)))))
    grid = replay_grid(two, profile(), width_rules={"a": rule, "b": rule})
    assert grid.budgets == tuple(range(1, rule.max_budget + 1))
    assert set(grid.width_rules) == {"a", "b"}


def test_largest_budget_is_what_was_searched_and_can_be_priced():
    assert largest_budget(profile(widths=9)) == 8
    assert largest_budget(profile(widths=9, search_max_budget=5)) == 5
    assert largest_budget(profile(widths=9, search_max_budget=50)) == 8
    assert math.isclose(known().rate(0), 0.9, abs_tol=1e-2)
