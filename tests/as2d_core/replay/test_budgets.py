import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import RequestError, TrajectoryError, UnknownNameError
from as2d_core.replay.acceptance import learn_width_rules
from as2d_core.replay.budgets import compare_budgets, fixed_times
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.pooling import Bootstrap, gap_percent, pooled_tps, slowdown, tps_ratio
from as2d_core.replay.windows import DrafterTrajectory
from as2d_core.width_rule import WidthRule

some = settings(max_examples=40)


@some
@given(corpora())
def test_oracle_is_never_slower_than_any_fixed_pair_per_window_and_pooled(windows):
    grid = replay_grid(windows, profile())
    best = oracle(grid)
    assert (best.time_ms <= grid.time_ms).all()
    for row in compare_budgets(grid, resamples=10).rows:
        if row.tps is not None:
            assert row.tps <= best.tps * (1 + 1e-12)
            assert row.gap >= -1e-9


@some
@given(corpora())
def test_oracle_ties_go_to_the_earlier_drafter_then_the_smaller_budget(windows):
    grid = replay_grid(windows, profile())
    best = oracle(grid)
    for w in range(len(grid.windows)):
        times = grid.time_ms[:, :, w]
        d, b = next((d, b) for d in range(times.shape[0]) for b in range(times.shape[1]) if times[d, b] == times.min())
        assert (best.drafters[w], best.budgets[w]) == (grid.drafters[d], grid.budgets[b])


def hand_made(time_ms, target_only_ms, tokens=None):
    """A grid whose times are written down: [D][B][W]."""
    time_ms, target_only_ms = np.array(time_ms, float), np.array(target_only_ms, float)
    d, b, w = time_ms.shape
    drafters = tuple(DrafterTrajectory(f"d{i}", (5,)) for i in range(d))
    grid = replay_grid(corpus(*(window(f"w{i}", drafters=drafters) for i in range(w))), profile(), range(1, b + 1))
    return replace(
        grid,
        time_ms=time_ms,
        target_only_ms=target_only_ms,
        tokens=np.full(w, 10) if tokens is None else np.array(tokens),
    )


def test_figures_of_a_hand_made_grid():
    grid = hand_made([[[100.0, 300.0], [200.0, 200.0]]], [200.0, 240.0])
    table = compare_budgets(grid)
    first, second = table.rows
    assert (first.tps, second.tps) == (50.0, 50.0)
    assert table.target_only_tps == pytest.approx(20 / 0.44)
    assert (table.windows, table.tokens) == (2, 20)
    assert (first.slower_windows, first.slower_share) == (1, 0.5)
    assert first.median_loss == first.max_loss == pytest.approx(20.0)
    assert (second.slower_windows, second.median_loss) == (0, None)
    assert table.oracle_tps == pytest.approx(20 / 0.3)
    assert first.gap == pytest.approx(25.0)
    assert first.gain == pytest.approx(10.0)
    assert table.oracle_picks == {("d0", 1): 1, ("d0", 2): 1}
    assert table.best is first


def test_pair_that_cannot_run_is_shown_without_figures():
    grid = hand_made([[[100.0, 300.0], [math.nan, math.nan]]], [200.0, 240.0])
    row = compare_budgets(grid).rows[1]
    assert not row.feasible
    assert (row.tps, row.tps_low, row.gain, row.gap, row.slower_windows, row.median_loss, row.rounds) == (None,) * 7


def test_first_drafter_stands_in_where_another_does_not_take_the_window():
    grid = hand_made([[[100.0, 300.0]], [[50.0, math.nan]]], [200.0, 240.0])
    times, fallback = fixed_times(grid)
    assert times[1, 0].tolist() == [50.0, 300.0]
    assert fallback[1, 0].tolist() == [False, True]
    row = compare_budgets(grid).rows[1]
    assert (row.fallback_windows, row.feasible) == (1, True)
    assert row.tps == pytest.approx(20 / 0.35)
    assert row.rounds is None


