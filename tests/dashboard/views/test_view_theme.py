import re
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from as2d_core.errors import UnknownNameError
from as2d_core.request import METHODS, AudioRef, ModelRef, Request
from as2d_core.width_rule import WidthRule
from dashboard.views.theme import (
    CONFIG,
    DARK,
    LIGHT,
    PATTERNS,
    PICTURE_CONFIG,
    ROLES,
    STRIP_CONFIG,
    bar_marker,
    base_layout,
    faded,
    method_name,
    method_of,
    picture_named,
    solid,
    theme_named,
)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_role_and_method_has_a_colour_in_both_themes(theme):
    assert set(theme.roles) == set(ROLES) == set(PATTERNS)
    assert set(theme.methods) == set(METHODS)
    for colour in (*theme.roles.values(), *theme.methods.values(), theme.text, theme.muted):
        assert re.fullmatch(r"#[0-9A-F]{6}|rgba\(\d+,\d+,\d+,0\.45\)", colour)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_roles_with_one_colour_differ_by_pattern(theme):
    looks = {
        (theme.role(role), PATTERNS[role]) for role in ("alone", "target", "accepted", "rejected", "reused", "retired")
    }
    assert len(looks) == 6
    assert theme.role("accepted") == theme.role("reused")
    assert bar_marker(theme, "reused")["pattern"]["shape"] != ""
    assert "pattern" not in bar_marker(theme, "accepted")


def contrast(one, other):
    """Ratio of relative luminances as WCAG defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_can_be_read_on_every_background(theme):
    for colour in (theme.text, theme.muted):
        for behind in (theme.background, theme.surface):
            assert contrast(colour, behind) >= 4.5
    assert contrast("#FFFFFF", theme.primary) >= 4.5


PALE = {"alone", "drafter", "retired"}
"""Rounds alone, batches and what is idle are pale on purpose; each stands in a lane that is named, with words on it."""


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_marks_stand_out_from_their_background(theme):
    for role in set(ROLES) - PALE:
        assert contrast(solid(theme.role(role), theme), theme.background) >= 3
    for colour in theme.methods.values():
        assert contrast(colour, theme.background) >= 3


def test_a_translucent_colour_has_its_solid_equal_on_the_background():
    assert faded("#0072B2", 0.5) == "rgba(0,114,178,0.5)"
    assert solid("rgba(0,114,178,0.5)", LIGHT) == "#80B8D8"
    assert solid("#0072B2", DARK) == "#0072B2"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_base_layout_is_one_plotly_accepts(theme):
    figure = go.Figure(layout=base_layout(theme))
    assert figure.layout.paper_bgcolor == theme.background
    assert figure.layout.font.size == 13
    assert figure.layout.showlegend is False


def test_an_unknown_theme_or_role_suggests_the_nearest():
    assert theme_named(None) is LIGHT
    assert theme_named("dark") is DARK
    with pytest.raises(UnknownNameError, match="'dark'"):
        theme_named("darc")
    with pytest.raises(UnknownNameError, match="'accepted'"):
        LIGHT.role("acepted")


def test_methods_are_named_with_what_decides_them():
    assert method_name("as2d", budget=7) == "As²d b=7"
    assert method_name("sd", width=5) == "SD K=5"
    assert method_name("specasr", draft_cap=7) == "SpecASR cap=7"
    assert method_name("target-only", budget=3) == "Target-only"
    assert method_name("new-method") == "new-method"
    assert method_name(None) == "n/a"


def test_a_request_with_a_width_rule_does_not_read_as_one_that_takes_all_it_may():
    request = Request("r", "as2d", ModelRef("t", "t"), AudioRef("a.wav"), budget=7)
    assert method_of(request) == "As²d b=7"
    assert method_of(replace(request, width_rule=WidthRule((0, 1), (0, 1)))) == "As²d b≤7"


def test_a_saved_picture_is_called_after_its_figure_and_strips_have_none():
    for config in (CONFIG, PICTURE_CONFIG):
        named = picture_named(config, "budgets")
        assert named["toImageButtonOptions"] == {"format": "png", "scale": 2, "filename": "as2d-budgets"}
    assert picture_named(STRIP_CONFIG, "overview") == STRIP_CONFIG
