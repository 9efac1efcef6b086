from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import corpus, window

from as2d_core.errors import SelectionError, UnknownNameError
from as2d_core.replay.splits import SCOPES, Deal, deal_splits


@st.composite
def dealt_sets(draw):
    """Sets in which some recordings come back under other names, in the split of the first."""
    split_of = {}
    windows = []
    for i in range(draw(st.integers(1, 14))):
        audio = f"audio{draw(st.integers(0, 9))}"
        split = split_of.setdefault(audio, draw(st.sampled_from(["development", "validation", "test"])))
        group = draw(st.sampled_from(["read", "meeting"]))
        windows.append(window(f"w{i}", audio_sha256=audio, split=split, group=group))
    return corpus(*windows)


@settings(max_examples=100)
@given(dealt_sets(), st.sampled_from(SCOPES), st.integers(0, 99))
def test_no_recording_is_in_two_splits_and_nothing_is_lost(windows, scope, seed):
    try:
        dealt = deal_splits(windows, Deal(scope, seed))  # a set with shared audio refuses to be built
    except SelectionError:
        assert all(w.split == "test" for w in windows.windows)
        return
    assert [w.window_id for w in dealt.windows] == [w.window_id for w in windows.windows]
    if scope == "selection":
        before = [w.window_id for w in windows.windows if w.split == "test"]
        assert [w.window_id for w in dealt.windows if w.split == "test"] == before


@settings(max_examples=50)
@given(dealt_sets(), st.integers(0, 99))
def test_the_same_seed_deals_the_same_whatever_the_order_of_windows(windows, seed):
    first = {w.window_id: w.split for w in deal_splits(windows, Deal("all", seed)).windows}
    turned = corpus(*reversed(windows.windows))
    if {w.audio_sha256: w.group for w in windows.windows} != {w.audio_sha256: w.group for w in turned.windows}:
        return  # a recording that is in two datasets belongs to the one that comes first
    assert {w.window_id: w.split for w in deal_splits(turned, Deal("all", seed)).windows} == first


def plain(count=12, split=lambda i: ("development", "validation", "validation", "test")[i % 4]):
    return corpus(*(window(f"w{i}", split=split(i), group="ab"[i % 2]) for i in range(count)))


def test_numbers_of_development_windows_stay_and_another_seed_picks_others():
    before = Counter((w.group, w.split) for w in plain(24).windows)
    one, two = (deal_splits(plain(24), Deal("selection", seed)) for seed in (1, 2))
    assert Counter((w.group, w.split) for w in one.windows) == before
    assert [w.split for w in one.windows] != [w.split for w in two.windows]


def test_all_windows_are_dealt_evenly_in_every_dataset():
    dealt = deal_splits(plain(12, lambda _: "test"), Deal("all", 5))
    assert Counter((w.group, w.split) for w in dealt.windows) == {
        (group, split): 2 for group in "ab" for split in ("development", "validation", "test")
    }


def test_what_cannot_be_dealt_is_a_sentence():
    with pytest.raises(SelectionError, match="All windows of 'few' are test windows"):
        deal_splits(corpus(), Deal("selection", 1))
    with pytest.raises(UnknownNameError, match="Did you mean 'all'"):
        deal_splits(corpus(), Deal("al", 1))
