import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import ProfileError
from as2d_core.profiles import (
    Profile,
    Spread,
    compare_profiles,
    concurrent_scenarios,
    cost_rows,
    load_profile,
    profile_ids,
    with_concurrent_ratio,
)
from as2d_core.profiles.codec import profile_faults, profile_from_json, profile_to_json

RATIO = st.floats(0.1, 10.0)
PHONES = st.sampled_from(["k70", "11pro", "mi14", "note9"])


@given(PHONES, RATIO)
def test_only_assumed_concurrent_costs_follow_the_ratio(phone, ratio):
    before = load_profile(phone)
    after = with_concurrent_ratio(before, ratio)
    for width, cost in after.verify_concurrent_ms.items():
        if width in before.extrapolated_concurrent:
            assert cost == before.verify_idle_ms[width] * ratio
        else:
            assert cost == before.verify_concurrent_ms[width]
    assert replace(
        after, name=before.name, verify_concurrent_ms=before.verify_concurrent_ms, provenance=before.provenance
    ) == replace(before, spread=after.spread)


@given(PHONES, RATIO)
def test_an_assumed_cost_says_that_it_is_assumed(phone, ratio):
    after = with_concurrent_ratio(load_profile(phone), ratio)
    origins = {after.provenance[f"verify_concurrent_ms.{k}"].kind for k in after.extrapolated_concurrent}
    assert origins == {"inferred"}
    assert f"{ratio:g}" in after.name
    assert profile_from_json(profile_to_json(after)) == after


def test_a_profile_without_assumed_widths_has_nothing_to_vary():
    measured = replace(load_profile("k70"), extrapolated_concurrent=())
    assert with_concurrent_ratio(measured, 2.0) is measured
    assert concurrent_scenarios(measured) == {"nominal": measured}


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_a_ratio_that_cannot_be_is_refused(ratio):
    with pytest.raises(ProfileError, match="above zero"):
        with_concurrent_ratio(load_profile("k70"), ratio)


@pytest.mark.parametrize(
    ("phone", "low", "high"),
    [("k70", 1.0, 1.049), ("11pro", 0.9387, 1.2396), ("mi14", 0.9032, 1.0179), ("note9", 1.0565, 1.0694)],
)
def test_the_scenarios_of_a_published_phone_are_the_papers_extremes(phone, low, high):
    nominal = load_profile(phone)
    found = concurrent_scenarios(nominal)
    assert found == {
        "nominal": nominal,
        "low": with_concurrent_ratio(nominal, low),
        "high": with_concurrent_ratio(nominal, high),
    }


def test_assumed_widths_without_known_ratios_have_no_scenarios():
    with pytest.raises(ProfileError, match="concurrent_ratio_extremes"):
        concurrent_scenarios(replace(load_profile("k70"), concurrent_ratio_extremes=None))


@pytest.mark.parametrize("value", [[1.0], [2.0, 1.0], [0.0, 1.0], ["a", 1], 3, [1.0, math.inf], [True, 2.0]])
def test_extremes_that_cannot_be_are_named(value):
    body = {**profile_to_json(load_profile("k70")), "concurrent_ratio_extremes": value}
    assert any("concurrent_ratio_extremes" in fault for fault in profile_faults(body))


# -- comparison -------------------------------------------------------------------------------------


@pytest.mark.parametrize("phone", profile_ids())
def test_every_cost_of_a_profile_has_a_row_with_its_origin(phone):
    profile = load_profile(phone)
    rows = {row.key: row for row in cost_rows(profile)}
    widths = len([row for row in rows.values() if row.width is not None])
    assert widths == len(profile.verify_idle_ms) + len(profile.verify_concurrent_ms)
    assert len([key for key in rows if key.startswith("chunk_sources.")]) == 2 * len(profile.chunk_sources)
    assert rows["target_step_ms"].value_ms == profile.target_step_ms
    assert all(row.provenance is profile.provenance.get(key) for key, row in rows.items())
    assert {r.width for r in rows.values() if r.extrapolated} == {
        *profile.extrapolated_idle,
        *profile.extrapolated_concurrent,
    }


@given(PHONES, PHONES)
def test_ratios_are_second_over_first_and_turn_with_them(first, second):
    forth = compare_profiles(load_profile(first), load_profile(second))
    back = compare_profiles(load_profile(second), load_profile(first))
    for a, b in zip(forth, back, strict=True):
        assert a.first == b.second
        if a.ratio is None:
            assert b.ratio is None
        else:
            assert a.ratio * b.ratio == pytest.approx(1)


def test_a_width_that_only_one_profile_holds_is_listed_without_a_ratio():
    rows = {c.first.key: c for c in compare_profiles(load_profile("k70"), load_profile("mi14"))}
    only = rows["verify_idle_ms.20"]
    assert (only.first.value_ms is None, only.second.value_ms, only.ratio) == (False, None, None)


def measured(factor, noise):
    samples = np.random.default_rng(3).normal(50.0 * factor, noise, 400)
    spread = Spread.of(tuple(samples))
    costs = {1: spread.mean_ms, 2: 60.0}
    return Profile("m", "M", "measured", 50.0, costs, costs, 1.0, 20.0, 20.0, spread={"verify_idle_ms.1": spread})


def test_the_spread_of_a_ratio_comes_from_the_samples_of_both():
    rows = {c.first.key: c for c in compare_profiles(measured(1.0, 1.0), measured(2.0, 4.0))}
    drawn = np.random.default_rng(5)
    ratios = drawn.normal(100.0, 4.0, 20_000) / drawn.normal(50.0, 1.0, 20_000)
    assert rows["verify_idle_ms.1"].ratio == pytest.approx(2.0, rel=0.01)
    assert rows["verify_idle_ms.1"].ratio_sd == pytest.approx(ratios.std(), rel=0.15)
    assert rows["verify_idle_ms.2"].ratio_sd is None
