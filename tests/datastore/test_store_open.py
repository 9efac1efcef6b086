"""One process holds a store; its threads share it; everybody else is told who does."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import duckdb
import pytest
from patience import PATIENCE_S, wait_for

from as2d_core.width_rule import WidthRule
from datastore.errors import (
    ParameterError,
    QueryError,
    SchemaTooNewError,
    StoreBusyError,
    StoreClosedError,
    StoreDamagedError,
    StoreFolderError,
    StoreLockedError,
)
from datastore.ingest import ingest_run
from datastore.migrations import schema_files
from datastore.opening import open_store
from datastore.queries import count_runs, list_runs

ROOT = Path(__file__).parents[2]
SLOW = "SELECT sum(hash(a.range) % 7 + hash(b.range) % 5) FROM range(10000000) a, range(100000) b"


def child(script, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **options,
    )


def finish(process):
    process.stdin.close()
    process.stdout.read()
    process.stdout.close()
    assert process.wait(120) == 0


def test_another_process_is_named_with_its_pid_and_command_line(folder):
    holder = child(
        """
        import sys
        from datastore.opening import open_store
        with open_store(sys.argv[1]):
            print("open", flush=True)
            sys.stdin.read()
        """,
        folder,
    )
    try:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLockedError) as told:
            open_store(folder)
        assert told.value.pid == holder.pid
        assert "from datastore.opening import open_store" in told.value.command
        assert f"process {holder.pid}" in str(told.value)
        assert "close that program" in str(told.value)
        assert len(str(told.value).splitlines()) == 1
    finally:
        finish(holder)
    open_store(folder).close()


def test_a_foreign_program_that_holds_the_database_file_is_named_too(folder):
    open_store(folder).close()
    holder = child(
        """
        import sys, duckdb
        connection = duckdb.connect(sys.argv[1])
        print("open", flush=True)
        sys.stdin.read()
        """,
        folder / "as2d.duckdb",
    )
    try:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLockedError) as told:
            open_store(folder)
        assert told.value.pid == holder.pid
    finally:
        finish(holder)


def test_a_second_handle_of_the_same_process_shares_the_store(folder, sample):
    with open_store(folder) as one, open_store(folder / ".." / folder.name) as two:
        ingest_run(one, sample())
        assert count_runs(two) == 1
        one.close()
        one.close()
        assert count_runs(two) == 1
        with pytest.raises(StoreClosedError):
            count_runs(one)
    with pytest.raises(StoreClosedError):
        two.write(print)


def test_many_threads_that_open_at_once_get_one_store(folder):
    opened, errors = [], []

    def work():
        try:
            opened.append(open_store(folder))
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert errors == []
    assert len({id(store._engine) for store in opened}) == 1
    for store in opened[:-1]:
        store.close()
    assert opened[-1].read("SELECT 1") == [(1,)]
    opened[-1].close()


def test_a_forked_child_cannot_use_or_open_its_parents_store(folder):
    with open_store(folder) as store:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            code = 1
            try:
                store.read("SELECT 1")
            except StoreClosedError:
                try:
                    open_store(folder)
                except StoreLockedError as error:
                    code = 0 if error.pid == os.getppid() else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert store.read("SELECT 1") == [(1,)]


def test_a_read_only_folder_is_told_with_its_path(tmp_path):
    tmp_path.chmod(0o755)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    process = child(
        """
        import os, sys
        from datastore.errors import StoreFolderError
        from datastore.opening import open_store
        open_store(sys.argv[2]).close()
        if os.getuid() == 0:
            os.chdir("/")
            for parent in list(__import__("pathlib").Path(sys.argv[1]).parents)[:3]:
                os.chmod(parent, 0o755)
            os.setuid(65534)
        for folder in (sys.argv[1], sys.argv[1] + "/deeper"):
            try:
                open_store(folder)
            except StoreFolderError as error:
                print(error)
        """,
        locked,
        tmp_path / "warm-up",
    )
    said = process.stdout.read().splitlines()
    finish(process)
    assert len(said) == 2
    assert all(str(locked) in line and "AS2D_STORE" in line for line in said)


def test_a_schema_from_a_newer_program_is_refused_and_left_alone(folder):
    open_store(folder).close()
    with duckdb.connect(folder / "as2d.duckdb") as connection:
        connection.execute("INSERT INTO schema_files VALUES (999, '999_later.sql', now()::TIMESTAMP)")
    with pytest.raises(SchemaTooNewError, match="999"):
        open_store(folder)
    assert (folder / "as2d.duckdb").exists()


def test_a_foreign_duckdb_file_is_refused_and_left_alone(folder):
    folder.mkdir()
    with duckdb.connect(folder / "as2d.duckdb") as connection:
        connection.execute("CREATE TABLE somebody_elses (x INTEGER)")
    with pytest.raises(StoreDamagedError, match="holds no runs of this program"):
        open_store(folder)
    assert (folder / "as2d.duckdb").exists()


def test_schema_files_are_applied_once_and_recorded(store):
    rows = store.read("SELECT version, name FROM schema_files ORDER BY version")
    assert rows == [(step.version, step.name) for step in schema_files()]


def test_runs_of_an_older_database_get_the_width_rules_of_their_requests(folder, sample):
    rule = WidthRule((0, 1, 1), (0, 1, 2), 'of "k70" } and {')
    with open_store(folder) as store:
        ingest_run(store, sample("ruled", width_rule=rule))
        ingest_run(store, sample("plain"))
        before = {row.run_id: row.width_rule for row in list_runs(store)}
    assert (json.loads(before["ruled"])["name"], before["plain"]) == (rule.name, None)
    with duckdb.connect(folder / "as2d.duckdb") as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN width_rule")
        connection.execute("DELETE FROM schema_files WHERE version >= 5")
    with open_store(folder) as store:
        assert {row.run_id: row.width_rule for row in list_runs(store)} == before


def test_a_half_made_database_of_a_killed_first_open_is_no_obstacle(folder):
    folder.mkdir()
    (folder / "as2d.duckdb.new").write_bytes(b"half")
    with open_store(folder) as store:
        assert count_runs(store) == 0


def test_a_question_that_takes_too_long_is_interrupted_and_others_go_on(store):
    begun = time.monotonic()
    with pytest.raises(StoreBusyError, match=r"no answer after 0\.3 s"):
        store.read(SLOW, timeout_s=0.3)
    assert time.monotonic() - begun < 60
    assert store.read("SELECT 1") == [(1,)]


def test_a_write_that_gets_no_turn_changes_nothing(store):
    hold, begun = threading.Event(), threading.Event()

    def occupy(cursor):
        begun.set()
        hold.wait(120)

    def forbidden(cursor):
        cursor.execute("INSERT INTO tags VALUES ('x', 'y')")

    thread = threading.Thread(target=store.write, args=(occupy,), daemon=True)
    thread.start()
    assert begun.wait(60)
    try:
        with pytest.raises(StoreBusyError, match="nothing was changed") as told:
            store.write(forbidden, timeout_s=0.1)
        assert not told.value.begun
    finally:
        hold.set()
        thread.join(60)
    assert store.read("SELECT count(*) FROM tags") == [(0,)]


def given_up_once_begun(store, job):
    """Give up a write that does not end; says what is told. One that a busy machine did not begin is tried again."""
    for patience_s in (0.2, 5.0, 60.0):
        with pytest.raises(StoreBusyError) as told:
            store.write(job, timeout_s=patience_s)
        if told.value.begun:
            return str(told.value)
    raise AssertionError("it was never begun")


def test_a_write_that_outlives_its_callers_patience_is_still_done(store):
    hold = threading.Event()

    def slow(cursor):
        hold.wait(120)
        cursor.execute("INSERT INTO tags VALUES ('x', 'y')")

    assert "goes on" in given_up_once_begun(store, slow)
    hold.set()
    assert store.write(lambda cursor: cursor.execute("SELECT count(*) FROM tags").fetchall()) == [(1,)]


def test_closing_finishes_writes_that_were_accepted(folder):
    store, closing = open_store(folder), threading.Event()

    def slow(cursor):
        closing.wait(120)
        time.sleep(0.2)  # it is closing by now, or will be: both must do
        cursor.execute("INSERT INTO tags VALUES ('x', 'y')")

    given_up_once_begun(store, slow)
    closing.set()
    store.close()
    with open_store(folder) as again:
        assert again.read("SELECT * FROM tags") == [("x", "y")]


def test_closing_interrupts_a_question_that_is_still_running(folder):
    store = open_store(folder)
    told = []

    def ask():
        try:
            store.read(SLOW)
        except StoreClosedError as error:
            told.append(str(error))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    wait_for(lambda: store._engine._calls)
    store.close()
    thread.join(60)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DROP TABLE runs", "one SELECT"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("", "one SELECT"),
        ("INSERT INTO tags VALUES ('a', 'b')", "one SELECT"),
        ("EXPLAIN ANALYZE DELETE FROM runs", "one SELECT"),
        ("WITH x AS (DELETE FROM tags RETURNING *) SELECT * FROM x", "read-only"),
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM runz", "runs"),
        ("SELECT run_i FROM runs", "run_id"),
        ("SELEC 1", "syntax error"),
    ],
)
def test_a_typed_query_that_is_no_question_to_the_store_is_refused(store, sql, says):
    with pytest.raises(QueryError, match=says):
        store.query(sql)


def test_a_parameter_without_a_value_is_named(store):
    with pytest.raises(ParameterError, match=r"names the parameter \$x, which has no value"):
        store.query("SELECT $x, $y", {"y": 1})


def test_a_typed_query_says_when_there_were_more_rows(store):
    result = store.query("SELECT range AS n FROM range($most)", {"most": 5}, limit=3)
    assert (result.columns, result.rows, result.truncated) == (("n",), [(0,), (1,), (2,)], True)
    assert not store.query("SELECT range FROM range(?)", [3], limit=3).truncated
    assert store.query("EXPLAIN (ANALYZE, FORMAT json) SELECT $n", {"n": 1, "not_asked": 2}).columns[0] == "explain_key"


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFolderError, match="file"):
        open_store(tmp_path / "file" / "data")
