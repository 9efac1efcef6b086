import numpy as np
import pytest
from run_rows import later, row
from view_checks import check_figure, texts

from as2d_core.replay.pooling import Bootstrap
from dashboard.views.paired import (
    MOST_DRAWN,
    REPETITIONS,
    default_reference,
    paired_figure,
    paired_frame,
    paired_info,
    paired_table,
)
from dashboard.views.run_groups import run_groups
from dashboard.views.theme import DARK, LIGHT

WINDOWS = [f"w{i}" for i in range(8)]


def both(ours=lambda i: 1000.0 + 50 * i, alone=2000.0):
    rows = [row(f"t{i}", "target-only", alone, name) for i, name in enumerate(WINDOWS)]
    return rows + [row(f"a{i}", "as2d", ours(i), name) for i, name in enumerate(WINDOWS)]


def paired(rows, reference="", by="setting"):
    return paired_info(run_groups(rows, by), reference)


def test_a_gain_is_of_pooled_rates_over_shared_windows_with_an_interval_around_it():
    info = paired(both())
    first, second = info.pairs
    assert (first.group.name, first.reference) == ("Target-only", True)
    assert info.against == "Against target-only"
    assert second.gain == pytest.approx((16_000 / sum(1000 + 50 * i for i in range(8)) - 1) * 100)
    low, high = second.interval
    assert low < second.gain < high
    assert len(second.units) == 8


def test_the_interval_is_that_of_the_paired_resampling_of_windows():
    second = paired(both()).pairs[1]
    tokens, times = np.full(8, 100), np.array([1000.0 + 50 * i for i in range(8)])
    expected = Bootstrap(tokens).gain(times, np.full(8, 2000.0))
    assert second.interval == pytest.approx((expected.low, expected.high))


def test_other_tokens_on_a_side_count_on_that_side():
    rows = [row("t", "target-only", 1000.0), row("a", elapsed_ms=1000.0, committed_tokens=50)]
    assert paired(rows).pairs[1].gain == pytest.approx(-50.0)


def test_one_pair_has_a_gain_and_no_interval():
    info = paired([row("t", "target-only", 2000.0), row("a")])
    assert (info.pairs[1].gain, info.pairs[1].interval) == (pytest.approx(100.0), None)
    assert paired_table(info)["n"].tolist() == ["1 window", "1 window"]
    assert paired_table(info)["Against target-only"].tolist() == ["reference", "+100.0 %"]


def test_on_a_single_window_repetitions_are_paired():
    rows = [row(f"t{i}", "target-only", 2000.0 + i, repetition=i) for i in range(4)]
    rows += [row(f"a{i}", elapsed_ms=1000.0 + 10 * i, repetition=i) for i in range(5)]
    pair = paired(rows).pairs[1]
    assert pair.unit == REPETITIONS
    assert len(pair.units) == 4
    assert pair.interval is not None


def test_repeated_runs_of_many_windows_are_pooled_within_each_window():
    rows = [*both(), row("again", elapsed_ms=3000.0, window="w0")]
    pair = paired(rows).pairs[1]
    assert len(pair.units) == 8
    assert pair.gains[0] == pytest.approx(0.0)


def test_failed_and_capped_runs_keep_their_row():
    rows = [*both(), row("f", "sd", None, status="failed"), row("c", "specasr", 1500.0, "w0", status="capped")]
    table = paired_table(paired(rows)).set_index("Setting")
    assert table.loc["SD K=5", "Left out"] == "1 failed"
    assert table.loc["SD K=5", "Pooled TPS"] == "n/a"
    assert table.loc["SpecASR", "n"] == "1 window"
    few = paired_table(paired(rows), everything=False)
    assert few["Left out"].tolist() == table["Left out"].tolist()
    assert set(few["Repeats"]) <= {"n/a", "stable", "unstable"}
    assert "Left out" not in paired_table(paired(both()), everything=False)


def test_what_shares_no_window_is_said_and_not_paired():
    info = paired([row("t", "target-only"), row("a", window="elsewhere")])
    assert info.pairs[1].gain is None
    assert "no finished work in common with As²d b=7" in info.notes[0]
    assert "nothing in common" in " ".join(
        texts(check_figure(paired_figure(paired([*both(), row("x", "sd", window="v")]), LIGHT)))
    )


def test_any_setting_can_be_the_reference():
    info = paired(both(), "As²d b=7")
    assert info.reference == "As²d b=7"
    assert info.against == "Against As²d b=7"
    assert info.pairs[1].gain < 0
    assert paired(both(), "no such setting").reference == "Target-only"


def test_without_target_only_the_first_that_finished_is_the_reference():
    groups = run_groups([row("f", "sd", None, status="failed"), row("a"), row("s", "specasr")])
    assert default_reference(groups) == "As²d b=7"


def test_when_nothing_finished_there_is_a_sentence_and_all_rows_stay():
    info = paired([row("f", "sd", None, status="failed"), row("g", status="cancelled")])
    assert "No run has finished" in info.empty
    assert len(paired_table(info)) == 2
    check_figure(paired_figure(info, LIGHT))


@pytest.mark.parametrize("by", ["day", "run"])
def test_runs_can_be_held_against_themselves_of_another_day_or_one_by_one(by):
    rows = [row("first"), row("second", elapsed_ms=500.0, created_at=later(1))]
    info = paired(rows, by=by)
    assert len(info.pairs) == 2
    assert sorted(pair.gain for pair in info.pairs) == pytest.approx([0.0, 100.0])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_window_is_a_dot_behind_the_pooled_gain(theme):
    body = check_figure(paired_figure(paired(both()), theme, "the runs"))
    traces = {trace["name"]: trace for trace in body["data"]}
    assert len(traces["units:as2d"]["x"]) == 8
    assert "error_x" in traces["pooled:as2d"]
    assert "n = 8" in " ".join(texts(body))
    assert "the runs" in " ".join(texts(body))


def test_a_file_holds_plain_numbers_and_the_runs_behind_them():
    frame = paired_frame(paired(both()))
    assert frame["n"].tolist() == [8, 8]
    assert frame["run_ids"][1] == [f"a{i}" for i in range(8)]


def test_repeats_are_judged_when_there_are_enough_of_them():
    rows = [row(f"a{i}", elapsed_ms=1000.0 + i, repetition=i) for i in range(5)]
    rows += [row(f"s{i}", "sd", 1000.0 + 300 * (i % 2), repetition=i) for i in range(6)]
    said = {pair.group.name: pair.stability for pair in paired(rows).pairs}
    assert said["As²d b=7"].startswith("stable")
    assert said["SD K=5"].startswith("unstable: typical spread")
    assert paired([row("one")]).pairs[0].stability.startswith("n/a")


def test_more_settings_than_a_figure_holds_are_counted_and_stay_in_the_table():
    rows = [row("t", "target-only"), *(row(f"a{b}", budget=b) for b in range(1, 60))]
    info = paired(rows)
    body = check_figure(paired_figure(info, LIGHT))
    assert f"the first {MOST_DRAWN} of 59 rows" in " ".join(texts(body))
    assert len(paired_table(info)) == 60
