import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import corpus, profile, window

from as2d_core.errors import SelectionError
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.pooling import pooled_tps
from as2d_core.replay.windows import DrafterTrajectory
from as2d_core.selection import evaluate, select_budget, windows_sha256

SPLITS = ("development", "validation", "test")


def grid(times, splits=SPLITS, drafters=1):
    """A grid with written-down times [D * B][W], one window per entry of ``splits``."""
    trajectories = tuple(DrafterTrajectory(f"d{i}", (5,)) for i in range(drafters))
    windows = [window(f"w{i}", split=split, drafters=trajectories) for i, split in enumerate(splits)]
    budgets = range(1, len(times) // drafters + 1)
    whole = replay_grid(corpus(*windows), profile(), budgets)
    return replace(whole, time_ms=np.array(times, float).reshape(drafters, len(budgets), len(splits)))


def learn(whole):
    return whole.of_split("development", "validation")


def test_budget_is_chosen_on_validation_among_those_screened_on_development():
    # Fastest on development: budgets 2 and 3; of these 3 is fastest on validation. 1 would be, but did not pass.
    whole = grid([[300, 10, 10], [100, 200, 50], [110, 150, 70]])
    selection = select_budget(learn(whole), finalists=2)
    assert (selection.drafter, selection.budget) == ("d0", 3)
    assert [r.budget for r in selection.screened] == [2, 3, 1]
    assert [r.budget for r in selection.finalists] == [3, 2]
    assert selection.validation_tps == pytest.approx(6 / 0.150)


def test_all_pairs_may_go_on_to_validation():
    assert select_budget(learn(grid([[300, 10, 10], [100, 200, 50]])), finalists=99).budget == 1


def test_ties_go_to_the_earlier_drafter_then_the_smaller_budget():
    assert select_budget(learn(grid([[100, 100, 1]] * 6, drafters=2))).budget == 1
    assert select_budget(learn(grid([[100, 100, 1]] * 6, drafters=2))).drafter == "d0"


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.integers(1, 400)] * 3), min_size=2, max_size=8), st.data())
def test_test_outcomes_never_change_the_choice(times, data):
    whole = grid(times)
    other = [[*row[:2], data.draw(st.integers(1, 400))] for row in times]
    assert select_budget(learn(whole)) == select_budget(learn(grid(other)))


def test_grid_that_holds_test_windows_is_refused():
    with pytest.raises(SelectionError, match="holds 1 test windows; a selection must not see them"):
        select_budget(grid([[1, 1, 1]]))


@pytest.mark.parametrize("missing", ["development", "validation"])
def test_missing_split_is_a_sentence(missing):
    kept = [s for s in SPLITS if s not in (missing, "test")]
    with pytest.raises(SelectionError, match=f"has no {missing} windows"):
        select_budget(grid([[1]], splits=kept))


def test_selection_needs_a_pair_that_can_run_and_a_finalist():
    with pytest.raises(SelectionError, match="No drafter and budget of 'few' can run with the profile 'here'"):
        select_budget(grid([[math.nan, math.nan]], splits=SPLITS[:2]))
    with pytest.raises(SelectionError, match="0 finalists"):
        select_budget(grid([[1, 1]], splits=SPLITS[:2]), finalists=0)


def test_pair_that_cannot_run_is_passed_over():
    assert select_budget(learn(grid([[math.nan, math.nan, 1], [100, 100, 1]]))).budget == 2


def test_selection_is_frozen_with_the_hash_of_its_windows():
    selection = select_budget(learn(grid([[1, 1, 1]])))
    assert selection.split_sha256 == {"development": windows_sha256(["w0"]), "validation": windows_sha256(["w1"])}
    with pytest.raises(FrozenInstanceError):
        selection.budget = 3


def test_hash_of_windows_does_not_depend_on_their_order():
    assert windows_sha256(["a", "b"]) == windows_sha256(["b", "a"]) != windows_sha256(["a"])


def test_evaluation_times_the_frozen_choice_on_test_windows_only():
    whole = grid([[100, 100, 90], [110, 110, 40]])
    result = evaluate(select_budget(learn(whole)), whole)
    assert (result.budget, result.windows, result.tokens) == (1, 1, 6)
    assert result.tps == pytest.approx(6 / 0.090)
    assert result.target_only_tps == pytest.approx(6 / 0.250)
    assert result.oracle_tps == pytest.approx(6 / 0.040)
    assert result.gap == pytest.approx(100 * (1 - 40 / 90))
    assert result.gain == pytest.approx(100 * (250 / 90 - 1))
    assert result.slowdown.slower == 0
    assert result.tps_interval is None
    assert result.test_sha256 == windows_sha256(["w2"])


def test_evaluation_pools_what_the_grid_holds():
    whole = grid([[100, 100, 90, 70]], splits=(*SPLITS, "test"))
    result = evaluate(select_budget(learn(whole)), whole)
    assert result.tps == pooled_tps(whole.tokens[2:], whole.time_ms[0, 0, 2:])
    assert result.tps_interval.low <= result.tps <= result.tps_interval.high


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda g: g.of_split("validation"), "has no test windows"),
        (lambda g: replace(g, splits=("test",) * 3), "2 test windows ('w0' among them) took part in the selection"),
        (lambda g: replace(g, profile="k70"), "made with profile 'here', but the grid has 'k70'"),
        (lambda g: replace(g, threshold=None), "made with threshold 0.4"),
        (lambda g: replace(g, search_window=3), "made with search window 16"),
        (lambda g: replace(g, budgets=(9, 10)), "does not hold d0 at budget 1"),
        (lambda g: replace(g, time_ms=g.time_ms * math.nan), "has no time on every test window"),
    ],
)
def test_evaluation_refuses_what_the_selection_does_not_cover(change, sentence):
    whole = grid([[100, 100, 90], [110, 110, 40]])
    with pytest.raises(SelectionError) as caught:
        evaluate(select_budget(learn(whole)), change(whole))
    assert sentence in str(caught.value)
