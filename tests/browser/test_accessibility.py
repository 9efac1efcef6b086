"""Every page, light and dark, is judged by axe-core. What is Streamlit's own is listed in docs/accessibility.md."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from live_dashboard import ROOT, exceptions, open_page, screenshot, settle

from as2d_core.profiles import load_profile
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from dashboard.views.theme import DARK
from datastore.ingest import ingest_run
from datastore.opening import open_store

pytestmark = pytest.mark.browser

GRAVE = {"serious", "critical"}
STATES = {
    "start": "/",
    "timeline": "/timeline?corpus=demo&window=clean_00&profile=k70&b=7&round=3",
    "profiles": "/profiles?profile=k70&against=mi14",
    "published": "/published?table=8",
}
"""Addresses that show more of a page than its name alone."""
STREAMLITS_OWN: dict[str, set[str]] = {}
"""Findings by page that only Streamlit can mend."""
DRAWN_IN = "colour => [...document.querySelectorAll('style')].some(style => style.textContent.includes(colour))"
STILL = """() => !document.querySelector('[data-stale="true"]') && document.getAnimations().every(
    one => one.playState !== 'running' || one.effect.getTiming().iterations === Infinity)"""
"""Nothing is fading in: text that is half there has less contrast than it will have."""
ASKED = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "resultTypes": ["violations"],
}
FIGURES = {"exclude": [[".js-plotly-plot"]]}
"""Thousands of marks without text of their own; their colours are tested in test_view_theme.py."""


def pages() -> list[str]:
    return sorted(path.stem for path in Path(ROOT / "dashboard" / "pages").glob("*.py"))


@pytest.fixture
def server(start_dashboard, tmp_path):
    """A dashboard with two runs."""
    folder = tmp_path / "as2d"
    with open_store(folder) as store:
        for window in ("clean_00", "clean_01"):
            path = tmp_path / f"{window}.ndjson"
            path.write_text("".join(replay_window(load_corpus("demo"), window, load_profile("k70")).lines))
            ingest_run(store, path)
    return start_dashboard(folder)


def findings(page, name, theme) -> list[str]:
    """Grave findings on what is shown."""
    page.wait_for_function(STILL)
    found = Axe().run(page, context=FIGURES, options=ASKED).response["violations"]
    return [
        f"{name} ({theme}): {violation['id']} ({violation['help']}): {node['html'][:200]}"
        for violation in found
        if violation["impact"] in GRAVE and violation["id"] not in STREAMLITS_OWN.get(name, ())
        for node in violation["nodes"][:3]
    ]


def test_no_page_has_a_grave_fault_of_accessibility_in_light_or_dark(server, page):
    wrong = []
    for name in pages():
        page.emulate_media(color_scheme="light")
        open_page(page, server.url + STATES.get(name, f"/{name}"))
        wrong += findings(page, name, "light")
        screenshot(page, f"page-{name}")
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(DRAWN_IN, arg=DARK.text)
        settle(page)
        wrong += findings(page, name, "dark")
        wrong += exceptions(page)
    assert wrong == []
