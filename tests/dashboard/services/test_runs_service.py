import io
import zipfile

import pytest

from as2d_core.protocol import read_run
from dashboard.services import runs
from dashboard.services.requests import RunForm
from dashboard.services.running import start_run
from datastore.errors import RunNotFoundError


@pytest.fixture
def run_id(workspace):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="ok 5"), with_reference=False)
    assert job.wait(120)
    return job.runs[0].request.run_id


def test_a_run_is_found_by_filter_and_by_id(workspace, run_id):
    assert [row.run_id for row in runs.list_runs(workspace, runs.RunFilter(methods=("as2d",)))] == [run_id]
    assert runs.count_runs(workspace) == 1
    assert runs.choices(workspace, "window") == ["clean_00"]


def test_the_record_of_a_stored_run_is_that_of_its_log(workspace, run_id):
    log = next(workspace.folders.runs.glob("*.ndjson"))
    assert runs.load_record(workspace, run_id) == read_run(log)


def test_tags_and_notes_are_kept(workspace, run_id):
    runs.add_tag(workspace, run_id, "good")
    runs.set_notes(workspace, run_id, "a note")
    row = runs.get_run(workspace, run_id)
    assert (row.tags, row.notes) == (("good",), "a note")
    assert runs.remove_tag(workspace, run_id, "good").tags == ()


def test_a_deleted_run_can_be_restored_until_the_bin_is_emptied(workspace, run_id):
    runs.delete_run(workspace, run_id)
    assert [row.run_id for row in runs.list_bin(workspace)] == [run_id]
    runs.restore_run(workspace, run_id)
    runs.delete_run(workspace, run_id)
    assert runs.empty_bin(workspace) == 1
    with pytest.raises(RunNotFoundError):
        runs.get_run(workspace, run_id)


def test_an_export_of_logs_is_byte_for_byte(workspace, run_id):
    log = next(workspace.folders.runs.glob("*.ndjson")).read_bytes()
    assert runs.export_runs(workspace, file_format="ndjson").data == log


def test_several_logs_come_as_one_archive(workspace, run_id):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="ok"), with_reference=False)
    assert job.wait(120)
    archive = zipfile.ZipFile(io.BytesIO(runs.export_runs(workspace, file_format="ndjson").data))
    assert len([name for name in archive.namelist() if name.endswith(".ndjson")]) == 2
