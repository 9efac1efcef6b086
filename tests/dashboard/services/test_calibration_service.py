"""Calibration and collection as jobs over the real runner; short ones."""

import math
from dataclasses import replace

import pytest
from known_widths import know_widths
from patience import wait_for

from as2d_core.errors import ProfileError, RequestError, UnknownNameError
from as2d_core.models.demo_catalog import demo_window
from as2d_core.models.window_index import write_index
from as2d_core.protocol import Writer
from as2d_core.records import RunHeader
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.cli_calibrate import measure
from dashboard.services import calibration
from dashboard.services.budgets import open_corpus
from dashboard.services.calibration import (
    CalibrationForm,
    _requests,
    _setting,
    expected_seconds,
    fit_stored,
    interrupted,
    phone_form,
    same_calibration,
    start,
    start_calibration,
)
from dashboard.services.collection import (
    bundled_windows,
    finish_collection,
    folder_windows,
    folders_windows,
    start_collection,
)
from dashboard.services.profiles import load_profile
from dashboard.services.workspace import open_workspace
from datastore.ingest import ingest_run

JOB_WAIT_S = 120.0


@pytest.fixture
def real_workspace(data_folder, exact_widths):
    """A workspace on this computer's real runner, whose store knows the exact widths of the bundled target."""
    workspace = open_workspace()
    know_widths(workspace.store, exact_widths)
    return workspace


@pytest.mark.models
def test_a_calibration_is_kept_as_a_profile_and_can_be_fitted_again_from_the_store(real_workspace):
    form = CalibrationForm(repetitions=1, windows=("clean_00",), offsets_tokens=(0, 16), max_width=4)
    calibration = start(real_workspace, form)
    assert calibration.over.wait(JOB_WAIT_S)
    assert calibration.problem is None
    kept = load_profile(real_workspace.folders, "this-computer")
    assert kept == calibration.profile
    group = calibration.job.runs[0].request.group_id
    again = fit_stored(real_workspace, group, "again")
    assert again.verify_idle_ms == kept.verify_idle_ms
    # A program that ended meanwhile: the next one follows the job, fits it, and shows it to whoever asks the same.
    real_workspace.resumed.append(calibration.job)
    real_workspace._fit_later(calibration.job)
    jobs = real_workspace.jobs.jobs()
    assert measure(form, quiet=True).document["verify_idle_ms"] == kept.verify_idle_ms
    assert real_workspace.jobs.jobs() == jobs
    assert not same_calibration(real_workspace, replace(form, repetitions=2), calibration.job)


def test_every_placement_is_measured_by_requests_and_under_a_name_of_its_own(workspace):
    on_gpu = phone_form("usb:8f3a", "opencl", "cpu")
    assert (phone_form("usb:8f3a").profile_id, on_gpu.profile_id) == ("phone-usb-8f3a", "phone-usb-8f3a-opencl-cpu")
    (asked,) = _requests(workspace, on_gpu)
    assert (asked.placement.backend, asked.placement.drafter_backend) == ("opencl", "cpu")
    assert _setting(asked) != _setting(*_requests(workspace, replace(on_gpu, target_backend="cpu")))


@pytest.mark.models
def test_a_cancelled_calibration_leaves_no_profile_and_says_so(real_workspace):
    calibration = start_calibration(real_workspace, repetitions=20, windows=("clean_00",))
    calibration.job.cancel()
    assert calibration.over.wait(JOB_WAIT_S)
    assert calibration.profile is None
    assert calibration.problem


@pytest.mark.models
@pytest.mark.parametrize("name", ["k70", "", "  "])
def test_a_name_that_no_measured_profile_may_have_is_refused_before_anything_is_measured(workspace, name):
    with pytest.raises(ProfileError, match=r"published profile|is empty"):
        start_calibration(workspace, name)
    assert workspace.jobs.jobs() == []


def test_an_interrupted_collection_goes_on_where_it_stopped(real_workspace):
    windows = tuple(demo_window(name) for name in ("clean_00", "clean_01"))
    first = start_collection(real_workspace, "mine", windows[:1])
    assert first.job.wait(JOB_WAIT_S)
    both = start_collection(real_workspace, "mine", windows)
    assert list(both.found) == ["clean_00"]
    assert [run.request.audio.window_id for run in both.job.runs] == ["clean_01"]
    assert both.job.wait(JOB_WAIT_S)
    said = []
    corpus, path = finish_collection(real_workspace, both, said.append)
    assert [w.window_id for w in corpus.windows] == ["clean_00", "clean_01"]
    assert path.is_file()
    assert said == []
    assert open_corpus(real_workspace.folders, "mine") == corpus
    assert start_collection(real_workspace, "mine", windows).job is None


def test_a_packaged_name_is_not_overwritten(workspace):
    with pytest.raises(RequestError, match="packaged"):
        start_collection(workspace, "demo", bundled_windows())


@pytest.mark.parametrize("name", ["", "../x", "a/b"])
def test_a_collection_cannot_be_named_out_of_its_folder(workspace, name):
    with pytest.raises(RequestError, match="name"):
        start_collection(workspace, name, bundled_windows())


