"""Budgets are dragged over, validation chooses among them, the choice is frozen, and only then judged."""

import contextlib
import json
import re

import pytest
from live_dashboard import exceptions, open_page, settle

pytestmark = pytest.mark.browser

TRIES, NOTICED_MS = 8, 8_000
CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
PLACE_OF_BUDGET = """(chart, wanted) => {
    const box = chart.getBoundingClientRect(), layout = chart._fullLayout;
    return {x: box.x + layout.xaxis._offset + layout.xaxis.d2p(wanted), y: box.y + layout.yaxis._offset + 60};
}"""


def drag_over_budgets(page, low, high, until):
    """Drag over a range of budgets until the page has noticed: a figure that is just being drawn anew does not."""
    from playwright import sync_api as playwright_api

    chart = page.locator(CHART).first
    for _ in range(TRIES):
        chart.scroll_into_view_if_needed()
        begin, end = (chart.evaluate(PLACE_OF_BUDGET, budget) for budget in (low, high))
        page.mouse.move(begin["x"], begin["y"])
        page.mouse.down()
        page.mouse.move(end["x"], end["y"] + 40, steps=8)
        page.mouse.up()
        with contextlib.suppress(playwright_api.TimeoutError):
            until.wait_for(timeout=NOTICED_MS)
            return
    until.wait_for()


def test_a_choice_among_dragged_budgets_is_frozen_before_it_is_judged_and_is_what_the_runner_reads(dashboard, page):
    open_page(page, f"{dashboard.url}/budgets?profile=note9&drag=1")
    drag_over_budgets(page, 1.5, 4.4, until=page.get_by_text(re.compile("Chosen among b = 2 to 4")))
    assert "from=2" in page.evaluate("location.search")
    assert page.get_by_role("button", name="Show its test windows").count() == 0

    page.get_by_role("button", name="Freeze this choice").click()
    page.get_by_role("button", name="Show its test windows").click()
    page.get_by_text(re.compile("against target-only")).first.wait_for()
    settle(page)
    assert page.get_by_text("4 Test shown").is_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="Deployment file").click()
    deployment = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert (deployment["kind"], deployment["profile"]["id"]) == ("as2d deployment", "note9")
    assert 2 <= deployment["choice"]["budget"] <= 4
    assert exceptions(page) == []
