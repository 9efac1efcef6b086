"""A job on a phone is cancelled at each of its stages: it ends soon, says so, and leaves nothing at work there."""

import os
import threading
import time
import wave

import pytest
from patience import PATIENCE_S, wait_for
from phone_rigs import IMPATIENT, LIMITS, RUNNER, VISIBLE

from as2d_core.models.demo_catalog import TARGET
from as2d_core.protocol import read_run
from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.bundle import build
from device_bridge.devices import Limits
from device_bridge.errors import TransferStoppedError
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.plan import new_id
from device_bridge.sessions import find_sessions
from device_bridge.setup import setup
from device_bridge.setup.deploy import Placed
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.setup.provision import Provision

SLOW = 1_500_000


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("cancelled"))
    yield phones("k70", visible=VISIBLE)
    phones.close()


@pytest.fixture
def phone(rig):
    rig.wait_ready().script('rm -rf "$1"', PHONE_ROOT)
    yield rig
    rig.fault("slow", bytes_per_s=0)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """A runner that is a large file."""
    folder = tmp_path_factory.mktemp("runtime")
    (folder / "bin").mkdir()
    (folder / "bin/python").write_bytes(os.urandom(20_000_000))
    cache = tmp_path_factory.mktemp("bundles")
    package = build._keep(folder, cache, {"python": "here", "mnn": "here"}, tried=False, say=lambda _: None)
    build._write(cache / build.CURRENT, {"id": package.id, "recipe": build._recipe()})
    return cache


@pytest.fixture
def provision(phone, bundles):
    """Places models, audio and the runner."""
    return Provision(phone.phone, bundles)


@pytest.fixture
def start(phone, tmp_path):
    """Starts a job over a phone whose link is slow from the beginning, or not."""
    managers = []

    def begin(request, *, runner=lambda: RUNNER, prepare=None, slow=False, limits=IMPATIENT):
        device = PhoneDevice(phone.phone, "K70", runner, prepare or (lambda asked, _: asked), limits)
        manager = JobManager(tmp_path / "incoming", [device])
        managers.append(manager)
        if slow:
            phone.fault("slow", bytes_per_s=SLOW)
        return manager.submit(phone.phone.id, [request])

    yield begin
    for manager in managers:
        for job in manager.jobs():
            job.cancel()
            job.wait(PATIENCE_S)
        manager.close()


def ask(what="ok", **fields):
    fields.setdefault("audio", AudioRef("/data/a.wav"))
    fields.setdefault("target", ModelRef("/data/t"))
    return Request(new_id(), "target-only", instruction=what, **fields)


def assert_cancelled_soon(job, phone):
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert job.state == "cancelled"
    assert [run.state for run in job.runs] in (["cancelled"], ["skipped"])
    phone.fault("slow", bytes_per_s=0)
    assert [session for session in find_sessions(phone.wait_ready()) if session.busy] == []


def on_its_way(phone, where):
    """Whether bytes of a transfer have arrived in a folder of ours."""
    return phone.phone.script('find "$1" -name "*.part*" -size +0 2> /dev/null | head -1', f"{PHONE_ROOT}/{where}").text


def test_before_anything_was_done(start, phone):
    job = start(ask("slow 100000"))
    assert_cancelled_soon(job, phone)


def test_while_a_model_is_sent(start, phone, provision):
    job = start(ask(target=ModelRef(str(TARGET))), prepare=provision.prepare, slow=True)
    wait_for(lambda: on_its_way(phone, "models"))
    assert_cancelled_soon(job, phone)
    assert "stopped" in job.runs[0].error
    assert not job.runs[0].path.exists()


def test_while_audio_is_sent(start, phone, provision, tmp_path):
    sound = tmp_path / "a$(touch x) 'b'.wav"
    with wave.open(str(sound), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(range(256)) * 60_000)
    job = start(ask(audio=AudioRef(str(sound))), prepare=provision.prepare, slow=True)
    wait_for(lambda: on_its_way(phone, "audio"))
    assert_cancelled_soon(job, phone)
    assert "stopped" in job.runs[0].error


def test_while_the_runner_itself_is_sent(start, phone, provision):
    job = start(ask(), runner=provision.runner, prepare=provision.prepare, slow=True)
    wait_for(lambda: on_its_way(phone, "inbox"))
    assert_cancelled_soon(job, phone)
    assert "stopped" in job.runs[0].error


