"""A trace's power counters as a figure and a table."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from perfetto_bytes import power_trace, rail_names, rails
from view_checks import check_figure

from as2d_core.energy import ChargeCheck, Energy
from dashboard.services.power import NotBeside, PowerBeside, rail_energy
from dashboard.views.power import left_sentence, power_figure, power_info, rails_table
from dashboard.views.theme import DARK, LIGHT
from datastore.perfetto_traces import read_power_trace
from datastore.power_traces import KeptTrace

S = 1_000_000_000
TRACE = KeptTrace("abc", "p<b>.pftrace", datetime(2026, 3, 1, tzinfo=UTC), 0, "Xiaomi/x:16", ("It is <odd>.",), 5, 0, S)


@pytest.fixture
def beside():
    counters = read_power_trace(power_trace(0, 5_000, watts=4.0), "t").counters
    found = tuple(rail_energy(item, S, 4 * S) for item in counters if item.kind == "rail")
    return PowerBeside(TRACE, counters, S, 4 * S, Energy(12.0, "", 12, 3.0), ChargeCheck(1.0, 1.1), found, 1.0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_battery_and_rails_are_drawn_in_watts_from_the_origin(beside, theme):
    body = check_figure(power_figure(power_info(beside, S), theme))
    assert [trace["name"] for trace in body["data"]] == ["battery", "CPU", "GPU"]
    info = power_info(beside, S)
    assert info.window_ms == (0.0, 3_000.0)
    battery, cpu, _ = info.lines
    assert battery.time_ms[0] == -1_000.0
    assert set(battery.watts) == {4.0}
    assert cpu.watts == pytest.approx([1.0] * 20)


def test_the_energy_stands_beside_the_charge_counter_and_what_is_odd(beside):
    said = " ".join(power_info(beside, 0).sentences)
    assert "12.0 J at 4.00 W on average" in said
    assert "charge counter 1.1 mAh" in said
    assert "their sum is not the phone's" in said
    assert "Xiaomi/x:16" in said
    assert "It is <odd>." in said


def test_an_energy_that_is_not_there_says_why_and_a_part_says_how_much(beside):
    partial = replace(beside, battery=Energy(None, "n/a: charging"), covered=0.25)
    said = " ".join(power_info(partial, 0).sentences)
    assert "energy n/a: charging" in said
    assert "covers 25.0 % of the run" in said


def test_a_reset_of_a_rail_is_a_gap_and_never_a_negative_power():
    counters = read_power_trace(
        rail_names("A") + rails(0, 0) + rails(500, 90) + rails(1_000, 10) + rails(1_500, 20), "t"
    )
    rail = counters.counters[0]
    one = PowerBeside(TRACE, (rail,), 0, S // 2, Energy(None, "n/a"), None, (rail_energy(rail, 0, S // 2),), 1.0)
    body = check_figure(power_figure(power_info(one, 0), LIGHT))
    assert body["data"][0]["y"][1] is None


def test_long_traces_are_thinned_to_what_svg_can_draw(beside):
    counters = read_power_trace(power_trace(0, 900_000), "t").counters
    info = power_info(replace(beside, counters=counters), 0)
    assert all(len(line.time_ms) <= 2_000 for line in info.lines)


def test_a_trace_without_voltage_and_rails_has_nothing_to_draw(beside):
    bare = replace(beside, counters=tuple(c for c in beside.counters if c.name == "current"), rails=())
    assert "neither battery current with voltage" in power_figure(power_info(bare, 0), LIGHT).layout.annotations[0].text


def test_rails_are_listed_with_the_reason_where_there_is_no_figure(beside):
    short = rail_energy(beside.counters[3], 0, 99 * S)
    table = rails_table(replace(beside, rails=(*beside.rails, short)))
    assert table["Rail"].tolist() == ["CPU", "GPU", "CPU"]
    assert table["Energy (J)"].isna().tolist() == [False, False, True]
    assert table["Why not"].tolist()[2] == "its readings do not cover the run"


def test_traces_that_are_not_shown_are_named_with_their_reasons_up_to_a_limit():
    assert left_sentence([]) == ""
    many = [NotBeside(TRACE, "it ends before the run begins")] * 11
    assert left_sentence(many).endswith("; and 3 more.")
    assert left_sentence(many[:1]) == "Not laid beside this run: p<b>.pftrace: it ends before the run begins."
