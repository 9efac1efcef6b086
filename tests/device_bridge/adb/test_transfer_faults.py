"""Every fault a phone can have in the middle of a transfer: it goes on, or ends with a sentence and is resumed."""

import hashlib
import os
import threading

import pytest
from patience import wait_for

from device_bridge.adb.transfer import pull_file, push_file, remote_sha256
from device_bridge.errors import (
    NoSpaceError,
    NotExecutableError,
    OfflineError,
    PhoneNotFoundError,
    ReadOnlyError,
    TransferError,
    UnauthorizedError,
)
from device_bridge.retrying import NO_RETRY, Retry

WORK = "/data/local/tmp"
PLACE = f"{WORK}/m"
PATIENT = Retry(attempts=40, first_wait_s=0.05, longest_wait_s=0.2, total_s=60)
SIZE = 12_000_000


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "model.mnn"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture(scope="module")
def bounded(own_adb, tmp_path_factory):
    """A phone whose work folder has 40 MB, for all tests here: each takes back what it did."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("bounded"))
    phone = phones(storage_mb=40)
    yield phone
    phones.close()


@pytest.fixture
def phone(bounded):
    bounded.wait_ready().script("rm -rf /data/local/tmp/*")
    return bounded


def jailed(phone):
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    return phone


def in_the_middle(action):
    """A progress callback that does something once, in the last quarter, and tells afterwards whether it did."""
    done = threading.Event()

    def progress(across, total):
        if across > total * 3 // 4 and not done.is_set():
            done.set()
            action()

    return progress, done


def once_kept(phone, action):
    """The action, once the phone has put what comes where a break does not reach it."""

    def act():
        wait_for(lambda: phone.phone.run(["ls", f"{PLACE}.part"], check=False).code == 0)
        action()

    return act


def is_there(phone, big):
    return remote_sha256(phone.wait_ready(), PLACE) == hashlib.sha256(big.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("fault", "values", "back"),
    [
        ("clock-drop", {"khz": 300_000}, "clock-restore"),
        ("charging", {}, "discharging"),
        ("current-sign", {}, "current-sign"),
        ("sysfs-denied", {}, "sysfs-allowed"),
        ("low-memory-kill", {}, None),
    ],
)
def test_what_does_not_concern_a_transfer_does_not_end_it(phone, big, fault, values, back):
    busy = phone.phone.open_shell("exec sleep 600")  # the largest process, for whoever frees memory
    progress, happened = in_the_middle(lambda: phone.fault(fault, **values))
    push_file(phone.phone, big, PLACE, progress=progress, retry=PATIENT)
    busy.close()
    if back:
        phone.fault(back)
    assert happened.is_set()
    assert is_there(phone, big)


def test_a_core_that_goes_off_line_does_not_end_a_transfer(phone, big):
    progress, happened = in_the_middle(lambda: phone.fault("core-offline", core=6))
    push_file(phone.phone, big, PLACE, progress=progress)
    phone.fault("core-online", core=6)
    assert happened.is_set()
    assert is_there(phone, big)


def test_a_transfer_over_a_link_that_becomes_slow_takes_its_time_and_arrives(phone, big):
    progress, happened = in_the_middle(lambda: phone.fault("slow", bytes_per_s=8_000_000))
    pushed = push_file(phone.phone, big, PLACE, progress=progress, retry=NO_RETRY)
    phone.fault("slow", bytes_per_s=0)
    assert happened.is_set()
    assert (pushed.sent_bytes, is_there(phone, big)) == (SIZE, True)


@pytest.mark.parametrize(
    ("fault", "end", "error", "words"),
    [
        ("unauthorized", "authorize", UnauthorizedError, "Unlock the phone and accept"),
        ("offline", "online", (OfflineError, PhoneNotFoundError), "is offline|is not connected"),
    ],
)
def test_a_phone_that_lets_nobody_in_any_more_is_named_and_the_transfer_resumes_later(
    phone, big, fault, end, error, words
):
    progress, happened = in_the_middle(once_kept(phone, lambda: phone.fault(fault)))
    with pytest.raises(error, match=words):
        push_file(phone.phone, big, PLACE, progress=progress, retry=Retry(attempts=4, total_s=8))
    assert happened.is_set()
    phone.fault(end)
    again = push_file(phone.wait_ready(), big, PLACE)
    assert again.resumed_from_bytes > 0
    assert again.sent_bytes == SIZE - again.resumed_from_bytes
    assert is_there(phone, big)


def test_a_phone_that_starts_anew_in_the_middle_gets_the_rest(phone, big):
    progress, happened = in_the_middle(once_kept(phone, lambda: phone.fault("reboot", s=0.3)))
    pushed = push_file(phone.phone, big, PLACE, progress=progress, retry=PATIENT)
    assert happened.is_set()
    assert pushed.resumed_from_bytes > 0
    assert pushed.sent_bytes == SIZE  # what was under way when the link broke is not counted twice
    assert is_there(phone, big)


def test_storage_that_becomes_read_only_in_the_middle_is_said_and_what_is_there_is_used_later(phone, big):
    jailed(phone)

    def protect():
        phone.fault("drop", s=0.1)  # what is being written keeps a file system from being protected
        phone.wait_ready()
        phone.fault("read-only")

    progress, happened = in_the_middle(once_kept(phone, protect))
    with pytest.raises(ReadOnlyError, match="Read-only file system"):
        push_file(phone.phone, big, PLACE, progress=progress, retry=PATIENT)
    assert happened.is_set()
    phone.fault("remount")
    assert push_file(phone.phone, big, PLACE).resumed_from_bytes > 0
    assert is_there(phone, big)


def test_a_program_whose_place_becomes_noexec_in_the_middle_is_refused_by_name(phone, big):
    jailed(phone)
    progress, happened = in_the_middle(lambda: phone.fault("noexec"))
    with pytest.raises(NotExecutableError, match="noexec"):
        push_file(phone.phone, big, PLACE, executable=True, progress=progress)
    assert happened.is_set()
    phone.fault("remount")
    assert push_file(phone.phone, big, PLACE, executable=True).skipped


def test_after_a_full_disk_there_is_room_again_and_the_file_arrives(phone, big):
    jailed(phone)
    progress, happened = in_the_middle(lambda: phone.fault("disk-full"))
    with pytest.raises(NoSpaceError, match="No space left on device"):
        push_file(phone.phone, big, PLACE, progress=progress)
    assert happened.is_set()
    assert phone.phone.run(["ls", WORK]).text == ""
    phone.fault("disk-free")
    push_file(phone.phone, big, PLACE)
    assert is_there(phone, big)


def test_a_command_that_is_killed_for_memory_on_the_way_is_said_to_be_killed(phone, big):
    program = phone.root / "system/bin/sha256sum"
    own = program.read_bytes()
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    try:
        with pytest.raises(TransferError, match="memory ran out") as caught:
            pull_file(phone.phone, "/system/build.prop", big.with_name("fetched"))
        assert caught.value.hint
    finally:
        program.write_bytes(own)


@pytest.mark.parametrize("fault", ["freeze", "adbd-restart", "slow"])
def test_a_file_that_is_fetched_survives(phone, big, tmp_path, fault):
    push_file(phone.phone, big, PLACE)
    values = {"bytes_per_s": 8_000_000} if fault == "slow" else {"s": 0.3}
    progress, happened = in_the_middle(lambda: phone.fault(fault, **values))
    fetched = pull_file(phone.phone, PLACE, tmp_path / "back", progress=progress, retry=PATIENT)
    phone.fault("slow", bytes_per_s=0)
    assert happened.is_set()
    assert fetched == hashlib.sha256((tmp_path / "back").read_bytes()).hexdigest() == remote_sha256(phone.phone, PLACE)
