"""A phone on the Devices page, as a person sees it: started there, its card, what goes wrong with it, and its end."""

import pytest
from live_dashboard import exceptions, open_page, screenshot, settle
from virtual_phones import OwnAdbServer

from device_bridge.virtual_phone.handle import fault_from_outside

pytestmark = pytest.mark.browser


@pytest.fixture
def empty_adb(tmp_path):
    """An adb server that no phone of another test was ever connected to."""
    own = OwnAdbServer(tmp_path)
    yield own
    own.stop()


def test_a_virtual_phone_is_started_from_the_page_shows_its_card_and_its_faults_and_is_stopped(
    start_dashboard, page, empty_adb
):
    server = start_dashboard(AS2D_ADB_SERVERS=str(empty_adb.server))
    open_page(page, f"{server.url}/devices")
    page.get_by_text("No phone is connected.").wait_for()
    page.get_by_role("button", name="Start it").click()
    page.get_by_role("heading", name="Redmi K70 Pro").wait_for()
    for said in ("Adreno", "arm64-v8a", "Android 16", "The phone trusts this computer.", "Battery temperature"):
        page.get_by_text(said, exact=False).first.wait_for()
    page.get_by_role("button", name="Set up").wait_for()
    settle(page)
    screenshot(page, "devices-phone")
    fault_from_outside(server.store / "virtual-phones" / "k70" / "1", "unauthorized")
    page.get_by_text("does not trust this computer").first.wait_for()  # nobody has touched the page
    fault_from_outside(server.store / "virtual-phones" / "k70" / "1", "authorize")
    page.get_by_text("The phone trusts this computer.").wait_for()
    stop = page.get_by_role("button", name="Stop this virtual phone")
    stop.hover()
    page.mouse.down()
    # What stands above a button may come or grow while it is being pressed.
    stop.evaluate("button => button.closest('[data-testid=\"stElementContainer\"]').style.marginTop = '90px'")
    page.mouse.up()
    page.get_by_text("No phone is connected.").wait_for()
    assert exceptions(page) == []
