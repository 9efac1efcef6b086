"""Cards of devices: unknown says so, alarms are marked by more than colour, foreign text stays text."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from as2d_core.records import SCHEMA_VERSION, RunHeader, RunRecord, Telemetry
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.views.device_cards import (
    computer_gauges,
    computer_rows,
    facts_html,
    gauges_html,
    phone_gauges,
    phone_rows,
    readiness_html,
    run_gauges,
    run_text,
    wait_text,
)
from dashboard.views.theme import theme_named
from device_bridge.facts import Fact, PhoneFacts
from device_bridge.setup.checks import Check, Readiness, Remedy, State

THEME = theme_named("light")


def facts(**values):
    return PhoneFacts({name: Fact(name, value, f"read {name}") for name, value in values.items()})


def by_name(rows):
    return {row.name: row for row in rows}


def test_what_a_phone_does_not_say_is_unknown_and_says_what_was_asked():
    rows = by_name(phone_rows(facts(opencl=None)))
    assert {row.value for row in rows.values()} == {"unknown"}
    assert rows["OpenCL"].how == "Read from: read opencl"


def test_how_long_a_request_takes_is_told_by_the_last_that_ended():
    def row(elapsed_ms, method="as2d", status="eos"):
        return SimpleNamespace(elapsed_ms=elapsed_ms, method=method, status=status)

    left_out = [row(9e5, "calibrate"), row(9e5, status="cancelled"), row(None)]
    assert run_text([row(2e3), row(4e3, "sd"), row(9e3), *left_out]) == "about 4 s"
    assert run_text(left_out) == "time n/a: none has ended here"


def test_facts_are_told_in_a_readers_words():
    rows = by_name(
        phone_rows(
            facts(
                maker="Xiaomi",
                model="23117RK66C",
                android="16",
                api_level=36,
                memory_bytes=11_700_000_000,
                memory_available_bytes=6_440_000_000,
                gpu="Adreno 750",
                gpu_driver="0762.36.1",
                abis=("arm64-v8a", "armeabi-v7a"),
            )
        )
    )
    assert rows["Model"].value == "Xiaomi 23117RK66C"
    assert rows["System"].value == "Android 16, API 36"
    assert rows["Memory"].value == "6.44 GB available of 11.7 GB"
    assert rows["Graphics"].value == "Adreno 750, driver 0762.36.1"
    assert rows["Runs"].value == "arm64-v8a, armeabi-v7a"


def test_the_machine_stands_apart_from_the_digits_of_the_release():
    rows = {row.name: row for row in computer_rows({"system": "Linux", "release": "6.1-v8", "machine": "x86_64"})}
    assert rows["System"].value == "Linux 6.1-v8, x86_64"


def test_a_library_without_a_version_is_present():
    rows = by_name(phone_rows(facts(opencl=None, opencl_library="/vendor/lib64/libOpenCL.so")))
    assert rows["OpenCL"].value == "present, version unknown"


def test_what_a_phone_calls_itself_is_never_markup():
    html = facts_html(phone_rows(facts(maker="<b>x</b>", model='"><script>')), THEME)
    assert "<b>" not in html
    assert "<script>" not in html


def test_a_hot_phone_is_marked_by_a_sign_too():
    gauges = {gauge.name: gauge for gauge in phone_gauges(facts(thermal_status=3, battery_temperature_c=44.0))}
    assert gauges["Thermal status"].value == "severe"
    assert gauges["Thermal status"].alarming
    assert gauges["Battery temperature"].alarming
    assert "severe !" in gauges_html(gauges.values(), THEME)


def test_readings_that_are_not_there_are_not_available_and_alarm_nobody():
    gauges = phone_gauges(facts())
    assert {gauge.value for gauge in gauges} == {"n/a"}
    assert not any(gauge.alarming for gauge in gauges)


def test_cores_are_written_as_ranges():
    gauges = {gauge.name: gauge.value for gauge in phone_gauges(facts(online=(0, 1, 2, 4, 6, 7)))}
    assert gauges["Cores on-line"] == "0–2, 4, 6–7"


def test_a_computer_shows_the_sensors_it_has():
    gauges = {gauge.name: gauge.value for gauge in computer_gauges(Telemetry(0, core_mhz=(900.0, None, 2500.0)))}
    assert gauges == {"Cores on-line": "n/a", "Fastest core": "2500 MHz"}


def test_a_run_shows_what_its_runner_has_read_last():
    header = RunHeader(SCHEMA_VERSION, "r", Request("r", "as2d", ModelRef("t"), AudioRef("a")), {}, {}, "", "")
    record = RunRecord(header)
    assert run_gauges([None, record]) == ()
    first = Telemetry(0, battery_current_ma=-500.0, battery_voltage_mv=4000.0, thermal_status=0, online_mask=0xFF)
    record.telemetry += [first, replace(first, time_ns=1, battery_temperature_c=41.0, core_mhz=(900.0, 2500.0))]
    gauges = {gauge.name: gauge for gauge in run_gauges([record])}
    shown = {name: gauge.value for name, gauge in gauges.items()}
    assert shown == {
        "Power": "2.00 W",
        "Battery temperature": "41.0 °C",
        "Thermal status": "none",
        "Cores on-line": "0–7",
        "Fastest core": "2500 MHz",
    }
    assert gauges["Battery temperature"].alarming
    record.telemetry.append(replace(first, time_ns=2, charging=True))
    assert run_gauges([record])[0].value == "charging"


def test_a_computer_of_which_nothing_is_known_says_so():
    assert {row.value for row in computer_rows({})} == {"unknown"}


def test_a_checklist_tells_states_apart_without_colour_and_shows_what_to_do():
    readiness = Readiness(
        "p",
        (
            Check("a", "Connected", State.OK, "Through here."),
            Check("b", "Free space", State.WRONG, "0.1 GB free.", "Delete something."),
            Check("c", "Set up", State.NOT_TRIED, "Not looked at yet."),
        ),
    )
    html = readiness_html(readiness, THEME)
    assert [html.count(mark) for mark in "✓✕○"] == [1, 1, 1]
    assert "Delete something." in html


def test_while_a_phone_is_set_up_nothing_is_asked_for_that_is_being_done():
    readiness = Readiness(
        "p",
        (
            Check("a", "Screen", State.WRONG, "It is locked.", "Unlock it."),
            Check("b", "Model", State.WRONG, "It is not there.", "Set it up.", Remedy.SET_UP),
        ),
    )
    html = readiness_html(readiness, THEME, setting_up=True)
    assert "Unlock it." in html
    assert "Set it up." not in html
    assert [html.count(mark) for mark in "✕→"] == [1, 1]
    assert 'aria-label="being set up"' in html


def test_what_was_not_tried_is_one_line_and_advice_for_several_lines_is_given_once():
    readiness = Readiness(
        "p",
        (
            Check("a", "Python", State.WRONG, "It is not there.", "Set it up."),
            Check("b", "Model", State.WRONG, "It is not there either.", "Set it up."),
            Check("c", "Space", State.NOT_TRIED, "Not tried."),
            Check("d", "Memory", State.NOT_TRIED, "Not tried."),
        ),
    )
    html = readiness_html(readiness, THEME)
    assert (html.count("Set it up."), html.count("Not tried."), html.count("○")) == (1, 1, 1)
    assert html.index("It is not there either.") < html.index("Set it up.")
    assert "Space, Memory" in html


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "about 1 s"), (45, "about 45 s"), (840, "about 14 min"), (9000, "about 2.5 h")]
)
def test_a_wait_is_told_in_round_figures(seconds, text):
    assert wait_text(seconds) == text
