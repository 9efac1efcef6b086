"""What lies in the folder is what holds: opening brings the database in line and says what it did."""

import json
import os
import shutil

import pytest
import sample_runs

from datastore.annotations import add_tag, get_annotations, meta_path, set_notes
from datastore.errors import LogMissingError, StoreDamagedError, StoreFolderError
from datastore.export import export_runs
from datastore.ingest import ingest_run
from datastore.library import get_profile, put_profile
from datastore.opening import open_store
from datastore.queries import RunFilter, count_runs, get_run, list_runs
from datastore.recycling import delete_run
from datastore.verify import verify


@pytest.fixture(scope="module")
def with_one_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one-run")
    with open_store(folder / "data") as store:
        ingest_run(store, sample_runs.write_run(folder, "run-1"))
    return folder / "data"


@pytest.fixture
def closed(folder, with_one_run):
    """A closed store with one run; a copy for each test."""
    return shutil.copytree(with_one_run, folder)


def test_a_clean_store_opens_without_a_word(closed):
    with open_store(closed) as store:
        assert store.notices == []


def test_a_log_put_into_the_folder_is_taken_in_and_told(closed, sample):
    sample("run-2").rename(closed / "runs" / "copied by hand.ndjson")
    with open_store(closed) as store:
        assert count_runs(store) == 2
        assert len(store.notices) == 1
        assert "'run-2' was not in the database and was taken in" in store.notices[0]
        assert verify(store).problems == ()


def test_a_foreign_file_among_the_logs_is_told_and_left_alone(closed):
    foreign = closed / "runs" / "notes.ndjson"
    foreign.write_text("shopping list\n")
    with open_store(closed) as store:
        assert count_runs(store) == 1
        assert len(store.notices) == 1
        assert f"{foreign} was not taken in" in store.notices[0]
    assert foreign.read_text() == "shopping list\n"


def test_a_second_log_with_the_id_of_a_stored_run_is_told_and_left_alone(closed, sample):
    other = closed / "runs" / "other.ndjson"
    sample("run-1", sample_runs.events(range(5))).rename(other)
    with open_store(closed) as store:
        assert "remove one of the two" in store.notices[0]
        assert get_run(store, "run-1").committed_tokens == 7
    assert other.exists()


def test_half_written_copies_are_swept(closed):
    for place in ("runs", "bin", "profiles"):
        (closed / place / "0123.part").write_text("half")
    open_store(closed).close()
    assert list(closed.rglob("*.part")) == []


def test_a_log_moved_to_the_bin_by_hand_is_in_the_bin(closed):
    (closed / "runs" / "run-1.ndjson").rename(closed / "bin" / "run-1.ndjson")
    with open_store(closed) as store:
        assert count_runs(store) == 0
        assert [r.run_id for r in list_runs(store, RunFilter(bin="only"))] == ["run-1"]
        assert "is in the bin now" in store.notices[0]
    (closed / "bin" / "run-1.ndjson").rename(closed / "runs" / "run-1.ndjson")
    with open_store(closed) as store:
        assert count_runs(store) == 1


def test_a_run_whose_log_lies_in_the_bin_too_is_kept_and_the_copy_in_the_bin_is_left_alone(closed):
    copy = closed / "bin" / "run-1.ndjson"
    shutil.copy(closed / "runs" / "run-1.ndjson", copy)
    with open_store(closed) as store:
        assert [run.run_id for run in list_runs(store)] == ["run-1"]
        (notice,) = store.notices
        assert notice.endswith("the one in the bin was left alone.")
    assert copy.exists()


def test_an_unknown_log_in_the_bin_is_taken_into_the_bin(closed, sample):
    sample("run-2").rename(closed / "bin" / "run-2.ndjson")
    with open_store(closed) as store:
        assert [r.run_id for r in list_runs(store, RunFilter(bin="only"))] == ["run-2"]


def test_a_binned_log_removed_by_hand_is_removed_for_good(closed):
    with open_store(closed) as store:
        delete_run(store, "run-1")
    (closed / "bin" / "run-1.ndjson").unlink()
    with open_store(closed) as store:
        assert count_runs(store, RunFilter(bin="with")) == 0
        assert "removed for good" in store.notices[0]
        assert store.read("SELECT count(*) FROM spans") == [(0,)]


def test_a_kept_run_whose_log_is_gone_keeps_its_figures_and_is_told(closed):
    (closed / "runs" / "run-1.ndjson").unlink()
    with open_store(closed) as store:
        assert get_run(store, "run-1").rounds == 3
        assert "is gone" in store.notices[0]
        assert len(verify(store).problems) == 1


def test_a_log_changed_after_it_was_stored_is_told_and_the_database_stays(closed):
    log = closed / "runs" / "run-1.ndjson"
    log.write_text(log.read_text() + "more\n")
    with open_store(closed) as store:
        assert "was changed after it was stored" in store.notices[0]
        assert get_run(store, "run-1").status == "eos"
        assert "was changed" in verify(store).problems[0]


