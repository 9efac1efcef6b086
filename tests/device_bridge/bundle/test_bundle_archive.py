"""The same content gives the same archive and the same name, whenever and in whatever order it was written."""

import hashlib
import os
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_bridge.bundle.archive import content_id, list_files, pack
from device_bridge.bundle.errors import BundleError

NAMES = st.text(st.characters(whitelist_categories=("L", "N"), max_codepoint=0x3000), min_size=1, max_size=12)


def fill(folder, files, times=0):
    for name, data in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (times, times))
    return folder


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.xz", ".tar"])
def test_times_and_order_of_writing_do_not_change_an_archive(tmp_path, suffix):
    files = [("b/two", b"2" * 1000), ("a", b"1"), ("b/one", b"")]
    pack(fill(tmp_path / "x", files, 1), tmp_path / f"x{suffix}")
    pack(fill(tmp_path / "y", files[::-1], 99), tmp_path / f"y{suffix}")
    assert (tmp_path / f"x{suffix}").read_bytes() == (tmp_path / f"y{suffix}").read_bytes()


def test_programs_and_scripts_are_executable_and_nothing_else_is(tmp_path):
    files = [("run", b"#!/bin/sh\n"), ("program", b"\x7fELF..."), ("text.py", b"print()")]
    pack(fill(tmp_path / "x", files), tmp_path / "x.tar")
    with tarfile.open(tmp_path / "x.tar") as tar:
        assert {entry.name: entry.mode for entry in tar} == {"run": 0o755, "program": 0o755, "text.py": 0o644}


def test_the_list_names_every_file_as_sha256sum_does(tmp_path):
    fill(tmp_path, [("a", b"1"), ("b/c", b"2")])
    assert list_files(tmp_path) == "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in (("a", b"1"), ("b/c", b"2"))
    )


@given(st.dictionaries(NAMES, st.binary(max_size=20), min_size=1, max_size=4), st.data())
def test_any_other_byte_gives_another_name(tmp_path_factory, files, data):
    before = fill(tmp_path_factory.mktemp("before"), files.items())
    changed = data.draw(st.sampled_from(sorted(files)))
    after = fill(tmp_path_factory.mktemp("after"), {**files, changed: files[changed] + b"."}.items())
    assert content_id(list_files(before)) != content_id(list_files(after))


def test_an_archive_that_cannot_be_written_is_said_and_leaves_nothing(tmp_path):
    fill(tmp_path / "x", [("a", b"1")])
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BundleError, match=r"cannot be written"):
        pack(tmp_path / "x", tmp_path / "file" / "x.tar")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "x"]