def test_first_drafter_has_nobody_to_stand_in_for_it():
    grid = hand_made([[[100.0, math.nan]], [[50.0, 60.0]]], [200.0, 240.0])
    first, second = compare_budgets(grid).rows
    assert not first.feasible
    assert first.tps is None
    assert second.feasible


def test_window_without_a_feasible_pair_leaves_the_oracle_without_a_rate():
    best = oracle(hand_made([[[100.0, math.nan]]], [200.0, 240.0]))
    assert (best.drafters, best.budgets, best.tps) == (("d0", None), (1, None), None)
    assert math.isnan(best.time_ms[1])
    table = compare_budgets(hand_made([[[math.nan]]], [200.0]))
    assert table.best is None
    assert table.oracle_picks == {}


def test_standard_sd_is_the_mean_of_four_pooled_rates_and_of_four_rates_per_window():
    table = compare_budgets(replay_grid(corpus(window("a"), window("b", (5, EOS))), profile()), resamples=50)
    rates = [row.tps for row in table.sd_rows if row.width in (5, 6, 7, 8)]
    assert table.sd_means[0].tps == pytest.approx(sum(rates) / 4)
    assert table.sd_means[0].slowdown.windows == 2


def test_standard_sd_without_its_widths_or_agreement_is_not_available():
    table = compare_budgets(replay_grid(corpus(), profile(widths=6)))
    assert table.sd_means[0].tps is None
    unknown = window(drafters=(DrafterTrajectory("ctc", (5,)),))
    table = compare_budgets(replay_grid(corpus(unknown), profile()))
    assert table.sd_means[0].tps is None
    assert table.sd_means[0].slowdown is None
    assert all(row.tps is None and not row.feasible for row in table.sd_rows)


def test_ratio_within_1e9_of_one_is_a_tie():
    counted = slowdown(np.array([1.0, 1 - 9e-10, 1 + 9e-10, 1 - 2e-9, 0.5, 1.2]))
    assert (counted.windows, counted.slower, counted.ties) == (6, 2, 3)
    assert counted.max_loss == pytest.approx(50.0)
    assert counted.share == pytest.approx(1 / 3)


def test_window_that_takes_no_time_either_way_is_a_tie():
    ratio = tps_ratio(np.array([0.0, 10.0]), np.array([0.0, 5.0]))
    assert ratio.tolist() == [1.0, 0.5]


def test_slowdowns_of_windows_without_a_time_are_not_counted_as_none():
    assert slowdown(np.array([1.0, math.nan])) is None
    assert slowdown(np.array([])) is None


def test_pooled_rate_is_no_mean_of_rates_and_missing_is_not_zero():
    assert pooled_tps(np.array([10, 10]), np.array([100.0, 900.0])) == 20.0
    assert pooled_tps(np.array([10]), np.array([math.nan])) is None
    assert pooled_tps(np.array([1]), np.array([0.0])) is None
    assert gap_percent(None, 3.0) is None
    assert gap_percent(27.92, 28.54) == pytest.approx(2.17, abs=0.01)


def test_bootstrap_is_paired_and_repeats_with_its_seed():
    tokens = np.full(40, 10)
    times = np.random.default_rng(3).uniform(50, 150, 40)
    chance = Bootstrap(tokens, 500)
    interval = chance.tps(times)
    assert interval.low < pooled_tps(tokens, times) < interval.high
    assert Bootstrap(tokens, 500).tps(times) == interval
    assert Bootstrap(tokens, 500, seed=1).tps(times) != interval
    # Paired: the same windows half as slow give exactly half the time in every resample.
    gain = chance.gain(times / 2, times)
    assert gain.low == pytest.approx(100.0)
    assert gain.high == pytest.approx(100.0)
    assert chance.gap(times * 2, times).low == pytest.approx(50.0)
    assert chance.difference(times, times).high == 0.0
    assert chance.mean_tps([times, times]) == interval


def test_single_window_has_no_interval():
    assert Bootstrap(np.array([10])).tps(np.array([5.0])) is None
    assert Bootstrap(np.array([10, 10])).tps(np.array([5.0, math.nan])) is None


