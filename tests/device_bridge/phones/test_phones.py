"""Runs on a phone: nothing is lost and nothing is there twice, whatever happens to the connection or to us."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE_S, wait_for
from phone_rigs import IMPATIENT, ROOT, RUNNER, STOP, VISIBLE, ask, assert_whole, finish, rounds

from device_bridge.devices import Limits
from device_bridge.errors import DeviceBusyError, PhoneBusyError
from device_bridge.sessions import RunnerCommand, Session, end_session, find_sessions
from device_bridge.stay_awake import SETTING


def test_a_run_ends_and_its_runner_stays_for_the_next(manager, rig):
    first = finish(manager.submit(rig.phone.id, [ask("ok"), ask("ok 5")]))
    assert_whole(first)
    session = manager.device(rig.phone.id).session_id
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))
    assert manager.device(rig.phone.id).session_id == session
    manager.device(rig.phone.id).close()
    assert find_sessions(rig.phone) == []


def unplug_again_and_again(phone, job, times):
    for number in range(times):
        before = rounds(job)
        phone.fault("drop", s=0.0)
        wait_for(lambda before=before: rounds(job) > before)
        time.sleep(0.001 * (number % 7))  # at another moment each time


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_many_unplugs_in_one_run_lose_no_event_and_repeat_none(manager, rig, times):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 5)
    unplug_again_and_again(rig, job, times)
    rig.wait_ready().run(["touch", STOP])
    assert_whole(finish(job))
    assert rounds(job) > 100


@pytest.mark.parametrize("fault", ["adbd-restart", "freeze", "server", "slow", "unauthorized", "offline"])
def test_a_run_survives(manager, rig, own_adb, fault):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    seen = rounds(job)
    if fault == "server":
        own_adb.stop()
        wait_for(lambda: "out of reach" in job.stage)
        own_adb.start()
    elif fault in {"unauthorized", "offline"}:
        rig.fault(fault)
        wait_for(lambda: "out of reach" in job.stage)
        rig.fault({"unauthorized": "authorize", "offline": "online"}[fault])
    elif fault == "slow":
        rig.fault("slow", bytes_per_s=300_000)
    else:
        rig.fault(fault, s=0.3)
    wait_for(lambda: rounds(job) > seen + 20)
    rig.fault("slow", bytes_per_s=0)
    rig.wait_ready().run(["touch", STOP])
    assert_whole(finish(job))


def test_two_phones_run_side_by_side_and_each_one_job_at_a_time(make_manager, rig, start_phone):
    other = start_phone("note9", visible=VISIBLE)
    rig.phone.run(["rm", "-f", STOP])
    manager = make_manager(rig, other)
    jobs = [manager.submit(phone.phone.id, [ask(f"until {STOP}")]) for phone in (rig, other)]
    for job in jobs:
        wait_for(lambda job=job: rounds(job) > 3)
    with pytest.raises(DeviceBusyError):
        manager.submit(other.phone.id, [ask("ok")])
    rig.fault("drop", s=0.3)
    for phone in (rig, other):
        phone.wait_ready().run(["touch", STOP])
    for job in jobs:
        assert_whole(finish(job))


def test_a_cancel_ends_the_run_at_its_next_round(manager, rig):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}"), ask("ok")])
    wait_for(lambda: rounds(job) > 3)
    job.cancel()
    finish(job)
    assert (job.state, job.runs[0].record().status, job.runs[1].state) == ("cancelled", "cancelled", "skipped")


def test_a_run_cancelled_while_the_phone_is_away_says_what_is_left_there(make_manager, rig):
    rig.wait_ready().run(["rm", "-f", STOP])
    job = make_manager(rig, limits=IMPATIENT).submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    rig.fault("drop")
    wait_for(lambda: "out of reach" in job.stage)
    job.cancel()
    finish(job)
    assert "as2d phone cancel" in job.runs[0].error
    rig.fault("plug")
    (orphan,) = find_sessions(rig.wait_ready())
    assert orphan.alive
    assert orphan.busy
    end_session(rig.phone, orphan.id)
    assert find_sessions(rig.phone) == []


def test_a_phone_that_stays_away_ends_the_run_with_a_sentence(make_manager, rig):
    rig.wait_ready().run(["rm", "-f", STOP])
    manager = make_manager(rig, limits=Limits(away_s=0.5))
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    rig.fault("drop")
    finish(job)
    assert "has been out of reach" in job.error
    assert job.runs[0].record().rounds
    rig.fault("plug")
    (orphan,) = find_sessions(rig.wait_ready())
    end_session(rig.phone, orphan.id)


PROGRAM = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import phone_rigs as t
from device_bridge.adb import AdbPhone
from device_bridge.adb.servers import parse_server
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from patience import wait_for
device = PhoneDevice(AdbPhone(parse_server(sys.argv[2]), sys.argv[3]), "Phone", lambda: t.RUNNER)
manager = JobManager(Path(sys.argv[4]), [device])
job = manager.submit(device.id, [t.ask("until " + t.STOP, run_id="r1"), t.ask("ok", run_id="r2")], "left over")
wait_for(lambda: t.rounds(job) > 3)
print("running", flush=True)
if sys.argv[5] == "leave":
    manager.close()
    print(job.state, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["leave", "killed"])
def test_a_later_program_follows_the_run_of_an_earlier_one(make_manager, rig, tmp_path, how):
    rig.wait_ready().run(["rm", "-f", STOP])
    arguments = [str(Path(__file__).parents[1]), str(rig.server), rig.serial, str(tmp_path / "incoming"), how]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout.readline() == "running\n"
        if how == "leave":
            assert program.stdout.readline() == "left\n"
        program.send_signal(signal.SIGKILL)
        program.wait(PATIENCE_S)
    manager = make_manager(rig)
    (left,) = manager.left_jobs()
    assert (left.title, [request.run_id for request in left.remaining]) == ("left over", ["r1", "r2"])
    job = manager.resume(left)
    wait_for(lambda: rounds(job) > 3)
    rig.phone.run(["touch", STOP])
    assert_whole(finish(job))
    assert manager.left_jobs() == []


def test_a_session_of_somebody_else_is_in_the_way_until_it_is_ended(manager, rig):
    stranger = Session(rig.phone, "stranger")
    stranger.start(RunnerCommand(["sleep", "600"]), {"host": "another computer", "pid": "1", "title": "x"})
    (found,) = find_sessions(rig.phone)
    assert (found.id, found.alive, found.about["host"]) == ("stranger", True, "another computer")
    job = finish(manager.submit(rig.phone.id, [ask("ok")]))
    assert "session stranger" in job.error
    with pytest.raises(PhoneBusyError):
        Session(rig.phone, "third").start(RunnerCommand(["true"]))
    end_session(rig.phone, "stranger")
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))


def test_a_session_that_waits_for_a_program_that_is_gone_makes_room(manager, rig):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(PATIENCE_S)
    Session(rig.phone, "forgotten").start(RUNNER, {"host": socket.gethostname(), "pid": str(gone.pid)})
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))
    assert "forgotten" not in {session.id for session in find_sessions(rig.phone)}


def test_a_phone_that_starts_anew_ends_the_run(start_phone, make_manager):
    phone = start_phone(visible=VISIBLE)
    manager = make_manager(phone)
    job = manager.submit(phone.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    phone.fault("reboot", s=0.2)
    finish(job)
    assert "does not run any more" in job.error
    assert job.runs[0].record().rounds


def test_models_are_let_go_when_nothing_follows(make_manager, rig):
    manager = make_manager(rig, limits=Limits(idle_s=0.2))
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))
    wait_for(lambda: find_sessions(rig.phone) == [])


def test_a_job_that_cannot_be_written_down_runs_all_the_same(manager, rig, monkeypatch):
    def refuse(_):
        raise OSError("read-only")

    monkeypatch.setattr(manager._ledger, "write", refuse)
    job = finish(manager.submit(rig.phone.id, [ask("ok")]))
    assert job.state == "done"
    assert "cannot be picked up after a restart" in job.warnings[0]


def test_closing_waits_for_nobody_who_reads(manager, rig):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    manager.close()  # the run itself would never end
    assert job.state == "left"
    (session,) = find_sessions(rig.phone)
    end_session(rig.phone, session.id)


def test_a_phone_is_kept_awake_while_a_job_runs_on_it_and_gets_its_setting_back_at_the_end(manager, rig):
    phone = rig.phone
    job = manager.submit(phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: stay_on(phone) == "7")
    phone.run(["touch", STOP])
    finish(job)
    assert job.runs[0].error is None
    assert stay_on(phone) == "null"


def stay_on(phone):
    return phone.run(["settings", "get", "global", SETTING]).text.strip()
