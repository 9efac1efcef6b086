import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_checks import check_figure, texts

from dashboard.views.theme import DARK, LIGHT
from dashboard.views.window_gain import AXES, gain_figure, gain_info
from dashboard.views.window_reasons import KINDS, reason
from dashboard.views.window_set import Timed, Wanted, WindowSet, filtered, summary
from dashboard.views.window_speed import MOST_CURVES, ORACLE, speed_figure, speed_info
from dashboard.views.window_table import ORDERS, slower_table, window_frame, window_table

NAN = math.nan
STEP_MS = 50.0


def timed(name, method, time_ms, tokens=(41, 21, 61), rounds=(10, 20, 20), accepted=(30, 1, 40), left_out=(0, 0, 0)):
    times, proposed = np.array(time_ms, float), np.array([40.0, 50.0, 60.0])
    known = np.isfinite(times)
    return Timed(
        name, method, times, np.where(known, np.array(tokens, float), NAN), np.array(rounds, float), proposed,
        np.array(accepted, float), times * 0.9, known.astype(np.int64), np.array(left_out, np.int64),
        tuple(f"run-{i}" for i in range(3)),
    )  # fmt: skip


ALONE = timed("Target-only", "target-only", (2000.0, 1000.0, 3000.0), rounds=(40, 20, 60))
OURS = timed("As²d b=7", "as2d", (1000.0, 1250.0, 1500.0))
SD = timed("SD K=5", "sd", (1600.0, 900.0, NAN), left_out=(0, 0, 2))
WINDOWS = WindowSet(
    title="a set", kinds=("replayed",), windows=("short", "hard", "long <b>"), subsets=("clean", "far", "clean"),
    tasks=("transcribe", "translate", "transcribe"), languages=("en", "en", "en"), splits=("test", "", "test"),
    audio_s=np.array([5.0, NAN, 30.0]), alone=ALONE, settings=(SD, OURS),
    oracle_ms=np.array([900.0, 1250.0, NAN]), oracle_picks=("b=5", "b=7", ""), oracle_of="As²d, 8 budgets",
)  # fmt: skip
NOTHING = replace(
    WINDOWS, alone=None, settings=(timed("As²d b=7", "as2d", (NAN, NAN, NAN)),), oracle_ms=np.full(3, NAN)
)


def test_a_pooled_gain_is_of_sums_and_never_a_mean_of_gains():
    found = summary(WINDOWS, OURS)
    assert found.windows == 3
    assert found.tps == pytest.approx((41 + 21 + 61) / 3750 * 1e3)
    assert found.gain == pytest.approx((6000 / 3750 - 1) * 100)
    assert (found.slower.slower, found.slower.median_loss) == (1, pytest.approx(20.0))
    assert "slower on 1 of 3 windows (33.3 %, median loss 20.0 %)" in found.sentence


def test_a_window_that_did_not_finish_is_left_out_of_both_sides():
    found = summary(WINDOWS, SD)
    assert found.windows == 2
    assert found.gain == pytest.approx(((41 + 21) / 2500 / ((41 + 21) / 3000) - 1) * 100)


def test_without_target_only_there_is_no_gain_and_a_sentence_says_so():
    found = summary(NOTHING, NOTHING.settings[0])
    assert (found.tps, found.gain, found.slower) == (None, None, None)
    assert "no window in common" in found.sentence


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Wanted(), ("short", "hard", "long <b>")),
        (Wanted(subsets=("clean",)), ("short", "long <b>")),
        (Wanted(tasks=("translate", "question")), ("hard",)),
        (Wanted(splits=("test",), text="LONG"), ("long <b>",)),
        (Wanted(length_s=(4.0, 10.0)), ("short",)),
        (Wanted(slower_only=True), ("hard",)),
        (Wanted(subsets=("none",)), ()),
    ],
)
def test_a_filter_keeps_the_windows_that_are_wanted(wanted, names):
    assert filtered(WINDOWS, wanted, "As²d b=7").windows == names


def test_filters_are_said_in_words():
    assert Wanted().described() == ""
    assert Wanted(subsets=("a", "b"), length_s=(5.0, math.inf), slower_only=True).described() == (
        "a, b; at least 5 s; slower than target-only only"
    )


@given(
    tokens=st.integers(2, 500),
    step=st.floats(1, 100),
    rounds=st.integers(1, 600),
    target=st.floats(1, 1e5),
    idle=st.floats(0, 1e5),
)
def test_the_parts_of_a_difference_sum_up_to_it(tokens, step, rounds, target, idle):
    def one(name, time_ms, rounds, target_ms):
        values = (time_ms, tokens, rounds, NAN, NAN, target_ms)
        return Timed(name, name, *(np.array([value], float) for value in values), np.ones(1, int), np.zeros(1, int))

    alone = one("target-only", (tokens - 1) * step, tokens - 1, (tokens - 1) * step)
    item = one("as2d", target + idle, rounds, target)
    shown = replace(WINDOWS.subset(np.array([True, False, False])), alone=alone, settings=(item,))
    found = reason(shown, item, 0)
    parts = -found.saved_ms + found.wider_ms + found.waiting_ms
    assert parts == pytest.approx(found.difference_ms, abs=1e-5 + 1e-9 * (target + idle))
    assert found.kind in KINDS


