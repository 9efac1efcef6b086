"""A phone's sensors: files where the shell may read them, Android's commands where it may not."""

import threading
import time

import pytest

from as2d_core.runner import sensors
from as2d_core.runner.sensors import Sensors, current_ma

BATTERY = """Current Battery Service state:
  USB powered: {usb}
  Charge counter: 3100000
  status: {status}
  level: 62
  scale: 100
  voltage: 3912
  temperature: 334
  current now: {current}
"""
SAID = {
    "battery": BATTERY.format(usb="false", status=3, current=-871),
    "thermalservice": "Thermal Status: 1\n",
    "power": "  Display Power: state=ON\n",
}


def ask(command):
    return SAID[command[1]]


@pytest.fixture
def phone(tmp_path):
    """Writes files below a folder that stands for /sys."""

    def write(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="ascii")
        return tmp_path

    return write


def supply(kind, name):
    return f"class/power_supply/{kind}/{name}"


def cores(count, ceiling="3000000"):
    folder = "devices/system/cpu/cpu{}/cpufreq/{}"
    current = {folder.format(n, "scaling_cur_freq"): "1800000" for n in range(count)}
    return current | {folder.format(n, "scaling_max_freq"): ceiling for n in range(count)}


def test_what_the_kernel_hides_is_asked_from_android(tmp_path):
    phone = Sensors(tmp_path, ask)
    phone.refresh(wait=True)
    reading = phone.read()
    assert (reading.battery_current_ma, reading.battery_voltage_mv) == (-871.0, 3912.0)
    assert (reading.battery_temperature_c, reading.charging, reading.thermal_status) == (33.4, False, 1)
    assert reading.extra["charge_counter_uah"] == 3100000
    assert reading.extra["plugged"] is False
    assert phone.screen_on() is True


def test_files_win_over_commands(phone):
    root = phone(
        **{
            supply("battery", "type"): "Battery",
            supply("battery", "current_now"): "512000",
            supply("battery", "voltage_now"): "4001000",
            supply("battery", "status"): "Discharging",
            supply("battery", "temp"): "301",
        }
    )
    device = Sensors(root, ask)
    device.refresh(wait=True)
    reading = device.read()
    assert (reading.battery_current_ma, reading.battery_voltage_mv) == (-512.0, 4001.0)
    assert reading.battery_temperature_c == 30.1
    assert reading.thermal_status == 1


def test_a_command_never_delays_a_reading(tmp_path):
    wanted = threading.Event()

    def slow(command):
        wanted.wait(120)
        return ask(command)

    device = Sensors(tmp_path, slow)
    began = time.monotonic()
    try:
        assert device.read().battery_voltage_mv is None
        assert time.monotonic() - began < 60
    finally:
        wanted.set()


def test_an_answer_that_has_become_old_is_no_reading(tmp_path, monkeypatch):
    answers = dict(SAID)
    device = Sensors(tmp_path, lambda command: answers.get(command[1], ""))
    device.refresh(wait=True)
    answers.clear()
    late = time.monotonic() + sensors.STALE_S + 1
    monkeypatch.setattr(sensors.time, "monotonic", lambda: late)
    assert device.read().battery_voltage_mv is None


def test_cores_that_are_off_line_are_missing_from_the_mask(phone):
    root = phone(**cores(8), **{"devices/system/cpu/online": "0-3,5-7\n", "devices/system/cpu/possible": "0-7\n"})
    device = Sensors(root)
    assert device.read().online_mask == 0b11101111
    assert device.possible() == tuple(range(8))


def test_clock_ceilings_are_recorded_beside_the_clocks(phone):
    reading = Sensors(phone(**cores(2, ceiling="1881600"))).read()
    assert reading.extra["ceiling_mhz"] == [1881.6, 1881.6]
    assert reading.core_mhz == (1800.0, 1800.0)


def test_a_supply_that_is_connected_counts_as_plugged_although_the_battery_is_not_charging(phone):
    root = phone(
        **{
            supply("battery", "type"): "Battery",
            supply("battery", "status"): "Not charging",
            supply("usb", "type"): "USB",
            supply("usb", "online"): "1",
        }
    )
    reading = Sensors(root).read()
    assert reading.charging is False
    assert reading.extra["plugged"] is True


@pytest.mark.parametrize(
    ("raw", "charging", "value"),
    [
        (-871000, False, (-871.0, "uA")),  # most: microamperes, negative while it gives
        (871000, False, (-871.0, "uA")),  # some: positive while it gives
        (-871, False, (-871.0, "mA")),  # others: milliamperes
        (1500000, True, (1500.0, "uA")),
        (-1500000, True, (1500.0, "uA")),
        (250000, None, (250.0, "uA")),
        (None, False, (None, None)),
    ],
)
def test_current_is_negative_while_the_battery_gives_whatever_the_vendor_reports(raw, charging, value):
    assert current_ma(raw, charging) == value


def test_a_command_that_does_not_exist_or_end_says_nothing(monkeypatch):
    monkeypatch.setattr(sensors, "COMMAND_DEADLINE_S", 0.2)
    assert sensors.ask_system(["no-such-program-here"]) == ""
    assert sensors.ask_system(["sleep", "5"]) == ""
