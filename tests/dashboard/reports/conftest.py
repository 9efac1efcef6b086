"""A store with runs of every kind, for everything that is made from one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "pages"))

from page_samples import HOSTILE, put

from datastore.store import Store


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """An open store: one window under three methods, one run with hostile words, one failed, one cut off."""
    folder = tmp_path_factory.mktemp("shelf")
    with Store.open(folder / "data") as store:
        for run_id, how in {
            "alone": {"method": "target-only"},
            "ours": {},
            "theirs": {"method": "sd"},
            "hostile": {"words": HOSTILE, "window": "clean_01"},
            "failed": {"status": "failed", "error": "The model <i>died</i>."},
            "cut": {"keep": 30},
        }.items():
            put(store, folder, run_id, **how)
        yield store
