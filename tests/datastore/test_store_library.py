"""Self-tests and profiles are kept for exactly what they hold for."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
import sample_runs

from as2d_core.errors import UnknownNameError
from datastore.errors import StoreError
from datastore.ingest import ingest_run
from datastore.library import (
    SelfTestKey,
    get_profile,
    get_self_test,
    list_profiles,
    put_profile,
    put_self_test,
    self_test_key,
    settings_text,
)

KEY = SelfTestKey(sample_runs.sha("target"), "SM8550", "threads=2 precision=high memory=high", "3.6.1")


def test_a_self_test_comes_back_for_its_key(store):
    assert get_self_test(store, KEY) is None
    put_self_test(store, KEY, sample_runs.self_test())
    assert get_self_test(store, KEY) == sample_runs.self_test()


@pytest.mark.parametrize("name", [f.name for f in fields(SelfTestKey)])
def test_a_self_test_holds_for_nothing_else(store, name):
    put_self_test(store, KEY, sample_runs.self_test())
    assert get_self_test(store, replace(KEY, **{name: "another"})) is None


def test_the_newer_self_test_wins_in_whatever_order_they_come(store):
    old, new = replace(sample_runs.self_test(), rows=1), replace(sample_runs.self_test(), rows=2)
    put_self_test(store, KEY, new, datetime(2025, 2, 1, tzinfo=UTC))
    put_self_test(store, KEY, old, datetime(2025, 1, 1, tzinfo=UTC))
    assert get_self_test(store, KEY) == new


def test_the_key_of_a_runners_self_test_is_read_from_the_event():
    assert self_test_key(sample_runs.self_test()) == KEY
    assert settings_text(2, "high", "high") == KEY.settings
    assert self_test_key(replace(sample_runs.self_test(), extra={"cpu": "x"})) is None


def test_a_measured_run_brings_its_self_test_along(store, sample):
    ingest_run(store, sample("run-1", [sample_runs.self_test()]))
    assert get_self_test(store, KEY) == sample_runs.self_test()


def test_a_replayed_run_brings_none(store, sample):
    ingest_run(store, sample("run-1", [sample_runs.self_test()], source="replayed"))
    assert get_self_test(store, KEY) is None


def test_a_profile_comes_back_and_is_replaced_by_its_id(store):
    put_profile(store, "phone", {"step_ms": 20.5, "note": "größer"}, "Phone | A1", datetime(2025, 1, 1, tzinfo=UTC))
    kept = get_profile(store, "phone")
    assert kept.body == {"step_ms": 20.5, "note": "größer"}
    assert (kept.device_key, kept.created_at) == ("Phone | A1", datetime(2025, 1, 1, tzinfo=UTC))
    put_profile(store, "phone", {"step_ms": 21})
    assert get_profile(store, "phone").body == {"step_ms": 21}
    assert len(list(store.folders.profiles.iterdir())) == 1


def test_profiles_are_listed_newest_first_and_by_device(store):
    put_profile(store, "old", {}, "A", datetime(2025, 1, 1, tzinfo=UTC))
    put_profile(store, "new", {}, "B", datetime(2025, 2, 1, tzinfo=UTC))
    assert [p.profile_id for p in list_profiles(store)] == ["new", "old"]
    assert [p.profile_id for p in list_profiles(store, "A")] == ["old"]
    assert list_profiles(store, "C") == []


def test_an_unknown_profile_is_told_with_the_nearest(store):
    put_profile(store, "redmi", {})
    with pytest.raises(UnknownNameError, match="Did you mean 'redmi'"):
        get_profile(store, "redmy")


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": object()}])
def test_a_profile_that_is_no_json_is_refused(store, body):
    with pytest.raises(StoreError, match="is not JSON"):
        put_profile(store, "p", body)
    assert list_profiles(store) == []


def test_a_profile_id_with_path_characters_stays_in_the_folder(store):
    put_profile(store, "../../evil", {"a": 1})
    assert get_profile(store, "../../evil").body == {"a": 1}
    [path] = store.folders.profiles.iterdir()
    assert path.parent == store.folders.profiles
