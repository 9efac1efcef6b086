"""What a program needs is read from it, and what a phone does not need is left out of it."""

import ctypes
import sys
from pathlib import Path

import pytest
from tiny_elf import tiny_elf

from device_bridge.bundle.elf import is_arm64, needed_libraries, without_ballast


def write(path, data):
    path.write_bytes(data)
    return path


def test_the_libraries_a_program_needs_are_read_from_it(tmp_path):
    program = write(tmp_path / "program", tiny_elf(["libc.so.6", "libm.so.6"]))
    assert needed_libraries(program) == ("libc.so.6", "libm.so.6")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (tiny_elf(), True),
        (tiny_elf(machine=62), False),
        (b"\x7fELF", False),
        (b"", False),
        (b"#!/bin/sh\n", False),
    ],
    ids=["arm64", "x86", "cut off", "empty", "script"],
)
def test_only_whole_arm64_programs_count_as_arm64(tmp_path, data, expected):
    assert is_arm64(write(tmp_path / "file", data)) is expected


def test_what_is_not_loaded_is_left_out():
    lean = without_ballast(tiny_elf(["libc.so.6"], ballast=b"symbols" * 1000))
    assert len(lean) == len(tiny_elf(["libc.so.6"]))


def test_a_lean_program_needs_the_same_libraries(tmp_path):
    lean = write(tmp_path / "lean", without_ballast(tiny_elf(["libc.so.6"], ballast=b"x" * 999)))
    assert needed_libraries(lean) == ("libc.so.6",)


@pytest.mark.skipif(sys.platform != "linux", reason="loads a library of this computer, which must be Linux's")
def test_a_patched_library_of_this_computer_still_works_without_its_ballast(tmp_path):
    import MNN  # noqa: F401 - its wheel brings a library that was patched, so that it has holes

    found = sorted(Path(sys.modules["_mnncengine"].__file__).parent.glob("mnn.libs/libgomp*"))
    original = found[0].read_bytes()
    lean = without_ballast(original)
    assert len(lean) < len(original)
    library = ctypes.CDLL(str(write(tmp_path / "libgomp-lean.so", lean)))
    assert library.omp_get_max_threads() >= 1
