import pytest

from dashboard.services.requests import RunForm
from dashboard.services.sweeps import SweepForm, list_sweeps, plan_sweep, start_sweep

DEADLINE_S = 120


@pytest.fixture
def swept(workspace):
    """Runs a sweep of the fake runner: ``swept("ok", times=3)``."""

    def go(what, **changes):
        base = RunForm(window_id="clean_00", instruction=what)
        plan = plan_sweep(workspace, SweepForm("sustained", base, **{"times": 3, **changes}))
        assert start_sweep(workspace, plan).wait(DEADLINE_S)
        return plan.id

    return go


def test_an_empty_store_says_what_a_sweep_is_and_offers_one(workspace, open_page):
    app = open_page("sweep")
    assert "Nothing was swept yet" in app.text
    assert "Ends after 10 min of work" in app.text
    assert not app.button("Start the sweep").disabled


def test_a_complete_sweep_is_drawn_with_its_numbers(swept, open_page):
    sweep_id = swept("ok")
    app = open_page("sweep", sweep=sweep_id)
    assert "Complete: 3 of 3 requests." in app.text
    assert "Undecided: 3 complete requests" in app.text
    assert "sweep" in app.charts
    assert len(app.test.dataframe[0].value) == 3
    assert app.links["All of these runs"] == f"group={sweep_id}"


def test_a_sweep_is_started_by_the_page_and_then_shown(workspace, open_page):
    app = open_page("sweep", **{"kind": "positions", "length-positions": 1, "step": 0.5, "window": "clean_00"})
    app.press("Start the sweep")
    (plan,) = list_sweeps(workspace)
    assert (plan.kind, {r.method for r in plan.requests}) == ("positions", {"target-only", "as2d"})
    assert app.state["sweep"] == plan.id
    assert all(job.wait(DEADLINE_S) for job in workspace.jobs.jobs())
    app.run()
    assert f"Complete: {plan.formal} of {plan.formal} requests." in app.text


def test_a_running_sweep_can_be_stopped_and_a_stopped_one_goes_on(workspace, open_page, tmp_path):
    gate = tmp_path / "go"
    base = RunForm(window_id="clean_00", instruction=f"until {gate}")
    plan = plan_sweep(workspace, SweepForm("sustained", base, times=2))
    job = start_sweep(workspace, plan)
    app = open_page("sweep", sweep=plan.id)
    assert "Running: 0 of 2 requests" in app.text
    assert app.button("Start the sweep").disabled
    app.press("Stop")
    assert job.wait(DEADLINE_S)
    app.run()
    assert "Stopped: 0 of 2 requests. What was run is kept." in app.text
    gate.touch()
    app.press("Go on")
    assert all(job.wait(DEADLINE_S) for job in workspace.jobs.jobs())
    app.run()
    assert "Complete: 2 of 2 requests." in app.text


def test_requests_that_failed_are_shown_as_such(swept, open_page):
    app = open_page("sweep", sweep=swept("fail", times=2))
    assert "2 requests did not come to an end" in app.text
    assert "not complete" in {trace["name"] for trace in app.charts["sweep"]["data"]}


def test_a_sweep_that_cannot_be_is_a_sentence_in_its_place(workspace, open_page):
    app = open_page("sweep", **{"kind": "blocks", "length-blocks": 30, "window": "clean_00"})
    assert "less than one view" in app.text


def test_a_sweep_that_is_gone_is_said_and_the_newest_is_shown(swept, open_page):
    swept("ok", times=1)
    app = open_page("sweep", sweep="s-nowhere")
    assert "There is no sweep 's-nowhere' here" in app.text
    assert "Complete: 1 of 1 requests." in app.text


def test_a_plan_can_be_forgotten(workspace, swept, open_page):
    app = open_page("sweep", sweep=swept("ok", times=1))
    app.press("Forget it")
    assert list_sweeps(workspace) == []
    assert "Nothing was swept yet" in app.text