def test_an_incomplete_log_that_has_grown_is_taken_in_again(folder, tmp_path, sample):
    with open_store(folder) as store:
        ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    (folder / "runs" / "run-1.ndjson").write_bytes(sample().read_bytes())
    with open_store(folder) as store:
        assert get_run(store, "run-1").status == "eos"
        assert verify(store).problems == ()


def test_tags_and_notes_follow_the_file_beside_the_log(closed):
    with open_store(closed) as store:
        add_tag(store, "run-1", "old")
        path = meta_path(store.folders, "run-1")
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "tags": ["new", "newer"], "notes": "by hand"}))
    with open_store(closed) as store:
        assert get_annotations(store, "run-1").tags == ("new", "newer")
        assert get_run(store, "run-1").notes == "by hand"
        assert len(store.notices) == 1
    with open_store(closed) as store:
        assert store.notices == []


def test_a_file_of_tags_that_is_gone_is_written_again(closed):
    with open_store(closed) as store:
        set_notes(store, "run-1", "keep me")
        path = meta_path(store.folders, "run-1")
    path.unlink()
    with open_store(closed) as store:
        assert get_run(store, "run-1").notes == "keep me"
    assert json.loads(path.read_text())["notes"] == "keep me"


@pytest.mark.parametrize("content", ["{", "[]", '{"run_id": "other", "tags": [], "notes": null}', '{"tags": 5}'])
def test_a_foreign_file_of_tags_is_told_and_left_alone(closed, content):
    with open_store(closed) as store:
        add_tag(store, "run-1", "mine")
        path = meta_path(store.folders, "run-1")
    path.write_text(content + " " * 50)
    with open_store(closed) as store:
        assert get_annotations(store, "run-1").tags == ("mine",)
        assert "left alone" in store.notices[0]
    assert path.read_text().startswith(content)


def test_a_profile_the_database_lost_comes_back_from_its_file(closed):
    with open_store(closed) as store:
        put_profile(store, "phone", {"step_ms": 20}, "Phone | A1")
        before = get_profile(store, "phone")
        store.write(lambda cursor: cursor.execute("DELETE FROM profiles"))
    with open_store(closed) as store:
        assert get_profile(store, "phone") == before
        assert "'phone'" in store.notices[0]


def test_a_copied_runs_folder_asks_for_a_rebuild_instead_of_guessing(tmp_path, sample):
    runs = tmp_path / "data" / "runs"
    runs.mkdir(parents=True)
    sample().rename(runs / "run-1.ndjson")
    with pytest.raises(StoreDamagedError, match="as2d store rebuild"):
        open_store(tmp_path / "data")


def test_an_incomplete_log_that_was_changed_instead_of_grown_is_told(folder, tmp_path, sample):
    with open_store(folder) as store:
        ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    (folder / "runs" / "run-1.ndjson").write_bytes(sample("run-1", sample_runs.events(range(30))).read_bytes())
    with open_store(folder) as store:
        assert get_run(store, "run-1").status == "incomplete"
        assert "was not taken in" in store.notices[0]


def a_pipe(path):
    os.mkfifo(path)


def an_endless_device(path):
    path.symlink_to("/dev/zero")


def a_link_to_nowhere(path):
    path.symlink_to("nowhere")


def a_link_to_itself(path):
    path.symlink_to(path.name)


def a_folder(path):
    path.mkdir()


ODD = pytest.mark.parametrize("odd", [a_pipe, an_endless_device, a_link_to_nowhere, a_link_to_itself, a_folder])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@ODD
def test_what_is_no_file_in_the_place_of_a_log_is_told_and_never_waited_for(odd, closed):
    log = closed / "runs" / "run-1.ndjson"
    log.unlink()
    odd(log)
    with open_store(closed) as store:
        assert count_runs(store) == 1
        assert len(store.notices) == 1
        assert str(log) in store.notices[0]
        with pytest.raises(LogMissingError):
            export_runs(store, None, "ndjson")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@ODD
def test_what_is_no_file_beside_the_logs_is_told_and_never_waited_for(odd, closed):
    other = closed / "runs" / "other.ndjson"
    odd(other)
    with open_store(closed) as store:
        assert count_runs(store) == 1
        assert len(store.notices) == 1
        assert f"{other} was not taken in" in store.notices[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("odd", [a_pipe, an_endless_device, a_folder])
def test_what_is_no_file_in_the_place_of_the_database_is_refused(odd, closed):
    database = closed / "as2d.duckdb"
    database.unlink()
    odd(database)
    with pytest.raises(StoreFolderError, match=r"as2d\.duckdb cannot be used \(Is (a directory|no regular file)\)"):
        open_store(closed)
