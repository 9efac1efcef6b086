"""Every method on every window: the same bits compiled and plain, every millisecond in a ledger, and its row."""

import math
from dataclasses import replace

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from method_cases import method_corpora, method_profiles, same_times, scaled
from replay_cases import EOS, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, TrajectoryError, UnknownNameError
from as2d_core.profiles import load_profile
from as2d_core.replay.every_method import REPLAYED_METHODS, plan_methods, replay_methods
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.ledger import CHARGES
from as2d_core.replay.method_rows import compare_methods
from as2d_core.replay.method_times import MethodCase
from as2d_core.replay.pooling import pooled_tps
from as2d_core.replay.trajectories import load_corpus
from as2d_core.replay.windows import DrafterTrajectory
from as2d_core.width_rule import WidthRule

few = examples(5, 12)
some = examples(10, 25)
BODY = (5, 6, 7, 8, 9, 10, 11, 12, 13)


def rules(drafters, largest):
    """Rules that take every second width."""
    table = tuple(m - m % 2 for m in range(largest + 1))
    return {name: WidthRule(table, table, "even") for name in drafters}


def everything(whole, costs, compiled=True):
    """All methods at all of their parameters that nine widths allow."""
    cases = plan_methods(whole, costs, budgets=[0, 1, 3, 5, 8], widths=[2, 5, 6, 7, 8, 9], caps=[1, 4, 8])
    return replay_methods(whole, costs, cases, width_rules=rules(whole.drafters, 8), compiled=compiled)


@few
@given(method_corpora(), method_profiles())
def test_every_method_gives_the_same_bits_compiled_and_plain(whole, costs):
    for one, other in zip(everything(whole, costs), everything(whole, costs, compiled=False), strict=True):
        assert one.case == other.case
        assert same_times(one.time_ms, other.time_ms)
        assert {k: v.tolist() for k, v in one.counts.items()} == {k: v.tolist() for k, v in other.counts.items()}
        assert one.ledgers == other.ledgers


@some
@given(method_corpora(), method_profiles())
def test_every_millisecond_of_every_method_is_in_its_ledger(whole, costs):
    for item in everything(whole, costs):
        for time_ms, entry in zip(item.time_ms.tolist(), item.ledgers, strict=True):
            assert (entry is None) == math.isnan(time_ms)
            if entry is None:
                assert item.problem
                continue
            account = entry.account
            assert sum(getattr(entry, name) for name in CHARGES) == entry.total_ns == round(time_ms * 1e6)
            assert account.total_ns == account.draft_ns + account.verify_ns - account.overlap_ns + account.idle_ns
            assert account.total_ns >= account.bound_ns
            assert 0 <= account.overlap_ns <= min(account.draft_ns, account.verify_ns)
            assert account.idle_ns >= 0
            if item.case.method in ("target-only", "sd", "specasr", "without-td"):
                assert account.overlap_ns == 0


@some
@given(method_corpora(), method_profiles())
def test_the_rows_hold_the_times_of_the_grid(whole, costs):
    grid = replay_grid(whole, costs, [0, 1, 3, 5, 8])
    for item in everything(whole, costs):
        case = item.case
        if case.method == "target-only":
            assert same_times(item.time_ms, grid.target_only_ms)
        elif case.method == "as2d":
            assert same_times(item.time_ms, grid.times(case.drafter, case.parameter))
            d, b = grid.drafters.index(case.drafter), grid.budgets.index(case.parameter)
            assert item.counts["rounds"].tolist() == grid.rounds[d, b].tolist()
            assert item.counts["accepted"].tolist() == grid.accepted[d, b].tolist()
        elif case.method == "sd":
            assert same_times(item.time_ms, grid.standard_sd_ms[case.parameter][grid.drafters.index(case.drafter)])


@some
@given(method_corpora(), method_profiles())
def test_an_ablation_is_the_other_method_at_its_parameter(whole, costs):
    found = {item.case: item for item in everything(whole, costs)}
    for case, item in found.items():
        twin = None
        if case.method == "without-bc":
            twin = found.get(replace(case, method="as2d"))
        elif case.method == "without-td":
            twin = found.get(replace(case, method="specasr"))
        if twin is not None:
            assert same_times(item.time_ms, twin.time_ms)


