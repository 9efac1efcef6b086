"""How were the pictures in docs/pictures made? This drives the running dashboard and saves what a reader would see.

    python docs/make_pictures.py

Needs Chromium and the test dependencies. What is shown are replays, so that the same program gives the same pictures.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from live_dashboard import BROWSER_ARGUMENTS, LiveDashboard, find_browser, open_page  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1440, 2400
LARGEST_BYTES = 200_000
MARGIN = 20
TIMELINE = "timeline?corpus=demo&window=long_00&profile=k70&b=7&round=35"
BUDGETS = "budgets?profile=k70&b=7"
SCREENS = {"start": "", "windows": "windows", "profiles": "profiles", "published": "published"}
"""Pages of which a picture shows the beginning, by the name of the picture."""
SCREEN_PX = 900


def main() -> None:
    """Make all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = LiveDashboard(Path(folder) / "as2d")
        try:
            server.wait_until_healthy()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_ARGUMENTS)
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                page.set_default_timeout(120_000)
                open_page(page, f"{server.url}/{TIMELINE}")
                close = page.get_by_role("button", name="Close")
                save(page, "timeline", top=page.get_by_text("run replay-demo-long_00"), bottom=close)
                open_page(page, f"{server.url}/{BUDGETS}")
                charts = page.locator('[data-testid="stPlotlyChart"]')
                save(page, "budgets", top=page.get_by_text("replayed", exact=True), bottom=charts.nth(0))
                for name, address in SCREENS.items():
                    open_page(page, f"{server.url}/{address}")
                    save_screen(page, name)
                browser.close()
        finally:
            server.close()


def save(page: Page, name: str, top: Locator, bottom: Locator) -> None:
    """Cut the page from the top of one element to the bottom of another, and check the size of the file."""
    page.wait_for_timeout(1_000)  # fonts and the last redraw
    begin, end = top.bounding_box(), bottom.bounding_box()
    y = begin["y"] - MARGIN
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": y, "width": WIDTH, "height": end["y"] + end["height"] - y + MARGIN})
    check_size(path)


def save_screen(page: Page, name: str) -> None:
    """The beginning of a page."""
    page.wait_for_timeout(1_000)
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": SCREEN_PX})
    check_size(path)


def check_size(path: Path) -> None:
    """Say how large a picture is, and refuse one that is too large to be kept."""
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise SystemExit(f"{path} has {size} bytes, more than {LARGEST_BYTES}.")
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
