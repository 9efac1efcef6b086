"""A report is opened from its file, with no server behind it."""

import re

import pytest
from live_dashboard import exceptions, open_page, screenshot, settle

from as2d_core.profiles import load_profile
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from dashboard.reports.templates import Words
from dashboard.services.reporting import make_report, write_html
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import get_run

pytestmark = pytest.mark.browser

METHODS = {"alone": ("target-only", {}), "ours": ("as2d", {"budget": 7})}


@pytest.fixture
def report(tmp_path):
    """A comparison of two replayed runs as a file, and the runs' rows."""
    with open_store(tmp_path / "as2d") as store:
        ids = []
        for name, (method, settings) in METHODS.items():
            path = tmp_path / f"{name}.ndjson"
            found = replay_window(load_corpus("demo"), "clean_00", load_profile("k70"), method, **settings)
            path.write_text("".join(found.lines))
            ids.append(ingest_run(store, path).run_id)
        words = Words("Two runs", "<img src=x onerror=document.title='no'>", "It was faster.")
        path = tmp_path / "report.html"
        write_html(store, make_report(store, "comparison", ids, words), path)
        return path, [get_run(store, run_id) for run_id in ids]


def test_a_report_opened_from_its_file_is_whole_and_its_numbers_are_the_store_s(report, page):
    path, rows = report
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelectorAll('.figure .main-svg').length >= 2")
    screenshot(page, "report-file")
    text = page.locator("main").inner_text()
    for row in rows:
        assert f"{row.tps:.2f} tok/s" in text
    drawn = page.evaluate(
        "[...document.querySelectorAll('.figure')].flatMap(f => f._fullData.flatMap(t => Array.from(t.x || [])))"
    )
    assert any(abs(value - rows[1].tps) < 1e-6 for value in drawn if isinstance(value, int | float))
    assert page.title() == "Two runs"
    assert page.locator("img").count() == 0
    assert [url for url in asked if not re.match(r"(file|data|blob):", url)] == []
    assert page.said == []


def test_a_report_is_as_wide_as_its_paper_when_it_is_printed(report, page):
    page.goto(report[0].as_uri())
    page.wait_for_function("document.querySelectorAll('.figure .main-svg').length >= 2")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("[...document.querySelectorAll('.figure')].every(f => f._fullLayout.width === 700)")
    assert len(page.pdf(prefer_css_page_size=True)) > 10_000
    assert page.said == []


def test_notebook_and_reports_are_pages_that_load_and_change_without_an_exception(dashboard, page):
    open_page(page, f"{dashboard.url}/notebook")
    page.get_by_role("button", name="Begin a notebook").or_(page.get_by_role("button", name="New notebook")).click()
    page.get_by_role("button", name="Add text").click()
    field = page.get_by_role("textbox", name="Text").last
    field.fill("## Typed\n\n<img src=x>")
    field.press("Control+Enter")
    page.get_by_role("heading", name="Typed").wait_for()
    settle(page)
    page.reload()
    page.get_by_role("heading", name="Typed").wait_for()
    assert page.locator("img[src='x']").count() == 0
    open_page(page, f"{dashboard.url}/reports?template=profile&profile=k70")
    page.get_by_text("Redmi K70 Pro (published)").first.wait_for()
    screenshot(page, "reports-profile")
    assert exceptions(page) == []
