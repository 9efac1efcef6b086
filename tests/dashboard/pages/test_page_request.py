import io

import numpy as np
import pytest
import soundfile

from as2d_core.models.demo_catalog import demo_window
from dashboard.notebook.cells import Notebook
from dashboard.notebook.figures import build
from dashboard.notebook.source import Source
from dashboard.reports.bundle import contents
from dashboard.services import notebooks
from dashboard.services.audio_inputs import keep_audio
from dashboard.services.requests import RunForm
from dashboard.services.running import start_run
from dashboard.services.settings import change_settings
from dashboard.views.theme import LIGHT


def wait(workspace, app):
    job = workspace.jobs.job(app.state["job"])
    assert job.wait(120)
    return job


def test_everything_has_a_sensible_default(open_page):
    app = open_page("request")
    assert app.widget("number_input", "Budget b: most candidates in one verification").value == 7
    assert app.widget("selectbox", "Window").value == "long_00"
    assert not app.button("Run").disabled
    assert "Nothing runs at the moment." in app.text


def test_models_that_were_moved_away_are_told_and_the_demo_models_take_their_place(workspace, open_page):
    gone = workspace.folders.root / "gone"
    change_settings(workspace.folders, target=str(gone))
    said = f"The target {gone} cannot be used: There is no model folder at {gone}."
    assert said in open_page("start").text
    app = open_page("request")
    assert said in app.text
    assert app.button("Run").disabled
    app.press("Use the demo models")
    assert "cannot be used" not in app.text
    assert app.widget("selectbox", "Target").value == "demo-target"
    assert not app.button("Run").disabled
    assert workspace.settings.target == "demo-target"


def test_the_recording_is_said_and_can_be_heard(open_page):
    app = open_page("request", window="clean_00")
    assert f"Said: {demo_window('clean_00').reference}" in app.text
    assert app.widget("selectbox", "Group").value == "Clean speech"
    assert len(app.test.get("audio")) == 1
    assert f"clean_00: {demo_window('clean_00').duration_s:.1f} s, 1 channel, 16 kHz" in str(app.charts["recording"])
    assert "Heard: all of it" in str([text.value for text in app.test.markdown])


def test_of_a_long_recording_the_part_that_is_heard_is_framed(workspace, open_page):
    out = io.BytesIO()
    soundfile.write(out, np.full(40 * 8_000, 0.1, np.float32), 8_000, format="WAV")
    kept = keep_audio(workspace.folders, out.getvalue(), "talk.wav")
    app = open_page("request", source="file", audio=kept.file_name, **{"from": 4})
    frame = app.charts["recording"]["layout"]["shapes"][-1]
    assert (frame["x0"], frame["x1"]) == (4.0, 34.0)
    assert "Heard: 4.0 to 34.0 s" in str([text.value for text in app.test.markdown])
    app.press("Send to notebook")
    (sent,) = notebooks.list_notebooks(workspace.store)
    cell = notebooks.open_notebook(workspace.store, sent.notebook_id).cells[-1]
    assert dict(cell.body["settings"]) == {"audio": kept.file_name, "from_s": 4.0, "to_s": 34.0}
    (drawing,) = build(Source(workspace.store), LIGHT, "recording", cell.body["settings"])
    assert "talk.wav: 40.0 s" in drawing.note
    assert (
        "Recordings of people are not taken along"
        in contents(Source(workspace.store), Notebook("n", "N", (cell,))).notes[0]
    )


def test_the_last_seconds_are_framed_and_run(workspace, open_page):
    app = open_page("request", window="clean_00", method="target-only", last=1)
    assert "Heard: 2.4 to 3.4 s" in str([text.value for text in app.test.markdown])
    (run,) = wait(workspace, app.press("Run")).runs
    assert run.request.audio.view_end_s - run.request.audio.view_start_s == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("method", "label"),
    [("sd", "Width K: the root and K − 1 drafted tokens"), ("specasr", "Most tokens drafted for one verification")],
)
def test_each_method_has_its_own_parameter(open_page, method, label):
    app = open_page("request", method=method)
    labels = [widget.label for widget in app.test.number_input]
    assert label in labels
    assert not any(name.startswith("Budget") for name in labels)


def test_nonsense_in_the_address_means_the_defaults(open_page):
    app = open_page("request", window="no_such", method="magic", budget="lots", source="telepathy", device="moon")
    assert app.widget("selectbox", "Window").value == "long_00"
    assert app.widget("number_input", "Budget b: most candidates in one verification").value == 7


