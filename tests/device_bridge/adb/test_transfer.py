import hashlib
import os
import statistics
import subprocess
import threading
import time

import pytest
from patience import wait_for

from device_bridge.adb.servers import adb_program
from device_bridge.adb.transfer import pull_file, push_file, remote_sha256
from device_bridge.errors import (
    DeniedError,
    IntegrityError,
    MissingFileError,
    NoSpaceError,
    NotExecutableError,
    PhoneLostError,
    ReadOnlyError,
    TransferError,
    TransferStoppedError,
)
from device_bridge.retrying import NO_RETRY, Retry

WORK = "/data/local/tmp"
PATIENT = Retry(attempts=20, first_wait_s=0.05, longest_wait_s=0.2, total_s=30)
HOSTILE = [
    "a$(id).wav",
    "a b 'c' \"d\".wav",
    "zwei\nZeilen.wav",
    "录音 ü.wav",
    "-rf",
    "`id`;&|.wav",
    "back\\slash",
    "a*?[x]",
]


def digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "model.mnn"
    path.write_bytes(os.urandom(12_000_000))
    return path


@pytest.fixture
def folder(shared_phone):
    """A folder on the phone for one test."""
    path = f"{WORK}/transfer"
    yield path
    shared_phone.phone.run(["rm", "-rf", path])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_means_a_file_and_nothing_else_in_both_directions(shared_phone, folder, tmp_path, name):
    local = tmp_path / "local"
    local.mkdir()
    (local / name).write_bytes(b"sound")
    push_file(shared_phone.phone, local / name, f"{folder}/{name}")
    assert shared_phone.phone.script('cd "$1" && ls -A | wc -l', folder).text.strip() == str(name.count("\n") + 1)
    pull_file(shared_phone.phone, f"{folder}/{name}", local / "back")
    assert (local / "back").read_bytes() == b"sound"


