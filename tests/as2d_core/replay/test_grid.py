import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, TrajectoryError, UnknownNameError
from as2d_core.profiles import load_profile
from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.grid import output_cap, replay_grid, window_schedule
from as2d_core.replay.kernel import replay_as2d, replay_standard_sd
from as2d_core.replay.windows import DrafterTrajectory

some = settings(max_examples=40)


def assert_same_grid(a, b):
    for name, value in vars(a).items():
        other = getattr(b, name)
        if isinstance(value, np.ndarray):
            assert value.dtype == other.dtype
            assert value.tobytes() == other.tobytes(), name
        elif isinstance(value, dict):
            assert {k: v.tobytes() for k, v in value.items()} == {k: v.tobytes() for k, v in other.items()}
        else:
            assert value == other


@some
@given(corpora())
def test_compiled_and_plain_grids_agree_to_the_last_bit(windows):
    assert_same_grid(replay_grid(windows, profile()), replay_grid(windows, profile(), compiled=False))


@some
@given(corpora())
def test_every_cell_is_the_replay_of_its_window(windows):
    costs = profile()
    grid = replay_grid(windows, costs, [0, 3, 7])
    concurrent, idle = costs.round_costs()
    for d, name in enumerate(grid.drafters):
        for w, one in enumerate(windows.windows):
            source = one.drafter(name)
            schedule = window_schedule(source, costs)
            cap = output_cap(one, windows)
            for b, budget in enumerate(grid.budgets):
                alone = replay_as2d(
                    one.target_tokens,
                    source.candidates,
                    source.low_confidence(0.4),
                    schedule.batch_ends,
                    schedule.batch_times_ms,
                    schedule.producer_end_ms,
                    schedule.operation_ms,
                    budget,
                    concurrent,
                    idle,
                    output_cap=cap,
                )
                assert grid.time_ms[d, b, w] == alone.time_ms
                assert (grid.rounds[d, b, w], grid.k1_rounds[d, b, w]) == (alone.rounds, alone.k1_rounds)
                assert (grid.proposed[d, b, w], grid.accepted[d, b, w]) == (alone.proposed, alone.accepted)
            for width, times in grid.standard_sd_ms.items():
                serial = replay_standard_sd(
                    source.agrees, width, costs.draft_serial_ms, costs.verify_costs(), costs.loop_ms, cap
                )
                assert times[d, w] == serial.time_ms


def test_grid_says_what_it_was_made_from():
    grid = replay_grid(corpus(window("a"), window("b", (5, EOS)), label="synthetic"), profile(), [7, 1])
    assert (grid.corpus, grid.profile, grid.label) == ("few", "here", "synthetic")
    assert grid.budgets == (1, 7)
    assert grid.drafters == ("small",)
    assert grid.tokens.tolist() == [6, 2]
    assert grid.target_only_ms.tolist() == [250.0, 50.0]


def test_default_budgets_are_those_that_were_searched_on_the_device():
    assert replay_grid(corpus(), load_profile("note9")).budgets == tuple(range(1, 15))
    assert replay_grid(corpus(), profile(widths=5)).budgets == (1, 2, 3, 4)
    assert replay_grid(corpus(), profile(widths=1)).budgets == (0,)


def test_budget_whose_width_has_no_cost_is_excluded_on_every_window():
    grid = replay_grid(corpus(window("a"), window("b", (5, EOS))), profile(widths=4), [3, 4, 99])
    assert np.isfinite(grid.time_ms[0, 0]).all()
    assert np.isnan(grid.time_ms[0, 1:]).all()
    assert (grid.rounds[0, 1:] == -1).all()


def test_gap_in_the_widths_excludes_every_budget_beyond_it():
    costs = profile()
    holed = {k: v for k, v in costs.verify_idle_ms.items() if k != 4}
    grid = replay_grid(corpus(), replace(costs, verify_idle_ms=holed), [2, 3, 7])
    assert np.isfinite(grid.time_ms[0, 0]).all()
    assert np.isnan(grid.time_ms[0, 1:]).all()
    assert sorted(grid.standard_sd_ms) == [2, 3, 5, 6, 7, 8, 9]


def test_drafter_that_takes_no_part_in_a_window_has_no_time_there():
    other = DrafterTrajectory("ctc", (5, 6))
    grid = replay_grid(corpus(window("a"), window("b", drafters=(other,))), profile(), [3])
    assert grid.drafters == ("small", "ctc")
    assert np.isnan(grid.time_ms[:, 0]).tolist() == [[False, True], [True, False]]
    assert np.isnan(grid.standard_sd_ms[5]).tolist() == [[False, True], [True, True]]


def test_extrapolated_widths_are_flagged_on_every_budget_that_may_use_them():
    grid = replay_grid(corpus(), profile(extrapolated_concurrent=(7,)), [5, 6, 7])
    assert grid.extrapolated.tolist() == [[False, True, True]]


def test_threshold_and_search_window_reach_the_kernel():
    body = list(range(10, 40))
    unsure = DrafterTrajectory("small", tuple(body), (0.2,) * 30)
    windows = corpus(window("a", (*body, EOS), drafters=(unsure,)))
    bold = replay_grid(windows, profile(), [7], threshold=None)
    shy = replay_grid(windows, profile(), [7])
    assert shy.rounds[0, 0, 0] > bold.rounds[0, 0, 0]
    late = DrafterTrajectory("small", (5, 5, 5, *body))
    shifted = corpus(window("a", (*body, EOS), drafters=(late,)))
    near = replay_grid(shifted, profile(), [7], search_window=0)
    far = replay_grid(shifted, profile(), [7], search_window=16)
    assert far.accepted[0, 0, 0] > near.accepted[0, 0, 0]


