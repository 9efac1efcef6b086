"""Faults of a phone's storage during a run: the right sentence, what came is kept, and the next run works."""

import sys
import time
from pathlib import Path

import pytest

from as2d_core.protocol import read_run
from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.devices import Limits
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.plan import new_id
from device_bridge.sessions import RunnerCommand, find_sessions
from device_bridge.setup.layout import PHONE_ROOT

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parent / "fake_runner.py"
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
LIMITS = Limits(silence_s=12.0, request_s=180.0, cancel_s=1.0, terminate_s=1.0, idle_s=60.0, away_s=60.0)
STOP = f"{PHONE_ROOT}/stop"
DEADLINE_S = 90.0


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    """One phone whose storage has 32 MB; each test takes back what it did to it."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("storage"))
    yield phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix], storage_mb=32)
    phones.close()


@pytest.fixture
def phone(rig):
    if rig.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {rig.reason}")
    rig.wait_ready().run(["rm", "-f", STOP])
    yield rig
    for fault in ("disk-free", "remount"):
        rig.fault(fault)


@pytest.fixture
def manager(tmp_path, phone):
    made = JobManager(tmp_path / "incoming", [PhoneDevice(phone.phone, "K70", lambda: RUNNER, limits=LIMITS)])
    yield made
    for job in made.jobs():
        job.cancel()
        job.wait(DEADLINE_S)
    made.close()


def ask(what):
    return Request(new_id(), "target-only", ModelRef("t"), AudioRef("a.wav"), instruction=what)


def wait_for(condition):
    ends = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def started(manager, phone, what=f"until {STOP}"):
    job = manager.submit(phone.phone.id, [ask(what)])
    wait_for(lambda: len(record.rounds if (record := job.runs[0].record()) else ()) > 3)
    return job


def finished(job):
    assert job.wait(DEADLINE_S)
    return job


def assert_the_next_run_works(manager, phone):
    job = finished(manager.submit(phone.phone.id, [ask("ok")]))
    assert (job.error, job.state) == (None, "done")


def test_a_phone_whose_storage_fills_up_ends_the_run_with_a_sentence_and_keeps_what_came(manager, phone):
    job = started(manager, phone)
    phone.fault("disk-full")
    finished(job)
    record = read_run(job.runs[0].path)
    assert "storage is full (No space left on device)" in job.error
    assert record.status == "incomplete"
    assert [r.index for r in record.rounds] == list(range(len(record.rounds)))
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)
    assert [s for s in find_sessions(phone.phone) if not s.alive] == []


def test_a_phone_whose_storage_is_full_takes_no_run_and_says_so(manager, phone):
    phone.fault("disk-full")
    job = finished(manager.submit(phone.phone.id, [ask("ok")]))
    assert "No space left on device" in job.error
    assert not job.runs[0].path.exists()
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)


@pytest.mark.soak
def test_a_warm_runner_on_a_full_phone_says_so_too(manager, phone):
    assert_the_next_run_works(manager, phone)
    phone.fault("disk-full")
    job = finished(manager.submit(phone.phone.id, [ask("ok")]))
    assert "No space left on device" in job.error
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)


def test_a_phone_whose_storage_is_read_only_takes_no_run_and_says_so(manager, phone):
    phone.fault("read-only")
    job = finished(manager.submit(phone.phone.id, [ask("ok")]))
    assert "Read-only file system" in job.error
    phone.fault("remount")
    assert_the_next_run_works(manager, phone)


def test_a_run_that_goes_on_when_its_place_becomes_noexec_ends_whole(manager, phone):
    job = started(manager, phone)
    phone.fault("noexec")
    phone.phone.run(["touch", STOP])
    finished(job)
    assert (job.error, read_run(job.runs[0].path).status) == (None, "eos")
    phone.fault("remount")
