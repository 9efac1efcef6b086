"""A damaged database is set aside under a name that is told; nothing is repaired in silence."""

import random
import shutil
from contextlib import suppress

import duckdb
import pytest
import sample_runs

from datastore.errors import DiskFullError, SchemaTooNewError, StoreDamagedError, StoreFolderError
from datastore.faults import is_damage, translate
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import count_runs, list_runs
from datastore.rebuild import rebuild
from datastore.verify import verify


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A closed store with two runs."""
    made = tmp_path_factory.mktemp("template")
    spans = [
        sample_runs.Span("target", "verify", i * 7919 % 100_003, i * 7919 % 100_003 + i % 89) for i in range(2_000)
    ]
    with open_store(made / "data") as store:
        ingest_run(store, sample_runs.write_run(made, "run-1"))
        ingest_run(store, sample_runs.write_run(made, "big", [*sample_runs.events(), *spans]))
    return made / "data"


@pytest.fixture
def filled(folder, template):
    """The database file of a copy of the template."""
    shutil.copytree(template, folder)
    return folder / "as2d.duckdb"


def garble(path, *places):
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= 0xFF
    path.write_bytes(data)


def assert_set_aside(error, database):
    aside = error.set_aside
    assert aside is not None
    assert aside.exists()
    assert not database.exists()
    assert str(aside) in str(error)
    assert "as2d store rebuild" in str(error)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no database\n" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: garble(path, 4096 + 30, 8192 + 30),
        lambda path: garble(path, 20),
    ],
    ids=["empty", "text", "cut in the header", "cut in half", "garbled roots", "garbled header"],
)
def test_a_damaged_file_is_set_aside_on_opening_and_the_logs_bring_everything_back(folder, filled, damage):
    damage(filled)
    with pytest.raises(StoreDamagedError) as told:
        open_store(folder)
    assert_set_aside(told.value, filled)
    with pytest.raises(StoreDamagedError, match="2 run logs"):
        open_store(folder)
    report = rebuild(folder)
    assert report.runs == 2
    with open_store(folder) as store:
        assert verify(store).problems == ()


def test_damage_found_by_a_question_sets_the_file_aside_and_every_later_call_says_so(folder, filled):
    """Opening does not read everything: damage in a block it skips comes up later."""
    with duckdb.connect(filled) as connection:
        connection.execute("CREATE TABLE more AS SELECT random() AS x FROM range(400000)")
    whole = filled.read_bytes()
    skipped = 0
    for block in range(12_288, len(whole), 262_144):
        filled.write_bytes(whole)
        garble(filled, block + 1000)
        try:
            store = open_store(folder)
        except StoreDamagedError:
            continue
        with store:
            with suppress(StoreDamagedError):
                store.read("SELECT sum(x) FROM more")
            if not filled.exists():
                skipped += 1
                with pytest.raises(StoreDamagedError) as told:
                    store.read("SELECT 1")
                assert_set_aside(told.value, filled)
                with pytest.raises(StoreDamagedError, match=told.value.set_aside.name):
                    store.write(print)
    assert skipped > 3
    assert rebuild(folder).runs == 2


@pytest.mark.parametrize("seed", range(6))
def test_garbled_bytes_anywhere_are_told_or_do_no_harm(folder, filled, seed):
    place = random.Random(seed)
    size = filled.stat().st_size
    garble(filled, *(place.randrange(size) for _ in range(3)))
    try:
        with open_store(folder) as store:
            assert verify(store).problems == ()
    except StoreDamagedError as error:
        assert_set_aside(error, filled)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DELETE FROM spans WHERE ordinal = 2", "rows in spans"),
        ("INSERT INTO marks SELECT 77, 0, 'eos', 1, NULL, NULL, NULL", "no run should have 0 rows in marks"),
        ("UPDATE runs SET committed_tokens = 99", "does not match its checksum"),
        ("UPDATE runs SET status = 'capped' WHERE run_id = 'run-1'", "does not match its checksum"),
        ("DELETE FROM runs WHERE run_id = 'run-1'", "no run should have"),
    ],
)
def test_rows_that_were_changed_behind_our_back_count_as_damage(folder, filled, sql, says):
    with duckdb.connect(filled) as connection:
        connection.execute(sql)
    with pytest.raises(StoreDamagedError, match=says) as told:
        open_store(folder)
    assert_set_aside(told.value, filled)


def test_an_event_changed_without_changing_counts_is_found_by_verify(folder, filled):
    with duckdb.connect(filled) as connection:
        connection.execute("UPDATE rounds SET accepted = accepted + 1 WHERE ordinal = 0")
    with open_store(folder) as store:
        problems = verify(store).problems
    assert len([p for p in problems if "events of run" in p]) == 2
    assert any("accepted" in p for p in problems)


def test_a_write_ahead_log_that_is_garbled_loses_no_run(folder, sample):
    with open_store(folder) as store:
        ingest_run(store, sample("run-1"))
        wal = (folder / "as2d.duckdb.wal").read_bytes()
        database = (folder / "as2d.duckdb").read_bytes()
    for cut in (len(wal) // 2, 5):
        (folder / "as2d.duckdb").write_bytes(database)
        (folder / "as2d.duckdb.wal").write_bytes(wal[:cut])
        with open_store(folder) as store:
            assert [row.run_id for row in list_runs(store)] == ["run-1"]
            assert any("was taken in" in notice for notice in store.notices)
            assert verify(store).problems == ()
    (folder / "as2d.duckdb").write_bytes(database)
    (folder / "as2d.duckdb.wal").write_bytes(wal)
    garble(folder / "as2d.duckdb.wal", len(wal) // 2)
    with pytest.raises(StoreDamagedError) as told:
        open_store(folder)
    assert_set_aside(told.value, folder / "as2d.duckdb")
    assert (told.value.set_aside.with_name(told.value.set_aside.name + ".wal")).exists()
    assert rebuild(folder).runs == 1


def test_a_database_that_is_gone_is_told_while_its_logs_are_there(folder, filled):
    filled.unlink()
    with pytest.raises(StoreDamagedError, match="is gone, but 2 run logs"):
        open_store(folder)
    assert not filled.exists()


def test_a_stray_write_ahead_log_is_never_replayed_on_a_new_database(folder):
    with open_store(folder) as store:
        store.write(lambda cursor: cursor.execute("INSERT INTO tags VALUES ('run', 'old')"))
        wal = (folder / "as2d.duckdb.wal").read_bytes()
    (folder / "as2d.duckdb").unlink()
    (folder / "as2d.duckdb.wal").write_bytes(wal)
    with open_store(folder) as store:
        assert store.read("SELECT * FROM tags") == []
        assert count_runs(store) == 0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('Could not write file "x": No space left on device', DiskFullError),
        ('Failure while replaying WAL file "x": Could not write file "x": No space left on device', DiskFullError),
        ('Cannot open file "x": Permission denied', StoreFolderError),
        ('Cannot open file "x": Read-only file system', StoreFolderError),
        ("Trying to read a database file with version number 999, but we can only read versions between 64 and 67.",
         SchemaTooNewError),
        ('Error opening "x": file was written with a storage version greater than the latest version supported by this '
         "DuckDB instance. Try opening the file with a newer version of DuckDB.", SchemaTooNewError),
    ],
)  # fmt: skip
def test_what_the_disk_or_a_newer_duckdb_refuses_is_never_taken_for_damage(text, kind, tmp_path):
    error = duckdb.IOException(text)
    assert not is_damage(error)
    assert type(translate(error, tmp_path / "as2d.duckdb")) is kind
