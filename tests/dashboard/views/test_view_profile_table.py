"""Costs in numbers, the list of profiles, and chips of exactness."""

from dataclasses import replace

from view_checks import read_html

from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import Spread
from dashboard.views.profile_table import (
    Listed,
    cost_table,
    exactness,
    exactness_html,
    exactness_sentence,
    profiles_table,
)
from dashboard.views.theme import DARK, LIGHT

K70 = load_profile("k70")


def test_every_cost_has_its_origin_and_what_is_not_there_is_missing():
    table = cost_table(K70).set_index(["Cost", "K"])
    eight = table.loc[("Verification, alone", 8)]
    assert (eight["Value (ms)"], eight["Origin"], eight["Note"]) == (112.656, "published", "Appendix D.2.2")
    assert eight[["SD (ms)", "n", "Least (ms)"]].isna().all()
    assert "width not measured" not in table.loc[("Verification, alone", 8)]["Note"]
    assert "not measured" in table.loc[("Verification, beside the drafter", 9)]["Note"]


def test_alignment_is_said_to_be_part_of_a_round_and_never_zero():
    row = cost_table(K70).set_index("Cost").loc["Alignment"]
    assert row["Origin"] == "n/a"
    assert "part of the rest of a round" in row["Note"]
    assert row[["Value (ms)"]].isna().all()


def test_costs_that_only_the_calls_hold_are_listed():
    calls = {"refresh_ms.4": Spread.of((3.0, 5.0)), "loop_serial_ms": Spread.of((1.0,))}
    table = cost_table(replace(K70, spread=calls)).set_index("Cost")
    assert table.loc["Refresh by width (SpecASR)", ["K", "Value (ms)", "Least (ms)", "n"]].tolist() == [4, 4.0, 3.0, 2]
    assert table.loc["Rest of a round, SD", "Value (ms)"] == 1.0


def test_sources_that_publish_in_chunks_keep_their_names():
    names = set(cost_table(K70)["Cost"])
    assert {"Parakeet CTC, one chunk", "SenseVoice, conversion"} <= names


def test_a_profile_that_cannot_be_read_is_a_row_with_its_reason():
    table = profiles_table([Listed("k70", K70), Listed("bad", None, "loop_ms is missing.")])
    assert table["Profile"].tolist() == ["Redmi K70 Pro", "bad"]
    assert table.loc[1, ["Kind", "Note"]].tolist() == ["unreadable", "loop_ms is missing."]
    assert table.loc[1, ["Step (ms)", "Widest K"]].isna().all()


def test_grades_tell_bit_equal_same_token_another_token_failed_and_not_tested_apart():
    tested = replace(
        K70,
        verify_idle_ms=dict.fromkeys(range(1, 5), 1.0),
        verify_concurrent_ms={},
        exact_widths=(1, 2),
        argmax_widths=(1, 2, 3),
        failed_width=5,
    )
    assert [item.grade for item in exactness(tested)] == [
        "bit-equal", "bit-equal", "same token", "another token", "failed",
    ]  # fmt: skip
    unlooked = replace(tested, argmax_widths=None, failed_width=None)
    assert [item.grade for item in exactness(unlooked)][2:] == ["not bit-equal", "not bit-equal"]
    assert {item.grade for item in exactness(K70)} == {"not tested"}


def test_chips_have_a_mark_and_a_meaning_besides_their_colour():
    grades = exactness(replace(K70, exact_widths=(2,), argmax_widths=(3,), failed_width=26))
    for theme in (LIGHT, DARK):
        read = read_html(exactness_html(grades, theme))
        assert "2 =" in read.text
        assert "3 ≈" in read.text
        assert "26 ✕" in read.text
        assert any("bit for bit" in title for title in read.titles)
    assert "K = 26 failed: the device could not verify this width" in exactness_sentence(grades)
