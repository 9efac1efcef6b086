"""A dashboard over an empty data folder, and a browser to look at it. Without a browser the tests are skipped."""

from pathlib import Path

import pytest
from live_dashboard import BROWSER_ARGUMENTS, LiveDashboard, find_browser, screenshot

HERE = Path(__file__).parent
PATIENCE_MS = 120_000
VIEWPORT = {"width": 1280, "height": 800}
_FAILED = pytest.StashKey[bool]()
LONGEST_S = 900
"""Of a test that goes from page to page: each step has a deadline of its own."""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.timeout(LONGEST_S))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    """One dashboard for all tests that may see what others left in its store."""
    server = LiveDashboard(tmp_path_factory.mktemp("store") / "as2d")
    server.wait_until_healthy()
    yield server
    server.close()


@pytest.fixture
def start_dashboard(tmp_path):
    """Starts dashboards of one's own, over ``tmp_path / "as2d"`` unless told otherwise."""
    started = []

    def start(store=None, **environment):
        started.append(LiveDashboard(store or tmp_path / "as2d", **environment))
        started[-1].wait_until_healthy()
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="module")  # Playwright's event loop must not outlive the tests that need it
def browser():
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium or Chrome is installed; install one (Debian: apt install chromium) to run this test")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, request):
    """An empty tab. When the test fails, what it shows is saved under artifacts/."""
    context = browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(PATIENCE_MS)
    tab = context.new_page()
    tab.said = []
    """Errors in the browser's console."""
    tab.on("console", lambda message: tab.said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: tab.said.append(str(error)))
    yield tab
    if request.node.stash.get(_FAILED, False):
        screenshot(tab, f"failed-{request.node.name}")
    context.close()
