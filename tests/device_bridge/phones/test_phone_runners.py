"""Runners on a phone that fall over, sulk, flood or read odd names: every run ends whole, or with its reason."""

import json
import re

import pytest
from patience import wait_for
from phone_rigs import IMPATIENT, RUNNER, STOP, ask, assert_whole, finish, rounds

from as2d_core.request import AudioRef
from device_bridge.adb.transfer import push_file
from device_bridge.devices import Limits
from device_bridge.sessions import RunnerCommand, find_sessions
from device_bridge.setup.layout import PHONE_ROOT


@pytest.mark.parametrize("what", ["stubborn", "unhearing"])
def test_a_runner_that_does_not_follow_is_ended_with_all_it_started(make_manager, rig, what):
    def children():
        return rig.phone.script("grep -al '[t]ime.sleep(600)' /proc/[0-9]*/cmdline", check=False).text.split()

    job = make_manager(rig, limits=IMPATIENT).submit(rig.phone.id, [ask(what)])
    wait_for(lambda: job.runs[0].started)
    if what == "stubborn":
        wait_for(children)
    job.cancel()
    finish(job)
    assert job.state == "cancelled"
    if rig.isolation == "namespaces":  # else one sees what runs beside
        wait_for(lambda: not children())


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
    finish(job)
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
    job = finish(manager.submit(rig.phone.id, [ask("deaf")]))
    assert "said nothing for 0.7 s" in job.error
    assert find_sessions(rig.phone) == []


@pytest.mark.parametrize("what", ["flood 20000", pytest.param("flood 100000", marks=pytest.mark.soak)])
def test_a_stream_of_many_megabytes_arrives_whole(manager, rig, what):
    job = manager.submit(rig.phone.id, [ask(what)])
    wait_for(lambda: job.runs[0].lines > 2000)
    rig.fault("drop", s=0.05)
    assert job.wait(300)
    assert_whole(job)
    assert job.runs[0].path.stat().st_size > 20_000_000


@pytest.mark.soak
def test_a_hundred_megabytes_of_trash_do_not_hide_the_run(manager, rig):
    job = manager.submit(rig.phone.id, [ask("trash 100000")])
    assert job.wait(300)
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
