"""Tables are as high as their rows and as wide as their longest text; filters and groups are read, not ids."""

import re

import pytest

from dashboard.notebook.outputs import Grid, grid_html
from dashboard.views.grids import FRAME_PX, ROW_PX, column_width, column_widths, fitting, grid_height
from dashboard.views.run_filters import MOST_NAMED, filters_in_words, group_label, group_labels


def test_a_grid_is_as_high_as_its_head_and_rows():
    assert grid_height(2, 10) == 3 * ROW_PX + FRAME_PX


def test_a_grid_that_goes_on_shows_half_a_row_more():
    assert grid_height(11, 10) == grid_height(10_000, 10) == round(11.5 * ROW_PX) + FRAME_PX


def test_a_column_has_room_for_its_longest_text_wherever_that_stands():
    assert (
        column_width(["Window", "long_03", "far_field_08"]) == column_width(["far_field_08"]) > column_width(["long"])
    )
    assert column_width([]) > 0
    assert column_width(["x" * 500], widest=320) == 320


def test_times_and_names_get_their_width_and_numbers_and_long_texts_none():
    columns = {"Started": ["2026-11-30 11:36:24", None], "b": [7, 8], "Said": ["word " * 20], "Method": ["SD"]}
    assert column_widths(columns) == {"Started": column_width(["2026-11-30 11:36:24"])}


def test_columns_are_taken_in_order_of_importance_as_long_as_there_is_room():
    columns = {"a": ["x" * 10], "b": ["x" * 30], "c": ["7"]}
    room = column_width(["x" * 10]) + column_width(["7"])
    assert fitting(columns, ["a", "b", "c"], room) == ["a", "c"]
    assert fitting(columns, ["b", "a", "c"], column_width(["x" * 30])) == ["b"]
    assert fitting(columns, ["c", "a", "b"], 10_000) == ["a", "b", "c"]


def test_a_column_in_which_nothing_stands_takes_no_room():
    assert fitting({"a": ["", "n/a"], "b": ["n/a", "1"]}, ["a", "b"]) == ["b"]


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ("s20261130-113605-c82b73ff", "sweep of 2026-11-30 11:36:05"),
        ("g20261130-113605-c82b73ff", "2026-11-30 11:36:05"),
        ("a group of my own", "a group of my own"),
    ],
)
def test_a_group_is_called_by_its_time(group, said):
    assert group_label(group) == said


def test_groups_of_the_same_second_are_told_apart():
    labels = group_labels(["g20261130-113605-c82b73ff", "g20261130-113605-00000000", "g20261130-113606-00000000"])
    assert len(set(labels.values())) == 3
    assert labels["g20261130-113606-00000000"] == "2026-11-30 11:36:06"


def test_filters_are_read_as_words_and_without_the_names_of_runs():
    asked = {
        "run_ids": ("r1",),
        "methods": ("as2d", "target-only"),
        "statuses": ("eos",),
        "windows": tuple(f"w{i}" for i in range(MOST_NAMED + 2)),
        "groups": ("s20261130-113605-c82b73ff",),
        "since": "2026-11-29T11:00:00+00:00",
        "warm_ups": False,
    }
    assert filters_in_words(asked) == [
        "method As²d, Target-only",
        "status ended by itself (EOS)",
        "window w0, w1, w2, w3 and 2 more",
        "started together: sweep of 2026-11-30 11:36:05",
        "since 2026-11-29 11:00:00 UTC",
    ]


def test_a_column_of_numbers_is_set_to_the_right_as_a_whole_and_one_of_words_to_the_left():
    grid = Grid(
        ("Method", "TPS", "Against", "Accepted", "Nothing"),
        (
            ("A", 1.5, "reference", "n/a", None),
            ("B", "2.00 tok/s", "−3.0 %", "4 of 5", None),
            ("C", 3, "+1 %", "n/a", None),
        ),
    )
    html = grid_html(grid)
    for column, number in enumerate((False, True, True, False, False)):
        cells = [re.findall(r"<t[hd]([^>]*)>", row)[column] for row in re.findall(r"<tr>(.*?)</tr>", html)]
        assert {"number" in cell for cell in cells} == {number}
