"""Verification by width: origins, calls, missing and failed widths, and the concurrent ratio."""

from dataclasses import replace

import pytest
from view_checks import check_figure, names

from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import Provenance, Spread
from dashboard.views.profile_widths import (
    above_sentence,
    origins,
    ratios_figure,
    ratios_info,
    spans,
    top_ms,
    widths_figure,
    widths_info,
)
from dashboard.views.theme import DARK, LIGHT

K70 = load_profile("k70")


@pytest.fixture
def measured():
    """Three widths with calls, the third of them not measured beside the drafter, the fourth failed."""
    timed, assumed = Provenance("measured"), Provenance("fitted", "idle times 1.1")
    return replace(
        K70,
        kind="measured",
        verify_idle_ms={1: 10.0, 2: 12.0, 3: 14.0},
        verify_concurrent_ms={1: 11.0, 2: 12.0, 3: 15.4},
        extrapolated_concurrent=(3,),
        concurrent_ratio_extremes=None,
        failed_width=4,
        failed_reason="out of <memory>.",
        provenance={
            **{f"verify_idle_ms.{k}": timed for k in (1, 2, 3)},
            **{f"verify_concurrent_ms.{k}": timed for k in (1, 2)},
            "verify_concurrent_ms.3": assumed,
        },
        spread={
            "verify_idle_ms.1": Spread.of((9.0, 11.0)),
            "verify_idle_ms.2": Spread.of((12.0,)),
            "verify_concurrent_ms.1": Spread.of((10.0, 12.0)),
        },
    )


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_published_profile_draws(theme):
    for name in ("k70", "11pro", "mi14", "note9"):
        profile = load_profile(name)
        check_figure(widths_figure(widths_info(profile), theme))
        check_figure(ratios_figure(ratios_info(profile), theme))


def test_origins_are_named_by_their_widths():
    idle = widths_info(K70).lines[0]
    assert origins(idle.points) == (
        "inferred at K = 1; guessed at K = 2, 3, 9 to 11; solved at K = 4 to 7, 13 to 25; published at K = 8, 12"
    )


def test_runs_of_widths_are_written_as_ranges():
    assert spans([1, 2, 3, 5, 7, 8]) == "1 to 3, 5, 7, 8"
    assert spans([]) == ""


def test_only_measured_and_published_widths_are_filled(measured):
    figure = widths_figure(widths_info(measured), LIGHT)
    beside = next(trace for trace in figure.data if trace.name == "beside the drafter")
    colour = LIGHT.role("drafter")
    assert list(beside.marker.color) == [colour, colour, LIGHT.background]


def test_bars_are_the_spread_of_calls_and_never_reach_below_zero(measured):
    info = widths_info(replace(measured, spread={"verify_idle_ms.1": Spread.of((0.0, 0.0, 60.0))}))
    alone = next(trace for trace in widths_figure(info, LIGHT).data if trace.name == "alone")
    assert alone.error_y.array[0] == pytest.approx(34.64, abs=0.01)
    assert alone.error_y.arrayminus[0] == 10.0
    assert alone.error_y.array[1] == 0.0


def test_calls_are_drawn_in_their_order_unless_only_means_are_asked_for(measured):
    info = widths_info(measured)
    calls = next(trace for trace in widths_figure(info, LIGHT).data if trace.name == "calls:alone")
    assert list(calls.y) == [9.0, 11.0, 12.0]
    assert calls.x[0] < calls.x[1] < 1
    assert not any(name.startswith("calls") for name in names(widths_figure(info, LIGHT, with_calls=False)))


def test_more_calls_than_svg_takes_are_drawn_by_webgl(measured):
    many = replace(measured, spread={"verify_idle_ms.1": Spread.of(tuple(float(i % 7 + 8) for i in range(2_001)))})
    assert {trace.type for trace in widths_figure(widths_info(many), LIGHT).data} == {"scattergl", "scatter"}


def test_calls_far_above_are_counted_and_not_drawn_small(measured):
    samples = (*([10.0] * 199), 5_000.0)
    info = widths_info(replace(measured, spread={"verify_concurrent_ms.1": replace(Spread.of(samples), sd_ms=1.0)}))
    assert top_ms(info) < 100
    assert above_sentence(info) == "1 of 200 calls lie above the figure, the longest at 5.00 s."
    assert above_sentence(widths_info(measured)) == ""


def test_a_failed_width_and_one_without_a_cost_are_marked(measured):
    holed = replace(measured, verify_idle_ms={1: 10.0, 3: 14.0})
    info = widths_info(holed)
    body = check_figure(widths_figure(info, LIGHT))
    said = [item["text"] for item in body["layout"]["annotations"]]
    assert "K = 4 failed" in said
    assert "n/a" in said
    assert "No cost alone at K = 2: never guessed, so no budget may need it." in info.notes
    assert info.notes[-1] == "K = 4 failed: out of <memory>."


def test_the_line_breaks_at_a_width_without_a_cost(measured):
    figure = widths_figure(widths_info(replace(measured, verify_idle_ms={1: 10.0, 3: 14.0}, spread={})), LIGHT)
    alone = next(trace for trace in figure.data if trace.name == "alone")
    assert list(alone.y) == [10.0, None, 14.0]
    assert alone.marker.color[0] == LIGHT.role("target")


def test_a_reason_with_markup_is_never_markup_in_a_figure(measured):
    hostile = replace(
        measured, provenance={"verify_idle_ms.1": Provenance("measured", "<img src=x onerror=alert(1)> $x$")}
    )
    check_figure(widths_figure(widths_info(hostile), DARK))


def test_a_profile_without_any_width_says_so(measured):
    info = widths_info(replace(measured, verify_idle_ms={}, verify_concurrent_ms={}))
    assert "no verification cost" in widths_figure(info, LIGHT).layout.annotations[0].text
    empty = ratios_info(replace(measured, verify_idle_ms={}))
    assert "No width has both" in ratios_figure(empty, LIGHT).layout.annotations[0].text


def test_ratios_carry_the_spread_of_both_and_say_what_is_assumed(measured):
    info = ratios_info(measured)
    one, two, three = info.points
    assert one.ratio == pytest.approx(1.1)
    assert one.sd == pytest.approx(1.1 * ((2**0.5 / 10) ** 2 + (2**0.5 / 11) ** 2) ** 0.5)
    assert (two.sd, two.measured, three.measured) == (None, True, False)
    assert info.sentence == "Measured at 2 widths: 1.00 to 1.10, median 1.05."
    assert ratios_info(K70).sentence == "Assumed at every width; measured ratios are published as 1 to 1.049."
