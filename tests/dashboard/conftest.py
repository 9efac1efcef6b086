import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "pages"))

from dashboard.cli import main
from dashboard.services.workspace import close_workspace, open_workspace
from datastore.opening import open_store
from device_bridge.devices import Limits
from device_bridge.local import LocalDevice

FAKE = [sys.executable, str(Path(__file__).parents[1] / "device_bridge" / "fake_runner.py")]
LIMITS = Limits(silence_s=120.0, request_s=600.0, cancel_s=60.0, terminate_s=60.0)


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty data folder that everything in this process uses."""
    folder = tmp_path / "as2d"
    monkeypatch.setenv("AS2D_STORE", str(folder))
    yield folder
    close_workspace()


@pytest.fixture
def workspace(data_folder):
    """A workspace whose computer is a tiny program that speaks the runner protocol."""
    return open_workspace(devices=[LocalDevice(command=FAKE, limits=LIMITS)])


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """An open store: one window under three methods, one run with hostile words, one failed, one cut off."""
    from page_samples import HOSTILE, put

    folder = tmp_path_factory.mktemp("shelf")
    with open_store(folder / "data") as store:
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


@pytest.fixture
def run(data_folder, capsys):
    """Runs a command; gives exit code, standard output and standard error."""

    def call(*arguments):
        code = main(list(map(str, arguments)))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def as2d(run):
    """Runs a command with --json; gives exit code and its one document."""

    def call(*arguments):
        code, out, _ = run(*arguments, "--json")
        assert len(out.splitlines()) == 1
        return code, json.loads(out)

    return call
