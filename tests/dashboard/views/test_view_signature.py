"""What is printed into a figure fits a narrow one, and stays text."""

import plotly.graph_objects as go

from dashboard.views.signature import LINE_LETTERS, LINE_PX, NEXT_PX, broken, signed
from dashboard.views.theme import LIGHT


def test_a_long_text_is_broken_between_its_parts():
    said = "run 20261130-145005-dbba6a06 · As²d b=7 · This computer · window long_00 (23.6 s) · 47.91 tok/s · measured"
    lines = broken(said)
    assert len(lines) == 2
    assert all(len(line) <= LINE_LETTERS for line in lines)
    assert " · ".join(lines) == said


def test_a_short_text_and_one_without_parts_stay_one_line():
    assert broken("12 runs; on 3 windows") == ["12 runs; on 3 windows"]
    assert broken("x" * 200) == ["x" * 200]
    assert broken("") == [""]


def test_each_line_has_its_room_and_none_becomes_markup():
    figure = signed(go.Figure(layout={"height": 300, "margin": {"b": 40}}), LIGHT, ", ".join(["<b>name</b>"] * 12))
    shown = figure.layout.annotations[0].text
    below = LINE_PX + NEXT_PX * shown.count("<br>")
    assert (figure.layout.height, figure.layout.margin.b) == (300 + below, 40 + below)
    assert "<br>" in shown
    assert "<b>" not in shown
