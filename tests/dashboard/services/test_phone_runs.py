import sys
from pathlib import Path

import pytest

from as2d_core.protocol import read_run
from dashboard.services.phone_runs import find_phone, phone_device
from datastore.locations import Folders
from device_bridge.adb import pick_phone
from device_bridge.errors import PhoneNotFoundError
from device_bridge.jobs import JobManager
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import AUDIO

ROOT = Path(__file__).parents[3]
RUNNER = RunnerCommand(
    [sys.executable, "-m", "as2d_core.runner"], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
)


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("phone"))
    yield phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix])
    phones.close()


@pytest.fixture
def device(rig, tmp_path):
    return phone_device(Folders(tmp_path), pick_phone([rig.server], rig.serial), lambda: RUNNER)


@pytest.fixture
def manager(device, tmp_path):
    made = JobManager(tmp_path / "incoming", [device])
    yield made
    for job in made.jobs():
        job.cancel()
        job.wait(120)
    made.close()


@pytest.mark.models
@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("target-only", {"plain_step": True}),
        pytest.param("as2d", {"budget": 7}, marks=pytest.mark.soak),  # its self-test of widths takes its time
    ],
)
def test_a_request_written_here_gives_the_same_tokens_on_a_phone(manager, device, rig, ask, reference, method, fields):
    here = ask(method, **fields)
    job = manager.submit(device.id, [here])
    assert job.wait(120)
    assert job.runs[0].error is None
    record = read_run(job.runs[0].path)
    assert tuple(record.tokens) == reference()
    there = record.header.request
    assert there.target.path.startswith("models/")
    assert there.audio.path.startswith("audio/")
    assert there.target.name == "target"
    assert there.target.exact_widths is None
    (name,) = rig.phone.run(["ls", AUDIO]).text.split()
    assert Path(there.audio.path).name == name


def test_a_phone_is_found_when_a_job_asks_for_it(rig, tmp_path, monkeypatch):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(rig.server))
    manager = JobManager(tmp_path, find=lambda name: find_phone(Folders(tmp_path), name))
    assert manager.device(rig.serial) is manager.device(rig.own_serial) is manager.device(rig.phone.id)
    assert [device.id for device in manager.devices()] == [rig.own_serial]
    with pytest.raises(PhoneNotFoundError):
        manager.device("nobody")
    manager.close()
