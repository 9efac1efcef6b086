"""Budgets are dragged over, validation chooses among them, the choice is frozen, and only then judged."""

import json
import re

import pytest
from live_dashboard import exceptions, open_page, settle

pytestmark = pytest.mark.browser

CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
PLACE_OF_BUDGET = """(chart, wanted) => {
    const box = chart.getBoundingClientRect(), layout = chart._fullLayout;
    return {x: box.x + layout.xaxis._offset + layout.xaxis.d2p(wanted), y: box.y + layout.yaxis._offset + 60};
}"""


def test_a_choice_among_dragged_budgets_is_frozen_before_it_is_judged_and_is_what_the_runner_reads(dashboard, page):
    open_page(page, f"{dashboard.url}/budgets?profile=note9")
    chart = page.locator(CHART).first
    chart.scroll_into_view_if_needed()
    begin, end = (chart.evaluate(PLACE_OF_BUDGET, budget) for budget in (1.5, 4.4))
    page.mouse.move(begin["x"], begin["y"])
    page.mouse.down()
    page.mouse.move(end["x"], end["y"] + 40, steps=8)
    page.mouse.up()
    page.get_by_text(re.compile("Chosen among b = 2 to 4")).wait_for()
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
