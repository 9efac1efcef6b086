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


def contrast(one, other):
    """Ratio of relative luminances as WCAG defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_buttons_can_be_read(name):
    page = CONFIG["theme"][name]
    assert page["primaryColor"] == THEMES[name].primary
    assert contrast(page["primaryColor"], "#FFFFFF") >= 4.5
    assert contrast(page["primaryColor"], page["backgroundColor"]) >= 4


def test_the_font_is_the_same():
    assert CONFIG["theme"]["font"] == FONT


def test_the_server_is_for_this_computer_only_and_reports_to_nobody():
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["maxUploadSize"] == 50


def test_no_colour_is_written_into_a_style_sheet():
    assert "#" not in (ROOT / "assets" / "page.css").read_text(encoding="utf-8")