def test_a_folder_of_recordings_becomes_windows_grouped_by_folder(tmp_path):
    group = tmp_path / "rec" / "street"
    group.mkdir(parents=True)
    (group / "one.flac").write_bytes(demo_window("clean_00").path.read_bytes())
    (window,) = folder_windows(tmp_path / "rec", "transcribe the speech.")
    assert (window.window_id, window.group) == ("street/one", "street")


def described(folder, name, tasks=()):
    folder.mkdir()
    (folder / f"{name}.flac").write_bytes(demo_window("clean_00").path.read_bytes())
    said = {"file": f"{name}.flac", "instruction": "listen."}
    window = {**said, "group": "g", "seconds": 2.6, "task": "transcribe", "transcript": "hello.", "split": "test"}
    write_index(folder, [window], [{**said, "task": task, "reference": "yes."} for task in tasks], 16_000)
    return folder


def test_an_index_says_which_windows_a_folder_has_and_what_is_asked(tmp_path):
    folder = described(tmp_path / "a", "one", ["question"])
    (folder / "not_listed.wav").write_text("no audio")
    transcript, question = folder_windows(folder, "not this.")
    assert (transcript.window_id, transcript.instruction, transcript.split) == ("one", "listen.", "test")
    assert (question.window_id, question.task) == ("one-question", "question")
    assert folder_windows(folder, "not this.", tasks=["question"]) == (question,)
    with pytest.raises(RequestError, match="lists nothing of sing; its tasks: question, transcribe"):
        folder_windows(folder, "not this.", tasks=["sing"])


def test_folders_stand_side_by_side_unless_names_meet(tmp_path):
    first, second = described(tmp_path / "a", "one"), described(tmp_path / "b", "two")
    assert [w.window_id for w in folders_windows([first, second], "x")] == ["one", "two"]
    third = described(tmp_path / "c", "one")
    with pytest.raises(RequestError, match="are both called one; rename one"):
        folders_windows([first, second, third], "x")


def test_a_bad_file_in_a_folder_is_left_to_its_own_run(tmp_path):
    (tmp_path / "street").mkdir()
    (tmp_path / "street" / "bad.wav").write_text("no audio")
    (window,) = folder_windows(tmp_path, "transcribe the speech.")
    assert window.window_id == "street/bad"
    assert math.isnan(window.duration_s)


def test_an_empty_folder_and_an_unknown_task_are_refused(tmp_path):
    with pytest.raises(RequestError, match="no audio"):
        folder_windows(tmp_path, "transcribe the speech.")
    with pytest.raises(RequestError, match="tasks are"):
        bundled_windows(["sing"])


def test_a_model_whose_name_breaks_lines_elsewhere_breaks_no_line_of_a_calibration(workspace, tmp_path):
    path = tmp_path / "run.ndjson"
    request = Request("c1", "calibrate", ModelRef("a\u2028b\x85c"), AudioRef("a.wav"), group_id="g1")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        writer = Writer(file.write)
        writer.add(RunHeader(1, "c1", request, {"name": "here"}, {"as2d": "1"}, "monotonic"))
        writer.end("cancelled", 0)
    ingest_run(workspace.store, path)
    (record,) = calibration._records(workspace, "g1")
    assert (record.status, record.problems) == ("cancelled", [])


def test_a_group_without_calibration_runs_cannot_be_fitted(workspace):
    with pytest.raises(UnknownNameError, match="group"):
        fit_stored(workspace, "g-none", "here")


def test_more_repetitions_are_expected_to_take_longer():
    assert expected_seconds(5) > expected_seconds(1) > 0


@pytest.mark.models
def test_an_interrupted_calibration_goes_on_where_it_stopped_and_measures_nothing_twice(real_workspace):
    form = CalibrationForm(
        profile_id="resumed", repetitions=1, windows=("clean_00",), offsets_tokens=(0, 16), max_width=6
    )
    first = start(real_workspace, form)
    wait_for(lambda: (record := first.job.runs[0].record()) is not None and len(record.samples) >= 20)
    first.job.cancel()
    assert first.over.wait(JOB_WAIT_S)
    assert first.profile is None
    assert 0 < first.share < 1
    assert "start it again" in first.problem
    assert interrupted(real_workspace, replace(form, top_profile=True)) is None  # cells of another kind
    second = start(real_workspace, form)
    assert second.group_id == first.group_id
    assert second.resumed_share == pytest.approx(first.share)
    assert second.over.wait(JOB_WAIT_S)
    assert second.problem is None
    assert second.share == 1
    early, late = first.job.runs[0].record().samples, second.job.runs[0].record().samples
    sweeps = [
        (s.width, s.offset_tokens, s.running, s.warm_up)
        for s in (*early, *late)
        if s.name == "verify" and s.origin == "sweep"
    ]
    assert len(sweeps) == len(set(sweeps)) == 6 * 2 * 2 * 2
    assert interrupted(real_workspace, form) is None
