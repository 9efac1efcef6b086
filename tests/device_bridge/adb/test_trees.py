import os
import threading

import pytest

from device_bridge.adb.trees import push_tree
from device_bridge.errors import NoSpaceError, NotExecutableError, ReadOnlyError, TransferError
from device_bridge.retrying import Retry
from device_bridge.setup.deploy import program_sha256

WORK = "/data/local/tmp"
PATIENT = Retry(attempts=20, first_wait_s=0.05, longest_wait_s=0.2, total_s=30)
NAMES = ["config.json", "a$(id).wav", "sub/two words", "sub/deeper/-rf", "ü/录音", "line\nbreak", "back\\slash"]


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for number, name in enumerate(NAMES):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content {number}")
    (root / "large.bin").write_bytes(os.urandom(5_000_000))
    program = root / "bin" / "run it"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    return root


@pytest.fixture
def folder(shared_phone):
    path = f"{WORK}/tree of $(id)"
    yield path
    shared_phone.phone.run(["rm", "-rf", path])


def there(phone, folder):
    found = phone.script('cd "$1" && find . -type f -print0', folder).out.split(b"\0")
    return {os.fsdecode(name).removeprefix("./") for name in found if name}


def test_every_file_arrives_under_its_name_with_its_content(shared_phone, folder, tree):
    done = push_tree(shared_phone.phone, tree, folder)
    assert there(shared_phone.phone, folder) == {*NAMES, "large.bin", "bin/run it"}
    assert (done.files, done.sent_files) == (len(NAMES) + 2, len(NAMES) + 2)
    assert done.sent_bytes == done.size_bytes
    for number, name in enumerate(NAMES):
        assert shared_phone.phone.run(["cat", f"{folder}/{name}"]).text == f"content {number}"
    assert shared_phone.phone.run([f"{folder}/bin/run it"]).text == "ran\n"


def test_only_what_differs_is_sent_again_and_what_else_is_there_stays(shared_phone, folder, tree):
    push_tree(shared_phone.phone, tree, folder)
    shared_phone.phone.script(
        'echo mine > "$1/mine"; echo spoiled > "$1/config.json"; chmod 644 "$1/bin/run it"', folder
    )
    told = []
    again = push_tree(shared_phone.phone, tree, folder, progress=lambda done, total: told.append((done, total)))
    assert again.sent_files == 1 + sum("\n" in name or "\\" in name for name in NAMES)
    assert shared_phone.phone.run(["cat", f"{folder}/config.json"]).text == "content 0"
    assert shared_phone.phone.run(["cat", f"{folder}/mine"]).text == "mine\n"
    assert shared_phone.phone.run([f"{folder}/bin/run it"]).text == "ran\n"
    assert told[-1][0] == told[-1][1] == again.size_bytes


@pytest.mark.parametrize("fault", ["drop", "freeze"])
def test_a_folder_survives(start_phone, tree, fault):
    phone = start_phone()
    broken = threading.Event()

    def break_once(done, total):
        if done and not broken.is_set():
            broken.set()
            phone.fault(fault, s=0.3)

    push_tree(phone.phone, tree, f"{WORK}/t", progress=break_once, retry=PATIENT)
    assert there(phone.phone, f"{WORK}/t") == {*NAMES, "large.bin", "bin/run it"}


def test_what_a_phone_refuses_is_said_in_its_words(start_phone, tree):
    phone = start_phone(storage_mb=4)
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    with pytest.raises(NoSpaceError, match=r"tree needs 5\.0 MB"):
        push_tree(phone.phone, tree, f"{WORK}/t")
    (tree / "large.bin").unlink()
    phone.fault("noexec")
    with pytest.raises(NotExecutableError, match="run it"):
        push_tree(phone.phone, tree, f"{WORK}/t")
    phone.fault("read-only")
    (tree / "new").write_text("new")
    with pytest.raises(ReadOnlyError) as caught:
        push_tree(phone.phone, tree, f"{WORK}/t")
    assert "Read-only file system" in caught.value.reason


def test_a_folder_that_is_none_is_refused(shared_phone, tmp_path):
    with pytest.raises(TransferError, match="There is no folder"):
        push_tree(shared_phone.phone, tmp_path / "none", f"{WORK}/t")


def test_what_is_no_file_in_a_folder_is_refused_before_anything_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TransferError, match="pipe cannot be read"):
        push_tree(None, tmp_path, f"{WORK}/t")
    with pytest.raises(TransferError, match="pipe cannot be read"):
        program_sha256(tmp_path / "pipe")
