"""Kill -9 at any moment of an ingest: every run that was acknowledged is there, and whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import sample_runs

from as2d_core.protocol import read_run
from datastore.errors import RunNotFoundError
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import list_runs
from datastore.timeline import load_record
from datastore.verify import verify

SCRIPT = Path(__file__).with_name("killed_children.py")


def deaths(kind, folder, count, logs, deadline_s=120):
    done = subprocess.run(
        [sys.executable, SCRIPT, kind, folder, str(count), *logs],
        stdout=subprocess.PIPE,
        text=True,
        timeout=deadline_s,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def die_at_random(tmp_path, count, deadline_s=120):
    logs = [sample_runs.write_run(tmp_path, f"run-{i}", sample_runs.events(range(40 + i))) for i in range(40)]
    records = {f"run-{i}": read_run(log) for i, log in enumerate(logs)}
    for data, acknowledged, alive in deaths("random", tmp_path, count, logs, deadline_s):
        assert not alive
        with open_store(data) as store:
            assert set(acknowledged) <= {row.run_id for row in list_runs(store, limit=None)}
            for run_id in acknowledged:
                assert load_record(store, run_id) == records[run_id]
            ingest_run(store, logs[min(len(acknowledged), len(logs) - 1)])
            assert verify(store).problems == ()
        assert list(Path(data).rglob("*.part")) == []


def test_a_process_killed_while_runs_come_in_loses_none_it_acknowledged(tmp_path):
    die_at_random(tmp_path, 4)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_hundreds_of_killed_processes_lose_none_they_acknowledged(tmp_path):
    die_at_random(tmp_path, 300, 1000)


def test_a_process_killed_before_any_step_of_an_ingest_leaves_all_or_nothing_and_the_file_given(tmp_path):
    log = sample_runs.write_run(tmp_path, "run-1", [*sample_runs.events(), sample_runs.self_test()])
    before = log.read_bytes()
    wanted = read_run(log)
    came = []
    outcomes = deaths("steps", tmp_path, 20, [log])
    for data, acknowledged, _ in outcomes:
        with open_store(data) as store:
            came.append(len(list_runs(store)))
            if acknowledged or came[-1]:
                assert load_record(store, "run-1") == wanted
            else:
                with pytest.raises(RunNotFoundError):
                    load_record(store, "run-1")
            ingest_run(store, log)
            assert verify(store).problems == ()
    assert log.read_bytes() == before
    assert not outcomes[0][2]
    assert outcomes[-1][1:] == [["run-1"], True], "the last one has fewer steps than its death: it must live"
    assert came == sorted(came), "once the log is in its place, the run is there after every later death"
    assert set(came) == {0, 1}
