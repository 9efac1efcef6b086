"""What Streamlit draws and what we draw have the same colours."""

import tomllib
from pathlib import Path

import pytest

from dashboard.views.theme import FONT, THEMES

ROOT = Path(__file__).parents[3] / "dashboard"
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_colours_of_the_pages_are_those_of_the_figures(name):
    theme, page = THEMES[name], CONFIG["theme"][name]
    assert page["backgroundColor"] == theme.background
    assert page["secondaryBackgroundColor"] == theme.surface
    assert page["textColor"] == theme.text
    assert page["borderColor"] == theme.grid
    assert page["primaryColor"] == theme.role("target")


def test_the_font_is_the_same():
    assert CONFIG["theme"]["font"] == FONT


def test_the_server_is_for_this_computer_only_and_reports_to_nobody():
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["maxUploadSize"] == 50


def test_no_colour_is_written_into_a_style_sheet():
    assert "#" not in (ROOT / "assets" / "page.css").read_text(encoding="utf-8")
