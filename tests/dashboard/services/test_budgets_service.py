from dataclasses import replace

import pytest

from as2d_core.errors import ProfileError, UnknownNameError
from as2d_core.profiles.catalogue import load_profile as packaged_profile
from as2d_core.replay.trajectories import load_corpus, write_corpus
from dashboard.services import profiles
from dashboard.services.budgets import compare, compare_costs, list_corpora, open_corpus, windows_first_shown
from dashboard.services.folders import user_folders
from dashboard.services.workspace import close_workspace

BUDGETS = [1, 3, 7]


@pytest.fixture
def folders(data_folder):
    return user_folders()


@pytest.mark.parametrize("split", ["all", "test", "validation"])
def test_the_gap_is_that_of_the_shown_windows(folders, split):
    report = compare(folders, "k70", "demo", split, budgets=BUDGETS)
    assert report.gap_percent == pytest.approx(100 * (1 - report.selected.tps / report.table.oracle_tps), abs=1e-12)
    assert set(report.grid.splits) == ({split} if split != "all" else {"development", "validation", "test"})


def test_the_choice_does_not_depend_on_the_shown_windows(folders):
    choices = {
        (r.selection.drafter, r.selection.budget)
        for r in (compare(folders, "k70", "demo", split, budgets=BUDGETS) for split in ("all", "test", "development"))
    }
    assert len(choices) == 1


def test_the_width_rule_is_chosen_without_the_shown_windows_and_timed_on_them(folders):
    test, everything = (compare(folders, "k70", "demo", split, budgets=BUDGETS) for split in ("test", "all"))
    assert test.rule_selection == everything.rule_selection
    chosen = test.rule_selection
    assert "test" not in chosen.window_ids
    assert (test.rule_selected.drafter, test.rule_selected.budget) == (chosen.drafter, chosen.budget)
    assert test.rule_selected.width_rule == chosen.width_rule.name
    assert test.ruled.windows == test.grid.windows
    tokens = test.grid.tokens.sum()
    assert test.rule_selected.tps == pytest.approx(tokens / test.ruled.times(chosen.drafter, chosen.budget).sum() * 1e3)


def test_a_corpus_without_validation_windows_gives_rows_but_no_choice(folders):
    corpus = load_corpus("demo")
    test_only = replace(corpus, id="own", windows=tuple(w for w in corpus.windows if w.split == "test"))
    folders.create()
    write_corpus(test_only, folders.corpora / "own.parquet")
    assert "own" in list_corpora(folders)
    report = compare(folders, "k70", "own", budgets=BUDGETS)
    assert (report.selection, report.selected, report.gap_percent) == (None, None, None)
    assert (report.rule_selection, report.rule_selected, report.ruled) == (None, None, None)
    assert "development" in report.selection_problem
    assert len(report.table.rows) == len(BUDGETS)


@pytest.mark.parametrize(
    ("profile", "corpus", "split", "hint"),
    [("k7", "demo", "all", "k70"), ("k70", "dem", "all", "demo"), ("k70", "demo", "tst", "test")],
)
def test_an_unknown_name_suggests_a_known_one(folders, profile, corpus, split, hint):
    with pytest.raises(UnknownNameError, match=hint):
        compare(folders, profile, corpus, split)


@pytest.mark.parametrize("name", ["../demo", "a/b"])
def test_a_corpus_id_never_leaves_its_folder(folders, name):
    with pytest.raises(UnknownNameError):
        open_corpus(folders, name)


def test_a_kept_profile_is_used_without_the_store(workspace, folders):
    measured = replace(packaged_profile("k70"), id="this-computer", kind="measured")
    profiles.keep_profile(workspace, measured)
    close_workspace()
    assert profiles.profile_ids(folders)[-1] == "this-computer"
    assert profiles.load_profile(folders, "this-computer") == measured
    assert compare(folders, "this-computer", "demo", budgets=[7]).profile.id == "this-computer"


def test_a_measured_profile_cannot_take_the_id_of_a_published_one(workspace):
    with pytest.raises(ProfileError, match="k70"):
        profiles.keep_profile(workspace, packaged_profile("k70"))


def test_windows_to_choose_on_are_development_and_validation_windows(folders):
    assert set(compare(folders, "k70", "demo", "choice", budgets=BUDGETS).grid.splits) == {"development", "validation"}


def test_a_comparison_that_chooses_nothing_has_the_same_rows(folders):
    profile, corpus = packaged_profile("k70"), load_corpus("demo")
    whole = compare_costs(profile, corpus, "validation", budgets=BUDGETS)
    lean = compare_costs(profile, corpus, "validation", budgets=BUDGETS, choose=False)
    assert lean.table.rows == whole.table.rows
    assert (lean.selection, lean.selection_problem) == (None, None)


def test_a_set_without_both_splits_is_shown_whole_at_first():
    demo = load_corpus("demo")
    assert windows_first_shown(demo) == "choice"
    assert (
        windows_first_shown(replace(demo, windows=tuple(w for w in demo.windows if w.split != "validation"))) == "all"
    )
