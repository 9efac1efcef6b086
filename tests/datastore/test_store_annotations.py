"""Tags, notes and the bin: what people do with runs."""

import json

import pytest

from datastore.annotations import add_tag, get_annotations, list_tags, meta_path, remove_tag, set_notes
from datastore.errors import LogMissingError, RunConflictError, RunNotFoundError, StoreError
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import RunFilter, count_runs, get_run, list_runs
from datastore.recycling import delete_run, empty_bin, list_bin, restore_run
from datastore.verify import verify


@pytest.fixture
def filled(store, sample):
    for run_id in ("run-1", "run-2"):
        ingest_run(store, sample(run_id))
    return store


def test_a_tag_is_there_once_and_can_be_taken_off(filled):
    assert add_tag(filled, "run-1", " good ").tags == ("good",)
    assert add_tag(filled, "run-1", "good").tags == ("good",)
    assert add_tag(filled, "run-1", "a tag").tags == ("a tag", "good")
    add_tag(filled, "run-2", "good")
    assert list_tags(filled) == {"a tag": 1, "good": 2}
    assert remove_tag(filled, "run-1", "good").tags == ("a tag",)
    assert remove_tag(filled, "run-1", "never there").tags == ("a tag",)
    assert get_run(filled, "run-1").tags == ("a tag",)


@pytest.mark.parametrize("tag", ["", "   ", "two\nlines", "x" * 101, "tab\there", "\udc80"])
def test_what_is_no_tag_is_refused(filled, tag):
    with pytest.raises(StoreError, match="is no tag"):
        add_tag(filled, "run-1", tag)
    assert get_annotations(filled, "run-1").tags == ()


def test_a_note_can_be_written_changed_and_removed(filled):
    assert set_notes(filled, "run-1", "  warm phone \n second line ").notes == "warm phone \n second line"
    assert get_run(filled, "run-1").notes == "warm phone \n second line"
    assert set_notes(filled, "run-1", "  ").notes is None
    assert set_notes(filled, "run-1", None).notes is None


def test_what_people_wrote_lies_beside_the_log_too(filled):
    add_tag(filled, "run-1", "good")
    set_notes(filled, "run-1", "größer")
    kept = json.loads(meta_path(filled.folders, "run-1").read_text())
    assert kept == {"run_id": "run-1", "tags": ["good"], "notes": "größer"}
    assert meta_path(filled.folders, "run-1").name == "run-1.meta.json"


def test_a_change_that_changes_nothing_writes_nothing(filled):
    remove_tag(filled, "run-1", "x")
    set_notes(filled, "run-1", None)
    assert not meta_path(filled.folders, "run-1").exists()


def test_a_beginning_of_an_id_is_enough_for_people_too(store, sample):
    ingest_run(store, sample("only-one"))
    add_tag(store, "only", "x")
    delete_run(store, "only")
    restore_run(store, "only")
    assert get_run(store, "only").tags == ("x",)


@pytest.mark.parametrize(
    "act", [lambda s, r: add_tag(s, r, "x"), lambda s, r: set_notes(s, r, "x"), delete_run, restore_run]
)
def test_an_unknown_run_is_told(filled, act):
    with pytest.raises(RunNotFoundError, match="nobody"):
        act(filled, "nobody")


def test_a_deleted_run_is_hidden_and_comes_back_whole(filled):
    add_tag(filled, "run-1", "good")
    before = get_run(filled, "run-1")
    log = filled.folders.runs / "run-1.ndjson"
    content = log.read_bytes()
    assert delete_run(filled, "run-1") == filled.folders.bin / "run-1.ndjson"
    assert not log.exists()
    assert (filled.folders.bin / "run-1.ndjson").read_bytes() == content
    assert count_runs(filled) == 1
    [row] = list_bin(filled)
    assert (row.run_id, row.binned_at is None) == ("run-1", False)
    with pytest.raises(RunNotFoundError, match="in the bin"):
        get_run(filled, "run-1")
    with pytest.raises(RunNotFoundError):
        delete_run(filled, "run-1")
    assert restore_run(filled, "run-1") == log
    assert log.read_bytes() == content
    assert get_run(filled, "run-1") == before
    assert verify(filled).problems == ()


def test_a_run_that_is_not_in_the_bin_cannot_be_restored(filled):
    with pytest.raises(RunNotFoundError, match="not in the bin"):
        restore_run(filled, "run-1")


def test_a_run_whose_log_is_gone_is_not_deleted_because_it_could_not_be_restored(filled):
    (filled.folders.runs / "run-1.ndjson").unlink()
    with pytest.raises(LogMissingError, match="put it back first"):
        delete_run(filled, "run-1")
    assert count_runs(filled) == 2


def test_a_log_that_took_the_place_of_a_binned_one_is_not_overwritten(filled):
    delete_run(filled, "run-1")
    place = filled.folders.runs / "run-1.ndjson"
    place.write_text("something else")
    with pytest.raises(RunConflictError, match="lies there already"):
        restore_run(filled, "run-1")
    assert place.read_text() == "something else"


def test_emptying_the_bin_removes_only_what_is_in_it(folder, filled):
    add_tag(filled, "run-1", "good")
    delete_run(filled, "run-1")
    assert empty_bin(filled) == 1
    assert empty_bin(filled) == 0
    assert count_runs(filled, RunFilter(bin="with")) == 1
    assert [p.name for p in filled.folders.runs.iterdir()] == ["run-2.ndjson"]
    assert list(filled.folders.bin.iterdir()) == []
    assert filled.read("SELECT count(*) FROM tags") == [(0,)]
    assert filled.read("SELECT count(DISTINCT run_no) FROM spans") == [(1,)]
    filled.close()
    with open_store(folder) as again:
        assert again.notices == []


def test_emptying_the_bin_of_named_runs_leaves_the_others(filled):
    delete_run(filled, "run-1")
    delete_run(filled, "run-2")
    with pytest.raises(RunNotFoundError):
        empty_bin(filled, ["run-1", "nobody"])
    assert count_runs(filled, RunFilter(bin="only")) == 2
    assert empty_bin(filled, ["run-1", "run-1"]) == 1
    assert [row.run_id for row in list_runs(filled, RunFilter(bin="only"))] == ["run-2"]


def test_a_run_that_is_asked_of_an_empty_bin_is_not_told_that_the_store_is_empty(filled):
    for ask in (restore_run, lambda store, run_id: empty_bin(store, [run_id])):
        with pytest.raises(RunNotFoundError, match="There is no run 'nobody' in the bin, which is empty"):
            ask(filled, "nobody")


def test_a_run_removed_for_good_can_be_taken_in_again(filled, sample):
    delete_run(filled, "run-1")
    empty_bin(filled)
    assert ingest_run(filled, sample("run-1")).added
    assert get_run(filled, "run-1").tags == ()
