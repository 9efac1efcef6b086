import sys
from pathlib import Path

import pytest

from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.devices import Limits
from device_bridge.jobs import JobManager
from device_bridge.local import LocalDevice
from device_bridge.plan import new_id

FAKE = [sys.executable, str(Path(__file__).parent / "fake_runner.py")]
LIMITS = Limits(silence_s=120.0, request_s=600.0, cancel_s=60.0, terminate_s=60.0, idle_s=120.0)
"""Nobody is given up who is only slow."""


@pytest.fixture
def ask():
    """Builds a request whose instruction tells the fake runner how to behave."""

    def build(what: str, **fields) -> Request:
        fields.setdefault("run_id", new_id())
        fields.setdefault("method", "target-only")
        return Request(target=ModelRef("t"), audio=AudioRef("a.wav"), instruction=what, **fields)

    return build


@pytest.fixture
def make_manager(tmp_path):
    """Builds job managers over fake runners, and closes them."""
    made = []

    def build(*device_ids: str, command=FAKE, limits=LIMITS, on_stream=lambda _: None) -> JobManager:
        devices = [LocalDevice(i, f"Device {i}", command, limits) for i in device_ids or ("here",)]
        made.append(JobManager(tmp_path / "incoming", devices, on_stream))
        return made[-1]

    yield build
    for manager in made:
        manager.close()


@pytest.fixture
def manager(make_manager):
    return make_manager()
