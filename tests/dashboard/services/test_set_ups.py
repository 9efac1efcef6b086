"""Set-ups as work of the process: begun once, followed, cancelled, and their end kept as a sentence."""

import threading
from pathlib import Path

import pytest

from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.services import set_ups
from dashboard.services.set_ups import SetUps, WantedRunner
from datastore.locations import Folders
from device_bridge.adb import AdbServer, KnownPhone
from device_bridge.adb.servers import PhoneEntry
from device_bridge.errors import (
    DeviceBusyError,
    DeviceError,
    JobsClosedError,
    SetUpRunningError,
    TransferStoppedError,
)
from device_bridge.jobs import JobManager
from device_bridge.setup.setup import Transferred

DEADLINE_S = 120


def a_phone(name: str) -> KnownPhone:
    return KnownPhone(name, (PhoneEntry(AdbServer("127.0.0.1", 1), name, "device", {"model": f"Lab_{name}"}),))


ONE, TWO = a_phone("one"), a_phone("two")


class PhoneOfNoOne:
    """A device whose run lasts until it is cancelled."""

    name, outlives, notice = "Lab phone", False, ""

    def __init__(self, device_id: str) -> None:
        self.id, self.closed = device_id, 0

    def run(self, _request, _take, cancel):
        assert cancel.wait(DEADLINE_S)

    def rest(self): ...

    def close(self):
        self.closed += 1


class Work:
    """What setting up does in these tests: it waits until it may end, or is told to."""

    def __init__(self) -> None:
        self.begun, self.finish, self.asked = threading.Event(), threading.Event(), []
        self.said: list[str] = []
        self.error: Exception | None = None

    def __call__(self, _folders, phone, *program, say, cancel):
        self.asked.append((phone.id, *program))
        for sentence in self.said:
            say(sentence)
        self.begun.set()
        while not self.finish.is_set():
            if cancel.wait(0.001):
                raise TransferStoppedError("Setting up the phone was stopped.")
        if self.error is not None:
            raise self.error


@pytest.fixture
def work(monkeypatch):
    found = Work()
    monkeypatch.setattr(set_ups, "set_phone_up", found)
    monkeypatch.setattr(set_ups, "set_native_up", found)
    return found


@pytest.fixture
def device():
    return PhoneOfNoOne(ONE.id)


@pytest.fixture
def jobs(tmp_path, device):
    manager = JobManager(tmp_path / "incoming", [device])
    yield manager
    manager.close()


@pytest.fixture
def known(tmp_path, jobs):
    found = SetUps(Folders(tmp_path), jobs)
    yield found
    found.close()


def a_request() -> Request:
    return Request("r", "target-only", ModelRef("t"), AudioRef("a.wav"))


def ended(known: SetUps, phone: KnownPhone):
    assert known.wait(phone.id, DEADLINE_S)
    return known.of(phone.id)


def test_what_is_done_is_told_with_the_share_of_a_transfer_and_its_end_is_kept_until_dismissed(known, work, device):
    work.said = ["Looking", Transferred("Sending MNN", 5_000_000, 20_000_000)]
    known.start(ONE, WantedRunner())
    assert work.begun.wait(DEADLINE_S)
    now = known.of(ONE.id)
    assert (now.state, now.sentence, now.share) == ("running", "Sending MNN, 5.0 of 20.0 MB", 0.25)
    known.dismiss(ONE.id)
    assert [now.phone_name for now in known.running()] == ["Lab one"]
    work.finish.set()
    now = ended(known, ONE)
    assert (now.state, now.sentence, now.share) == ("done", "Lab one is set up.", None)
    assert device.closed == 1
    known.dismiss(ONE.id)
    assert known.of(ONE.id) is None


def test_a_phone_is_not_set_up_twice_at_once_but_again_afterwards(known, work):
    known.start(ONE, WantedRunner())
    with pytest.raises(SetUpRunningError, match="Lab one is being set up already"):
        known.start(ONE, WantedRunner())
    work.finish.set()
    first = ended(known, ONE)
    known.start(ONE, WantedRunner(native=True, program=Path("mine")))
    assert ended(known, ONE).number > first.number
    assert work.asked == [("one",), ("one", Path("mine"))]


def test_two_phones_are_set_up_side_by_side_and_one_is_cancelled_alone(known, work):
    known.start(ONE, WantedRunner())
    known.start(TWO, WantedRunner())
    known.cancel(ONE.id)
    assert ended(known, ONE).state == "cancelled"
    assert [now.phone_id for now in known.running()] == ["two"]
    work.finish.set()
    assert ended(known, TWO).state == "done"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DeviceError("The phone is full.", "Remove something."), "The phone is full. Remove something."),
        (OSError("no such file"), "no such file"),
        (KeyError("abis"), "by a mistake of this program: KeyError: 'abis'"),
    ],
)
def test_a_failure_is_kept_as_a_sentence_and_the_phone_is_free_again(known, work, error, sentence):
    work.error = error
    work.finish.set()
    known.start(ONE, WantedRunner())
    now = ended(known, ONE)
    assert now.state == "failed"
    assert sentence in now.sentence
    known.start(ONE, WantedRunner())


def test_one_that_does_not_come_to_an_end_is_stopped(tmp_path, jobs, work):
    known = SetUps(Folders(tmp_path), jobs, longest_s=0.02)
    known.start(ONE, WantedRunner())
    now = ended(known, ONE)
    assert now.state == "failed"
    assert "took longer than" in now.sentence
    known.close()


def test_no_job_begins_on_a_phone_that_is_set_up_and_no_set_up_on_one_that_runs_a_job(known, jobs, work):
    known.start(ONE, WantedRunner())
    with pytest.raises(SetUpRunningError):
        jobs.submit(ONE.id, [a_request()])
    known.cancel(ONE.id)
    ended(known, ONE)
    job = jobs.submit(ONE.id, [a_request()])
    with pytest.raises(DeviceBusyError):
        known.start(ONE, WantedRunner())
    job.cancel()
    assert job.wait(DEADLINE_S)


def test_the_end_of_a_workspace_cancels_its_set_ups(workspace, work):
    workspace.set_ups.start(ONE, WantedRunner())
    assert work.begun.wait(DEADLINE_S)
    workspace.close()
    assert workspace.set_ups.of(ONE.id).state == "cancelled"
    with pytest.raises(JobsClosedError):
        workspace.set_ups.start(TWO, WantedRunner())


def test_one_that_is_being_cancelled_says_so_whatever_its_work_still_tells(known, monkeypatch):
    told, finish = threading.Event(), threading.Event()

    def stubborn(_folders, _phone, *, say, cancel):
        assert cancel.wait(DEADLINE_S)
        say("Sending one more file")
        told.set()
        assert finish.wait(DEADLINE_S)
        raise TransferStoppedError("Setting up the phone was stopped.")

    monkeypatch.setattr(set_ups, "set_phone_up", stubborn)
    known.start(ONE, WantedRunner())
    known.cancel(ONE.id)
    assert told.wait(DEADLINE_S)
    now = known.of(ONE.id)
    finish.set()
    assert (now.state, now.sentence) == ("cancelling", "Cancelling; what has arrived is kept.")
    assert ended(known, ONE).state == "cancelled"


def test_without_a_thread_to_do_it_a_set_up_ends_at_once_and_the_phone_is_free(known, work, monkeypatch):
    def refused(_self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        known.start(ONE, WantedRunner())
    now = known.of(ONE.id)
    assert now.state == "failed"
    assert "could not begin (can't start new thread)" in now.sentence
    work.finish.set()
    known.start(ONE, WantedRunner())
    assert ended(known, ONE).state == "done"