def test_a_number_out_of_range_is_cut_to_the_range(open_page):
    app = open_page("request", budget=5000)
    assert app.widget("number_input", "Budget b: most candidates in one verification").value == 63


def test_a_choice_is_in_the_address_only_when_it_is_no_default(open_page):
    app = open_page("request")
    assert app.state == {}
    app.choose("number_input", "Budget b: most candidates in one verification", 5)
    assert app.state == {"budget": "5"}
    app.choose("number_input", "Budget b: most candidates in one verification", 7)
    assert app.state == {}


def test_a_run_is_started_as_asked_and_its_job_is_in_the_address(workspace, open_page):
    app = open_page("request", window="clean_01", method="sd", width=6).press("Run")
    requests = [run.request for run in wait(workspace, app).runs]
    assert [(r.method, r.width, r.audio.window_id) for r in requests][-1] == ("sd", 6, "clean_01")
    assert app.state["window"] == "clean_01"


def test_all_methods_run_on_the_same_recording_and_stand_side_by_side(workspace, open_page):
    app = open_page("request", window="clean_01").press("Run all methods")
    job = wait(workspace, app)
    assert [run.request.method for run in job.runs] == ["target-only", "sd", "specasr", "as2d"]
    app.run()
    assert f"methods-{job.id}" in app.charts
    assert "Against target-only" in app.text
    assert "SpecASR cap=7" in app.text


def test_a_set_of_ones_own_is_compared(workspace, open_page):
    app = open_page("request", window="clean_01", **{"set": "target-only\nas2d", "set-b": "3, 5"})
    app.press("Run 3 settings")
    job = wait(workspace, app)
    assert [(run.request.method, run.request.budget) for run in job.runs] == [
        ("target-only", None), ("as2d", 3), ("as2d", 5),
    ]  # fmt: skip
    assert app.state["set-b"] == "3, 5"


@pytest.mark.parametrize("budgets", ["0", "seven", "3; 5", "64", "٣"])
def test_a_budget_that_is_none_is_a_sentence_and_starts_nothing(open_page, budgets):
    app = open_page("request", **{"set-b": budgets})
    assert "is no budget; give whole numbers from 1 to 63, as in 3, 5, 7." in app.text
    assert app.button("Run 0 settings").disabled


def test_a_second_tab_shows_the_running_job_again(workspace, open_page):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="slow 100000"), with_reference=False)
    try:
        for state in ({}, {"job": job.id}):
            app = open_page("request", **state)
            assert "As²d b=7" in app.text
            assert app.button("Run").disabled
            assert not app.button("Cancel").disabled
    finally:
        job.cancel()
        job.wait(120)


def test_cancel_ends_the_job_and_keeps_what_was_run(workspace, open_page):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="slow 100000"), with_reference=False)
    app = open_page("request", job=job.id)
    app.press("Cancel")
    assert job.wait(120)
    assert job.state == "cancelled"
    assert not app.run().button("Run").disabled


def test_a_finished_job_links_to_its_timeline_and_to_the_budgets(workspace, open_page):
    app = open_page("request", window="clean_01").press("Run")
    run_id = wait(workspace, app).runs[-1].request.run_id
    links = app.run().links
    assert links["Timeline of As²d b=7"] == f"run={run_id}"
    assert "Which budget is best?" in links


def test_a_job_of_another_process_says_where_its_runs_are(open_page):
    app = open_page("request", job="j20200101-000000-abcdef01")
    assert "Job j20200101-000000-abcdef01 is not known to this program any more." in app.text
    assert not app.button("Run").disabled


def test_a_failed_run_says_why_in_one_sentence(workspace, open_page):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="fail"), with_reference=False)
    assert job.wait(120)
    assert "The model is unwell." in open_page("request", job=job.id).text


def test_a_folder_that_is_no_model_is_refused_with_a_sentence(open_page, tmp_path):
    app = open_page("request")
    app.choose("text_input", "Add an MNN model folder of this computer", str(tmp_path / "nothing"))
    app.press("Check and add")
    assert f"There is no model folder at {tmp_path / 'nothing'}." in app.text


def test_without_a_recording_of_ones_own_nothing_can_be_run(open_page):
    app = open_page("request", source="file")
    assert "Nothing was recorded or uploaded yet." in app.text
    assert app.button("Run").disabled
