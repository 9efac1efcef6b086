"""A store of its own for every test that wants one."""

import shutil

import pytest
import sample_runs

from datastore.opening import open_store


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture(scope="session")
def _empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty") / "data"
    open_store(folder).close()
    return folder


@pytest.fixture
def store(folder, _empty):
    shutil.copytree(_empty, folder)
    with open_store(folder) as opened:
        yield opened


@pytest.fixture
def sample(tmp_path):
    """Makes run files outside the store; takes what ``sample_runs.write_run`` takes."""
    made = tmp_path / "made"
    made.mkdir()

    def make(run_id="run-1", *args, **changes):
        return sample_runs.write_run(made, run_id, *args, **changes)

    return make
