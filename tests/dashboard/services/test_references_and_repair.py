import pytest

from dashboard.services.references import reference_tps, request_reference_tps
from dashboard.services.repair import rebuild_store
from dashboard.services.requests import RunForm, build_request
from dashboard.services.running import start_run
from dashboard.services.runs import get_run, list_runs
from dashboard.services.workspace import close_workspace, open_workspace
from datastore.errors import StoreBusyError


@pytest.fixture
def pair(workspace):
    """Target-only and As²d on the same work, both stored."""
    job = start_run(workspace, RunForm(window_id="clean_00"))
    assert job.wait(120)
    return [get_run(workspace, run.request.run_id) for run in job.runs]


def test_a_run_is_measured_against_target_only_on_the_same_work(workspace, pair):
    alone, ours = pair
    assert reference_tps(workspace, ours) == alone.tps
    assert reference_tps(workspace, alone) is None


def test_a_run_that_is_still_to_come_has_the_same_reference(workspace, pair):
    assert request_reference_tps(workspace, build_request(workspace, RunForm(window_id="clean_00"))) == pair[0].tps


def test_other_work_has_no_reference(workspace, pair):
    other = build_request(workspace, RunForm(window_id="clean_01"))
    assert request_reference_tps(workspace, other) is None
    assert request_reference_tps(workspace, build_request(workspace, RunForm("target-only", "clean_00"))) is None


def test_a_store_is_made_anew_from_its_logs(workspace, pair):
    close_workspace()
    assert rebuild_store().startswith("Rebuilt with 2 runs, 0 in the bin")
    assert len(list_runs(open_workspace())) == 2


def test_an_open_store_is_not_made_anew(workspace):
    with pytest.raises(StoreBusyError):
        rebuild_store()
