import sys
from pathlib import Path

import pytest

from dashboard.services.workspace import close_workspace, open_workspace
from device_bridge.devices import Limits
from device_bridge.local import LocalDevice

FAKE = [sys.executable, str(Path(__file__).parents[1] / "device_bridge" / "fake_runner.py")]
LIMITS = Limits(silence_s=20.0, request_s=40.0, cancel_s=1.0, terminate_s=1.0)


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
