"""Gates: what keeps an episode from beginning, and that unknown readings hold nothing up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.conditions import lost_cores, missing, online_text
from as2d_core.gates import Gates, gate_faults
from as2d_core.records import Telemetry

EIGHT = tuple(range(8))


def reading(mask=0xFF, celsius=30.0, status=0, ceilings=(1800.0,) * 4 + (2841.6,) * 4):
    return Telemetry(
        0, celsius, online_mask=mask, thermal_status=status, extra={"ceiling_mhz": list(ceilings)} if ceilings else {}
    )


def test_a_cool_device_with_all_cores_may_begin():
    assert missing(Gates(ceiling_mhz=1881.6, ceiling_core=4), reading(), EIGHT) == ()


@pytest.mark.parametrize(
    ("gates", "now", "clause"),
    [
        (Gates(), reading(mask=0x7F), "core 7 is off-line"),
        (Gates(), reading(mask=0x3F), "core 6, 7 is off-line"),
        (Gates(), reading(celsius=41.2), "the battery has 41.2 °C, more than 40"),
        (Gates(), reading(status=3), "the thermal status is severe (3), above 1"),
        (
            Gates(ceiling_mhz=1881.6, ceiling_core=4),
            reading(ceilings=(1800.0,) * 4 + (1401.6,) * 4),
            "core 4 may run at 1402 MHz at most, less than 1881.6",
        ),
        (Gates(ceiling_mhz=3000.0), reading(), "no core may run faster than 2842 MHz, less than 3000"),
    ],
)
def test_each_limit_says_what_is_missing(gates, now, clause):
    assert missing(gates, now, EIGHT) == (clause,)


def test_what_cannot_be_read_holds_nothing_up():
    blind = Telemetry(0)
    assert missing(Gates(ceiling_mhz=3000.0, ceiling_core=4), blind, None) == ()


def test_a_limit_of_none_is_not_checked():
    free = Gates(all_cores=False, max_battery_c=None, max_thermal_status=None)
    assert missing(free, reading(mask=1, celsius=60.0, status=6), EIGHT) == ()


@pytest.mark.parametrize(
    "gates", [Gates(rest_s=91.0), Gates(checks=0), Gates(check_gap_s=-1.0), Gates(patience_s=float("inf"))]
)
def test_gates_that_would_never_open_or_look_like_a_hang_are_refused(gates):
    assert list(gate_faults(gates))


def test_the_gates_of_the_paper_have_no_fault():
    assert list(gate_faults(Gates())) == []


@given(st.integers(0, 2**10 - 1), st.integers(0, 2**10 - 1))
def test_lost_cores_are_those_that_were_on_line_before(first, now):
    assert set(lost_cores(first, now)) == {n for n in range(10) if first >> n & 1 and not now >> n & 1}


def test_an_unknown_mask_has_lost_nothing():
    assert lost_cores(None, 1) == lost_cores(3, None) == ()


@pytest.mark.parametrize(("mask", "text"), [(0xFF, "0-7"), (0b1001111, "0-3,6"), (0b100, "2"), (None, "n/a")])
def test_masks_are_written_as_the_kernel_writes_them(mask, text):
    assert online_text(mask) == text
