"""Sensors are read from files; what is missing is n/a, never 0."""

import pytest

from as2d_core.runner import telemetry
from as2d_core.runner.sensors import Sensors
from as2d_core.runner.telemetry import PERIOD_S, Telemetry


def watch(root):
    return Telemetry(Sensors(root))


@pytest.fixture
def sysfs(tmp_path):
    """Writes sensor files below a folder that stands for /sys."""

    def write(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="ascii")
        return tmp_path

    return write


def clock(core):
    return f"devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq"


def battery(name):
    return f"class/power_supply/BAT0/{name}"


def test_a_machine_without_sensors_gives_no_reading(tmp_path):
    assert watch(tmp_path).due() is None


def test_core_clocks_come_in_the_order_of_the_cores(sysfs):
    root = sysfs(**{clock(10): "1000000\n", clock(2): "2500000\n", clock(0): "800000\n"})
    assert watch(root).due().core_mhz == (800.0, 2500.0, 1000.0)


def test_a_clock_that_cannot_be_read_is_missing_and_not_zero(sysfs):
    root = sysfs(**{clock(0): "<unknown>\n", clock(1): "900000\n"})
    assert watch(root).due().core_mhz == (None, 900.0)


def test_a_battery_is_read_in_milliunits_and_degrees_and_what_it_gives_is_negative(sysfs):
    root = sysfs(
        **{
            battery("current_now"): "1250000\n",
            battery("voltage_now"): "3850000\n",
            battery("status"): "Discharging\n",
            battery("temp"): "317\n",
        }
    )
    reading = watch(root).due()
    assert (reading.battery_current_ma, reading.battery_voltage_mv) == (-1250.0, 3850.0)
    assert (reading.charging, reading.battery_temperature_c) == (False, 31.7)


@pytest.mark.parametrize(("status", "charging"), [("Charging", True), ("Full", True), ("Not charging", False)])
def test_charging_is_what_the_battery_says(status, charging, sysfs):
    assert watch(sysfs(**{battery("status"): status})).due().charging is charging


def test_a_battery_without_sensors_has_no_values(sysfs):
    reading = watch(sysfs(**{battery("type"): "Battery"})).due()
    values = (reading.battery_current_ma, reading.battery_voltage_mv, reading.battery_temperature_c, reading.charging)
    assert values == (None, None, None, None)


def test_a_battery_alone_gives_no_core_clocks(sysfs):
    assert watch(sysfs(**{battery("status"): "Full"})).due().core_mhz is None


def test_a_reading_that_comes_late_does_not_lower_the_rate(sysfs, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(telemetry.time, "monotonic", lambda: now[0])
    sensors = watch(sysfs(**{clock(0): "1"}))
    sensors.due()
    now[0] += PERIOD_S * 1.4
    assert sensors.due() is not None
    assert sensors.wait_s() == pytest.approx(PERIOD_S * 0.6)


def test_a_machine_without_sensors_is_waited_for_a_whole_period(tmp_path):
    assert watch(tmp_path).wait_s() == PERIOD_S


def test_a_reading_is_due_four_times_a_second(sysfs, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(telemetry.time, "monotonic", lambda: now[0])
    sensors = watch(sysfs(**{clock(0): "1"}))
    seen = []
    for _ in range(8):
        seen.append(sensors.due() is not None)
        now[0] += PERIOD_S / 2
    assert seen == [True, False] * 4