@some
@given(method_corpora(), method_profiles())
def test_a_round_commits_at_least_one_token_and_accepts_no_more_than_it_proposed(whole, costs):
    tokens = [len(w.target_tokens) for w in whole.windows]
    for item in everything(whole, costs):
        for w, count in enumerate(tokens):
            rounds = item.counts.get("rounds", np.full(len(tokens), -1))[w]
            if rounds < 0:
                continue
            assert rounds <= count - 1
            if "accepted" in item.counts and item.case.method != "sd":
                accepted, proposed = item.counts["accepted"][w], item.counts["proposed"][w]
                assert 0 <= accepted <= proposed
                assert count - 1 - rounds <= accepted <= count - 1


@some
@given(method_corpora(), method_profiles(), st.sampled_from([0.5, 0.25]))
def test_no_method_is_slower_when_every_cost_is_lowered_to_a_fraction(whole, costs, fraction):
    lower = everything(whole, scaled(costs, fraction))
    for item, cheap in zip(everything(whole, costs), lower, strict=True):
        assert same_times(item.time_ms * fraction, cheap.time_ms)


@some
@given(method_corpora(), method_profiles())
def test_a_source_that_publishes_nothing_and_a_budget_of_zero_give_the_k1_loop(whole, costs):
    loop_ms = [(len(w.target_tokens) - 1) * (costs.verify_idle_ms[1] + costs.loop_ms) for w in whole.windows]
    silent = corpus(*(replace(w, drafters=(DrafterTrajectory("none", ()),)) for w in whole.windows))
    for budget in (0, 8):
        (item,) = replay_methods(silent, costs, [MethodCase("as2d", "none", budget)])
        assert item.time_ms.tolist() == loop_ms
    for drafter in whole.drafters:
        (item,) = replay_methods(whole, costs, [MethodCase("as2d", drafter, 0)])
        assert item.counts["k1_rounds"].tolist() == [len(w.target_tokens) - 1 for w in whole.windows]
        assert item.counts["proposed"].tolist() == [0] * len(whole.windows)


@some
@given(method_corpora(), method_profiles())
def test_pooled_rows_are_sums_of_their_windows(whole, costs):
    grid = replay_grid(whole, costs)
    times = everything(whole, costs)
    rows = [row for row in compare_methods(grid, times, resamples=20) if not row.mean_of]
    assert [row.case for row in rows] == [item.case for item in times]
    for row, item in zip(rows, times, strict=True):
        assert row.tps == pooled_tps(grid.tokens, item.time_ms)
        assert row.missing_windows == int(np.isnan(item.time_ms).sum())
        if row.charges_ms is not None and row.missing_windows == 0:
            assert sum(row.charges_ms.values()) == pytest.approx(float(item.time_ms.sum()), abs=1e-5)


@some
@given(method_corpora(), method_profiles())
def test_no_fixed_budget_beats_the_oracle_and_no_gap_is_below_zero(whole, costs):
    grid = replay_grid(whole, costs)
    rows = compare_methods(grid, replay_methods(whole, costs, plan_methods(whole, costs, ["as2d"])), resamples=20)
    assert all(row.gap is None or row.gap >= -1e-9 for row in rows)


def test_the_mean_of_standard_sd_follows_its_four_widths():
    whole, costs = load_corpus("demo"), load_profile("k70")
    times = replay_methods(whole, costs, plan_methods(whole, costs, ["target-only", "sd"]))
    rows = compare_methods(replay_grid(whole, costs, [7]), times, resamples=20)
    assert [(row.case.method, row.case.parameter, row.mean_of) for row in rows] == [
        ("target-only", None, ()),
        *(("sd", k, ()) for k in (5, 6, 7, 8)),
        ("sd", None, (5, 6, 7, 8)),
    ]
    assert rows[-1].tps == pytest.approx(sum(row.tps for row in rows[1:5]) / 4)
    assert rows[0].gain == 0.0


def test_the_packaged_demo_set_can_be_replayed_with_every_method():
    whole, costs = load_corpus("demo"), load_profile("k70")
    cases = plan_methods(whole, costs, budgets=[7])
    assert {case.method for case in cases} == set(REPLAYED_METHODS)
    found = replay_methods(whole, costs, cases, width_rules=rules(whole.drafters, 7))
    assert {item.case.method for item in found if item.problem} == set()
    assert {(c.parameter, c.form) for c in cases if c.method == "specasr"} == {
        (cap, form) for cap in (7, 14, 24) for form in ("paired", "serial")
    }


