"""What a self-test found is used by the next runner of the same program, for exactly the same setting only."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kept_widths_cases import DAMAGE, KEPT

from as2d_core.engines.mnn import Settings
from as2d_core.engines.self_test import MAX_WIDTH, WidthReport
from as2d_core.runner import target_worker
from as2d_core.runner.kept_widths import (
    SELF_TESTS_VARIABLE,
    SelfTestSetting,
    keep_widths,
    kept_widths,
    self_tests_folder,
)

SETTING = SelfTestSetting("ab" * 32, "A processor asimddp i8mm", 2, "high", "low", "cpu", "3.6.1")
OTHERS = {
    "model_sha256": "cd" * 32,
    "cpu": "A processor asimddp",
    "threads": 1,
    "precision": "low",
    "memory": "high",
    "backend": "opencl",
    "mnn_version": "3.6.2",
}


def kept(folder, setting=SETTING):
    return kept_widths(folder, setting, MAX_WIDTH)


@pytest.fixture
def folder(tmp_path):
    """Holds one result."""
    keep_widths(tmp_path / "self-tests", SETTING, KEPT)
    return tmp_path / "self-tests"


def test_what_is_kept_is_found_again_and_a_later_result_replaces_it(folder):
    assert kept(folder) == KEPT
    keep_widths(folder, SETTING, (1,))
    assert kept(folder) == (1,)
    assert [path.suffix for path in folder.iterdir()] == [".json"]


@pytest.mark.parametrize("field", OTHERS)
def test_a_result_holds_for_its_own_setting_only(folder, field):
    other = replace(SETTING, **{field: OTHERS[field]})
    assert kept(folder, other) is None
    keep_widths(folder, other, (1, 2))
    assert (kept(folder), kept(folder, other)) == (KEPT, (1, 2))


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_damaged_counts_as_not_there_and_is_replaced(folder, name):
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(DAMAGE[name](whole))
    assert file.read_bytes() != whole
    assert kept(folder) is None
    keep_widths(folder, SETTING, KEPT)
    assert file.read_bytes() == whole


def test_the_result_of_another_setting_under_this_ones_name_counts_as_not_there(folder):
    (file,) = folder.iterdir()
    other = replace(SETTING, mnn_version="3.6.2")
    keep_widths(folder, other, KEPT)
    (moved,) = set(folder.iterdir()) - {file}
    moved.replace(file)
    assert kept(folder) is None


def test_a_folder_that_cannot_be_written_or_read_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("in the way")
    keep_widths(tmp_path / "file", SETTING, KEPT)
    assert kept(tmp_path / "file") is None
    assert kept(tmp_path / "nowhere") is None


def test_without_a_name_nothing_is_kept():
    assert self_tests_folder({}) is None
    assert self_tests_folder({SELF_TESTS_VARIABLE: ""}) is None


# -- in the target process -------------------------------------------------------------------------


class Recorder:
    def __init__(self):
        self.kinds = []

    def add(self, event):
        self.kinds.append(event.kind)

    def flush(self):
        pass


@pytest.fixture
def ask(monkeypatch):
    """Asks a new target process, or the one that is given, for its widths; what it tested are ``found``."""

    def go(found, method="as2d", given=None, session=None):
        report = WidthReport(1, found, {1: found}, {}, 1)
        monkeypatch.setattr(target_worker, "find_exact_widths", lambda *_: report)
        model = SimpleNamespace(
            info=SimpleNamespace(sha256=SETTING.model_sha256),
            settings=Settings(),
            mnn_version="3.6.1",
            warm=set(range(1, MAX_WIDTH + 1)),
        )
        request = SimpleNamespace(method=method, plain_step=False, target=SimpleNamespace(exact_widths=given))
        recorder = Recorder()
        session = session or target_worker.Session(None)
        widths = session._widths(SimpleNamespace(request=request, widest=None), model, recorder)
        return widths, recorder.kinds

    return go


FOUND, OTHER = (1, 2, 3), (1, 2)


def test_a_new_process_tests_nothing_that_an_earlier_one_has_tested(ask, monkeypatch, tmp_path):
    monkeypatch.setenv(SELF_TESTS_VARIABLE, str(tmp_path))
    assert ask(FOUND) == (FOUND, ["self_test"])
    assert ask(OTHER) == (FOUND, [])
    assert ask(OTHER, given=(4, 2)) == ((2, 4), [])
    assert ask(OTHER) == (FOUND, [])


def test_a_calibration_tests_anew_once_in_a_process_and_replaces_what_is_kept(ask, monkeypatch, tmp_path):
    monkeypatch.setenv(SELF_TESTS_VARIABLE, str(tmp_path))
    session = target_worker.Session(None)
    ask(FOUND)
    assert ask(OTHER, session=session) == (FOUND, [])
    assert ask(OTHER, "calibrate", session=session) == (OTHER, ["self_test"])
    assert ask(FOUND, "calibrate", session=session) == (OTHER, [])
    assert ask(FOUND) == (OTHER, [])


def test_without_a_folder_every_process_tests(ask, monkeypatch):
    monkeypatch.delenv(SELF_TESTS_VARIABLE, raising=False)
    assert [ask(FOUND), ask(OTHER)] == [(FOUND, ["self_test"]), (OTHER, ["self_test"])]
