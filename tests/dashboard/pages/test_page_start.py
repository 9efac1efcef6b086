import sys
from pathlib import Path

from dashboard import ui_app, ui_server
from dashboard.services.runs import list_runs


def test_what_pages_are_made_of_is_read_in_before_anybody_asks_and_no_page_is_run_by_that():
    ui_server.get_ready()
    parts = {f"dashboard.{path.stem}" for path in Path(ui_app.__file__).parent.glob("ui_*.py")}
    assert parts - set(sys.modules) == {"dashboard.ui_script"}


def test_an_empty_store_shows_the_packaged_sample_and_says_that_it_is_replayed(open_page):
    app = open_page("start")
    assert "start-timeline" in app.charts
    assert "replayed" in app.text
    assert any("nothing ran here yet" in item.value for item in app.test.subheader)
    assert app.links["Open it and look at single rounds"] == "corpus=demo&window=long_02&profile=k70&b=7"


def test_the_newest_run_is_the_picture(keep, open_page):
    keep("older", created_at="2026-03-01T10:00:00+00:00")
    keep("newer", window="clean_01", created_at="2026-03-02T10:00:00+00:00")
    app = open_page("start")
    assert "run newer" in app.text
    assert app.links["Open it and look at single rounds"] == "run=newer"


def test_a_failed_run_is_listed_but_is_no_picture(keep, open_page):
    keep("broken", status="failed", error="The model is unwell.")
    app = open_page("start")
    assert "nothing ran here yet" in app.test.subheader[0].value
    assert app.links["1 Mar 10:00 · As²d b=7 · clean_00 · failed"] == "run=broken"


def test_many_runs_leave_the_page_as_short_as_it_is(keep, open_page):
    for number in range(12):
        keep(f"run-{number:02d}", created_at=f"2026-03-{number + 1:02d}T10:00:00+00:00")
    assert sum(query.startswith("run=") for query in open_page("start").links.values()) == 1 + 5


def test_the_button_runs_a_real_request_and_shows_it_on_the_request_page(workspace, open_page):
    app = open_page("start").press("Run As²d on this computer")
    job = workspace.jobs.job(app.state["job"])
    assert app.test.title[0].value == "Request"
    assert job.wait(120)
    assert [run.request.method for run in job.runs] == ["target-only", "as2d"]
    assert {row.status for row in list_runs(workspace)} == {"eos"}
