"""From the list of profiles to two of them compared, and on to the paper's tables, on a narrow screen."""

import pytest
from live_dashboard import exceptions, open_page, settle
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

HEAD_PX, ROW_PX, BOX_PX = 35, 35, 17
SPILLS = """() => { const main = document.querySelector('[data-testid="stMain"]');
    return main.scrollWidth - main.clientWidth }"""


def test_a_row_opens_a_profile_which_a_reload_keeps_and_no_page_spills_at_900_px(dashboard, page):
    page.set_viewport_size({"width": 900, "height": 900})
    open_page(page, f"{dashboard.url}/profiles?against=mi14")
    row = 1  # the second of the published phones
    page.get_by_test_id("stDataFrame").first.click(position={"x": BOX_PX, "y": HEAD_PX + ROW_PX * row + ROW_PX // 2})
    page.wait_for_url("**profile=k70**")
    page.get_by_text("Xiaomi 14 over Redmi K70 Pro").first.wait_for()
    page.reload()
    settle(page)
    page.get_by_text("Xiaomi 14 over Redmi K70 Pro").first.wait_for()
    assert page.evaluate(SPILLS) <= 0

    open_page(page, f"{dashboard.url}/published?table=8")
    page.get_by_text("27 of 168 cells agree to the printed digit").first.wait_for()
    assert page.evaluate(SPILLS) <= 0
    pages = page.get_by_test_id("stTopNavLink")
    expect(pages).to_have_count(13)
    for number in range(13):
        expect(pages.nth(number)).to_be_in_viewport()  # none behind "more", which would not say what is open
    assert page.locator('[data-testid="stTopNavLink"][aria-current="page"]').inner_text() == "Published"
    assert page.title() == "Published · As²d"
    assert (exceptions(page), page.said) == ([], [])
