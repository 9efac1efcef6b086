"""Faults of a phone's storage during a run: the right sentence, what came is kept, and the next run works."""

import pytest
from patience import PATIENCE_S, wait_for
from phone_rigs import LIMITS, RUNNER, STOP, VISIBLE, ask, finish

from as2d_core.protocol import read_run
from device_bridge import following
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.sessions import find_sessions


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    """One phone whose storage has 32 MB; each test takes back what it did to it."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("storage"))
    yield phones("k70", visible=VISIBLE, storage_mb=32)
    phones.close()


@pytest.fixture
def phone(rig, monkeypatch):
    monkeypatch.setattr(following, "PROBE_S", 2.0)  # a runner on a full phone cannot say that it has ended
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
        job.wait(PATIENCE_S)
    made.close()


def started(manager, phone, what=f"until {STOP}"):
    job = manager.submit(phone.phone.id, [ask(what)])
    wait_for(lambda: len(record.rounds if (record := job.runs[0].record()) else ()) > 3)
    return job


def assert_the_next_run_works(manager, phone):
    job = finish(manager.submit(phone.phone.id, [ask("ok")]))
    assert (job.error, job.state) == (None, "done")


def test_a_phone_whose_storage_fills_up_ends_the_run_with_a_sentence_and_keeps_what_came(manager, phone):
    job = started(manager, phone)
    phone.fault("disk-full")
    finish(job)
    record = read_run(job.runs[0].path)
    assert "storage is full (No space left on device)" in job.error
    assert record.status == "incomplete"
    assert [r.index for r in record.rounds] == list(range(len(record.rounds)))
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)
    assert [s for s in find_sessions(phone.phone) if not s.alive] == []


def test_a_phone_whose_storage_is_full_takes_no_run_and_says_so(manager, phone):
    phone.fault("disk-full")
    job = finish(manager.submit(phone.phone.id, [ask("ok")]))
    assert "No space left on device" in job.error
    assert not job.runs[0].path.exists()
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)


@pytest.mark.soak
def test_a_warm_runner_on_a_full_phone_says_so_too(manager, phone):
    assert_the_next_run_works(manager, phone)
    phone.fault("disk-full")
    job = finish(manager.submit(phone.phone.id, [ask("ok")]))
    assert "No space left on device" in job.error
    phone.fault("disk-free")
    assert_the_next_run_works(manager, phone)


def test_a_phone_whose_storage_is_read_only_takes_no_run_and_says_so(manager, phone):
    phone.fault("read-only")
    job = finish(manager.submit(phone.phone.id, [ask("ok")]))
    assert "Read-only file system" in job.error
    phone.fault("remount")
    assert_the_next_run_works(manager, phone)


def test_a_run_that_goes_on_when_its_place_becomes_noexec_ends_whole(manager, phone):
    job = started(manager, phone)
    phone.fault("noexec")
    phone.phone.run(["touch", STOP])
    finish(job)
    assert (job.error, read_run(job.runs[0].path).status) == (None, "eos")
    phone.fault("remount")