def test_subset_keeps_windows_and_their_columns_together():
    grid = replay_grid(corpus(window("a"), window("b", (5, EOS), group="song"), window("c", (5, 6, EOS))), profile())
    part = grid.subset(np.array([False, True, True]))
    assert part.windows == ("b", "c")
    assert part.tokens.tolist() == [2, 3]
    assert part.time_ms.tolist() == grid.time_ms[:, :, 1:].tolist()
    assert part.standard_sd_ms[5].tolist() == grid.standard_sd_ms[5][:, 1:].tolist()
    assert grid.of_group("song").windows == ("b",)
    with pytest.raises(UnknownNameError):
        grid.of_group("songs")


def test_subset_without_windows_or_of_another_length_is_refused():
    grid = replay_grid(corpus(), profile())
    with pytest.raises(TrajectoryError, match="No window of 'few' is left"):
        grid.subset(np.array([False]))
    with pytest.raises(TrajectoryError, match="does not fit 1 windows"):
        grid.subset(np.array([True, True]))


def test_splits_are_found_by_name():
    grid = replay_grid(corpus(window("a"), window("b", split="validation")), profile())
    assert grid.of_split("validation").windows == ("b",)
    with pytest.raises(TrajectoryError, match="has no development windows"):
        grid.of_split("development")
    with pytest.raises(UnknownNameError, match="'validation'"):
        grid.of_split("valid")


def test_times_of_a_pair_are_found_by_name():
    grid = replay_grid(corpus(), profile(), [3])
    assert grid.times("small", 3).tolist() == grid.time_ms[0, 0].tolist()
    with pytest.raises(UnknownNameError, match="'small'"):
        grid.times("smal", 3)
    with pytest.raises(RequestError, match="Budget 4 was not replayed; the grid holds 3"):
        grid.times("small", 4)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"catalog": []}, RequestError, "no budget"),
        ({"catalog": [3, 3]}, RequestError, "given twice: 3, 3"),
        ({"catalog": [-1]}, RequestError, "budget is -1"),
        ({"catalog": [1.5]}, RequestError, "budget is 1.5"),
        ({"drafters": ["smal"]}, UnknownNameError, "'small'"),
        ({"catalog": {"smal": [3]}}, UnknownNameError, "'small'"),
        ({"catalog": {"small": [3, 3]}}, RequestError, "budget of 'small' is given twice: 3, 3"),
        ({"catalog": {"small": []}}, RequestError, "no budget"),
        ({"catalog": [("small", 3), 4]}, RequestError, "budgets, or (drafter, budget) pairs, not both"),
        ({"catalog": [("small", 3)], "drafters": ["small"]}, RequestError, "The catalog names its drafters"),
    ],
)
def test_bad_requests_are_refused_with_a_sentence(arguments, error, sentence):
    with pytest.raises(error) as caught:
        replay_grid(corpus(), profile(), **arguments)
    assert sentence in str(caught.value)


@some
@given(corpora())
def test_a_catalog_of_pairs_replays_those_pairs_and_no_others(windows):
    whole = replay_grid(windows, profile(), [1, 3, 5])
    pairs = replay_grid(windows, profile(), [("tiny", 5), ("small", 1), ("tiny", 1)])
    named = replay_grid(windows, profile(), {"small": [1], "tiny": [1, 5]})
    assert (pairs.drafters, pairs.budgets) == (("small", "tiny"), (1, 5))
    assert np.array_equal(pairs.time_ms, named.time_ms, equal_nan=True)
    for drafter, budget, there in (("small", 1, True), ("small", 5, False), ("tiny", 1, True), ("tiny", 5, True)):
        times = pairs.times(drafter, budget)
        assert np.array_equal(times, whole.times(drafter, budget)) if there else np.isnan(times).all()


def test_nothing_stands_in_for_a_pair_that_is_not_in_the_catalog():
    both = tuple(DrafterTrajectory(name, (5, 6, 7, 8, 9)) for name in ("small", "tiny"))
    grid = replay_grid(corpus(window("a", drafters=both)), profile(), [("small", 1), ("small", 2), ("tiny", 2)])
    rows = {(row.drafter, row.budget): row for row in compare_budgets(grid, resamples=20).rows}
    assert rows["tiny", 2].tps is not None
    assert (rows["tiny", 1].tps, rows["tiny", 1].feasible, rows["tiny", 1].fallback_windows) == (None, False, 0)


def test_profile_without_k1_and_set_without_drafters_are_refused():
    with pytest.raises(ProfileError, match="verify_idle_ms has no cost at K = 1"):
        replay_grid(corpus(), profile(verify_idle_ms={2: 50.0}))
    with pytest.raises(ProfileError, match="K = 2 is -6"):
        replay_grid(corpus(), profile(verify_idle_ms={1: 50.0, 2: -11.0}))
    with pytest.raises(TrajectoryError, match="has no drafters"):
        replay_grid(corpus(window("a", drafters=())), profile())


def test_one_token_outputs_take_no_time():
    grid = replay_grid(corpus(window("a", (EOS,))), profile(), [3])
    assert grid.time_ms.tolist() == [[[0.0]]]
    assert grid.target_only_ms.tolist() == [0.0]
    assert not math.isnan(grid.standard_sd_ms[5][0, 0])


def test_capped_output_is_replayed_under_its_own_cap():
    capped = window("a", (5, 6, 7, 8), target_capped=True, drafters=(DrafterTrajectory("small", (5, 6, 7, 8, 9, 9)),))
    windows = corpus(capped, output_cap=320)
    assert output_cap(windows.windows[0], windows) == 4
    assert replay_grid(windows, profile(), [7]).time_ms[0, 0, 0] > 0
