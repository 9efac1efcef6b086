"""A phone that is connected twice is one device: one card, one job at a time, and a run outlives either connection."""

import sys
from pathlib import Path

import pytest
from patience import PATIENCE_S, wait_for

from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.services import runs
from dashboard.services.devices import list_devices
from dashboard.services.phone_looks import seen_phones
from dashboard.services.workspace import close_workspace, open_workspace
from device_bridge.errors import DeviceBusyError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.setup.provision import Provision

ROOT = Path(__file__).parents[3]
FAKE = ROOT / "tests" / "device_bridge" / "fake_runner.py"
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
STOP = f"{PHONE_ROOT}/stop"


@pytest.fixture
def phone(own_adb, tmp_path, data_folder, monkeypatch):
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path / "phones")
    rig = phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix])
    rig.fault("wifi")
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    monkeypatch.setattr(Provision, "runner", lambda _: RUNNER)
    monkeypatch.setattr(Provision, "prepare", lambda _, request, __: request)
    yield rig
    close_workspace()
    phones.close()


def ask(run_id, what):
    return Request(run_id, "target-only", ModelRef("t"), AudioRef("a.wav"), instruction=what)


def known(workspace, phone, connections=2):
    wait_for(lambda: any(len(p.connections) == connections for p in _ours(workspace, phone)))
    (found,) = _ours(workspace, phone)
    return found


def _ours(workspace, phone):
    return [p for p in seen_phones(workspace).phones if p.id == phone.own_serial]


def test_a_run_goes_on_over_the_air_when_the_cable_is_pulled_and_the_phone_takes_one_job_by_any_name(phone):
    workspace = open_workspace()
    found = known(workspace, phone)
    job = workspace.jobs.submit(phone.serial, [ask("r1", f"until {STOP}")])
    assert job.device_id == phone.own_serial
    for name in found.names:
        with pytest.raises(DeviceBusyError):
            workspace.jobs.submit(name, [ask("r2", "ok")])
    wait_for(lambda: (record := job.runs[0].record()) is not None and len(record.rounds) > 4)
    for fault in ("cable", "plug", "wifi-off"):  # whichever it goes over, one connection is always left
        seen = len(job.runs[0].record().rounds)
        phone.fault(fault)
        if fault == "plug":
            known(workspace, phone)
        wait_for(lambda seen=seen: len(job.runs[0].record().rounds) > seen + 20)
    phone.wait_ready().run(["touch", STOP])
    assert job.wait(PATIENCE_S)
    row = runs.get_run(workspace, "r1")
    assert (job.state, row.status, row.problems) == ("done", "eos", ())


def test_a_phone_that_ran_something_is_not_shown_with_the_facts_of_this_computer(phone):
    workspace = open_workspace()
    job = workspace.jobs.submit(phone.own_serial, [ask("r1", "ok")])
    assert job.wait(PATIENCE_S)
    (device,) = [device for device in list_devices(workspace) if device.id == phone.own_serial]
    assert (device.kind, dict(device.facts)) == ("phone", {})
