"""Runs on a phone: nothing is lost and nothing is there twice, whatever happens to the connection or to us."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from as2d_core.protocol import read_run
from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.adb import AdbPhone  # noqa: F401 - for the program below
from device_bridge.adb.transfer import push_file
from device_bridge.devices import Limits
from device_bridge.errors import DeviceBusyError, PhoneBusyError
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.plan import new_id
from device_bridge.sessions import RunnerCommand, Session, end_session, find_sessions
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.stay_awake import SETTING

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parent / "fake_runner.py"
VISIBLE = [ROOT, sys.prefix, sys.base_prefix]
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
LIMITS = Limits(silence_s=30.0, request_s=60.0, cancel_s=0.5, terminate_s=0.5, idle_s=60.0, away_s=20.0)
STOP = f"{PHONE_ROOT}/stop"


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    """One phone that can run Python, for the tests of this file that leave nothing running."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("runners"))
    yield phones("k70", visible=VISIBLE)
    phones.close()


@pytest.fixture
def make_manager(tmp_path):
    made = []

    def build(*phones, limits=LIMITS, folder="incoming", taken=None, runner=RUNNER):
        devices = [PhoneDevice(phone.phone, phone.preset.name, lambda: runner, limits=limits) for phone in phones]
        made.append(JobManager(tmp_path / folder, devices, (taken if taken is not None else []).append))
        return made[-1]

    yield build
    for manager in made:
        for job in manager.jobs():
            job.cancel()
            job.wait(60)
        manager.close()


@pytest.fixture
def manager(make_manager, rig):
    rig.wait_ready().run(["rm", "-f", STOP])
    return make_manager(rig)


def ask(what, **fields):
    fields.setdefault("audio", AudioRef("a.wav"))
    return Request(fields.pop("run_id", None) or new_id(), "target-only", ModelRef("t"), instruction=what, **fields)


def finish(job, timeout_s=60):
    assert job.wait(timeout_s)
    return job


def wait_for(condition, timeout_s=60.0):
    ends = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def rounds(job):
    record = job.runs[0].record()
    return 0 if record is None else len(record.rounds)


def assert_whole(job):
    """The end line holds the count and the hash of all lines before it, so nothing is missing, double or changed."""
    for run in job.runs:
        assert run.error is None
        assert run.state == "done"
        record = read_run(run.path)
        assert (record.status, record.problems, run.stray_lines) == ("eos", [], 0)


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
        time.sleep(0.3)
        assert "out of reach" in job.stage
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
    finish(job, 10)
    assert (job.state, job.runs[0].record().status, job.runs[1].state) == ("cancelled", "cancelled", "skipped")


@pytest.mark.parametrize("what", ["stubborn", "unhearing"])
def test_a_runner_that_does_not_follow_is_ended_with_all_it_started(manager, rig, what):
    job = manager.submit(rig.phone.id, [ask(what)])
    wait_for(lambda: job.runs[0].started)
    job.cancel()
    finish(job, 15)
    assert job.state == "cancelled"
    left = rig.phone.script("ps -e -o args | grep -c '[t]ime.sleep(60)'", check=False).text.strip()
    assert left == "0" or rig.isolation != "namespaces"


def test_a_run_cancelled_while_the_phone_is_away_says_what_is_left_there(manager, rig):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    rig.fault("drop")
    wait_for(lambda: "out of reach" in job.stage)
    job.cancel()
    finish(job, 15)
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
    finish(job, 15)
    assert "has been out of reach" in job.error
    assert job.runs[0].record().rounds
    rig.fault("plug")
    (orphan,) = find_sessions(rig.wait_ready())
    end_session(rig.phone, orphan.id)


PROGRAM = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_phones as t
from device_bridge.adb.servers import parse_server
device = t.PhoneDevice(t.AdbPhone(parse_server(sys.argv[2]), sys.argv[3]), "Phone", lambda: t.RUNNER)
manager = t.JobManager(Path(sys.argv[4]), [device])
job = manager.submit(device.id, [t.ask("until " + t.STOP, run_id="r1"), t.ask("ok", run_id="r2")], "left over")
t.wait_for(lambda: t.rounds(job) > 3)
print("running", flush=True)
if sys.argv[5] == "leave":
    manager.close()
    print(job.state, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["leave", "killed"])
def test_a_later_program_follows_the_run_of_an_earlier_one(make_manager, rig, tmp_path, how):
    rig.wait_ready().run(["rm", "-f", STOP])
    arguments = [str(Path(__file__).parent), str(rig.server), rig.serial, str(tmp_path / "incoming"), how]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout.readline() == "running\n"
        if how == "leave":
            assert program.stdout.readline() == "left\n"
        program.send_signal(signal.SIGKILL)
        program.wait(60)
    time.sleep(0.1)  # nobody reads, and the run goes on
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
    stranger.start(RunnerCommand(["sleep", "60"]), {"host": "another computer", "pid": "1", "title": "x"})
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
    gone.wait(60)
    Session(rig.phone, "forgotten").start(RUNNER, {"host": socket.gethostname(), "pid": str(gone.pid)})
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))
    assert "forgotten" not in {session.id for session in find_sessions(rig.phone)}


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("die", "memory ran out"),
        ("half", "exit code 3.*about to fall over"),
        ("endless", "a line of more than"),
    ],
)
def test_a_runner_that_falls_over_ends_the_run_with_its_reason(manager, rig, what, words):
    job = finish(manager.submit(rig.phone.id, [ask(what)]))
    assert job.state == "failed"
    assert re.search(words, job.error)
    assert_whole(finish(manager.submit(rig.phone.id, [ask("ok")])))


