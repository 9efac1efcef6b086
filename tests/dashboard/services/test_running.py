from dataclasses import replace

import pytest
from page_samples import put

from as2d_core.errors import RequestError
from as2d_core.runner.device import android_facts
from dashboard.services import runs
from dashboard.services.devices import device_history, find_device, list_devices, phone_key
from dashboard.services.requests import RunForm
from dashboard.services.running import every_method, start_comparison, start_run
from datastore.run_row import device_key
from device_bridge.errors import DeviceBusyError, UnknownDeviceError
from device_bridge.facts import facts_from

FORM = RunForm(window_id="clean_00", instruction="ok")


def run(workspace, form=FORM, **options):
    job = start_run(workspace, form, **options)
    assert job.wait(120)
    return job


def methods(job):
    return [live.request.method for live in job.runs]


def test_a_finished_run_is_in_the_store_and_nowhere_else(workspace):
    job = run(workspace, with_reference=False)
    assert runs.get_run(workspace, job.runs[0].request.run_id).status == "eos"
    assert list(workspace.incoming.iterdir()) == []


def test_target_only_is_run_first_when_there_is_nothing_to_compare_with(workspace):
    job = run(workspace)
    assert methods(job) == ["target-only", "as2d"]
    assert runs.get_run(workspace, job.runs[1].request.run_id).matches_target_only is True


def test_target_only_is_not_run_again_for_the_same_work(workspace):
    run(workspace)
    assert methods(run(workspace, replace(FORM, method="sd"))) == ["sd"]


@pytest.mark.parametrize("other", [{"window_id": "clean_01"}, {"instruction": "ok 4"}, {"max_tokens": 99}])
def test_other_work_gets_its_own_reference(workspace, other):
    run(workspace)
    assert methods(run(workspace, replace(FORM, **other))) == ["target-only", "as2d"]


def test_without_a_reference_nothing_is_compared(workspace):
    job = run(workspace, with_reference=False)
    assert methods(job) == ["as2d"]
    assert runs.get_run(workspace, job.runs[0].request.run_id).matches_target_only is None


def test_repetitions_and_their_reference_are_one_group_in_order(workspace):
    job = run(workspace, repetitions=2, warm_ups=1)
    requests = [live.request for live in job.runs]
    assert [r.order for r in requests] == [0, 1, 2, 3]
    assert [r.warm_up for r in requests] == [False, True, False, False]
    assert len({r.group_id for r in requests}) == 1


def test_a_comparison_runs_every_method_as_one_group(workspace):
    job = start_comparison(workspace, every_method(FORM), repetitions=2)
    assert job.wait(120)
    assert methods(job) == ["target-only", "sd", "specasr", "as2d", "as2d", "specasr", "sd", "target-only"]
    details = runs.run_details(workspace, job.runs[0].request.run_id)
    assert [row.run_id for row in details.group] == [live.request.run_id for live in job.runs]


def test_a_stream_that_breaks_off_is_stored_as_incomplete(workspace):
    job = run(workspace, replace(FORM, instruction="die"), with_reference=False)
    row = runs.get_run(workspace, job.runs[0].request.run_id)
    assert (row.status, row.tps) == ("incomplete", None)
    assert job.warnings == []


def test_a_failed_run_is_stored_with_its_reason(workspace):
    job = run(workspace, replace(FORM, instruction="fail"), with_reference=False)
    assert runs.get_run(workspace, job.runs[0].request.run_id).error == "The model is unwell."


def test_a_device_says_what_it_runs_and_refuses_more(workspace):
    job = start_run(workspace, replace(FORM, instruction="slow 100000"), with_reference=False)
    assert find_device(workspace).job is job
    with pytest.raises(DeviceBusyError, match="as2d b=7 on clean_00"):
        start_run(workspace, FORM)
    job.cancel()
    assert job.wait(120)
    assert [device.job for device in list_devices(workspace)] == [None]


def test_an_unknown_device_is_refused(workspace):
    with pytest.raises(UnknownDeviceError, match="this-computer"):
        start_run(workspace, FORM, "this-compute")


def test_a_form_that_cannot_be_sent_starts_nothing(workspace):
    with pytest.raises(RequestError):
        start_run(workspace, replace(FORM, drafter_pace_ms=float("nan")))
    assert workspace.jobs.jobs() == []


def test_the_history_of_a_device_holds_what_ran_on_it_and_no_replay_with_its_costs(workspace, tmp_path):
    assert device_history(workspace, ("a device",)) == []  # of a store without a run
    put(workspace.store, tmp_path, "ran")
    put(workspace.store, tmp_path, "replayed", source="replayed")
    row = runs.get_run(workspace, "ran")
    assert [found.run_id for found in device_history(workspace, (row.device_key,))] == ["ran"]


@pytest.mark.parametrize("more", [{}, {"ro.as2d.virtual": "1"}, {"ro.product.marketname": "Redmi K70 Pro"}])
def test_a_phone_that_is_connected_and_its_runs_have_one_key(more):
    properties = {"ro.product.model": "23117RK66C", "ro.serialno": "8f3a12", **more}
    text = "".join(f"[{name}]: [{value}]\n" for name, value in properties.items())
    assert phone_key(facts_from({"getprop": text})) == device_key(android_facts(properties))
