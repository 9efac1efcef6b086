import pytest

from dashboard.views.boxes import KINDS, box_html, sentence_html
from dashboard.views.theme import DARK, LIGHT

HOSTILE = "<script>alert(1)</script> $x$ \u202e \x00"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_box_says_is_text(kind, theme):
    html = box_html(kind, HOSTILE, theme, HOSTILE)
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 2
    assert "\u202e" not in html


def test_kinds_differ_without_colour():
    assert len({box_html(kind, "same", LIGHT).split("</span>")[0][-1] for kind in KINDS}) == len(KINDS)


def test_an_error_is_announced():
    assert 'role="alert"' in box_html("error", "It is unwell.", LIGHT)
    assert 'role="note"' in box_html("note", "It is well.", LIGHT)


def test_a_sentence_is_cut_when_it_is_endless():
    assert len(sentence_html("x" * 100_000, LIGHT)) < 3_000