def test_a_method_that_cannot_run_keeps_its_place_and_says_why():
    whole, costs = corpus(), profile(widths=4)
    cases = [
        MethodCase("as2d", "small", 7),
        MethodCase("lookahead", "small", None),
        MethodCase("without-td", "small", 0, "serial"),
        MethodCase("sd", "small", 6),
        MethodCase("specasr", "small", 3, "serial"),
        MethodCase("width-rule", "small", 3),
        MethodCase("specasr", "small", 3, "paired"),
    ]
    found = replay_methods(whole, costs, cases)
    assert [item.problem for item in found] == [
        "'here' lacks a cost of a width up to 8",
        "no budget is selected, and none is deployed on 'here'",
        "a budget of 0 drafts nothing",
        "window 'w0' needs a verification at width 6, which 'here' has no cost of",
        "window 'w0' does not hold what the drafter says off the true path",
        "no width rule was learned; that needs development windows",
        "SpecASR with paired branches needs paired_forward_ms, confidence_row_ms, refresh_base_ms, "
        "refresh_token_ms, which 'here' does not hold; replay its serial form instead.",
    ]
    assert all(np.isnan(item.time_ms).all() for item in found)
    rows = compare_methods(replay_grid(whole, costs, [3]), found)
    assert [(row.tps, row.rounds, row.charges_ms, row.missing_windows) for row in rows] == [(None, None, None, 1)] * 7


def test_a_window_that_a_drafter_does_not_take_is_missing_not_zero():
    whole = corpus(window("w0"), window("w1", drafters=()))
    (item,) = replay_methods(whole, profile(), [MethodCase("as2d", "small", 3)])
    assert math.isnan(item.time_ms[1])
    assert item.problem == "window 'w1' is not taken by 'small'"
    assert (item.counts["rounds"][1], item.total("rounds")) == (-1, None)


def test_extrapolated_widths_are_flagged_in_every_row_that_may_use_them():
    whole = corpus(window("w0", (*BODY, EOS)))
    costs = profile(extrapolated_idle=(9,), extrapolated_concurrent=(8, 9))
    cases = plan_methods(whole, costs, ["sd", "as2d", "lookahead"], budgets=[6, 7, 8], widths=[8, 9])
    flagged = {
        (item.case.method, item.case.parameter): item.extrapolated for item in replay_methods(whole, costs, cases)
    }
    assert flagged == {
        ("sd", 8): False,
        ("sd", 9): True,
        ("as2d", 6): False,
        ("as2d", 7): True,
        ("as2d", 8): True,
        ("lookahead", 6): False,
        ("lookahead", 7): True,
        ("lookahead", 8): True,
    }


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"methods": ["as3d"]}, UnknownNameError, "as2d"),
        ({"drafters": ["smal"]}, UnknownNameError, "small"),
        ({"budgets": [-1]}, RequestError, "The proposal budget is -1"),
        ({"widths": [1]}, RequestError, "The width K of standard SD is 1"),
        ({"caps": [0]}, RequestError, "The draft cap is 0"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        plan_methods(corpus(), profile(), **arguments)


@pytest.mark.parametrize("name", ["target_step_ms", "draft_serial_ms", "draft_overlapped_ms"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_cost_that_cannot_be_charged_is_refused(name, value):
    with pytest.raises(ProfileError, match=name):
        replay_methods(corpus(), profile(**{name: value}), [MethodCase("target-only")])


def test_a_profile_without_k1_is_refused():
    with pytest.raises(ProfileError, match="no cost at K = 1"):
        replay_methods(corpus(), profile(verify_idle_ms={2: 5.0}), [MethodCase("target-only")])


def test_rows_of_other_windows_are_refused():
    times = replay_methods(corpus(window("w0")), profile(), [MethodCase("target-only")])
    with pytest.raises(TrajectoryError, match="Window 'w1' of the grid was not replayed"):
        compare_methods(replay_grid(corpus(window("w1")), profile(), [3]), times)
