"""From all windows to one of them, to its rounds, and to its methods side by side."""

import pytest
from live_dashboard import exceptions, open_page, settle
from test_newcomers_path import address_matches, click_mark

from as2d_core.profiles import load_profile
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from datastore.ingest import ingest_run
from datastore.opening import open_store

pytestmark = pytest.mark.browser

GAINS = 1
"""The second figure of the page."""


@pytest.fixture
def server(start_dashboard, tmp_path):
    """A dashboard over one window under two methods."""
    folder = tmp_path / "as2d"
    with open_store(folder) as store:
        for method in ("target-only", "as2d"):
            path = tmp_path / f"{method}.ndjson"
            run = replay_window(load_corpus("demo"), "clean_00", load_profile("k70"), method)
            path.write_text("".join(run.lines))
            ingest_run(store, path)
    return start_dashboard(folder)


def test_a_mark_opens_its_window_and_a_stored_window_its_comparison(server, page):
    open_page(page, f"{server.url}/windows")
    click_mark(page, GAINS, "faster")
    address_matches(page, "window=")
    page.get_by_text("steps saved with").wait_for()
    page.get_by_role("link", name="Replay it round by round").click()
    page.get_by_text("Where did the time of a run go").wait_for()
    settle(page)
    assert "corpus=demo" in page.evaluate("location.href")

    open_page(page, f"{server.url}/windows?source=store&window=clean_00")
    page.get_by_role("link", name="Compare the methods on it").click()
    page.get_by_text("outputs have the tokens of Target-only").wait_for()
    settle(page)
    assert page.get_by_text("Timelines from the same zero").is_visible()
    assert exceptions(page) == []
