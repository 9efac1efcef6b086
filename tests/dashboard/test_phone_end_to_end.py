"""A phone from a profile to a run, over the real adb server: the plug is pulled in both, and nothing is lost."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from patience import wait_for

from as2d_core.gates import Gates
from as2d_core.models.demo_catalog import demo_window
from dashboard.cli import main
from dashboard.services.calibration import PHONE_WINDOWS, phone_form, phone_profile_id, start
from dashboard.services.profiles import load_profile
from dashboard.services.runs import RunFilter, get_run, list_runs, load_record
from dashboard.services.workspace import open_workspace
from device_bridge.sessions import RunnerCommand, find_sessions
from device_bridge.setup.provision import Provision
from device_bridge.stay_awake import SETTING

ROOT = Path(__file__).parents[2]
RUNNER = RunnerCommand(
    [sys.executable, "-m", "as2d_core.runner"], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
)
DEADLINE_S = 150.0


@pytest.fixture
def phone(own_adb, tmp_path, data_folder, monkeypatch):
    """A phone. It runs the Python of this computer, so that no emulator slows it down."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path / "phones")
    rig = phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix])
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    monkeypatch.setattr(Provision, "runner", lambda _: RUNNER)
    yield rig
    phones.close()


def unplug_in(phone, workspace, method, seconds=1.5):
    """Pull the plug in the middle of a run of this method; tells afterwards whether it came to that."""
    pulled = threading.Event()

    def pull():
        def decoding():
            for job in workspace.jobs.jobs():
                for run in job.runs:
                    record = run.record() if run.request.method == method and not run.ended else None
                    if record is not None and (record.rounds or record.samples):
                        return True
            return False

        wait_for(decoding)
        phone.fault("drop", s=seconds)
        pulled.set()

    thread = threading.Thread(target=pull, daemon=True)
    thread.start()
    return pulled


def run_cli(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.models
def test_a_profile_and_a_request_on_a_phone_survive_a_pulled_plug_and_are_marked_virtual(phone, capsys):
    workspace = open_workspace()
    quick = Gates(rest_s=0.0, checks=1)
    form = phone_form(phone.own_serial)
    form = replace(form, repetitions=1, windows=("clean_00",), offsets_tokens=(0,), max_width=3, gates=quick)
    pulled = unplug_in(phone, workspace, "calibrate")
    calibration = start(workspace, form)
    assert calibration.over.wait(DEADLINE_S)
    assert (calibration.problem, calibration.share) == (None, 1.0)
    assert pulled.is_set()
    profile = load_profile(workspace.folders, phone_profile_id(phone.own_serial))
    assert set(profile.verify_idle_ms) == {1, 2, 3}
    assert profile.name.endswith("(virtual)")
    (row,) = list_runs(workspace, RunFilter(methods=("calibrate",)))  # one run: it went on through the break
    assert row.virtual
    samples = [s for s in load_record(workspace, row.run_id).samples if s.name == "verify" and s.origin == "sweep"]
    cells = [(s.width, s.offset_tokens, s.running, s.warm_up) for s in samples]
    assert len(cells) == len(set(cells)) == 3 * 2 * 2

    phone.wait_ready()  # when the plug was pulled late, the profile was over before the phone was back
    pulled = unplug_in(phone, workspace, "sd")
    setting = ("--window", "clean_00", "--method", "sd", "--width", "2", "--drafter-pace", "80")
    code, answer = run_cli(capsys, "phone", "run", "--phone", phone.own_serial, *setting)
    assert (code, answer.get("status"), answer.get("error")) == (0, "eos", None)
    assert pulled.wait(DEADLINE_S)
    phone.wait_ready()
    assert answer["text"] == demo_window("clean_00").reference
    assert answer["matches_target_only"] is True
    assert answer["virtual"] is True
    workspace = open_workspace()
    record = load_record(workspace, answer["run_id"])
    assert [r.index for r in record.rounds] == list(range(len(record.rounds)))
    assert len(record.tokens) == answer["committed_tokens"]
    assert get_run(workspace, answer["run_id"]).problems == ()
    code, shown = run_cli(capsys, "show", answer["run_id"])
    assert shown["energy"]["joules"] > 0
    assert "made-up" in shown["energy"]["sentence"]
    assert phone.phone.run(["settings", "get", "global", SETTING]).text.strip() == "null"
    assert find_sessions(phone.phone) == []


@pytest.mark.soak
@pytest.mark.models
@pytest.mark.timeout(900)
def test_a_whole_profile_by_the_command_gives_every_width_and_replay_takes_it(phone, capsys):
    assert PHONE_WINDOWS == ("long_00",)
    code, answer = run_cli(capsys, "phone", "profile", "--phone", phone.own_serial, "--repetitions", "1", "--rest", "0")
    assert (code, answer["status"]) == (0, "done")
    assert set(map(int, answer["verify_idle_ms"])) == set(range(1, 17))
    assert answer["device"].endswith("(virtual)")
    code, budgets = run_cli(capsys, "budgets", "--profile", answer["profile"], "--corpus", "demo")
    assert code == 0
    assert budgets
