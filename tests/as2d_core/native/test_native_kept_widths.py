"""The native runner keeps widths in the files in which Python's does, and refuses the same ones."""

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest
from compiled import compiled
from kept_widths_cases import DAMAGE, KEPT

from as2d_core.engines.self_test import MAX_WIDTH
from as2d_core.runner.kept_widths import SelfTestSetting, keep_widths, kept_widths

HERE = Path(__file__).parent
SOURCES = Path(__file__).parents[3] / "as2d_core/native/src"
NEEDED = ("runner/kept_widths.cpp", "json/reader.cpp", "json/utf8.cpp", "json/writer.cpp", "records/sha256.cpp")
SETTING = SelfTestSetting("ab" * 32, 'A "processor"\\\t \u00b5 i8mm', 2, "high", "low", "cpu", "3.6.1")


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    files = [HERE / "kept_widths_for_python.cpp", *(SOURCES / name for name in NEEDED)]
    return Native(compiled(tmp_path_factory.mktemp("kept"), files, "-O0", f"-I{SOURCES}"))


class Native:
    def __init__(self, library):
        self._library = library
        library.as2d_kept_widths.restype = ctypes.c_size_t

    def kept(self, folder, setting=SETTING):
        room = (ctypes.c_int64 * MAX_WIDTH)()
        count = self._library.as2d_kept_widths(*_passed(folder, setting), ctypes.c_int64(MAX_WIDTH), room)
        return tuple(room[:count]) or None

    def keep(self, folder, setting, widths):
        room = (ctypes.c_int64 * len(widths))(*widths)
        self._library.as2d_keep_widths(*_passed(folder, setting), room, ctypes.c_size_t(len(widths)))


def _passed(folder, setting):
    texts = (str(folder), setting.model_sha256, setting.cpu)
    return *(text.encode() for text in texts), ctypes.c_int64(setting.threads)


def test_both_runners_keep_the_same_file_and_read_it(native, tmp_path):
    keep_widths(tmp_path / "python", SETTING, KEPT)
    native.keep(tmp_path / "native" / "deep", SETTING, KEPT)
    (one,), (other,) = (list(folder.iterdir()) for folder in (tmp_path / "python", tmp_path / "native/deep"))
    assert (one.name, one.read_bytes()) == (other.name, other.read_bytes())
    assert native.kept(tmp_path / "python") == kept_widths(tmp_path / "native/deep", SETTING, MAX_WIDTH) == KEPT


def test_a_result_holds_for_its_own_setting_only(native, tmp_path):
    native.keep(tmp_path, SETTING, KEPT)
    assert native.kept(tmp_path, replace(SETTING, threads=1)) is None
    assert native.kept(tmp_path, replace(SETTING, cpu="Another processor")) is None
    assert native.kept(tmp_path) == KEPT


def test_what_python_takes_for_damaged_counts_as_not_there_and_is_replaced(native, tmp_path):
    native.keep(tmp_path, SETTING, KEPT)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for name, damaged in DAMAGE.items():
        file.write_bytes(damaged(whole))
        assert native.kept(tmp_path) is None, name
    native.keep(tmp_path, SETTING, (1, 2))
    assert native.kept(tmp_path) == (1, 2)
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_or_read_is_no_failure(native, tmp_path):
    (tmp_path / "file").write_text("in the way")
    native.keep(tmp_path / "file", SETTING, KEPT)
    assert native.kept(tmp_path / "file") is None
    assert native.kept(tmp_path / "nowhere") is None
