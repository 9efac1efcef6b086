from dataclasses import fields
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from view_checks import check_figure, names, texts

from dashboard.views.sweep import sweep_figure
from dashboard.views.sweep_info import BLOCKS, POSITIONS, SUSTAINED, kind_of, sweep_info, sweep_table
from dashboard.views.theme import DARK, LIGHT
from datastore.queries import RunRow
from datastore.sweeps import GroupReadings

BEGAN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def row(order, method="as2d", tps=10.0, begin=0.0, end=4.0, at_s=None, **changes):
    whole = dict.fromkeys((item.name for item in fields(RunRow)), None)
    whole |= {
        "run_id": f"r{order}", "created_at": BEGAN + timedelta(seconds=order * 30.0 if at_s is None else at_s),
        "label": "measured", "method": method, "budget": 7 if method == "as2d" else None, "view_start_s": begin,
        "view_end_s": end, "run_order": order, "warm_up": False, "status": "eos", "committed_tokens": 40,
        "elapsed_ms": 40 / tps * 1e3, "response_ms": 40 / tps * 1e3 + 100, "tps": tps, "proposed": 20, "accepted": 12,
        "tags": (), "problems": (), "device_name": "Phone",
    }  # fmt: skip
    return RunRow(**{**whole, **changes})


def again(levels, **changes):
    return [row(i + 1, tps=level, **changes) for i, level in enumerate(levels)]


def along(length, step, count=6, method="as2d", tps=10.0):
    return [row(i + 1, method, tps, i * step, i * step + length) for i in range(count)]


def readings(rows, per_run=3):
    ids = [r.run_id for r in rows for _ in range(per_run)]
    temperature = np.linspace(23, 35, len(ids))
    return GroupReadings(
        np.array(ids), np.tile(np.arange(per_run, dtype=float), len(rows)), temperature, np.full(len(ids), np.nan), 1
    )


def test_the_kind_of_a_sweep_follows_from_its_views():
    assert kind_of(again([10.0] * 3)) == SUSTAINED
    assert kind_of(along(4.0, 4.0)) == BLOCKS
    assert kind_of(along(4.0, 2.0)) == POSITIONS


def test_a_sustained_sweep_gets_a_verdict_with_its_interval():
    sentence = sweep_info(again(np.linspace(12, 8, 30))).sentences[0]
    assert sentence.startswith("As²d b=7: 30 requests, ")
    assert "Became slower: the last third of 30 requests against the first, −" in sentence
    assert "[" in sentence


def test_temperature_is_said_at_first_at_most_and_at_the_end():
    rows = again([10.0] * 12)
    info = sweep_info(rows, readings=readings(rows))
    assert "Battery: 23.0 °C at first, 35.0 °C at most, 35.0 °C at the end." in info.sentences
    assert [(name, unit) for name, unit, _, _ in info.sensors] == [("Battery", "°C")]


def test_sensors_that_say_nothing_are_named_and_not_drawn():
    rows = again([10.0] * 3)
    nothing = GroupReadings(np.array([], str), np.array([]), np.array([]), np.array([]), 1)
    info = sweep_info(rows, readings=nothing)
    assert info.sensors == ()
    assert any("Temperature n/a" in note for note in info.notes)


@pytest.mark.parametrize(("work_s", "said"), [(1.0, "keeps pace"), (3.0, "does not keep pace")])
def test_blocks_are_told_whether_they_keep_pace_with_speech(work_s, said):
    rows = along(4.0, 4.0, tps=20.0)  # 2 s of decoding
    info = sweep_info(rows, {r.run_id: work_s * 1e3 for r in rows})
    assert said in info.sentences[0]
    assert info.paces["As²d b=7"].active_rtf == pytest.approx((2.0 + work_s) / 4)


def test_positions_are_compared_with_target_only_at_the_same_place():
    rows = along(4.0, 2.0, method="target-only", tps=10.0) + along(4.0, 2.0, tps=15.0)
    assert "faster than target-only at 6 of 6 (+50.0 % to +50.0 %)" in sweep_info(rows).sentences[1]


def test_requests_that_did_not_end_are_crossed_and_counted_not_left_out():
    rows = [*again([10.0] * 3), row(4, status="failed", error="<b>hot</b>")]
    info = sweep_info(rows)
    assert [item.run_id for item in info.failures] == ["r4"]
    assert "1 request did not come to an end" in info.notes[0]
    figure = sweep_figure(info, LIGHT)
    assert "not complete" in names(figure)
    assert not any("<b>hot" in text for text in texts(check_figure(figure)))


def test_warm_ups_are_not_drawn():
    assert len(sweep_info([row(0, warm_up=True), *again([10.0] * 2)]).lines[0].x) == 2


def test_a_sweep_without_a_complete_request_says_so():
    info = sweep_info([])
    assert "yet" in info.empty
    assert "yet" in sweep_figure(info, LIGHT).layout.annotations[0].text


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("kind", [POSITIONS, BLOCKS, SUSTAINED])
def test_every_kind_is_drawn_and_a_point_leads_to_its_run(kind, theme):
    rows = again([10.0] * 12) if kind == SUSTAINED else along(4.0, 4.0 if kind == BLOCKS else 2.0)
    info = sweep_info(rows, {r.run_id: 500.0 for r in rows}, readings(rows), kind)
    figure = sweep_figure(info, theme)
    check_figure(figure, units=False)
    points = next(trace for trace in figure.data if trace.customdata is not None)
    assert points.customdata[0] == "r1"
    said = [a.text for a in figure.layout.annotations]
    assert "throughput (tok/s)" in said
    assert ("battery temperature (°C)" in said) == (kind == SUSTAINED)
    assert ("lag after a block, in real time (s, solved)" in said) == (kind == BLOCKS)


def test_many_points_are_drawn_in_webgl():
    few, many = (sweep_figure(sweep_info(again([10.0] * n)), LIGHT) for n in (100, 2_000))
    assert {trace.type for trace in few.data} == {"scatter"}
    assert {trace.type for trace in many.data} == {"scattergl"}


def test_the_table_has_a_row_for_every_request_and_says_what_is_missing():
    table = sweep_table(sweep_info(along(4.0, 4.0)))
    assert list(table["View ends (s)"]) == [4.0 * (i + 1) for i in range(6)]
    assert table["Preparation (s)"].isna().all()
    assert sweep_table(sweep_info([])).empty


def test_a_long_sweep_counts_minutes_and_a_short_one_seconds():
    assert sweep_info(again([10.0] * 3)).x_title.endswith("(s)")
    assert sweep_info(again([10.0] * 30)).x_title.endswith("(min)")