def test_while_the_runner_is_built_here(start, phone, monkeypatch, tmp_path):
    begun = threading.Event()

    def slow_build(cache, *, say, **_):
        begun.set()
        for number in range(600):
            say(f"Fetching package {number}")
            time.sleep(0.2)

    monkeypatch.setattr("device_bridge.setup.provision.build_runtime", slow_build)
    empty = Provision(phone.phone, tmp_path / "none")
    job = start(ask(), runner=empty.runner, prepare=empty.prepare)
    assert begun.wait(PATIENCE_S)
    assert_cancelled_soon(job, phone)


def test_while_the_runner_starts_and_says_nothing(start, phone):
    job = start(ask("deaf"))
    wait_for(lambda: find_sessions(phone.phone))
    assert_cancelled_soon(job, phone)
    wait_for(lambda: find_sessions(phone.phone) == [])


def test_while_it_decodes(start, phone):
    job = start(ask("slow 100000"), limits=LIMITS)
    wait_for(lambda: (record := job.runs[0].record()) is not None and record.rounds)
    assert_cancelled_soon(job, phone)
    assert read_run(job.runs[0].path).status == "cancelled"


def test_while_lines_of_a_run_that_has_ended_are_still_on_their_way(start, phone):
    job = start(ask("flood 60000"), slow=True)
    wait_for(lambda: job.runs[0].lines > 20)
    wait_for(lambda: not any(session.busy for session in find_sessions(phone.phone)))
    assert_cancelled_soon(job, phone)
    record = read_run(job.runs[0].path)
    assert record.status == "incomplete"
    assert "on their way" in job.runs[0].error


def test_while_the_phone_is_away(start, phone):
    job = start(ask("slow 100000"))
    wait_for(lambda: (record := job.runs[0].record()) is not None and record.rounds)
    phone.fault("drop")
    wait_for(lambda: "out of reach" in job.stage)
    job.cancel()
    assert job.wait(PATIENCE_S)
    phone.fault("plug")
    assert (job.state, job.runs[0].record().status) == ("cancelled", "incomplete")


def test_a_run_that_is_asked_for_while_the_phone_is_away_begins_when_it_is_back(start, phone):
    phone.fault("drop")
    job = start(ask("ok"))
    wait_for(lambda: "the run begins when it is back" in job.stage)
    phone.fault("plug")
    assert job.wait(PATIENCE_S)
    assert (job.error, job.state) == (None, "done")


def test_a_run_that_waits_for_a_phone_can_be_cancelled_and_does_not_wait_for_ever(start, phone):
    phone.fault("drop")
    job = start(ask("ok"))
    wait_for(lambda: "out of reach" in job.stage)
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert job.state == "cancelled"
    job = start(ask("ok"), limits=Limits(away_s=0.5))
    assert job.wait(PATIENCE_S)
    phone.fault("plug")
    assert (job.state, job.runs[0].path.exists()) == ("failed", False)
    assert "has been out of reach for" in job.error
    assert "Connect it and try again." in job.error


@pytest.mark.parametrize("silent", ["--describe", "as2d_core.models.probe"])
def test_while_setting_up_waits_for_a_program_there_that_says_nothing(phone, tmp_path, monkeypatch, silent):
    for folder in ("bundles", "runtime/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "runtime/bin/python").write_text(
        f"""#!/bin/sh
case "$*" in *{silent}*) echo $$ > "$TMPDIR/waits"; exec sleep 600;; esac
echo '{{"runner": "python", "versions": {{}}, "backends": ["cpu"], "methods": []}}'
"""
    )
    cache, stop, ended = tmp_path / "bundles", threading.Event(), []
    package = build._keep(tmp_path / "runtime", cache, {"python": "here"}, tried=False, say=lambda _: None)
    build._write(cache / build.CURRENT, {"id": package.id, "recipe": build._recipe()})
    monkeypatch.setattr(setup, "place_model", lambda *_, **__: Placed("/data/local/tmp/model", 0, 0))

    def set_up():
        with pytest.raises(TransferStoppedError):
            setup.set_up(phone.phone, cache, [TARGET], cancel=stop)
        ended.append(True)

    thread = threading.Thread(target=set_up)
    thread.start()
    waits = f"{PHONE_ROOT}/waits"
    wait_for(lambda: phone.phone.run(["cat", waits], check=False).out or not thread.is_alive())
    stop.set()
    thread.join(PATIENCE_S)
    assert ended
    wait_for(lambda: phone.phone.script('kill -0 "$(cat "$1")"', waits, check=False).code)
