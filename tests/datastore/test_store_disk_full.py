"""A full disk is told in a sentence, and costs nothing that was acknowledged."""

import errno
import json
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest
import sample_runs

from as2d_core.protocol import read_run
from datastore import ingest
from datastore.annotations import add_tag, get_annotations
from datastore.errors import DiskFullError
from datastore.ingest import ingest_run
from datastore.library import put_profile
from datastore.opening import open_store
from datastore.queries import count_runs, list_runs
from datastore.rebuild import rebuild
from datastore.timeline import load_record
from datastore.verify import verify

ROOT = Path(__file__).parents[2]


def full(*_args, **_kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def duckdb_full(*_args, **_kwargs):
    raise duckdb.IOException('Could not write file "as2d.duckdb": No space left on device')


def nth(function, number, failure):
    """``function``, but its ``number``-th call meets a full disk."""
    left = [number]

    def step(*args, **kwargs):
        left[0] -= 1
        return failure() if left[0] == 0 else function(*args, **kwargs)

    return step


@pytest.mark.parametrize(("what", "number"), [("fsync", 1), ("fsync", 2), ("replace", 1)])
def test_a_disk_that_is_full_at_any_step_of_the_files_leaves_the_store_as_it_was(
    store, sample, monkeypatch, what, number
):
    log = sample()
    owner = os if what == "fsync" else Path
    with monkeypatch.context() as patched:
        patched.setattr(owner, what, nth(getattr(owner, what), number, full))
        with pytest.raises(DiskFullError, match="no room left"):
            ingest_run(store, log)
    assert count_runs(store) == 0
    assert list(store.folders.runs.glob("*.part")) == []
    assert ingest_run(store, log).added
    assert load_record(store, "run-1") == read_run(log)


def test_a_database_that_cannot_grow_keeps_the_log_and_says_so(folder, sample, monkeypatch):
    log = sample()
    with open_store(folder) as store:
        with monkeypatch.context() as patched:
            patched.setattr(ingest, "_append", duckdb_full)
            with pytest.raises(DiskFullError, match="taken in when the store is opened next") as told:
                ingest_run(store, log)
        assert str(folder / "runs" / "run-1.ndjson") in str(told.value)
        assert count_runs(store) == 0
    with open_store(folder) as store:
        assert load_record(store, "run-1") == read_run(log)
        assert len(store.notices) == 1


def test_after_a_full_disk_the_same_file_can_be_given_again_without_reopening(store, sample, monkeypatch):
    log = sample()
    with monkeypatch.context() as patched:
        patched.setattr(ingest, "keep_self_tests", duckdb_full)
        with pytest.raises(DiskFullError):
            ingest_run(store, log)
    assert ingest_run(store, log).added
    assert verify(store).problems == ()


def test_a_tag_that_cannot_be_written_is_not_half_there(store, sample, monkeypatch):
    ingest_run(store, sample())
    add_tag(store, "run-1", "first")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DiskFullError):
            add_tag(store, "run-1", "second")
        with pytest.raises(DiskFullError):
            put_profile(store, "p", {})
    assert get_annotations(store, "run-1").tags == ("first",)


def test_opening_goes_on_when_a_waiting_log_does_not_fit(folder, sample, monkeypatch):
    with open_store(folder) as store:
        ingest_run(store, sample())
    sample("run-2").rename(folder / "runs" / "run-2.ndjson")
    with monkeypatch.context() as patched:
        patched.setattr(ingest, "_append", duckdb_full)
        with open_store(folder) as store:
            assert [row.run_id for row in list_runs(store)] == ["run-1"]
            assert "was not taken in: There is no room left" in store.notices[0]
    with open_store(folder) as store:
        assert count_runs(store) == 2


def test_a_rebuild_without_room_leaves_the_old_database(folder, sample, monkeypatch):
    with open_store(folder) as store:
        ingest_run(store, sample())
    before = (folder / "as2d.duckdb").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(ingest, "_append", duckdb_full)
        with pytest.raises(DiskFullError):
            rebuild(folder)
    assert (folder / "as2d.duckdb").read_bytes() == before
    assert {p.name for p in folder.glob("as2d*")} == {"as2d.duckdb", "as2d.lock"}


def test_the_first_opening_on_a_full_disk_is_told_and_leaves_no_database(folder, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DiskFullError):
            open_store(folder)
    assert not (folder / "as2d.duckdb").exists()
    open_store(folder).close()


# A process whose files may not grow beyond a limit meets the same refusal from the system, in DuckDB too.
LIMITED = """
    import json, resource, signal, sys
    from datastore.errors import DiskFullError
    from datastore.ingest import ingest_run
    from datastore.queries import list_runs
    from datastore.opening import open_store
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    acknowledged, told = [], []
    with open_store(sys.argv[1]) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
        for log in sys.argv[3:]:
            try:
                acknowledged.append(ingest_run(store, log).run_id)
            except DiskFullError as error:
                told.append(str(error))
        there = [row.run_id for row in list_runs(store, limit=None)]
    print(json.dumps([acknowledged, told, there]))
"""


def test_a_database_file_that_may_not_grow_loses_nothing_and_goes_on_answering(folder, tmp_path):
    numbers = random.Random(1)
    logs = []
    for i in range(4):
        body = sample_runs.events(numbers.randrange(2**40) for _ in range(2000))
        logs.append(sample_runs.write_run(tmp_path, f"run-{i}", body))
    limit = max(log.stat().st_size for log in logs) + 1000
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), folder, str(limit), *logs],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        timeout=100,
        check=True,
    )
    acknowledged, told, there = json.loads(done.stdout)
    assert told
    assert all("no room left" in text for text in told)
    assert set(there) >= set(acknowledged)
    with open_store(folder) as store:
        assert {row.run_id for row in list_runs(store)} == {f"run-{i}" for i in range(4)}
        assert verify(store).problems == ()


@pytest.fixture
def small_disk(tmp_path):
    """A real file system with room for 6 MB; needs the right to mount one."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this user may not mount a small file system")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_disk_that_really_fills_up_loses_nothing_that_was_acknowledged(small_disk, tmp_path):
    numbers = random.Random(2)
    body = sample_runs.events(numbers.randrange(2**40) for _ in range(1000))
    logs = [sample_runs.write_run(tmp_path, f"run-{i}", body) for i in range(14)]
    acknowledged, told = [], []
    with open_store(small_disk / "data") as store:
        for log in logs:
            try:
                acknowledged.append(ingest_run(store, log).run_id)
            except DiskFullError as error:
                told.append(str(error))
        assert acknowledged
        assert told
        assert {row.run_id for row in list_runs(store, limit=None)} == set(acknowledged)
        # DuckDB gives up on a file whose checkpoint fails; the next call opens it anew.
        with pytest.raises(DiskFullError):
            store.write(lambda cursor: cursor.execute("CHECKPOINT"))
        assert {row.run_id for row in list_runs(store, limit=None)} == set(acknowledged)
        assert store._engine._generation == 1
    subprocess.run(["mount", "-o", "remount,size=100m", small_disk], check=True)
    with open_store(small_disk / "data") as store:
        assert set(acknowledged) <= {row.run_id for row in list_runs(store, limit=None)}
        for log in logs:
            ingest_run(store, log)
        assert count_runs(store) == 14
        assert verify(store).problems == ()
