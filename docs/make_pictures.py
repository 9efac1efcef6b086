"""How were the pictures in docs/pictures made? This drives the running dashboard and saves what a reader would see.

    python docs/make_pictures.py [NAME ...]

Needs Chromium and the test dependencies, and adb for the picture of a phone. What is shown are replays, so that the
same program gives the same pictures; what can only be seen while something runs (a request, a sweep, a virtual phone)
runs here, and shows this computer.
"""

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser"), str(ROOT / "tests")]

from live_dashboard import BROWSER_ARGUMENTS, LiveDashboard, find_browser, open_page, settle  # noqa: E402
from virtual_phones import OwnAdbServer  # noqa: E402

from dashboard.services.budgets import open_corpus  # noqa: E402
from dashboard.services.profiles import load_profile  # noqa: E402
from dashboard.services.replays import SAMPLE_CORPUS, SAMPLE_PROFILE, SAMPLE_WINDOW, replay  # noqa: E402
from datastore.locations import Folders  # noqa: E402
from device_bridge.errors import DeviceError  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1440, 2400
SCREEN_PX = 900
TALL = {"windows": 1180, "reports": 1500, "notebook": 1100, "request": 1000}
"""Heights of the screens whose figures end further down."""
COLOURS = 256
LARGEST_BYTES = 150_000
MARGIN = 20
PATIENCE_MS = 180_000

TIMELINE = f"timeline?corpus={SAMPLE_CORPUS}&profile={SAMPLE_PROFILE}&b=7"
BUDGETS = "budgets?profile=k70&b=7"
EMPTY = ("timeline", "budgets", "start", "windows", "profiles", "published")
"""Pictures of a store in which nothing ran."""
FILLED = ("runs", "compare", "reports", "notebook", "sweep", "request", "devices")
"""Pictures of one that holds replays of some windows and a sweep."""
WINDOWS = tuple(f"long_{number:02d}" for number in range(6))
SETTINGS = (("target-only", None, None), ("sd", None, 5), ("specasr", None, None), ("as2d", 7, None))
"""Method, budget and width of the replayed runs."""
SWEEP = ("sweep", "positions", "--window", SAMPLE_WINDOW, "--methods", "target-only,as2d", "--length", "4", "--quiet")


def main(asked: set[str]) -> None:
    """Make the pictures that are asked for; without any, all."""
    names = asked or {*EMPTY, *FILLED}
    if names - {*EMPTY, *FILLED}:
        raise SystemExit(f"There is no picture {', '.join(sorted(names - {*EMPTY, *FILLED}))}; known: {EMPTY + FILLED}")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, adb_server(Path(folder)) as adb:
        if names & set(EMPTY):
            with dashboard(Path(folder) / "empty", adb) as (page, url):
                take(page, url, EMPTY, names)
        if names & set(FILLED):
            runs = fill(Path(folder))
            with dashboard(Path(folder) / "filled", adb) as (page, url):
                take(page, url, FILLED, names, runs)


@contextmanager
def adb_server(folder: Path) -> Iterator[str]:
    """Address of an adb server without any phone, so that no phone of this computer gets into a picture."""
    try:
        server = OwnAdbServer(folder)
    except DeviceError as error:
        print(f"no picture of a phone: {error}")
        yield "127.0.0.1:1"
        return
    try:
        yield str(server.server)
    finally:
        server.stop()


@contextmanager
def dashboard(store: Path, adb: str) -> Iterator[tuple[Page, str]]:
    """A dashboard over a data folder, and a tab."""
    server = LiveDashboard(store, AS2D_ADB_SERVERS=adb)
    try:
        server.wait_until_healthy()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=BROWSER_ARGUMENTS)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.set_default_timeout(PATIENCE_MS)
            yield page, server.url
            browser.close()
    finally:
        server.close()


def fill(folder: Path) -> list[str]:
    """A store with replayed runs and a sweep; returns the names of the replayed runs."""
    logs = folder / "logs"
    logs.mkdir()
    none = Folders(folder / "none")
    profile, corpus = load_profile(none, SAMPLE_PROFILE), open_corpus(none, SAMPLE_CORPUS)
    names = []
    for window in WINDOWS:
        for method, budget, width in SETTINGS:
            made = replay(none, profile, corpus, window, method, budget, width)
            (logs / f"{made.record.run_id}.ndjson").write_text("".join(made.lines), encoding="utf-8")
            names.append(made.record.run_id)
    command(folder, "import", *map(str, sorted(logs.iterdir())))
    command(folder, *SWEEP)
    return names


