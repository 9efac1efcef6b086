"""A store of its own for every test that wants one."""

import pytest

from datastore.store import Store


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def store(folder):
    with Store.open(folder) as opened:
        yield opened
