"""What was left running on a phone is taken up when the phone comes, whenever that is: over the real adb server."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from patience import PATIENCE_S, wait_for

from dashboard.cli import main
from dashboard.services import runs
from dashboard.services.phone_looks import end_runner, orphans, seen_phones
from dashboard.services.workspace import close_workspace, open_workspace
from device_bridge.local import LocalDevice
from device_bridge.sessions import RunnerCommand, Session, find_sessions
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.setup.provision import Provision

ROOT = Path(__file__).parents[3]
FAKE = ROOT / "tests" / "device_bridge" / "fake_runner.py"
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
STOP = f"{PHONE_ROOT}/stop"

# An earlier program: it starts a run of two requests and is killed.
PROGRAM = f"""
import sys, time
from dashboard.services.workspace import open_workspace
from device_bridge.adb.servers import parse_server
from device_bridge.jobs import JobManager
from as2d_core.request import (AudioRef, ModelRef, Request)
from device_bridge.adb import AdbPhone
from device_bridge.phones import PhoneDevice
from device_bridge.local import LocalDevice
from device_bridge.sessions import RunnerCommand
workspace = open_workspace()
runner = RunnerCommand([sys.executable, {str(FAKE)!r}], {RUNNER.env!r})
device = PhoneDevice(AdbPhone(parse_server(sys.argv[1]), sys.argv[2]), "Phone", lambda: runner)
workspace.jobs.add_device(device)
asked = [
    Request(name, "target-only", ModelRef("t"), AudioRef("a.wav"), instruction=what)
    for name, what in (("r1", "until {STOP}"), ("r2", "ok"))
]
job = workspace.jobs.submit(device.id, asked, "left over")
while (record := job.runs[0].record()) is None or len(record.rounds) < 4:
    time.sleep(0.01)
print("running", flush=True)
time.sleep(300)
"""


@pytest.fixture
def phone(own_adb, tmp_path, data_folder, monkeypatch):
    """A phone that runs Python; requests need nothing else there."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path / "phones")
    rig = phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix])
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    monkeypatch.setattr(Provision, "runner", lambda _: RUNNER)
    monkeypatch.setattr(Provision, "prepare", lambda _, request, __: request)
    yield rig
    close_workspace()
    phones.close()


@pytest.fixture
def left(phone, data_folder):
    """A job whose program was killed; it goes on on the phone."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), AS2D_STORE=str(data_folder))
    command = [sys.executable, "-c", PROGRAM, str(phone.server), phone.serial]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stdout.readline() == "running\n"
        program.send_signal(signal.SIGKILL)
        program.wait(120)


def assert_both_whole(workspace, job):
    assert job.wait(PATIENCE_S)
    assert (job.state, job.title, job.warnings) == ("done", "left over", [])
    for name in ("r1", "r2"):
        row = runs.get_run(workspace, name)
        assert (row.status, row.problems) == ("eos", ())
    assert workspace.jobs.left_jobs() == []


def test_a_job_is_taken_up_when_its_phone_comes_after_the_program_has_begun(phone, left):
    phone.fault("drop")
    wait_for(lambda: not any(p.serial == phone.serial for p in phone.server.phones()))
    workspace = open_workspace()
    assert workspace.resumed == []
    assert any("'left over'" in notice and "is not connected" in notice for notice in workspace.notices)
    assert runs.get_run(workspace, "r1").status == "incomplete"
    phone.fault("plug")
    wait_for(lambda: workspace.resumed)
    assert any("is followed again" in notice for notice in workspace.notices)
    phone.wait_ready().run(["touch", STOP])
    assert_both_whole(workspace, workspace.resumed[0])


def test_a_job_is_taken_up_at_once_when_its_phone_is_there(phone, left):
    workspace = open_workspace()
    (job,) = workspace.resumed
    assert workspace.jobs.active(job.device_id) is job
    phone.phone.run(["touch", STOP])
    assert_both_whole(workspace, job)


def test_a_command_that_works_takes_the_job_up_meanwhile_and_says_so(phone, left, tmp_path, capsys):
    phone.fault("drop")
    wait_for(lambda: not any(p.serial == phone.serial for p in phone.server.phones()))
    workspace = open_workspace(devices=[LocalDevice(command=[sys.executable, str(FAKE)])])

    def plug_in():
        try:
            phone.fault("plug")
            wait_for(lambda: workspace.resumed)
            phone.wait_ready().run(["touch", STOP])
            assert_both_whole(workspace, workspace.resumed[0])
            taken_up.set()
        finally:
            (tmp_path / "enough").touch()  # the command ends

    taken_up = threading.Event()
    thread = threading.Thread(target=plug_in, daemon=True)
    thread.start()
    until = f"until {tmp_path / 'enough'}"
    code = main(["run", "--window", "clean_00", "--method", "target-only", "--instruction", until, "--no-reference"])
    said = capsys.readouterr().err
    assert (code, taken_up.is_set()) == (0, True)
    assert "'left over'" in said
    assert "followed again" in said


def test_a_runner_that_nobody_follows_is_shown_and_can_be_ended(phone, capsys):
    Session(phone.phone, "stranger").start(RunnerCommand(["sleep", "600"]), {"host": "elsewhere"})
    workspace = open_workspace()
    wait_for(lambda: any(p.ready for p in seen_phones(workspace).phones))
    (listed,) = [p for p in seen_phones(workspace).phones if p.entry.serial == phone.serial]
    (orphan,) = orphans(workspace, listed)
    assert (orphan.id, orphan.about["host"]) == ("stranger", "elsewhere")
    assert main(["devices"]) == 0
    assert "started from elsewhere. End it: as2d phone cancel stranger" in capsys.readouterr().out
    end_runner(listed, orphan.id)
    assert orphans(workspace, listed) == []
    assert find_sessions(phone.phone) == []


def test_a_damaged_note_about_a_left_job_is_a_sentence(data_folder):
    (data_folder / "incoming").mkdir(parents=True)
    (data_folder / "incoming" / "j1.job.json").write_text('{"job_id": NaN')
    assert any("j1.job.json" in notice and "cannot be read" in notice for notice in open_workspace().notices)


def test_a_page_never_waits_for_an_adb_server_that_hangs(data_folder, monkeypatch):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("AS2D_ADB_SERVERS", f"127.0.0.1:{deaf.getsockname()[1]}")
        workspace = open_workspace()
        seen_phones(workspace)  # the first look may take its second
        began = time.monotonic()
        for _ in range(50):
            assert seen_phones(workspace).phones == ()
        assert time.monotonic() - began < 60  # fifty questions would wait five seconds each
    close_workspace()
