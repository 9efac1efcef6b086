"""What is said of devices, models and jobs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.services.devices import find_device
from dashboard.services.models import ModelEntry, list_models
from dashboard.services.requests import RunForm
from dashboard.services.running import every_method, start_comparison, start_run
from dashboard.views.devices import device_html, device_lines
from dashboard.views.models import model_sentence
from dashboard.views.progress import few_cores, progress_info, slowed_by_a_page
from dashboard.views.theme import LIGHT


@pytest.fixture
def slow(workspace):
    """A job that runs until it is cancelled."""
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="slow 2000"), with_reference=False)
    yield job
    job.cancel()
    job.wait(120)


def test_a_device_says_whether_it_is_idle_and_what_it_is(workspace):
    lines = device_lines(find_device(workspace))
    assert lines[0] == "This computer: idle"
    assert "cores" in lines[1]


def test_a_device_that_runs_says_what(workspace, slow):
    device = find_device(workspace)
    assert device_lines(device)[0] == f"This computer: running {slow.title}"
    assert "<div" in device_html(device, LIGHT)


def test_a_bundled_model_has_type_and_size(workspace):
    assert model_sentence(list_models(workspace.folders)[0]).startswith("qwen3_asr, 17.4 MB")


def test_a_model_that_is_gone_says_so():
    entry = ModelEntry("mine", Path("gone"), False, None, None, "There is no model folder at gone.")
    assert model_sentence(entry) == "There is no model folder at gone."


def test_a_running_job_moves_between_nothing_and_everything(slow):
    info = progress_info(slow)
    assert 0.0 <= info.share < 1.0
    assert info.sentence.startswith("As²d b=7: ")


def test_before_the_models_are_known_the_wait_is_explained(workspace, slow):
    info = progress_info(slow)
    assert "5 to 10 s" in info.detail


def test_a_cancelled_job_says_what_is_kept(slow):
    slow.cancel()
    assert progress_info(slow).detail in ("What has been run is kept.", "")
    assert slow.wait(120)
    assert progress_info(slow).sentence == "As²d b=7 on clean_00: cancelled."


def test_several_runs_are_counted(workspace):
    job = start_comparison(workspace, every_method(RunForm(window_id="clean_01")))
    assert job.wait(120)
    info = progress_info(job)
    assert (info.sentence, info.share) == ("4 runs on clean_01: done.", 1.0)


@pytest.mark.parametrize(("cores", "few"), [(2, True), (4, False), (16, False), (None, True)])
def test_few_cores_are_shared_with_the_page(monkeypatch, cores, few):
    monkeypatch.setattr("dashboard.views.progress.device_facts", lambda: {"logical_cores": cores})
    assert few_cores() is few


@pytest.mark.parametrize(
    ("device", "facts", "slowed"),
    [("this-computer", {}, True), ("8f3a12", {}, False), ("8f3a12", {"virtual": True}, True), ("8f3a12", None, False)],
)
def test_a_page_slows_what_runs_on_the_cores_of_this_computer_only(monkeypatch, device, facts, slowed):
    monkeypatch.setattr("dashboard.views.progress.few_cores", lambda: True)
    record = None if facts is None else SimpleNamespace(header=SimpleNamespace(device=facts))
    run = SimpleNamespace(record=lambda: record)
    assert slowed_by_a_page(SimpleNamespace(device_id=device, runs=[run])) is slowed
