import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, TrajectoryError
from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.oracle_report import (
    Choice,
    cost_sensitivity,
    fixed_choice,
    report_oracle,
    within_report,
)
from as2d_core.replay.windows import DrafterTrajectory

some = settings(max_examples=12, deadline=None)


def datasets():
    """Two datasets: a source that is right and one that is mostly wrong."""
    tokens = (*range(10, 60), EOS)
    good = tuple(9 if k % 11 == 10 else t for k, t in enumerate(tokens[:-1]))
    bad = tuple(t if k % 5 == 4 else 9 for k, t in enumerate(tokens[:-1]))
    return corpus(
        *(window(f"good{i}", tokens, good[i:], group="clean") for i in range(3)),
        *(window(f"bad{i}", tokens, bad[i:], group="noisy") for i in range(2)),
    )


def report(windows, costs=None, pairs=((1), (4)), resamples=50):
    grid = replay_grid(windows, costs or profile())
    drafter = grid.drafters[0]
    return grid, report_oracle(grid, [fixed_choice(grid, drafter, b, "given") for b in pairs], resamples)


@some
@given(corpora())
def test_no_fixed_pair_is_faster_than_the_oracle_in_any_group(windows):
    _, found = report(windows)
    for row in found.rows:
        assert row.gap is None or row.gap >= -1e-9
    assert all(row.gap is None or row.gap == 0 for row in found.oracle_rows)


def test_groups_hold_all_windows_once_and_pool_to_the_whole():
    _, found = report(datasets())
    rows = [row for row in found.rows if row.choice == "small b=4"]
    assert [row.group for row in rows] == ["all", "clean", "noisy"]
    assert [row.windows for row in rows] == [5, 3, 2]
    seconds = [row.tokens / row.tps for row in rows]
    assert seconds[0] == pytest.approx(sum(seconds[1:]))
    assert rows[0].slowdown.slower == sum(row.slowdown.slower for row in rows[1:])


def test_one_dataset_is_not_said_twice():
    _, found = report(corpus(window("a"), window("b")))
    assert [(row.choice, row.group) for row in found.rows] == [("small b=1", "all"), ("small b=4", "all")]


def test_figures_over_all_windows_are_those_of_the_table_of_budgets():
    grid, found = report(datasets())
    expected = next(row for row in compare_budgets(grid, 50).rows if row.budget == 4)
    row = found.row("small b=4")
    assert (row.tps, row.gain, row.gap) == (expected.tps, expected.gain, expected.gap)
    assert (row.tps_interval.low, row.tps_interval.high) == pytest.approx((expected.tps_low, expected.tps_high))
    slower = row.slowdown
    assert (slower.slower, slower.median_loss, slower.max_loss) == (
        expected.slower_windows,
        expected.median_loss,
        expected.max_loss,
    )


def test_figures_by_hand():
    """Two windows of 10 tokens: 1 s and 2 s with the choice, 0.8 s and 2 s with the oracle, 2 s and 1.6 s alone."""
    grid = replay_grid(corpus(window("a"), window("b")), profile(), [1, 2])
    times = np.array([[[1000.0, 2000.0], [800.0, 2400.0]]])
    grid = replace(grid, tokens=np.array([10, 10]), time_ms=times, target_only_ms=np.array([2000.0, 1600.0]))
    found = report_oracle(grid, [fixed_choice(grid, "small", 1, "given"), fixed_choice(grid, "small", 2, "given")], 20)
    row = found.row("small b=1")
    assert row.tps == pytest.approx(20 / 3)
    assert row.oracle_tps == pytest.approx(20 / 2.8)
    assert row.gap == pytest.approx(100 * (1 - 2.8 / 3))
    assert row.gain == pytest.approx(100 * (3.6 / 3 - 1))
    assert (row.slowdown.slower, row.slowdown.ties) == (1, 0)
    assert row.slowdown.median_loss == row.slowdown.max_loss == pytest.approx(20.0)
    assert (row.window_tps.least, row.window_tps.median, row.window_tps.most) == pytest.approx((5.0, 7.5, 10.0))
    assert row.window_tps.iqr == pytest.approx(2.5)
    assert (row.window_change.least, row.window_change.most) == pytest.approx((-20.0, 100.0))
    (difference,) = found.differences
    assert difference.tps == pytest.approx(20 / 3 - 20 / 3.2)
    assert (difference.faster, difference.slower, difference.ties) == (1, 1, 0)
    assert found.cdf["oracle"].tolist() == pytest.approx([5.0, 12.5])
    assert found.cdf["target-only"].tolist() == pytest.approx([5.0, 6.25])


