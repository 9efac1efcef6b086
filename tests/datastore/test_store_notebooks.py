from datetime import UTC, datetime, timedelta

import pytest

from as2d_core.errors import UnknownNameError
from datastore import notebooks
from datastore.errors import StoreError
from datastore.notebooks import (
    delete_notebook,
    list_notebooks,
    load_notebook,
    notebook_path,
    notebook_versions,
    restore,
    save_notebook,
    undo,
)
from datastore.opening import open_store
from datastore.rebuild import rebuild

START = datetime(2026, 3, 1, tzinfo=UTC)


def save(store, value, minutes=0.0, change=None, name="n"):
    now = START + timedelta(minutes=minutes)
    body = {"id": name, "title": f"T {value}", "value": value}
    return save_notebook(store, name, body["title"], body, change or f"set {value}", now)


def value(store, version=None, name="n"):
    return load_notebook(store, name, version)["value"]


def test_the_newest_version_is_what_is_loaded_and_older_ones_are_kept(store):
    for number in (1, 2, 3):
        save(store, number)
    assert value(store) == 3
    assert [value(store, item.version) for item in notebook_versions(store, "n")] == [3, 2, 1]


def test_saving_what_is_kept_already_makes_no_version(store):
    assert save(store, 1).version == save(store, 1).version == 1


def test_what_is_typed_in_one_go_is_one_version(store):
    save(store, 0)
    for number in range(1, 6):
        save(store, number, number / 10, "text of cell 1")
    save(store, 9, 5, "text of cell 1")
    assert [value(store, item.version) for item in notebook_versions(store, "n")] == [9, 5, 0]


def test_undo_goes_back_step_by_step_and_stops_at_the_first_version(store):
    for number in (1, 2, 3):
        save(store, number)
    assert [(undo(store, "n"), value(store))[1] for _ in range(2)] == [2, 1]
    assert undo(store, "n") is None
    assert value(store) == 1


def test_a_change_after_an_undo_can_be_undone_and_then_what_was_before_it(store):
    for number in (1, 2, 3):
        save(store, number)
    undo(store, "n")
    save(store, 4)
    assert [(undo(store, "n"), value(store))[1] for _ in range(2)] == [2, 1]


def test_any_version_comes_back_as_the_newest(store):
    for number in (1, 2, 3):
        save(store, number)
    assert restore(store, "n", 1).version == 4
    assert (value(store), value(store, 3)) == (1, 3)


def test_the_oldest_versions_go_first(store, monkeypatch):
    monkeypatch.setattr(notebooks, "MOST_VERSIONS", 3)
    for number in range(6):
        save(store, number)
    assert [value(store, item.version) for item in notebook_versions(store, "n")] == [5, 4, 3]
    with pytest.raises(StoreError, match="no version 1"):
        load_notebook(store, "n", 1)


def test_notebooks_are_listed_last_saved_first(store):
    save(store, 1, name="a")
    save(store, 2, 1, name="b")
    save(store, 3, 2, name="a")
    assert [(item.notebook_id, item.title) for item in list_notebooks(store)] == [("a", "T 3"), ("b", "T 2")]


def test_a_deleted_notebook_is_gone_with_its_file(store):
    save(store, 1)
    delete_notebook(store, "n")
    assert list_notebooks(store) == []
    assert not notebook_path(store.folders, "n").exists()
    with pytest.raises(UnknownNameError):
        delete_notebook(store, "n")


def test_an_unknown_notebook_suggests_the_nearest(store):
    save(store, 1, name="first-look")
    with pytest.raises(UnknownNameError, match="Did you mean 'first-look'"):
        load_notebook(store, "first-lock")


def test_a_body_that_is_no_json_is_refused(store):
    with pytest.raises(StoreError, match="is not JSON"):
        save_notebook(store, "n", "T", {"value": float("nan")}, "x")


def test_a_rebuilt_database_has_all_versions(folder, store):
    save(store, 1)
    save(store, 2)
    store.close()
    rebuild(folder)
    with open_store(folder) as again:
        assert [value(again, item.version) for item in notebook_versions(again, "n")] == [2, 1]


def test_the_newest_version_survives_a_lost_database(folder, store):
    save(store, 1)
    save(store, 2)
    store.close()
    (folder / "as2d.duckdb").unlink()
    with open_store(folder) as again:
        assert value(again) == 2
        assert again.notices == ["The notebook 'T 2' was not in the database and was taken in from its file."]
