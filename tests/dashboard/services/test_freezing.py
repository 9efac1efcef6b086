from dataclasses import replace

import pytest

from as2d_core.deployment_file import read_deployment
from as2d_core.errors import SelectionError
from as2d_core.profiles import load_profile
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.folders import user_folders
from dashboard.services.freezing import choose_pairs, deployments_folder, freeze, frozen_choices, judge_frozen

BUDGETS = (1, 4, 7)


@pytest.fixture(scope="module")
def k70():
    return load_profile("k70")


@pytest.fixture(scope="module")
def demo():
    return load_corpus("demo")


@pytest.fixture
def folders(data_folder):
    return user_folders()


@pytest.fixture(scope="module")
def chosen(k70, demo):
    return choose_pairs(k70, demo, BUDGETS)


def test_a_choice_among_some_budgets_screens_no_others(chosen):
    assert {pair.budget for pair in chosen.fixed.screened} == set(BUDGETS)


def test_what_is_frozen_is_what_was_chosen(folders, chosen):
    found = read_deployment(freeze(folders, chosen))
    assert replace(found, created_at="") == replace(chosen, created_at="")


def test_a_frozen_choice_is_never_overwritten(folders, chosen):
    first, second = freeze(folders, chosen), freeze(folders, chosen)
    assert first != second
    assert {first, second} == set(deployments_folder(folders).iterdir())


def test_a_pair_picked_with_test_windows_in_sight_is_not_frozen(folders, k70, demo):
    picked = choose_pairs(k70, demo, [4], "drafter", by_hand=True)
    with pytest.raises(SelectionError, match="Test windows were shown"):
        freeze(folders, picked, by_hand=True, test_shown=True)
    assert not deployments_folder(folders).exists()


def test_validations_own_choice_may_be_frozen_whatever_was_shown(folders, chosen):
    assert freeze(folders, chosen, test_shown=True).is_file()


def test_a_choice_is_unseen_until_it_is_judged_and_stays_seen(folders, k70, demo, chosen):
    freeze(folders, chosen)
    (before,) = frozen_choices(folders, k70, demo)
    assert before.judged_at == ""
    result = judge_frozen(before, k70, demo).result
    assert result.fixed.windows == 60
    (after,) = frozen_choices(folders, k70, demo)
    assert after.judged_at
    judge_frozen(after, k70, demo)
    assert frozen_choices(folders, k70, demo) == [after]


def test_a_choice_on_other_costs_is_stale(folders, k70, demo, chosen):
    freeze(folders, chosen)
    (found,) = frozen_choices(folders, replace(k70, loop_ms=k70.loop_ms + 1), demo)
    assert "measured anew" in found.stale


def test_a_choice_of_another_device_or_a_damaged_file_is_left_out(folders, k70, demo, chosen):
    freeze(folders, chosen)
    (deployments_folder(folders) / "k70-demo-9.as2d.json").write_text("{}")
    assert frozen_choices(folders, load_profile("mi14"), demo) == []
    assert len(frozen_choices(folders, k70, demo)) == 1


def test_windows_that_an_earlier_choice_set_aside_cannot_be_chosen_on(folders, k70, demo, chosen):
    freeze(folders, chosen)
    swapped = {"test": "validation", "validation": "test"}
    dealt = replace(demo, windows=tuple(replace(w, split=swapped.get(w.split, w.split)) for w in demo.windows))
    other = replace(choose_pairs(k70, dealt, BUDGETS), corpus_sha256=chosen.corpus_sha256)
    with pytest.raises(SelectionError, match="test windows of a choice that is already frozen"):
        freeze(folders, other)