def test_memory_that_runs_out_on_the_phone_is_said(manager, rig):
    job = manager.submit(rig.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    rig.fault("low-memory-kill")
    finish(job, 15)
    assert "memory ran out" in job.error
    assert job.runs[0].record().status == "incomplete"


def test_garbage_before_and_between_lines_is_kept_apart(manager, rig):
    job = finish(manager.submit(rig.phone.id, [ask("stray"), ask("garbage")]))
    assert job.runs[0].state == "done"
    assert job.runs[0].stray_lines == 1
    assert "damaged" in job.runs[1].error


def test_a_runner_that_is_not_there_or_sulks_says_so(make_manager, rig):
    missing = make_manager(rig, runner=RunnerCommand([f"{PHONE_ROOT}/no such runner"]))
    job = finish(missing.submit(rig.phone.id, [ask("ok")]))
    assert "ended before it said anything" in job.error
    assert "was not found" in job.error
    sulking = make_manager(rig, folder="second", runner=RunnerCommand([*RUNNER.argv, "--sulk"], RUNNER.env))
    job = finish(sulking.submit(rig.phone.id, [ask("ok")]))
    assert "no module named everything" in job.error


def test_a_runner_that_never_speaks_is_given_up(make_manager, rig):
    manager = make_manager(rig, limits=Limits(silence_s=0.7))
    job = finish(manager.submit(rig.phone.id, [ask("deaf")]), 20)
    assert "said nothing for 0.7 s" in job.error
    assert find_sessions(rig.phone) == []


def test_a_phone_that_starts_anew_ends_the_run(start_phone, make_manager):
    phone = start_phone(visible=VISIBLE)
    manager = make_manager(phone)
    job = manager.submit(phone.phone.id, [ask(f"until {STOP}")])
    wait_for(lambda: rounds(job) > 3)
    phone.fault("reboot", s=0.2)
    finish(job, 40)
    assert "does not run any more" in job.error
    assert job.runs[0].record().rounds


@pytest.mark.parametrize(
    ("what", "timeout_s"), [("flood 20000", 60), pytest.param("flood 100000", 300, marks=pytest.mark.soak)]
)
def test_a_stream_of_many_megabytes_arrives_whole(manager, rig, what, timeout_s):
    job = manager.submit(rig.phone.id, [ask(what)])
    wait_for(lambda: job.runs[0].lines > 2000)
    rig.fault("drop", s=0.05)
    assert_whole(finish(job, timeout_s))
    assert job.runs[0].path.stat().st_size > 20_000_000


@pytest.mark.soak
def test_a_hundred_megabytes_of_trash_do_not_hide_the_run(manager, rig):
    job = finish(manager.submit(rig.phone.id, [ask("trash 100000")]), 300)
    assert "damaged" in job.runs[0].error


HOSTILE = ["a$(touch x).wav", "b '\"`.wav", "-rf", "zwei\nZeilen", "录音.wav"]


@pytest.mark.parametrize("name", HOSTILE)
def test_an_audio_file_of_any_name_is_the_one_the_runner_opens(manager, rig, tmp_path, name):
    (tmp_path / "sound").write_text(f"content of {name}", encoding="utf-8")
    push_file(rig.phone, tmp_path / "sound", f"{PHONE_ROOT}/inbox/{name}")
    audio = AudioRef(f"{PHONE_ROOT}/inbox/{name}")
    job = finish(manager.submit(rig.phone.id, [ask("open", audio=audio)]))
    assert_whole(job)
    bodies = [json.loads(line) for line in job.runs[0].path.read_text("utf-8").splitlines()]
    assert [body["content"] for body in bodies if body["kind"] == "open"] == [f"content of {name}"]


def test_without_namespaces_runs_work_as_well(start_phone, make_manager, tmp_path):
    phone = start_phone(isolation="mapped")
    (tmp_path / "sound").write_text("content")
    push_file(phone.phone, tmp_path / "sound", f"{PHONE_ROOT}/inbox/a b.wav")
    manager = make_manager(phone)
    job = finish(manager.submit(phone.phone.id, [ask("open", audio=AudioRef(f"{PHONE_ROOT}/inbox/a b.wav"))]))
    assert_whole(job)


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
    began = time.monotonic()
    manager.close()
    assert time.monotonic() - began < 30
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
