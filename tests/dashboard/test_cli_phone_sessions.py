import json
import os
import signal
import subprocess
import sys

import pytest

from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.cli import main
from dashboard.services.folders import incoming_folder, user_folders
from dashboard.services.phone_watch import IDENTITIES
from device_bridge.adb import pick_phone
from device_bridge.ledger import Ledger, LeftJob
from device_bridge.sessions import RunnerCommand, Session


@pytest.fixture
def phone(shared_phone, monkeypatch):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(shared_phone.server))
    return shared_phone


def run(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_runners_on_a_phone_are_listed_and_ended_and_nobody_goes_on_with_their_jobs(
    phone, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("AS2D_STORE", str(tmp_path))
    Session(phone.phone, "stranger").start(RunnerCommand(["sleep", "60"]), {"host": "elsewhere"})
    code, listed = run(capsys, "phone", "sessions", "--phone", phone.serial)
    assert code == 0
    (session,) = listed["sessions"]
    assert (session["id"], session["alive"], session["busy"]) == ("stranger", True, False)
    code, answer = run(capsys, "phone", "cancel", "nobody", "--phone", phone.serial)
    assert (code, "There are: stranger" in answer["error"]) == (1, True)
    folders, request = user_folders(), Request("r1", "target-only", ModelRef("/data/t"), AudioRef("/data/a.wav"))
    for job_id, device_id in (("j1", pick_phone([phone.server], phone.serial, IDENTITIES).id), ("j2", "another phone")):
        Ledger(incoming_folder(folders)).write(LeftJob(job_id, device_id, f"job {job_id}", (request,)))
    assert run(capsys, "phone", "cancel", "--phone", phone.serial) == (0, {"ended": ["stranger"], "jobs": ["job j1"]})
    assert [job.job_id for job in Ledger(incoming_folder(folders)).read()[0]] == ["j2"]
    assert run(capsys, "phone", "sessions", "--phone", phone.serial) == (0, {"sessions": []})


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_virtual_phone_is_started_fails_on_demand_and_ends(own_adb, tmp_path, capsys, how):
    folder = tmp_path / "virtual phone"
    background = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as a shell starts what runs beside it
    command = [*background, sys.executable, "-m", "dashboard.cli", "phone", "virtual", "--preset", "note9"]
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--server", str(own_adb.server), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    ) as program:  # fmt: skip
        try:
            said = program.stderr.readline()
            assert "The virtual Redmi Note 9 Pro is 127.0.0.1:" in said
            serial = said.partition(" is ")[2].partition(" at ")[0]
            assert pick_phone([own_adb.server], serial).name == "M2007J17C"
            assert run(capsys, "phone", "fault", "charging", "--folder", str(folder))[0] == 0
            code, answer = run(capsys, "phone", "fault", "drop", "s", "--folder", str(folder))
            assert (code, "name=value" in answer["error"]) == (1, True)
            program.send_signal(how)
            out, _ = program.communicate(timeout=60)
        finally:
            program.kill()
    assert (program.returncode, json.loads(out)["serial"]) == (0, serial)
