"""What a program was built for is read from its headers."""

import os

import pytest
from fake_native_trees import android_note, archive, elf

from as2d_core.native.binaries import holds, read_binary
from as2d_core.native.built import examine
from as2d_core.native.errors import NativeBuildError


@pytest.fixture
def file(tmp_path):
    def write(data):
        (tmp_path / "program").write_bytes(data)
        return tmp_path / "program"

    return write


def test_a_program_for_android_says_its_api_level_and_its_ndk(file):
    found = read_binary(file(elf(notes=android_note(29, b"r26d"), interpreter=b"/system/bin/linker64\0")))
    assert (found.machine, found.system, found.api_level, found.ndk) == ("aarch64", "android", 29, "r26d")
    assert found.sentence == "Android on aarch64, API level 29 or higher, built with NDK r26d"


def test_a_program_for_linux_is_told_from_one_for_android(file):
    found = read_binary(file(elf("x86_64", interpreter=b"/lib64/ld-linux-x86-64.so.2\0")))
    assert (found.machine, found.system, found.api_level) == ("x86_64", "linux", None)


def test_an_archive_is_for_what_its_first_object_is_for(file):
    found = read_binary(file(archive(b"odd", elf("arm", b"_ZNSt6__ndk1"), elf("x86_64"))))
    assert (found.machine, found.system) == ("arm", "android")


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", archive(b"text"), elf()[:40], archive(elf()[:20])])
def test_what_is_no_program_is_a_sentence(file, data):
    with pytest.raises(NativeBuildError, match="program"):
        read_binary(file(data))


def test_a_text_is_found_wherever_the_file_is_cut_for_reading(file, monkeypatch):
    monkeypatch.setattr("as2d_core.native.binaries._CHUNK_BYTES", 7)
    path = file(b"0123456789abcdefghij")
    assert all(holds(path, b"0123456789abcdefghij"[i : i + 5]) for i in range(16))
    assert not holds(path, b"ba", b"zz")


def test_a_runner_is_told_from_other_programs_and_with_mnn_from_without(file):
    words = b"usage: as2d-runner [FILE | --describe"
    assert not examine(file(elf())).is_runner
    bare, full = examine(file(elf(text=words))), examine(file(elf(text=words + b"N3MNN11Transformer3Llm")))
    assert (bare.is_runner, bare.with_mnn) == (True, False)
    assert (full.is_runner, full.with_mnn, full.with_opencl) == (True, True, False)


def test_a_pipe_is_refused_before_anything_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NativeBuildError, match="cannot be read"):
        read_binary(tmp_path / "pipe")


def test_an_archive_whose_parts_lead_backwards_is_damaged(tmp_path):
    path = tmp_path / "back.a"
    path.write_bytes(b"!<arch>\n" + b"x".ljust(48) + b"-60".ljust(10) + b"`\n" + bytes(100))
    with pytest.raises(NativeBuildError, match="is damaged"):
        read_binary(path)
