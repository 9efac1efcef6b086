"""One phone and two people: files do not end up over each other, and the second is told."""

import os
import threading

import pytest

from dashboard.services import phones
from datastore.locations import Folders
from device_bridge.adb import pick_phone
from device_bridge.adb.transfer import push_file
from device_bridge.adb.trees import push_tree
from device_bridge.errors import DeviceError, SetUpRunningError

WORK = "/data/local/tmp"


def at_once(*calls):
    """Do them side by side; what they return, or raise, in order."""
    barrier, results = threading.Barrier(len(calls)), [None] * len(calls)

    def do(number, call):
        barrier.wait(60)
        try:
            results[number] = call()
        except DeviceError as error:
            results[number] = error

    threads = [threading.Thread(target=do, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return results


def test_the_second_of_two_who_set_a_phone_up_is_told_and_the_third_after_them_is_not(
    shared_phone, tmp_path, monkeypatch
):
    entry = pick_phone([shared_phone.server], shared_phone.serial)
    begun, finish = threading.Event(), threading.Event()

    def set_up(*_, **__):
        begun.set()
        assert finish.wait(60)

    monkeypatch.setattr(phones, "set_up", set_up)
    first = threading.Thread(target=phones.set_phone_up, args=(Folders(tmp_path), entry))
    first.start()
    assert begun.wait(60)
    with pytest.raises(SetUpRunningError, match="is being set up already"):
        phones.set_phone_up(Folders(tmp_path), entry)
    finish.set()
    first.join(60)
    phones.set_phone_up(Folders(tmp_path), entry)


def test_a_folder_that_two_send_at_once_arrives_for_both(start_phone, tmp_path):
    phone, tree = start_phone().phone, tmp_path / "tree"
    tree.mkdir()
    for number in range(40):
        (tree / f"f{number}").write_bytes(os.urandom(100_000))
    (tree / "large").write_bytes(os.urandom(6_000_000))
    both = at_once(*[lambda: push_tree(phone, tree, f"{WORK}/t")] * 2)
    assert [done.files for done in both] == [41, 41]
    assert phone.script('cd "$1" && ls -A | wc -l', f"{WORK}/t").text.strip() == "41"
    assert push_tree(phone, tree, f"{WORK}/t").sent_files == 0


def test_a_file_that_two_send_at_once_arrives_for_both(start_phone, tmp_path):
    phone, big = start_phone().phone, tmp_path / "big"
    big.write_bytes(os.urandom(12_000_000))
    both = at_once(*[lambda: push_file(phone, big, f"{WORK}/m")] * 2)
    assert [done.size_bytes for done in both] == [12_000_000] * 2
    assert push_file(phone, big, f"{WORK}/m").skipped
