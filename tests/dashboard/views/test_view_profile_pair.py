"""Two profiles: what differs by more than its spread; and one device over time."""

from dataclasses import replace

import pytest
from view_checks import check_figure

from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import Spread
from dashboard.views.profile_pair import (
    device_line,
    differs,
    drift_figure,
    drift_info,
    pair_figure,
    pair_info,
    pair_table,
)
from dashboard.views.theme import DARK, LIGHT

K70, MI14 = load_profile("k70"), load_profile("mi14")


def noisy(step_ms, sd_ms):
    return replace(K70, target_step_ms=step_ms, spread={"target_step_ms": Spread(5, step_ms, sd_ms, step_ms)})


def test_the_same_profile_twice_differs_nowhere():
    info = pair_info(K70, K70)
    assert info.differing == ()
    assert pair_table(info, only_differing=True).empty
    assert info.sentence.startswith("0 of ")


@pytest.mark.parametrize(("second_ms", "expected"), [(103.0, False), (140.0, True)])
def test_a_cost_differs_when_it_is_further_off_than_two_standard_deviations(second_ms, expected):
    info = pair_info(noisy(100.0, 5.0), noisy(second_ms, 5.0))
    step = next(row for row in info.rows if row.first.name == "target_step_ms")
    assert differs(step) is expected


def test_a_cost_that_only_one_holds_differs_and_has_no_ratio():
    table = pair_table(pair_info(K70, MI14)).set_index(["Cost", "K"])
    wide = table.loc[("Verification, alone", 20)]
    assert wide["Differs"] == "yes"
    assert wide[["Second (ms)", "Ratio"]].isna().all()
    assert wide["Second is"] == "n/a"


def test_the_figure_draws_second_over_first_with_both_conditions():
    figure = pair_figure(pair_info(K70, MI14), DARK)
    check_figure(figure)
    alone = next(trace for trace in figure.data if trace.name == "alone")
    assert alone.y[0] == pytest.approx(MI14.verify_idle_ms[1] / K70.verify_idle_ms[1])
    assert len(alone.y) == len(set(K70.verify_idle_ms) & set(MI14.verify_idle_ms))


def test_profiles_without_a_common_width_say_so():
    odd = replace(K70, verify_idle_ms={}, verify_concurrent_ms={})
    assert "no width in common" in pair_figure(pair_info(K70, odd), LIGHT).layout.annotations[0].text


def test_drift_is_relative_to_the_first_time_whatever_the_order():
    first = replace(K70, created_at="2026-01-01T00:00:00+00:00", target_step_ms=50.0)
    last = replace(K70, created_at="2026-03-01T00:00:00+00:00", target_step_ms=60.0)
    info = drift_info([last, first])
    assert info.times == (first.created_at, last.created_at)
    assert dict(info.costs)["Target-only step"] == ((1.0, None), (1.2, None))
    assert info.sentence == "Measured 2 times. Since the first time, Target-only step moved most: +20.0 %."
    check_figure(drift_figure(info, LIGHT))


def test_one_measurement_has_no_drift():
    info = drift_info([K70])
    assert info.sentence.startswith("This device was measured once")
    assert "from the second time on" in drift_figure(info, LIGHT).layout.annotations[0].text


def test_a_device_is_named_by_what_is_known_of_it():
    assert device_line(K70).startswith("23117RK66C, Qualcomm Snapdragon 8 Gen 3, Adreno 750")
    assert device_line(replace(K70, device={})) == "n/a"
