"""Why a measurement is not to be trusted: each reason is found, and only where it is."""

import numpy as np
import pytest

from as2d_core.calibration.stability import clock_drop, judge_stability, two_levels
from as2d_core.operation_records import Sample
from as2d_core.records import Telemetry

RNG = np.random.default_rng(7)


def samples(factor=lambda _width, _turn: 1.0):
    return [
        Sample("verify", round(1e7 * (1 + width / 4) * factor(width, turn)), False, width, 0, turn)
        for turn in range(5)
        for width in range(1, 17)
    ]


def clocks(values, ceiling=True):
    return [
        Telemetry(i, core_mhz=(600.0, mhz), extra={"ceiling_mhz": [2000.0, mhz]} if ceiling else {})
        for i, mhz in enumerate(values)
    ]


def test_a_quiet_device_is_stable():
    assert judge_stability(samples(lambda *_: RNG.normal(1, 0.02))).verdict == "stable"


@pytest.mark.parametrize(
    ("factor", "word"),
    [
        (lambda *_: RNG.uniform(0.6, 1.4), "spread"),
        (lambda _, turn: 1 + 0.04 * turn, "drifted"),
        (lambda *_: 1.25 if RNG.random() < 0.4 else 1.0, "one of two times"),
        (lambda width, turn: 2.0 if width < 5 and turn == 2 else 1.0, "over 1.5 times"),
    ],
)
def test_each_kind_of_unrest_is_named(factor, word):
    stability = judge_stability(samples(factor))
    assert stability.verdict == "unstable"
    assert word in stability.reason


def test_a_clock_that_falls_makes_steady_costs_unstable():
    stability = judge_stability(samples(), [clocks([3302.4] * 30 + [2400.0] * 30)])
    assert stability.verdict == "unstable"
    assert "3302 to 2400 MHz" in stability.reason


def test_one_bell_curve_has_one_level_however_wide_it_is():
    assert two_levels(RNG.normal(1, 0.08, 2000).clip(0.5)) is None
    assert two_levels(RNG.uniform(0.8, 1.2, 2000)) is None


def test_two_levels_are_told_apart_with_their_ratio():
    calls = np.concatenate([RNG.normal(1, 0.01, 600), RNG.normal(1.4, 0.014, 400)])
    assert two_levels(calls) == pytest.approx(1.4, rel=0.02)


def test_a_few_stragglers_are_no_second_level():
    assert two_levels(np.concatenate([RNG.normal(1, 0.01, 950), RNG.normal(1.4, 0.01, 50)])) is None


def test_a_clock_that_holds_or_that_nobody_reads_has_not_fallen():
    assert clock_drop([clocks([3000.0] * 60), [], [Telemetry(i) for i in range(60)]]) is None


def test_of_several_runs_the_worst_fall_is_told():
    mild, hard = clocks([3000.0] * 20 + [2600.0] * 20), clocks([3000.0] * 20 + [1800.0] * 20, ceiling=False)
    assert clock_drop([mild, hard]) == (3000.0, 1800.0)
