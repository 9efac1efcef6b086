"""Deleted profiles lie in the bin until they are removed, and what a newer measurement replaces is kept beside."""

import pytest

from as2d_core.errors import UnknownNameError
from datastore.errors import StoreError
from datastore.library import list_profiles, put_profile
from datastore.opening import open_store
from datastore.profile_bin import (
    bin_profile,
    earlier_profiles,
    empty_profile_bin,
    list_binned_profiles,
    restore_profile,
)


@pytest.fixture
def kept(store):
    put_profile(store, "mine", {"step": 1}, "phone")
    return store


def test_a_deleted_profile_is_neither_listed_nor_a_file_and_lies_in_the_bin(kept):
    bin_profile(kept, "mine")
    assert list_profiles(kept) == []
    assert list(kept.folders.profiles.glob("*.json")) == []
    assert [item.profile_id for item in list_binned_profiles(kept.folders)] == ["mine"]


def test_a_restored_profile_is_what_it_was(kept):
    before = list_profiles(kept)
    (file,) = [bin_profile(kept, "mine")]
    assert restore_profile(kept, file) == "mine"
    assert list_profiles(kept) == before
    assert list_binned_profiles(kept.folders) == []


def test_a_profile_whose_id_is_taken_again_is_not_restored(kept):
    file = bin_profile(kept, "mine")
    put_profile(kept, "mine", {"step": 2})
    with pytest.raises(StoreError, match="kept again"):
        restore_profile(kept, file)
    assert list_profiles(kept)[0].body == {"step": 2}


def test_one_id_can_be_deleted_twice_and_both_come_back_by_file(kept):
    first = bin_profile(kept, "mine")
    put_profile(kept, "mine", {"step": 2})
    second = bin_profile(kept, "mine")
    assert first != second
    restore_profile(kept, first)
    assert list_profiles(kept)[0].body == {"step": 1}


def test_what_is_not_kept_cannot_be_deleted(kept):
    with pytest.raises(UnknownNameError, match="mine"):
        bin_profile(kept, "min")


def test_a_name_that_is_a_path_reaches_nothing_outside_of_the_bin(kept):
    with pytest.raises(UnknownNameError):
        restore_profile(kept, "../profiles/mine.profile.json")
    with pytest.raises(UnknownNameError):
        empty_profile_bin(kept, ["../profiles/mine.profile.json"])
    assert len(list_profiles(kept)) == 1


def test_removing_for_good_takes_earlier_measurements_along(kept):
    put_profile(kept, "mine", {"step": 2})
    put_profile(kept, "other", {"step": 1})
    put_profile(kept, "other", {"step": 2})
    file = bin_profile(kept, "mine")
    assert empty_profile_bin(kept, [file]) == 1
    assert list_binned_profiles(kept.folders) == []
    assert [item.profile_id for item in earlier_profiles(kept.folders)] == ["other"]


def test_a_newer_measurement_leaves_the_one_before_it_and_the_same_again_leaves_nothing(kept):
    put_profile(kept, "mine", {"step": 1})
    assert earlier_profiles(kept.folders) == []
    put_profile(kept, "mine", {"step": 2})
    assert [item.body for item in earlier_profiles(kept.folders, "mine")] == ['{"step":1}']


def test_a_deleted_profile_stays_deleted_when_the_store_is_opened_again(folder, kept):
    put_profile(kept, "mine", {"step": 2})
    bin_profile(kept, "mine")
    kept.close()
    with open_store(folder) as again:
        assert list_profiles(again) == []


def test_an_unwritable_bin_leaves_the_profile_where_it_is(kept, monkeypatch):
    def refuse(source, target):
        raise StoreError("no")

    monkeypatch.setattr("datastore.profile_bin.move_durably", refuse)
    with pytest.raises(StoreError, match="no"):
        bin_profile(kept, "mine")
    assert [item.profile_id for item in list_profiles(kept)] == ["mine"]
