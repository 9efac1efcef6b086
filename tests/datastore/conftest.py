"""A store of its own for every test that wants one."""

import pytest
import sample_runs

from datastore.store import Store


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def store(folder):
    with Store.open(folder) as opened:
        yield opened


@pytest.fixture
def sample(tmp_path):
    """Makes run files outside the store; takes what ``sample_runs.write_run`` takes."""
    made = tmp_path / "made"
    made.mkdir()

    def make(run_id="run-1", *args, **changes):
        return sample_runs.write_run(made, run_id, *args, **changes)

    return make
