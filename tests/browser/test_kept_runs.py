"""What is done with runs that are ticked in the table."""

import re

import pytest
from live_dashboard import LiveDashboard, exceptions, open_page, settle

from as2d_core.profiles import load_profile
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from datastore.ingest import ingest_run
from datastore.opening import open_store

pytestmark = pytest.mark.browser

WINDOWS = ("clean_00", "clean_01")
HEAD_PX, ROW_PX, BOX_PX = 35, 35, 17


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A dashboard over a store with two replayed runs; both are there and untagged when the first test ends."""
    folder = tmp_path_factory.mktemp("kept")
    with open_store(folder / "as2d") as store:
        for window in WINDOWS:
            path = folder / f"{window}.ndjson"
            path.write_text("".join(replay_window(load_corpus("demo"), window, load_profile("k70")).lines))
            ingest_run(store, path)
    server = LiveDashboard(folder / "as2d")
    server.wait_until_healthy()
    yield server
    server.close()


@pytest.fixture
def shown(server, page):
    """The Runs page over that store."""
    open_page(page, f"{server.url}/runs")
    return page


def tick(page, row):
    """Tick a row; the table is one canvas, so that it has to be found by its place."""
    grid = page.get_by_test_id("stDataFrame").first
    grid.click(position={"x": BOX_PX, "y": HEAD_PX + ROW_PX * row + ROW_PX // 2})
    settle(page)


def test_ticked_runs_are_compared(shown):
    tick(shown, 0)
    tick(shown, 1)
    shown.get_by_text("Compared").wait_for()
    settle(shown)
    assert shown.get_by_text("Tags that all of them have").is_visible()
    shown.reload()
    shown.get_by_text("Compared").wait_for()
    settle(shown)
    assert shown.get_by_text("Tags that all of them have").is_visible()
    assert exceptions(shown) == []


def test_a_ticked_run_is_tagged_deleted_and_restored(shown):
    tick(shown, 0)
    tags = shown.get_by_role("combobox", name=re.compile("Tags"))
    tags.fill("baseline")
    tags.press("Enter")
    shown.get_by_text("1 run tagged anew.").wait_for()
    tags.press("Escape")  # the open list hides everything else
    settle(shown)

    shown.get_by_role("button", name="Delete 1 run").click()
    shown.get_by_text("1 run moved to the bin.").wait_for()
    settle(shown)
    assert shown.get_by_text("1 run", exact=True).is_visible()

    shown.get_by_text("Show the bin").click()
    shown.get_by_role("button", name="Restore").wait_for()
    tick(shown, 0)
    shown.get_by_role("button", name="Restore 1 run").click()
    shown.get_by_text("The bin is empty.").wait_for()
    shown.get_by_text("Show the bin").click()
    shown.get_by_text("2 runs", exact=True).wait_for()
    assert exceptions(shown) == []
