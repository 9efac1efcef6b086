"""Figure 8 for a measured profile: equation 2, its bars, and the width that failed."""

from dataclasses import replace

import pytest

from as2d_core.profiles.catalogue import load_profile
from as2d_core.profiles.profile import Spread
from dashboard.views.theme import theme_named
from dashboard.views.width_savings import width_savings_figure, width_savings_info


@pytest.fixture
def profile():
    spread = {
        "width_ms.1": Spread.of((10.0, 10.0)),
        "width_ms.2": Spread.of((11.0, 13.0)),
        "width_ms.4": Spread.of((16.0,)),
    }
    return replace(load_profile("k70"), spread=spread, argmax_widths=(1, 2), failed_width=5, failed_reason="shape")


def test_savings_follow_equation_2_and_bars_have_its_scale(profile):
    two, four = width_savings_info(profile).savings
    assert (two.saving_percent, four.saving_percent) == pytest.approx((40.0, 60.0))
    assert two.bar_percent == pytest.approx(100 * 2**0.5 / 20)
    assert four.bar_percent is None
    assert (two.same_tokens, four.same_tokens) == (True, False)


def test_the_figure_marks_the_width_that_failed_and_hollows_what_differs(profile):
    theme = theme_named("dark")
    figure = width_savings_figure(width_savings_info(profile), theme)
    assert "K = 5 failed" in figure.layout.annotations[0].text
    assert figure.data[0].marker.color == (theme.role("target"), theme.background)


def test_a_profile_without_single_calls_is_drawn_from_its_costs_without_bars(profile):
    published = load_profile("k70")
    savings = width_savings_info(published).savings
    eight = next(item for item in savings if item.width == 8)
    assert eight.saving_percent == pytest.approx(100 * (1 - 112.656 / (8 * 59.391)))
    assert (eight.bar_percent, eight.calls, eight.origin) == (None, 0, "published")
    theme = theme_named("light")
    marks = dict(
        zip(
            (s.width for s in savings),
            width_savings_figure(width_savings_info(published), theme).data[0].marker.color,
            strict=True,
        )
    )
    assert marks[8] == theme.role("target")
    assert marks[2] == theme.background  # guessed


def test_a_profile_without_a_cost_above_width_1_says_so(profile):
    bare = replace(profile, spread={}, verify_idle_ms={1: 10.0})
    info = width_savings_info(bare)
    assert info.savings == ()
    assert "no cost above K = 1" in width_savings_figure(info, theme_named("light")).layout.annotations[0].text


def test_the_axis_of_widths_ends_where_widths_end(profile):
    axis = width_savings_figure(width_savings_info(profile), theme_named("light")).layout.xaxis
    widest = max([*(s.width for s in width_savings_info(profile).savings), profile.failed_width or 1])
    assert (axis.dtick, *axis.range) == (1, 0.4, widest + 0.6)
