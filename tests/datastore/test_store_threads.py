"""Many threads read while one writes: every answer is whole."""

import random
import threading
import time

import pytest
import sample_runs

from as2d_core.protocol import read_run
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import RunFilter, count_runs, get_run, list_runs
from datastore.recycling import delete_run, restore_run
from datastore.timeline import load_record, spans_between

READERS = 6


def _hammer(store, made, seconds):
    """Readers check whole records against their logs while runs come in and go to the bin and back."""
    logs = [sample_runs.write_run(made, f"run-{i}", tokens_of(i)) for i in range(15)]
    records = {f"run-{i}": read_run(log) for i, log in enumerate(logs)}
    acknowledged: list[str] = []
    errors: list[object] = []
    stop = threading.Event()

    def read(seed):
        pick = random.Random(seed)
        try:
            while not stop.is_set():
                if not acknowledged:
                    time.sleep(0.001)
                    continue
                run_id = pick.choice(acknowledged)
                wanted = records[run_id]
                match pick.randrange(4):
                    case 0:
                        assert load_record(store, run_id) == wanted, run_id
                    case 1:
                        row = get_run(store, run_id)
                        assert (row.run_id, row.rounds, row.span_rows) == (
                            run_id,
                            len(wanted.rounds),
                            len(wanted.spans),
                        )
                    case 2:
                        window = spans_between(store, run_id)
                        assert window.total == len(window.spans) == len(wanted.spans), run_id
                    case 3:
                        rows = list_runs(store, RunFilter(bin="with"), limit=None)
                        assert {r.run_id: r.committed_tokens for r in rows}[run_id] == len(wanted.tokens)
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=read, args=(i,)) for i in range(READERS)]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + seconds
    try:
        for i, log in enumerate(logs):
            ingest_run(store, log)
            if i < 12:
                acknowledged.append(f"run-{i}")
        while time.monotonic() < ends_at and not stop.is_set():
            delete_run(store, "run-14")
            restore_run(store, "run-14")
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert errors == []
    assert count_runs(store) == len(logs)


def tokens_of(i):
    return sample_runs.events(range(100 + i, 100 + i + 9 + 2 * i))


def test_readers_never_see_a_wrong_or_half_written_row(store, tmp_path):
    _hammer(store, tmp_path, 1.0)


@pytest.mark.soak
def test_readers_never_see_a_wrong_or_half_written_row_for_minutes(store, tmp_path):
    _hammer(store, tmp_path, 120)


def test_the_same_file_from_many_threads_is_taken_in_once(folder, sample):
    log = sample()
    added, errors = [], []
    with open_store(folder) as store:

        def take_in():
            try:
                added.append(ingest_run(store, log).added)
            except Exception as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=take_in) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert errors == []
        assert sorted(added) == [False] * 7 + [True]
        assert count_runs(store) == 1
    assert [p.name for p in (folder / "runs").iterdir()] == ["run-1.ndjson"]
