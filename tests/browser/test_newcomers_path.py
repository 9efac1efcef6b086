"""What a newcomer does, with the real models: run, watch, look at a round, choose a budget."""

import re

import pytest
from live_dashboard import exceptions, open_page, screenshot, settle

pytestmark = [pytest.mark.browser, pytest.mark.models]

FIRST_RUN_MS = 180_000
"""Two runs and, before them, the self-test of the widths, on a slow machine."""
CHART = '[data-testid="stPlotlyChart"] .js-plotly-plot'
POINT_OF_MARK = """([chart, name, wanted]) => {
    const figure = document.querySelectorAll('.js-plotly-plot')[chart];
    const trace = figure._fullData.find(t => t.name === name);
    const layout = figure._fullLayout, size = layout._size;
    const at = trace.x.indexOf(wanted);
    const i = at < 0 ? Math.floor(trace.x.length / 2) : at;
    const middle = trace.type === 'bar' ? trace.width[i] / 2 : 0;
    const height = trace.type === 'bar' ? trace.base[i] + trace.y[i] / 2 : trace.y[i];
    return [size.l + layout.xaxis.d2p(trace.x[i] + middle), size.t + layout.yaxis.d2p(height)];
}"""


def click_mark(page, chart, name, x=None):
    """Click on a mark of a trace: the one at ``x``, or one in the middle."""
    figure = page.locator(CHART).nth(chart)
    figure.scroll_into_view_if_needed()
    left, top = page.evaluate(POINT_OF_MARK, [chart, name, x])
    click_when_pointed_at(figure, left, top)


def click_when_pointed_at(figure, x, y):
    """Plotly takes a click for one on a mark only after it has noticed that the pointer is there."""
    figure.hover(position={"x": x, "y": y})
    figure.locator(".hoverlayer .hovertext").first.wait_for()
    figure.click(position={"x": x, "y": y})


def address_matches(page, pattern):
    page.wait_for_function("pattern => new RegExp(pattern).test(location.href)", arg=pattern)
    settle(page)


def test_from_the_first_page_to_a_chosen_budget(start_dashboard, page):
    server = start_dashboard()
    open_page(page, server.url)
    page.get_by_text("nothing ran here yet").wait_for()

    page.get_by_role("button", name="Run As²d on this computer").click()
    page.wait_for_url(re.compile(r"/request\?job=j\d+"))
    second_tab = page.context.new_page()
    open_page(second_tab, f"{server.url}/request")
    second_tab.get_by_text(re.compile(r"^Run \d of 2,|^2 runs on long_00: done")).first.wait_for()
    second_tab.close()
    page.get_by_role("link", name="Timeline of As²d b=7").wait_for(timeout=FIRST_RUN_MS)
    settle(page)
    screenshot(page, "newcomer-1-request")
    assert re.search(r"/request\?job=j\d+", page.evaluate("location.href"))
    assert page.get_by_text("2 runs on long_00: done.").is_visible()
    assert page.get_by_text(re.compile(r"[+−]\d+\.\d % against target-only")).first.is_visible()

    page.get_by_role("link", name="Timeline of As²d b=7").click()
    page.get_by_text("Where did the time of a run go").wait_for()
    settle(page)
    click_mark(page, 1, "target:accepted")
    address_matches(page, r"round=\d+")
    assert page.get_by_text(re.compile(r"\d proposed, \d accepted")).first.is_visible()
    screenshot(page, "newcomer-2-timeline")

    page.get_by_role("link", name="Budgets").click()
    page.get_by_text("Which proposal budget is fastest").wait_for()
    settle(page)
    click_mark(page, 0, "tps:drafter", 5)
    address_matches(page, r"b=5")
    assert page.get_by_text(re.compile(r"Selected drafter, b = 5: \d")).is_visible()
    screenshot(page, "newcomer-3-budgets")
    assert (exceptions(page), page.said) == ([], [])


def test_the_first_visitor_of_a_new_process_may_come_by_a_link_to_a_page(start_dashboard, page):
    server = start_dashboard()
    open_page(page, f"{server.url}/budgets?b=3")
    page.get_by_text(re.compile(r"Selected drafter, b = 3")).wait_for()
    for name in ("Start", "Request", "Timeline", "Budgets", "Runs"):
        assert page.get_by_role("link", name=name, exact=True).is_visible()
    assert page.get_by_role("dialog").count() == 0


def test_what_was_chosen_is_kept_across_pages_and_a_reload(dashboard, page):
    open_page(page, f"{dashboard.url}/budgets?profile=mi14")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_text("Everything that was run here").wait_for()
    settle(page)
    page.get_by_role("link", name="Budgets", exact=True).click()
    address_matches(page, "profile=mi14")
    page.reload()
    settle(page)
    assert page.evaluate("location.search") == "?profile=mi14"
    assert (exceptions(page), page.said) == ([], [])


def test_a_click_into_the_map_opens_the_window_under_that_budget(dashboard, page):
    open_page(page, f"{dashboard.url}/budgets")
    page.locator(CHART).nth(1).scroll_into_view_if_needed()
    click_when_pointed_at(page.locator(CHART).nth(1), 400, 200)
    address_matches(page, r"window=\w+&cell=\d+")
    assert page.get_by_text("The target says:").is_visible()
    assert page.get_by_text(re.compile(r"^\w+, b = \d+$")).is_visible()


def test_a_drag_over_the_overview_zooms_and_keys_and_every_turn_of_the_wheel_move_on(dashboard, page):
    open_page(page, f"{dashboard.url}/timeline?corpus=demo&window=long_00&profile=k70&b=7")
    strip = page.locator(CHART).nth(0).bounding_box()
    left, width, middle = strip["x"] + 132, strip["width"] - 188, strip["y"] + 20
    page.mouse.move(left + width * 0.3, middle)
    page.mouse.down()
    page.mouse.move(left + width * 0.45, middle, steps=4)
    page.mouse.move(left + width * 0.6, middle, steps=4)
    page.mouse.up()
    address_matches(page, r"from=\d+&to=\d+")
    before = page.evaluate("location.search")
    page.keyboard.press("d")
    page.wait_for_function("before => location.search !== before", arg=before)
    for _ in range(2):  # each draws the figure anew, which has to be followed again
        settle(page)
        page.wait_for_function("document.querySelector('.st-key-detail .js-plotly-plot')?.as2dFollowed")
        before = page.evaluate("location.search")
        page.locator(CHART).nth(1).hover(position={"x": 500, "y": 100})
        page.mouse.wheel(0, -240)
        page.wait_for_function("before => location.search !== before", arg=before)
    assert (exceptions(page), page.said) == ([], [])
