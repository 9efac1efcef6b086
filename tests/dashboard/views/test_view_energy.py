"""Energy stands beside its check, and where there is none the reason does."""

from dataclasses import replace

import pytest
from view_samples import decode

from as2d_core.records import Telemetry
from dashboard.views.energy import energy_info
from dashboard.views.facts import facts_info
from dashboard.views.heading import heading_info
from dashboard.views.timeline import timeline_info

DRAWN_UA = 1_000_000


def measured(seconds=20, charging=False, raw=DRAWN_UA, counter=True, device=None):
    """A run of ``seconds`` at 4 W by the gauge; its counter loses 1 mAh more than the integral every 36 s or so."""
    record = decode()
    start = record.marks["decode_start"].time_ns
    marks = dict(record.marks)
    marks["request"] = replace(marks["decode_start"], name="request")
    marks["drained"] = replace(marks["decode_start"], name="drained", time_ns=start + seconds * 10**9)
    readings = []
    for quarter in range(seconds * 4 + 1):
        extra = {"current_raw": raw, "charge_counter_uah": 4_000_000 - (quarter // 16) * 1_200 if counter else None}
        extra = {name: value for name, value in extra.items() if value is not None}
        readings.append(
            Telemetry(start + quarter * 250_000_000, 30.0, raw / 1e3, 4000.0, charging=charging, extra=extra)
        )
    header = replace(record.header, device={**record.header.device, **(device or {})})
    return replace(record, header=header, marks=marks, telemetry=readings)


def test_energy_is_that_of_the_whole_request_and_stands_beside_the_charge_counter():
    info = energy_info(measured())
    assert info.joules == pytest.approx(80.0)
    assert info.mean_w == pytest.approx(4.0)
    assert "80.0 J" in info.text
    assert "Both come from the phone's own gauge." in info.check
    assert "Current read as uA" in info.scale


def test_while_charging_there_is_no_energy_and_the_reason_is_said():
    info = energy_info(measured(charging=True))
    assert info.joules is None
    assert info.text == "Energy n/a: charging."


def test_a_counter_that_does_not_move_is_said_to_be_no_check():
    assert "moved too little" in energy_info(measured(counter=False)).check


def test_a_device_without_a_battery_has_no_sentence_about_energy():
    assert energy_info(decode()) is None


def test_a_run_that_broke_off_has_no_energy():
    record = measured()
    del record.marks["drained"]
    assert energy_info(record).joules is None


def test_a_small_current_is_read_in_the_unit_of_the_others():
    record = measured()
    quiet = replace(record.telemetry[40], battery_current_ma=15_000.0, extra={"current_raw": 15_000})
    record.telemetry[40] = quiet
    assert energy_info(record).joules == pytest.approx(79.0, abs=0.2)


def test_a_virtual_phone_s_gauge_is_said_to_be_made_up_and_its_run_is_marked():
    record = measured(device={"virtual": True})
    assert "made-up" in energy_info(record).text
    assert "virtual" in [badge.label for badge in heading_info(timeline_info(record)).badges]
    assert ("virtual", 1) in facts_info([record]).kinds
