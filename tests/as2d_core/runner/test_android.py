"""What Android's commands print, as several vendors print it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.runner.android import (
    BatteryState,
    mask_of,
    normal_voltage_mv,
    parse_battery,
    parse_cores,
    parse_screen,
    parse_thermal,
)

PLAIN = """Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Dock powered: false
  Max charging current: 500000
  Max charging voltage: 5000000
  Charge counter: 3456000
  status: 2
  health: 2
  present: true
  level: 79
  scale: 100
  voltage: 4123
  temperature: 312
  technology: Li-ion
"""
UNPLUGGED = PLAIN.replace("USB powered: true", "USB powered: false").replace("status: 2", "status: 3")
SAMSUNG = UNPLUGGED + "  current now: -412\n  charge type: 0\nSEC\n  mLastBatteryLevel: 12\n"
MICROVOLTS = PLAIN.replace("voltage: 4123", "voltage: 4123000").replace("temperature: 312", "temperature: -2000")
SET_BY_HAND = PLAIN.replace(":\n", ":\n  (UPDATES STOPPED -- use 'reset' to restart)\n", 1)

THERMAL = """IsStatusOverride: false
ThermalEventListeners:
\tcallbacks: 3
Thermal Status: 2
Cached temperatures:
\tTemperature{mValue=38.0, mType=3, mName=skin, mStatus=2}
\tTemperature{mValue=NaN, mType=9, mName=npu, mStatus=0}
HAL Ready: true
Current temperatures from HAL:
\tTemperature{mValue=41.5, mType=0, mName=CPU0, mStatus=0}
\tTemperature{mValue=39.5, mType=3, mName=skin, mStatus=2}
\tTemperature{mValue=-274.0, mType=5, mName=usb_port, mStatus=0}
"""


def test_a_plain_battery_is_read_in_milliunits_and_degrees():
    assert parse_battery(PLAIN) == BatteryState(79, "charging", ("USB",), 31.2, 4123.0, None, 3456000)


def test_an_unplugged_battery_has_no_supply_and_is_not_charging():
    battery = parse_battery(UNPLUGGED)
    assert battery.plugged == ()
    assert battery.charging is False


def test_a_vendor_that_prints_its_current_is_listened_to():
    assert parse_battery(SAMSUNG).current_raw == -412


def test_a_later_section_of_a_vendor_does_not_replace_the_level():
    assert parse_battery(SAMSUNG).level_percent == 79


def test_microvolts_and_error_codes_are_recognised():
    battery = parse_battery(MICROVOLTS)
    assert battery.voltage_mv == 4123.0
    assert battery.temperature_c is None


def test_values_that_were_set_by_hand_are_marked():
    assert parse_battery(SET_BY_HAND).frozen
    assert not parse_battery(PLAIN).frozen


@pytest.mark.parametrize("text", ["", "Can't find service: battery\n", "Current Battery Service state:\n"])
def test_a_battery_that_says_nothing_is_unknown_and_not_zero(text):
    assert parse_battery(text) == BatteryState()
    assert parse_battery(text).charging is None


@pytest.mark.parametrize(("status", "charging"), [(1, None), (2, True), (3, False), (4, False), (5, True), (77, None)])
def test_charging_follows_the_status_number(status, charging):
    assert parse_battery(f"  status: {status}\n").charging is charging


def test_a_level_counts_by_its_scale():
    assert parse_battery("level: 128\nscale: 256\n").level_percent == 50
    assert parse_battery("level: 300\nscale: 100\n").level_percent is None


def test_the_thermal_service_gives_its_status_and_its_latest_readings():
    thermal = parse_thermal(THERMAL)
    assert thermal.status == 2
    assert dict(thermal.temperatures_c) == {"skin": 39.5, "CPU0": 41.5}


def test_a_phone_without_thermal_service_has_no_status():
    assert parse_thermal("Can't find service: thermalservice").status is None


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("  mWakefulness=Awake\n  Display Power: state=ON\n", True),
        ("  mWakefulness=Dozing\nDisplay Power: state=DOZE\n", False),
        ("Display Power: state=OFF\n", False),
        ("  mWakefulness=Awake\n", True),
        ("  mWakefulnessRaw=Asleep\n", False),
        ("nothing of the kind", None),
    ],
)
def test_the_screen_is_on_when_the_power_service_says_so(text, on):
    assert parse_screen(text) is on


@pytest.mark.parametrize(
    ("text", "cores"),
    [("0-7\n", tuple(range(8))), ("0-3,6", (0, 1, 2, 3, 6)), ("5", (5,)), ("", None), ("3-1", None), ("0-99999", None)],
)
def test_a_list_of_cores_is_read_or_refused(text, cores):
    assert parse_cores(text) == cores


@given(st.sets(st.integers(0, 63), min_size=1))
def test_every_set_of_cores_survives_the_list_and_the_mask(cores):
    assert parse_cores(",".join(map(str, cores))) == tuple(sorted(cores))
    assert {n for n in range(64) if mask_of(tuple(cores)) >> n & 1} == cores


@given(st.floats(2500, 5000))
def test_a_voltage_is_the_same_in_all_units_vendors_use(millivolts):
    for raw in (millivolts, millivolts * 1e3, millivolts / 1e3):
        assert normal_voltage_mv(raw) == pytest.approx(millivolts)