def test_a_file_arrives_whole_and_is_not_sent_again(shared_phone, folder, big):
    told = []
    first = push_file(shared_phone.phone, big, f"{folder}/m", progress=lambda done, total: told.append((done, total)))
    assert (first.sent_bytes, first.skipped) == (12_000_000, False)
    assert told[-1] == (12_000_000, 12_000_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    second = push_file(shared_phone.phone, big, f"{folder}/m")
    assert second.skipped
    assert remote_sha256(shared_phone.phone, f"{folder}/m") == digest(big)


def test_a_file_of_the_same_size_with_other_content_is_replaced(shared_phone, folder, tmp_path):
    local = tmp_path / "f"
    for content in (b"first", b"other"):
        local.write_bytes(content)
        assert not push_file(shared_phone.phone, local, f"{folder}/f").skipped
    assert shared_phone.phone.run(["cat", f"{folder}/f"]).out == b"other"


def test_an_empty_file_arrives(shared_phone, folder, tmp_path):
    (tmp_path / "empty").touch()
    push_file(shared_phone.phone, tmp_path / "empty", f"{folder}/empty")
    assert shared_phone.phone.run(["stat", "-c", "%s", f"{folder}/empty"]).text == "0\n"


def test_what_an_earlier_transfer_left_is_not_sent_again(shared_phone, folder, big):
    stop = threading.Event()

    def until_half(done, total):
        if done > total // 2 and not stop.is_set():
            there = ["stat", "-c", "%s", f"{folder}/m.part"]
            wait_for(lambda: int(shared_phone.phone.run(there, check=False).text or 0) > 2_000_000)
            stop.set()

    with pytest.raises(TransferStoppedError, match="is kept"):
        push_file(shared_phone.phone, big, f"{folder}/m", progress=until_half, cancel=stop)
    assert shared_phone.phone.run(["ls", folder], check=False).text.split()[0] == "m.part"
    left = shared_phone.phone.run(["cat", f"{folder}/m.part"]).out
    assert left == big.read_bytes()[: len(left)]
    done = push_file(shared_phone.phone, big, f"{folder}/m")
    assert done.resumed_from_bytes > 2_000_000
    assert done.sent_bytes == 12_000_000 - done.resumed_from_bytes
    assert shared_phone.phone.run(["ls", "-A", folder]).text == "m\n"


def test_remains_of_another_file_do_not_end_up_in_this_one(shared_phone, folder, big):
    shared_phone.phone.script('mkdir -p "$1" && head -c 1000000 /dev/urandom > "$1/m.part"', folder)
    done = push_file(shared_phone.phone, big, f"{folder}/m")
    assert (done.resumed_from_bytes, digest(big)) == (0, remote_sha256(shared_phone.phone, f"{folder}/m"))


@pytest.mark.parametrize("fault", ["drop", "adbd-restart", "freeze", "server"])
def test_a_transfer_survives(start_phone, own_adb, big, fault):
    phone = start_phone()
    began = threading.Event()

    def break_once(done, total):
        if done > total // 3 and not began.is_set():
            began.set()
            if fault == "server":
                own_adb.stop()
                own_adb.start()
            else:
                phone.fault(fault, s=0.3)

    push_file(phone.phone, big, f"{WORK}/m", progress=break_once, retry=PATIENT)
    assert began.is_set()
    assert digest(big) == remote_sha256(phone.wait_ready(), f"{WORK}/m")


def test_a_transfer_that_may_not_be_retried_says_that_the_phone_was_lost(start_phone, big):
    phone = start_phone()
    with pytest.raises(PhoneLostError) as caught:
        push_file(phone.phone, big, f"{WORK}/m", progress=lambda *_: phone.fault("drop", s=0.1), retry=NO_RETRY)
    assert caught.value.retryable


def test_the_reason_a_phone_gives_is_kept(start_phone, big):
    phone = start_phone(storage_mb=4)
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    with pytest.raises(NoSpaceError, match=r"needs 12.0 MB on the phone, and 4.2 MB are free"):
        push_file(phone.phone, big, f"{WORK}/m")
    phone.fault("read-only")
    small = big.with_name("small")
    small.write_bytes(b"x")
    with pytest.raises(ReadOnlyError) as caught:
        push_file(phone.phone, small, f"{WORK}/m")
    assert "Read-only file system" in caught.value.reason
    phone.fault("noexec")
    with pytest.raises(NotExecutableError, match="noexec"):
        push_file(phone.phone, small, f"{WORK}/m", executable=True)
    with pytest.raises((DeniedError, ReadOnlyError)):
        push_file(phone.phone, small, "/usr/as2d/m")


def test_a_disk_that_fills_up_on_the_way_is_said_and_nothing_is_left(start_phone, big):
    phone = start_phone(storage_mb=32)
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    filled = threading.Event()

    def fill(done, total):
        if done > total // 3 and not filled.is_set():
            filled.set()
            phone.fault("disk-full")

    with pytest.raises(NoSpaceError) as caught:
        push_file(phone.phone, big, f"{WORK}/m", progress=fill)
    assert "No space left on device" in caught.value.reason
    phone.fault("disk-free")
    assert phone.phone.run(["ls", "-A", WORK]).text == ""


def test_an_exec_bit_is_set_and_tried(shared_phone, folder, tmp_path):
    program = tmp_path / "run me"
    program.write_text("#!/bin/sh\necho ran\n")
    push_file(shared_phone.phone, program, f"{folder}/run me", executable=True)
    assert shared_phone.phone.run([f"{folder}/run me"]).text == "ran\n"
    push_file(shared_phone.phone, program, f"{folder}/run me", executable=True)
    assert shared_phone.phone.run([f"{folder}/run me"]).text == "ran\n"


def test_a_hash_that_is_known_is_what_must_arrive(shared_phone, folder, big):
    for _ in range(2):  # sent, and compared with what is there
        push_file(shared_phone.phone, big, f"{folder}/m", sha256=digest(big), retry=NO_RETRY)
    with pytest.raises(IntegrityError):
        push_file(shared_phone.phone, big, f"{folder}/n", sha256="0" * 64, retry=NO_RETRY)
    assert push_file(shared_phone.phone, big, f"{folder}/n").resumed_from_bytes == 12_000_000


@pytest.mark.parametrize("there_bytes", [0, 1_000_000])
def test_damage_on_the_way_is_found_in_a_new_stream_and_in_a_resumed_one(
    shared_phone, folder, big, monkeypatch, there_bytes
):
    from device_bridge.adb import sync

    if there_bytes:
        shared_phone.phone.script('mkdir -p "$1" && cat > "$1/m.part"', folder, stdin=big.read_bytes()[:there_bytes])
    monkeypatch.setattr(sync, "_data", lambda chunk, real=sync._data: real(bytes([chunk[0] ^ 1]) + chunk[1:]))
    with pytest.raises(IntegrityError):
        push_file(shared_phone.phone, big, f"{folder}/m", retry=NO_RETRY)


def test_a_missing_file_is_said_on_either_side(shared_phone, tmp_path):
    with pytest.raises(TransferError, match="There is no file"):
        push_file(shared_phone.phone, tmp_path / "none", f"{WORK}/m")
    with pytest.raises(MissingFileError, match="No such file"):
        pull_file(shared_phone.phone, f"{WORK}/none", tmp_path / "m")
    with pytest.raises(TransferError, match="is no file"):
        pull_file(shared_phone.phone, WORK, tmp_path / "m")


@pytest.mark.parametrize("remote", ["relative", "/ends/", "", "/a\0b", "/a/.."])
def test_a_path_that_is_none_is_refused(shared_phone, tmp_path, remote):
    (tmp_path / "f").touch()
    with pytest.raises(TransferError, match="absolute path"):
        push_file(shared_phone.phone, tmp_path / "f", remote)


def test_what_is_left_there_of_a_longer_file_is_not_gone_on_with(shared_phone, folder, tmp_path):
    (tmp_path / "f").write_bytes(b"short")
    shared_phone.phone.script('mkdir -p "$1" && head -c 100000 /dev/zero > "$1/f.part"', folder)
    done = push_file(shared_phone.phone, tmp_path / "f", f"{folder}/f")
    assert (done.resumed_from_bytes, done.sent_bytes) == (0, 5)
    assert shared_phone.phone.run(["cat", f"{folder}/f"]).out == b"short"


def test_a_file_that_changes_while_it_is_sent_is_not_put_in_its_place(shared_phone, folder, big):
    def change(done, total):
        if done < total:
            big.write_bytes(b"y" * total)
            os.utime(big, ns=(done, done))

    with pytest.raises(TransferError, match="changed while it was sent"):
        push_file(shared_phone.phone, big, f"{folder}/f", progress=change)
    assert push_file(shared_phone.phone, big, f"{folder}/f").size_bytes == 12_000_000
    assert remote_sha256(shared_phone.phone, f"{folder}/f") == digest(big)


def test_a_place_here_that_cannot_be_written_is_said(shared_phone, folder, tmp_path):
    shared_phone.phone.script('mkdir -p "$1" && echo x > "$1/f"', folder)
    (tmp_path / "here").mkdir()
    with pytest.raises(TransferError, match=r"cannot be written \(Is a directory\)"):
        pull_file(shared_phone.phone, f"{folder}/f", tmp_path / "here")
    with pytest.raises(TransferError, match=r"cannot be written \(No such file or directory\)"):
        pull_file(shared_phone.phone, f"{folder}/f", tmp_path / "none" / "f")


def test_fetching_goes_on_where_it_stopped(start_phone, tmp_path):
    phone = start_phone()
    phone.phone.run(["sh", "-c", f"head -c 8000000 /dev/urandom > {WORK}/log"])
    dropped = threading.Event()
    starts = []

    def drop(done, total):
        starts.append(done)
        if done > total // 2 and not dropped.is_set():
            dropped.set()
            phone.fault("drop", s=0.1)

    pulled = pull_file(phone.phone, f"{WORK}/log", tmp_path / "log", progress=drop, retry=PATIENT)
    assert dropped.is_set()
    assert starts == sorted(starts)
    assert pulled == digest(tmp_path / "log") == remote_sha256(phone.phone, f"{WORK}/log")


def test_sizes_beyond_four_gibibytes_are_understood(start_phone, tmp_path):
    phone = start_phone()
    size = (1 << 32) + 5
    phone.phone.run(["truncate", "-s", str(size), f"{WORK}/huge"])
    assert phone.phone.run(["stat", "-c", "%s", f"{WORK}/huge"]).text == f"{size}\n"
    (tmp_path / "f").write_bytes(b"short")
    push_file(phone.phone, tmp_path / "f", f"{WORK}/huge")
    assert phone.phone.run(["cat", f"{WORK}/huge"]).out == b"short"


@pytest.mark.soak
def test_a_file_of_more_than_four_gibibytes_arrives(start_phone, tmp_path):
    phone = start_phone()
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate((1 << 32) + 12_345)
        file.seek(1 << 32)
        file.write(b"beyond")
    done = push_file(phone.phone, huge, f"{WORK}/huge")
    assert done.sent_bytes == (1 << 32) + 12_345
    assert phone.phone.script('tail -c 12345 "$1" | head -c 6', f"{WORK}/huge").text == "beyond"
    assert pull_file(phone.phone, f"{WORK}/huge", tmp_path / "back") == digest(huge)


@pytest.mark.soak
def test_a_transfer_is_nearly_as_fast_as_adb_push(start_phone, tmp_path):
    """On a link of the speed of USB 2: without a limit, it is the processors of this computer that are measured."""
    phone = start_phone(storage_mb=1024)
    phone.fault("slow", bytes_per_s=40_000_000)
    local = tmp_path / "model"
    local.write_bytes(os.urandom(100_000_000))
    push = [adb_program(), "-P", str(phone.server.port), "-s", phone.serial, "push", str(local), f"{WORK}/other"]
    times = {"adb": [], "ours": []}
    for turn in range(6):
        for who in ("adb", "ours") if turn % 2 else ("ours", "adb"):
            phone.phone.script("rm -rf /data/local/tmp/*")
            began = time.monotonic()
            if who == "adb":
                subprocess.run(push, check=True, capture_output=True, timeout=120)
            else:
                push_file(phone.phone, local, f"{WORK}/model")
            times[who].append(time.monotonic() - began)
    assert statistics.median(times["adb"]) >= 0.9 * statistics.median(times["ours"])


def test_who_waits_for_another_sender_of_the_same_file_can_be_stopped(start_phone, tmp_path):
    phone, big = start_phone().phone, tmp_path / "big"
    big.write_bytes(os.urandom(3_000_000))
    begun, go_on, cancel, ended = (threading.Event() for _ in range(4))

    def hold(done, _total):
        begun.set()
        assert go_on.wait(60)

    def wait_in_vain():
        with pytest.raises(TransferStoppedError):
            push_file(phone, big, f"{WORK}/big", cancel=cancel)
        ended.set()

    first = threading.Thread(target=lambda: push_file(phone, big, f"{WORK}/big", progress=hold))
    first.start()
    assert begun.wait(60)
    second = threading.Thread(target=wait_in_vain)
    second.start()
    cancel.set()
    assert ended.wait(60)
    go_on.set()
    first.join(60)
    second.join(60)
    assert push_file(phone, big, f"{WORK}/big").skipped
