"""Energy from a battery gauge: exact where power is known, and no figure where it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.energy import calibrate_current, check_charge, energy_between
from as2d_core.records import Telemetry

S = 1_000_000_000


def reading(time_s, current_ma=-1000.0, voltage_mv=4000.0, charging=False, **extra):
    return Telemetry(round(time_s * S), None, current_ma, voltage_mv, charging, extra=extra)


def steady(seconds, **values):
    return [reading(t / 4, **values) for t in range(seconds * 4 + 1)]


def test_constant_power_times_time_is_the_energy():
    energy = energy_between(steady(10), 1 * S, 9 * S)
    assert energy.joules == pytest.approx(32.0)
    assert energy.mean_w == pytest.approx(4.0)


@given(st.floats(0.3, 8.0), st.floats(0.1, 1.9), st.floats(0.0, 500.0))
def test_linearly_rising_power_is_integrated_exactly_between_any_two_instants(start, length, slope):
    readings = [reading(t / 4, -(100.0 + slope * t / 4)) for t in range(41)]
    end = start + length
    energy = energy_between(readings, round(start * S), round(end * S))
    exact = 4.0 * (0.1 * length + slope / 1e3 * (end**2 - start**2) / 2)
    assert energy.joules == pytest.approx(exact, rel=1e-5)


def test_the_sign_of_a_vendor_does_not_change_the_energy():
    assert energy_between(steady(4, current_ma=1000.0), S, 3 * S).joules == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("readings", "reason"),
    [
        ([], "no telemetry"),
        (steady(4, charging=True), "charging"),
        ([*steady(2), reading(2.5, charging=True), reading(3), reading(4)], "charging"),
        (steady(4, plugged=True), "charging"),
        (steady(4, charging=None), "not known whether"),
        (steady(4, current_ma=None), "does not show its battery current"),
        (steady(4, voltage_mv=None), "does not show its battery voltage"),
        ([reading(0), reading(4)], "no reading for"),
        (steady(4, battery_frozen=True), "set by hand"),
    ],
)
def test_without_a_sound_reading_there_is_no_energy_and_a_reason(readings, reason):
    energy = energy_between(readings, 0, 4 * S)
    assert energy.joules is None
    assert energy.reason.startswith("n/a: ")
    assert reason in energy.reason
    assert energy.mean_w is None


def test_charging_outside_the_request_does_not_spoil_it():
    readings = [reading(0, charging=True), *steady(10)[8:], reading(12, charging=True)]
    assert energy_between(readings, 3 * S, 9 * S).joules == pytest.approx(24.0)


def test_the_charge_counter_is_compared_over_its_own_steps():
    # 3600 mA for 100 s are 100 mAh; the counter says 110 mAh, in steps of 10 s.
    readings = [reading(t / 4, -3600.0, charge_counter_uah=4_000_000 - 11_000 * (t // 40)) for t in range(4 * 100 + 1)]
    check = check_charge(readings)
    assert check.integrated_mah == pytest.approx(90.0)
    assert check.counter_mah == pytest.approx(99.0)
    assert check.discrepancy == pytest.approx(-1 / 11)
    assert "-9.1%" in check.sentence()


@pytest.mark.parametrize(
    "readings",
    [
        [],
        steady(60),
        steady(60, charge_counter_uah=4_000_000),
        [reading(t, charge_counter_uah=4_000_000 - 400 * t) for t in range(5)],
        [reading(t, charging=True, charge_counter_uah=4_000_000 + 9_000 * t) for t in range(60)],
    ],
)
def test_a_counter_that_hardly_moved_or_charged_gives_no_comparison(readings):
    assert check_charge(readings) is None


@pytest.mark.parametrize(
    ("raw", "charging", "scale"),
    [(-800000, False, 1e-3), (800000, False, -1e-3), (-800, False, 1.0), (900, True, 1.0), (-1500000, True, -1e-3)],
)
def test_unit_and_sign_are_told_from_the_status(raw, charging, scale):
    found = calibrate_current([reading(t, charging=charging, current_raw=raw) for t in range(4)])
    assert found.ma_per_raw == scale
    assert "battery status in 4 of 4" in found.how


def test_a_charge_counter_that_moved_decides_the_sign_against_the_status():
    readings = [
        reading(t, charging=True, current_raw=300000, charge_counter_uah=3_000_000 - 2_000 * t) for t in range(4)
    ]
    found = calibrate_current(readings)
    assert found.ma_per_raw == -1e-3
    assert "counter moved by -6.0 mAh" in found.how


@pytest.mark.parametrize("readings", [[], steady(2), [reading(0, charging=None, current_raw=5)]])
def test_without_evidence_no_scale_is_made_up(readings):
    assert calibrate_current(readings) is None
