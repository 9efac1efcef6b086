import sys
from dataclasses import replace
from pathlib import Path

import pytest

from as2d_core.errors import AudioError
from as2d_core.protocol import read_run
from as2d_core.records import AudioRef
from dashboard.services.phone_runs import AUDIO, find_phone, phone_device
from datastore.locations import Folders
from device_bridge.adb import list_phones
from device_bridge.errors import PhoneNotFoundError
from device_bridge.jobs import JobManager
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import PHONE_ROOT

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
    (entry,) = [p for p in list_phones([rig.server])[0] if p.serial == rig.serial]
    return phone_device(Folders(tmp_path), entry, lambda: RUNNER)


@pytest.fixture
def manager(device, tmp_path):
    made = JobManager(tmp_path / "incoming", [device])
    yield made
    for job in made.jobs():
        job.cancel()
        job.wait(30)
    made.close()


@pytest.mark.models
@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("target-only", {"plain_step": True}),
        pytest.param("as2d", {"budget": 7}, marks=pytest.mark.soak),  # its self-test of widths takes its time
    ],
)
def test_a_request_written_here_gives_the_same_tokens_on_a_phone(manager, rig, ask, reference, method, fields):
    here = ask(method, **fields)
    job = manager.submit(rig.phone.id, [here])
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
    assert Path(name).suffix == Path(here.audio.path).suffix


def test_an_audio_file_on_the_phone_is_left_where_it_is_and_a_missing_one_is_said(device, ask):
    import threading

    from dashboard.services.phone_runs import place_request

    there = replace(ask(), audio=AudioRef(f"{PHONE_ROOT}/sounds/a b.wav"))
    assert place_request(device.phone, there, threading.Event()).audio == there.audio
    with pytest.raises(AudioError, match="There is no audio file"):
        place_request(device.phone, replace(there, audio=AudioRef("nowhere.wav")), threading.Event())


def test_a_phone_is_found_when_a_job_asks_for_it(rig, tmp_path, monkeypatch):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(rig.server))
    manager = JobManager(tmp_path, find=lambda name: find_phone(Folders(tmp_path), name))
    assert manager.device(rig.serial) is manager.device(rig.phone.id)
    assert [device.id for device in manager.devices()] == [rig.phone.id]
    with pytest.raises(PhoneNotFoundError):
        manager.device("nobody")
    manager.close()