def command(folder: Path, *arguments: str) -> None:
    """One ``as2d`` command over the filled store."""
    environment = {**os.environ, "AS2D_STORE": str(folder / "filled"), "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-m", "dashboard.cli"]
    subprocess.run([*program, *arguments], env=environment, check=True, capture_output=True)


def take(page: Page, url: str, names: tuple[str, ...], asked: set[str], runs: list[str] | None = None) -> None:
    """The pictures of one store, in the order in which they do not disturb each other."""
    chosen = quote("\n".join(runs or ()))
    charts = page.locator('[data-testid="stPlotlyChart"]')
    for name in (name for name in names if name in asked):
        match name:
            case "timeline":
                window, number = telling_round()
                open_page(page, f"{url}/{TIMELINE}&window={window}&round={number}")
                close = page.get_by_role("button", name="Close")
                save(page, name, page.get_by_text(f"run replay-{SAMPLE_CORPUS}-{window}").first, close)
            case "budgets":
                open_page(page, f"{url}/{BUDGETS}")
                save(page, name, page.get_by_text("Costs of", exact=True), charts.nth(0))
            case "compare":
                open_page(page, f"{url}/compare?runs={chosen}")
                save(page, name, page.get_by_text("Pool runs by"), charts.nth(1))
            case "reports":
                open_page(page, f"{url}/reports?template=comparison&runs={chosen}")
                save_screen(page, name)
            case "notebook":
                open_page(page, f"{url}/notebook")
                page.get_by_role("button", name="Begin a notebook").click()
                page.get_by_text("Saved 2").wait_for()
                settle(page)
                save_screen(page, name)
            case "request":
                open_page(page, f"{url}/request?window={SAMPLE_WINDOW}")
                page.get_by_role("button", name="Run all methods").click()
                page.get_by_role("heading", name="Side by side").wait_for()
                settle(page)
                save_screen(page, name)
            case "devices":
                open_page(page, f"{url}/devices")
                page.get_by_role("button", name="Start it").click()
                page.get_by_text("The phone trusts this computer.").wait_for()
                page.get_by_text("Battery temperature").first.wait_for()
                save_screen(page, name)
                page.get_by_role("button", name="Stop this virtual phone").click()
                page.get_by_text("No phone is connected.").wait_for()
            case _:
                open_page(page, f"{url}/{'' if name == 'start' else name}")
                save_screen(page, name)


def telling_round() -> tuple[str, int]:
    """The first window, and round, in which the target rejected something after it had accepted something."""
    none = Folders(Path("none"))
    profile, corpus = load_profile(none, SAMPLE_PROFILE), open_corpus(none, SAMPLE_CORPUS)
    replays = ((window, replay(none, profile, corpus, window, "as2d", 7)) for window in WINDOWS)
    return next((w, r.index) for w, made in replays for r in made.record.rounds if 0 < r.accepted < r.proposed)


def save(page: Page, name: str, top: Locator, bottom: Locator) -> None:
    """Cut the page from the top of one element to the bottom of another."""
    page.wait_for_timeout(1_000)  # fonts and the last redraw
    begin, end = top.bounding_box(), bottom.bounding_box()
    y = begin["y"] - MARGIN / 2
    keep(page, name, y, end["y"] + end["height"] - y + MARGIN)


def save_screen(page: Page, name: str) -> None:
    """The beginning of a page."""
    page.wait_for_timeout(1_000)
    keep(page, name, 0, TALL.get(name, SCREEN_PX))


def keep(page: Page, name: str, y: float, height: float) -> None:
    """Save a picture with few colours, and refuse one that is too large to be kept."""
    shot = page.screenshot(clip={"x": 0, "y": y, "width": WIDTH, "height": height})
    path = PICTURES / f"{name}.png"
    few = (
        Image.open(io.BytesIO(shot))
        .convert("RGB")
        .quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    few.save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise SystemExit(f"{path} has {size} bytes, more than {LARGEST_BYTES}.")
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")


if __name__ == "__main__":
    main(set(sys.argv[1:]))
