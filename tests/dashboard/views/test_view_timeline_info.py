from dataclasses import replace

import numpy as np
import pytest
from view_samples import REFERENCE, cut_off, decode, ended

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord, Telemetry
from as2d_core.request import METHODS
from dashboard.views.timeline_info import timeline_info


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_one_row_a_round_with_the_record_s_numbers(method):
    record = decode(method)
    info = timeline_info(record)
    assert info.empty is None
    assert len(info.rounds) == len(record.rounds)
    assert info.rounds.proposed.tolist() == [r.proposed for r in record.rounds]
    assert info.rounds.accepted.tolist() == [r.accepted for r in record.rounds]
    assert info.rounds.committed.sum() + 1 == info.tokens == len(REFERENCE.split(" ")) + 1
    assert info.tps == summarise(record).tps
    assert info.end_ms == pytest.approx(summarise(record).elapsed_ms)
    assert info.notes == ()


def test_time_is_counted_from_decode_start_and_prefill_lies_before_it():
    info = timeline_info(decode())
    assert info.rounds.boundary_ms[0] == 0.0
    assert info.target_before.works == ("prefill",)
    assert info.target_before.start_ms.tolist() == [-412.0]
    assert info.target_before.end_ms.tolist() == [0.0]


@pytest.mark.parametrize("method", ["sd", "specasr"])
def test_in_serial_methods_the_target_s_part_of_a_round_begins_where_its_draft_ends(method):
    info = timeline_info(decode(method))
    assert info.serial
    assert np.allclose(info.rounds.start_ms, info.drafting.end_ms)
    assert (info.rounds.boundary_ms < info.rounds.start_ms).all()


def test_the_cap_line_is_what_limits_a_chain_in_each_method():
    labels = {method: timeline_info(decode(method)).cap_label for method in METHODS}
    assert labels == {"target-only": "", "sd": "K − 1 = 4", "specasr": "cap = 14", "as2d": "b = 7"}
    for method in ("sd", "specasr", "as2d"):
        info = timeline_info(decode(method))
        assert info.rounds.proposed.max() <= info.cap


def test_candidates_ready_are_what_lies_behind_the_aligned_cursor():
    record = decode()
    info = timeline_info(record)
    for row, item in enumerate(record.rounds):
        cursor = item.moves[-1][2] if item.moves else item.cursor_before
        assert info.rounds.ready[row] == item.visible - cursor
        assert info.rounds.proposed[row] <= info.rounds.ready[row]


def test_an_arrow_leads_to_the_first_round_that_proposed_one_of_the_batch():
    record = decode()
    info = timeline_info(record)
    for batch, first in zip(record.publications, info.publications.first_use.tolist(), strict=True):
        inside = range(batch.offset, batch.offset + len(batch.tokens))
        users = []
        for row, item in enumerate(record.rounds):
            start = item.moves[-1][2] if item.moves else item.cursor_before
            if any(start <= c < start + item.proposed for c in inside):
                users.append(row)
        assert first == (users[0] if users else -1)
    assert (info.publications.first_use >= 0).any()


def test_reused_candidates_are_counted_among_the_accepted_only():
    record = decode("specasr")
    info = timeline_info(record)
    assert info.rounds.reused.tolist() == [r.origins[: r.accepted].count("r") for r in record.rounds]
    assert info.rounds.reused.sum() > 0


def test_a_run_that_broke_off_shows_how_far_it_got():
    record = cut_off(0.6)
    info = timeline_info(record)
    assert info.status == "incomplete"
    assert 0 < len(info.rounds) < len(decode().rounds)
    assert info.tps is None
    assert "the end line is missing" in info.notes[0]
    assert f"{len(info.rounds)} rounds" in info.notes[0]


def test_work_whose_round_is_missing_is_kept_as_such():
    record = decode()
    record.rounds.pop()
    info = timeline_info(record)
    assert set(info.target_orphans.works) <= {"step", "verify", "align", "correct"}
    assert len(info.target_orphans) >= 1
    assert info.target_orphans.end_ms.max() == pytest.approx(info.eos_ms)


def test_a_growing_run_without_drafter_spans_shows_the_time_between_publications():
    whole = decode()
    record = RunRecord(whole.header, whole.rounds[:9], [s for s in whole.spans if s.lane == "target"][:27])
    record.marks["decode_start"] = whole.marks["decode_start"]
    record.publications = whole.publications[:3]
    info = timeline_info(record)
    assert info.drafting_derived
    assert info.drafting.end_ms.tolist() == info.publications.time_ms.tolist()
    assert info.drafting.start_ms[1:].tolist() == info.publications.time_ms[:-1].tolist()
    assert any("between publications" in note for note in info.notes)


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        ("failed", "The target stopped.", "failed after 25 rounds, 2.33 s of decoding: The target stopped."),
        ("failed", None, "no reason was recorded"),
        ("cancelled", None, "cancelled after 25 rounds"),
        ("capped", None, "cap of 320 tokens"),
    ],
)
def test_a_run_that_did_not_reach_its_end_says_why(status, error, said):
    info = timeline_info(ended(decode(), status, error))
    assert info.status == status
    assert said in info.notes[0]


def test_a_run_without_decoding_is_empty_with_the_reason():
    record = decode()
    bare = RunRecord(record.header)
    assert timeline_info(bare).empty == "Decoding never began: the record holds no decode start."
    failed = ended(bare_with_end(record), "failed", "The model folder is incomplete.")
    assert timeline_info(failed).empty == "Decoding never began: The model folder is incomplete."
    operation = RunRecord(replace(record.header, request=replace(record.request, method="calibrate")))
    assert "calibrate" in timeline_info(operation).empty


def bare_with_end(record):
    return RunRecord(record.header, end=record.end)


def test_an_emulated_drafter_is_said_to_be_one():
    info = timeline_info(decode(drafter_pace_ms=50.0))
    assert info.emulated
    assert any("slowed down on purpose" in note for note in info.notes)


def test_sensors_become_series_with_gaps_where_nothing_was_read():
    info = timeline_info(decode(telemetry=True))
    assert [(s.name, s.unit) for s in info.telemetry] == [("Power", "W"), ("Battery", "°C"), ("Fastest core", "MHz")]
    power, battery, core = info.telemetry
    assert power.values[0] == pytest.approx(0.980 * 3.905)
    assert np.isnan(battery.values[3])
    assert np.isfinite(battery.values[[0, 1, 2, 4]]).all()
    assert core.values[0] == 2803.0
    assert power.time_ms[0] == 0.0


def test_power_is_not_read_off_a_charging_battery():
    record = decode()
    start = record.marks["decode_start"].time_ns
    record.telemetry = [
        Telemetry(start, battery_current_ma=500.0, battery_voltage_mv=4000.0, charging=True),
        Telemetry(start + 1, battery_current_ma=-500.0, battery_voltage_mv=4000.0, charging=None),
    ]
    (power,) = timeline_info(record).telemetry
    assert np.isnan(power.values[0])
    assert power.values[1] == 2.0