def test_a_window_without_rounds_has_no_reason():
    bare = replace(OURS, rounds=np.full(3, NAN))
    assert reason(WINDOWS, bare, 0) is None
    assert reason(NOTHING, NOTHING.settings[0], 0) is None


def test_the_windows_that_lose_most_are_listed_with_what_they_lost_it_to():
    found = slower_table(WINDOWS, OURS)
    assert list(found["Window"]) == ["hard"]
    assert list(found["Lost"]) == ["+250 ms"]
    assert slower_table(WINDOWS, replace(OURS, rounds=np.full(3, NAN))).empty


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_keeps_all_windows_and_puts_missing_values_last(order):
    made = window_table(WINDOWS, "SD K=5", order)
    assert sorted(made.rows) == [0, 1, 2]
    if "loss" in order or "gain" in order:
        assert made.rows[-1] == 2


def test_the_table_has_every_setting_the_oracle_and_what_failed():
    made = window_table(WINDOWS, "As²d b=7")
    assert {"Audio", "Tokens", "K = 1 time", "As²d b=7 time", "SD K=5 time", "Oracle time", "Gap", "Left out"} <= set(
        made.table.columns
    )
    first = {name: made.formats[name](made.table[name][0]) for name in made.table.columns}
    assert first["Window"] == "hard"
    assert first["Against target-only"] == "−20.0 %"
    assert first["Audio"] == "n/a"
    assert first["Gap"] == "0.0 %"
    assert "Language" not in made.table.columns
    shown = made.columns(everything=False)
    assert (
        {"Window", "As²d b=7 time", "Against target-only", "Left out"}
        <= set(shown)
        < set(made.columns(everything=True))
    )
    assert "SD K=5 time" not in shown


def test_a_file_holds_plain_numbers_and_nothing_for_what_is_missing():
    frame = window_frame(WINDOWS, "As²d b=7")
    assert list(frame["window"]) == list(WINDOWS.windows)
    assert frame["As²d b=7 gain_percent"][0] == pytest.approx(100.0)
    assert frame["SD K=5 time_ms"].isna().tolist() == [False, False, True]
    assert frame["audio_s"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_curves_rise_to_all_windows_and_name_what_a_point_is(theme):
    info = speed_info(WINDOWS, "a filter")
    assert [curve.name for curve in info.curves] == ["Target-only", "SD K=5", "As²d b=7", ORACLE]
    for curve in info.curves:
        assert (np.diff(curve.tps) >= 0).all()
        assert curve.share[-1] == 1.0
    body = check_figure(speed_figure(info, theme))
    assert "a filter" in " ".join(texts(body))
    ours = next(trace for trace in body["data"] if trace["meta"] == "As²d b=7")
    assert {point[0] for point in ours["customdata"]} == set(WINDOWS.windows)


def test_each_curve_is_named_on_itself_and_no_two_names_at_one_height():
    figure = speed_figure(speed_info(WINDOWS), LIGHT)
    notes = {re.sub("<[^>]*>|━", "", note.text).strip(): note for note in figure.layout.annotations}
    assert set(notes) == {"Target-only (n = 3)", "SD K=5 (n = 2)", "As²d b=7 (n = 3)", f"{ORACLE} (n = 2)"}
    assert len({round(note.y) for note in notes.values()}) == 4
    for trace in figure.data:
        assert next(note.x for name, note in notes.items() if name.startswith(trace.name)) in trace.x
    assert figure.layout.showlegend is False


def test_more_settings_than_colours_are_counted_not_drawn():
    many = replace(WINDOWS, settings=tuple(replace(OURS, name=f"As²d b={b}") for b in range(20)))
    info = speed_info(many)
    assert len(info.curves) == MOST_CURVES + 1
    assert len(info.left_out) == 12


@pytest.mark.parametrize("by", AXES)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_gains_are_drawn_in_every_layout_with_slower_ones_as_another_mark(by, theme):
    info = gain_info(WINDOWS, OURS, by, selected="hard")
    body = check_figure(gain_figure(info, theme))
    marks = {trace["name"]: trace for trace in body["data"]}
    assert info.slower == 1
    if by != "audio":
        assert marks["slower"]["customdata"] == [["hard"]]
        assert marks["slower"]["marker"]["symbol"] != marks["faster"]["marker"]["symbol"]
    else:
        assert info.missing == 1


def test_what_has_no_gain_is_a_sentence_in_place_of_a_figure():
    assert "no window in common" in gain_info(NOTHING, NOTHING.settings[0]).empty
    assert speed_info(NOTHING).empty is not None
    assert gain_info(WINDOWS, replace(OURS, rounds=np.full(3, NAN)), "rounds").empty is not None
    check_figure(gain_figure(gain_info(NOTHING, NOTHING.settings[0]), LIGHT))
    check_figure(speed_figure(speed_info(NOTHING), DARK))