@some
@given(corpora())
def test_a_difference_turned_around_changes_its_sign(windows):
    grid, one = report(windows)
    other = report_oracle(grid, [fixed_choice(grid, "small", b, "given") for b in (4, 1)], 50)
    (a,), (b,) = one.differences, other.differences
    assert (a.faster, a.slower, a.ties) == (b.slower, b.faster, b.ties)
    assert a.faster + a.slower + a.ties == len(grid.windows)
    if a.tps is not None:
        assert a.tps == pytest.approx(-b.tps)
        if a.tps_interval is not None:
            assert a.tps_interval.low == pytest.approx(-b.tps_interval.high)


@some
@given(corpora())
def test_distributions_hold_every_window(windows):
    grid, found = report(windows)
    assert set(found.cdf) == {"small b=1", "small b=4", "oracle", "target-only"}
    for rates in found.cdf.values():
        assert len(rates) == len(grid.windows)
        known = rates[~np.isnan(rates)]
        assert (np.diff(known) >= 0).all()
        assert np.isnan(rates[len(known) :]).all()


def test_a_choice_that_cannot_run_is_not_available_and_no_zero():
    grid = replay_grid(datasets(), profile(widths=3), [1, 5])
    row = report_oracle(grid, [fixed_choice(grid, "small", 5, "given")], 20).row("small b=5")
    assert (row.tps, row.gap, row.gain, row.slowdown, row.window_tps, row.tps_interval) == (None,) * 6
    assert row.oracle_tps is not None


def test_a_choice_of_other_windows_is_refused():
    grid = replay_grid(datasets(), profile(), [1])
    with pytest.raises(TrajectoryError, match="odd has 2 windows, the grid 5"):
        report_oracle(grid, [Choice("odd", "given", np.ones(2))])
    with pytest.raises(RequestError, match="no 'odd' on 'all'"):
        report_oracle(grid, [fixed_choice(grid, "small", 1, "given")], 20).row("odd")


def test_scenarios_change_assumed_widths_only_and_the_nominal_one_is_the_grid():
    assumed = profile(extrapolated_concurrent=(4, 5), concurrent_ratio_extremes=(1.0, 3.0))
    windows = datasets()
    grid = replay_grid(windows, assumed, [1, 4])
    nominal, low, high = cost_sensitivity(windows, assumed, grid, "small", 4)
    assert [s.name for s in (nominal, low, high)] == ["nominal", "low", "high"]
    row = report_oracle(grid, [fixed_choice(grid, "small", 4, "given")], 20).row("small b=4")
    assert (nominal.tps, nominal.oracle_tps, nominal.gap) == (row.tps, row.oracle_tps, row.gap)
    assert low.tps > high.tps
    narrow = cost_sensitivity(windows, assumed, grid, "small", 1)
    assert len({s.tps for s in narrow}) == 1


def test_scenarios_need_assumed_widths_and_their_limits():
    windows = datasets()
    grid = replay_grid(windows, profile(), [1, 4])
    assert [s.name for s in cost_sensitivity(windows, profile(), grid, "small", 4)] == ["nominal"]
    unknown = profile(extrapolated_concurrent=(5,))
    with pytest.raises(ProfileError, match="between which ratios"):
        cost_sensitivity(windows, unknown, grid, "small", 4)


def test_scenarios_keep_the_catalog_and_the_windows_of_the_grid():
    both = tuple(DrafterTrajectory(name, (5, 6, 7, 8, 9)) for name in ("small", "tiny"))
    windows = corpus(window("a", drafters=both), window("b", drafters=both, split="development"))
    grid = replay_grid(windows, profile(), [("small", 1), ("tiny", 4)]).of_split("test")
    (nominal,) = cost_sensitivity(windows, profile(), grid, "tiny", 4)
    assert nominal.oracle_tps == oracle(grid).tps


@some
@given(corpora(drafters=("small",)))
def test_the_best_widths_are_no_slower_than_the_oracle_and_no_faster_than_their_bound(windows):
    grid = replay_grid(windows, profile(), [1, 2, 3])
    found, rows = within_report(windows, profile(), grid)
    assert (found.time_ms <= oracle(grid).time_ms * (1 + 1e-12)).all()
    for row in rows:
        if row.tps is not None:
            assert -1e-9 <= row.over_oracle <= row.bound_over_oracle + 1e-9
            assert row.tps <= row.bound_tps * (1 + 1e-12)


def test_the_best_widths_are_pooled_by_dataset_and_on_part_of_a_set():
    windows = datasets()
    grid = replay_grid(windows, profile(), [1, 2, 3])
    _, rows = within_report(windows, profile(), grid)
    assert [(row.group, row.windows) for row in rows] == [("all", 5), ("clean", 3), ("noisy", 2)]
    found, (only,) = within_report(windows, profile(), grid.of_group("noisy"))
    assert (only.windows, only.exact_windows) == (2, found.exact_windows)
    assert only.tps == pytest.approx(rows[2].tps)
    assert not math.isnan(found.time_ms.sum())
