"""A database made anew from the logs holds what the old one held."""

import shutil

import duckdb
import pytest
import sample_runs

from datastore.annotations import add_tag, get_annotations, meta_path, set_notes
from datastore.errors import DiskFullError, StoreBusyError, StoreDamagedError, StoreLockedError
from datastore.ingest import ingest_run
from datastore.library import SelfTestKey, get_profile, get_self_test, put_profile, put_self_test
from datastore.lock import FolderLock
from datastore.opening import open_store
from datastore.queries import RunFilter, get_run, list_runs
from datastore.rebuild import rebuild
from datastore.recycling import delete_run
from datastore.verify import verify

KEY = SelfTestKey("sha", "cpu", "threads=1", "3.6.1")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    made = tmp_path_factory.mktemp("filled")
    folder = made / "data"
    with open_store(folder) as store:
        for run_id in ("run-1", "run-2", "gone"):
            ingest_run(store, sample_runs.write_run(made, run_id))
        ingest_run(store, sample_runs.write_incomplete(made, "cut"))
        add_tag(store, "run-1", "good")
        set_notes(store, "run-1", "warm")
        delete_run(store, "gone")
        put_profile(store, "phone", {"a": 1}, "Phone")
        put_self_test(store, KEY, sample_runs.self_test())
    return folder


@pytest.fixture
def closed(folder, filled):
    """A closed store with some of everything; a copy for each test."""
    return shutil.copytree(filled, folder)


def everything(folder):
    with open_store(folder) as store:
        assert store.notices == []
        assert verify(store).problems == ()
        rows = list_runs(store, RunFilter(bin="with"), order_by="run_id")
        return (
            {(r.run_id, r.status, r.tags, r.notes, r.tps, r.binned_at) for r in rows},
            get_profile(store, "phone"),
            get_self_test(store, KEY),
        )


def test_a_rebuild_of_a_healthy_database_changes_nothing(closed):
    before = everything(closed)
    report = rebuild(closed)
    assert (report.runs, report.in_bin, report.profiles, report.self_tests) == (3, 1, 1, 1)
    assert (report.set_aside, report.notices) == (None, ())
    assert everything(closed) == before
    assert {p.name for p in closed.glob("as2d*")} == {"as2d.duckdb", "as2d.lock"}


def test_a_lost_database_comes_back_with_tags_notes_and_profiles(closed):
    before = everything(closed)
    (closed / "as2d.duckdb").unlink()
    report = rebuild(closed)
    assert (report.runs, report.in_bin, report.profiles, report.self_tests) == (3, 1, 1, 0)
    after = everything(closed)
    assert {row[:5] for row in after[0]} == {row[:5] for row in before[0]}
    assert after[1] == before[1]


def test_a_damaged_database_is_set_aside_and_named(closed):
    (closed / "as2d.duckdb").write_bytes(b"not a database")
    report = rebuild(closed)
    assert report.set_aside is not None
    assert report.set_aside.read_bytes() == b"not a database"
    assert "could not be read" in report.notices[0]
    assert report.runs == 3


def test_tags_without_a_file_are_copied_from_the_old_database(closed):
    with open_store(closed) as store:
        path = meta_path(store.folders, "run-1")
    path.unlink()
    rebuild(closed)
    with open_store(closed) as store:
        kept = get_annotations(store, "run-1")
        assert (kept.tags, kept.notes) == (("good",), "warm")
    assert path.exists()


def test_a_database_that_holds_runs_without_logs_is_kept_and_named(closed):
    (closed / "runs" / "run-2.ndjson").unlink()
    report = rebuild(closed)
    assert report.set_aside is not None
    assert "run-2" in report.notices[-1]
    assert str(report.set_aside) in report.notices[-1]
    with duckdb.connect(report.set_aside, read_only=True) as old:
        assert old.execute("SELECT count(*) FROM runs WHERE run_id = 'run-2'").fetchone() == (1,)
    with open_store(closed) as store:
        assert {r.run_id for r in list_runs(store)} == {"run-1", "cut"}


def test_a_log_that_cannot_be_read_is_told_and_does_not_stop_the_others(closed):
    (closed / "runs" / "foreign.ndjson").write_text("no log\n")
    report = rebuild(closed)
    assert report.runs == 3
    assert any("foreign.ndjson was not taken in" in notice for notice in report.notices)


def test_a_store_that_is_open_is_not_rebuilt_under_its_users(closed):
    with open_store(closed) as store:
        with pytest.raises(StoreBusyError, match="open in this program"):
            rebuild(closed)
        assert get_run(store, "run-1").status == "eos"


def test_a_write_ahead_log_of_the_old_database_is_never_replayed_on_the_new_one(closed):
    with open_store(closed) as store:
        store.write(lambda cursor: cursor.execute("INSERT INTO tags VALUES ('nobody', 'stray')"))
        files = {p.name: p.read_bytes() for p in closed.glob("as2d.duckdb*")}
    assert "as2d.duckdb.wal" in files
    for name, data in files.items():
        (closed / name).write_bytes(data)
    rebuild(closed)
    assert {p.name for p in closed.glob("as2d*")} == {"as2d.duckdb", "as2d.lock"}
    with open_store(closed) as store:
        assert store.read("SELECT run_id, tag FROM tags") == [("run-1", "good")]


def test_a_rebuild_of_nothing_makes_an_empty_store(folder):
    report = rebuild(folder)
    assert (report.runs, report.set_aside) == (0, None)
    open_store(folder).close()


def test_a_store_another_process_holds_is_not_rebuilt(closed, monkeypatch):
    import fcntl

    def taken(*_args):
        raise BlockingIOError

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "lockf", taken)
        with pytest.raises(StoreLockedError):
            rebuild(closed)
    FolderLock(closed / "as2d.lock").release()


def test_a_rebuild_that_breaks_off_at_the_swap_is_simply_done_again(closed, monkeypatch):
    """The worst moment: the damaged file is set aside, the new one not yet in its place."""
    (closed / "as2d.duckdb").write_bytes(b"not a database")
    from datastore import rebuild as module

    def full(_new, database):
        raise DiskFullError(f"There is no room left to write {database}.")

    with monkeypatch.context() as patched:
        patched.setattr(module, "swap_in", full)
        with pytest.raises(DiskFullError):
            rebuild(closed)
    with pytest.raises(StoreDamagedError, match="is gone, but"):
        open_store(closed)
    assert rebuild(closed).runs == 3
    assert len(list(closed.glob("as2d.damaged-*"))) == 1