@some
@given(corpora())
def test_every_feasible_figure_of_a_table_is_finite(windows):
    table = compare_budgets(replay_grid(windows, profile()), resamples=20)
    for row in table.rows:
        for value in (row.tps, row.tps_low, row.tps_high, row.gain, row.gap, row.median_loss):
            assert value is None or math.isfinite(value)


def learned(windows, budgets=(1, 2, 4)):
    rules, _ = learn_width_rules(windows, profile())
    return replay_grid(windows, profile(), budgets), replay_grid(windows, profile(), budgets, width_rules=rules), rules


def taught(*drafters):
    """Development and test windows of drafters that err now and then."""
    tokens = (*range(10, 70), EOS)
    wrong = tuple(9 if k % 6 == 5 else t for k, t in enumerate(tokens[:-1]))
    both = tuple(DrafterTrajectory(name, wrong[i:]) for i, name in enumerate(drafters or ("small",)))
    return corpus(window("dev", tokens, split="development", drafters=both), window("t", tokens, drafters=both))


def test_a_width_rule_has_a_row_with_its_own_times_against_the_oracle_over_budgets():
    grid, ruled, rules = learned(taught())
    found = compare_budgets(grid, 20, ruled=ruled)
    (row,) = found.rule_rows
    assert (row.drafter, row.budget, row.width_rule) == ("small", 4, rules["small"].name)
    assert row.tps == pooled_tps(grid.tokens, ruled.times("small", 4))
    assert row.gap == gap_percent(row.tps, found.oracle_tps)
    assert row.rounds == ruled.rounds[0, 2].sum()
    assert all(fixed.width_rule is None for fixed in found.rows)
    assert compare_budgets(grid, 20).rule_rows == ()


def test_which_rules_have_rows_can_be_said():
    grid, ruled, _ = learned(taught("small", "tiny"))
    pairs = [(row.drafter, row.budget) for row in compare_budgets(grid, 20, ruled=ruled).rule_rows]
    assert pairs == [("small", 4), ("tiny", 4)]
    found = compare_budgets(grid, 20, ruled=ruled, rule_pairs=[("tiny", 2)])
    assert [(row.drafter, row.budget) for row in found.rule_rows] == [("tiny", 2)]
    assert found.best.width_rule is None


def test_a_rule_that_takes_everything_has_the_figures_of_its_budget():
    grid, _, _ = learned(taught())
    everything = WidthRule(tuple(range(5)), tuple(range(5)), "all of it")
    ruled = replay_grid(taught(), profile(), [1, 2, 4], width_rules={"small": everything})
    found = compare_budgets(grid, 20, ruled=ruled)
    assert replace(found.rule_rows[0], width_rule=None) == found.rows[2]


def test_rules_of_other_windows_or_pairs_are_refused():
    grid, ruled, _ = learned(taught())
    with pytest.raises(TrajectoryError, match="replayed on other windows"):
        compare_budgets(grid, 20, ruled=ruled.of_split("test"))
    with pytest.raises(RequestError, match="Budget 3 was not replayed"):
        compare_budgets(grid, 20, ruled=ruled, rule_pairs=[("small", 3)])
    with pytest.raises(UnknownNameError, match="'small'"):
        compare_budgets(grid, 20, ruled=ruled, rule_pairs=[("smal", 4)])


@some
@given(corpora())
def test_intervals_of_many_times_are_those_of_each(windows):
    grid = replay_grid(windows, profile(widths=4), [1, 2, 9])
    bootstrap = Bootstrap(grid.tokens, 30)
    times = list(grid.time_ms.reshape(-1, len(grid.windows)))
    for many, one in zip(bootstrap.tps_of_each(times), map(bootstrap.tps, times), strict=True):
        assert (many is None) == (one is None)
        if many is not None:
            assert (many.low, many.high) == pytest.approx((one.low, one.high))
    assert bootstrap.tps_of_each([]) == []
