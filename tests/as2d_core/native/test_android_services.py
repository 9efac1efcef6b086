"""What the kernel hides from the shell is asked from Android's services, and read as Python reads it."""

from pathlib import Path

import pytest
from test_device_clock import records, request_line

from as2d_core.runner.android import parse_battery, parse_screen, parse_thermal
from as2d_core.runner.sensors import current_ma

TEXTS = {
    "usual": (
        "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Charge counter: 3100000\n"
        "  status: 2\n  level: 62\n  voltage: 3912\n  temperature: 334\n  current now: -871\n",
        "IsStatusOverride: false\nThermal Status: 1\n",
        "  mWakefulness=Dozing\nDisplay Power: state=ON\n",
    ),
    "microvolts, a frozen state and a sensor's error": (
        "Current Battery Service state:\n  (UPDATES STOPPED -- use 'reset' to restart)\n  Wireless powered: false\n"
        "  status: 3\n  voltage: 4012000\n  temperature: -3000\n  current_now=-512000\n  voltage: 1\n",
        "Thermal Status: -1\n",
        "mWakefulnessRaw=Asleep\n",
    ),
    "nothing": ("", "no such service", ""),
}


def a_phone_says(monkeypatch, folder, texts):
    for name, text in zip(("battery", "thermalservice", "power"), texts, strict=True):
        (folder / name).write_text(text)
    program = folder / "dumpsys"
    program.write_text(f'#!/bin/sh\ncat "{folder}/$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.skipif(any(Path("/sys/class/power_supply").glob("*")), reason="this computer has a battery of its own")
@pytest.mark.parametrize("name", TEXTS)
def test_gates_see_what_android_says(name, native_runner, monkeypatch, tmp_path):
    a_phone_says(monkeypatch, tmp_path, TEXTS[name])
    battery, thermal = parse_battery(TEXTS[name][0]), parse_thermal(TEXTS[name][1])
    gates = {"rest_s": 0, "checks": 1, "check_gap_s": 0}
    (record,) = records(native_runner.run([request_line("target-only", target_ms=100.0, gates=gates)]))
    (look,) = record.conditions
    assert look.battery_temperature_c == battery.temperature_c
    assert look.thermal_status == thermal.status
    assert look.charging == battery.charging
    assert look.plugged == (None if battery.plugged is None else bool(battery.plugged))
    assert look.screen_on == parse_screen(TEXTS[name][2])
    current, unit = current_ma(battery.current_raw, battery.charging)
    wanted = (current, unit, battery.voltage_mv, battery.charge_counter_uah, battery.frozen)
    assert wanted in [
        (
            seen.battery_current_ma,
            seen.extra.get("current_unit"),
            seen.battery_voltage_mv,
            seen.extra.get("charge_counter_uah"),
            seen.extra.get("battery_frozen", False),
        )
        for seen in record.telemetry
    ]


def test_a_service_that_has_answered_and_stays_is_not_waited_for(native_runner, monkeypatch, tmp_path):
    a_phone_says(monkeypatch, tmp_path, TEXTS["usual"])
    with (tmp_path / "dumpsys").open("a") as program:
        program.write("exec >&- sleep 600\n")
    gates = {"rest_s": 0, "checks": 1, "check_gap_s": 0}
    (record,) = records(native_runner.run([request_line("target-only", gates=gates)]))
    assert [look.thermal_status for look in record.conditions] == [1]


def test_a_service_that_never_answers_holds_no_run_up_for_ever(native_runner, monkeypatch, tmp_path):
    program = tmp_path / "dumpsys"
    program.write_text("#!/bin/sh\nexec sleep 15\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (record,) = records(native_runner.run([request_line("target-only")]))
    assert record.status == "eos"
    assert all(reading.thermal_status is None for reading in record.telemetry)
