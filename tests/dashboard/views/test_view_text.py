import html

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_checks import HOSTILE, read_html

from dashboard.views import text


def test_a_character_spread_over_tokens_belongs_to_the_token_that_completes_it():
    pieces = {1: b"\xf0\x9f", 2: b"\x98\x80", 3: b"!"}
    assert text.token_texts([1, 2, 3], pieces) == ["", "😀", "!"]


def test_bytes_that_never_become_a_character_are_marked_not_dropped():
    assert text.joined([1, 2], {1: b"a\xf0\x9f", 2: b"b"}) == "a\ufffdb"
    assert text.joined([1], {1: b"a\xf0"}) == "a\ufffd"


def test_a_token_without_text_shows_its_number_and_does_not_swallow_its_neighbours():
    assert text.token_texts([1, 9, 2], {1: b"a\xf0\x9f", 2: b"b"}) == ["a\ufffd", "⟨9⟩", "b"]


@given(st.text(max_size=40), st.data())
def test_joined_token_texts_are_the_decoded_bytes_however_they_are_cut(whole, data):
    raw = whole.encode("utf-8", "surrogatepass").replace(b"\xed", b"x")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    parts = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    pieces = dict(enumerate(parts))
    assert text.joined(list(pieces), pieces) == raw.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (" the", "·the"),
        ("a\nb\tc\r", "a↵b⇥c␍"),
        ("\x00\x07\x1b", "␀␇␛"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("a\u200fb", "a⟨U+200F⟩b"),
        ("\ufeff", "⟨U+FEFF⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("a\u00a0b", "a⍽b"),
        ("naïve 東京", "naïve·東京"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(raw, shown):
    assert text.visible(raw) == shown


def test_running_text_keeps_its_spaces_and_joiners():
    assert text.visible("a b\u200cc\u200dd", spaces=False) == "a b\u200cc\u200dd"


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_token_cannot_become_markup(piece):
    shown = text.alone(1, {1: piece})
    markup = text.element("span", text.escape(shown), {"color": "red"}, title=shown)
    reader = read_html(markup)
    assert reader.tags == ["span"]
    assert reader.text == shown
    assert reader.titles == [shown]


@given(st.text())
def test_escaped_text_reads_back_unchanged_and_holds_no_markup_or_formula(raw):
    safe = text.escape(raw)
    assert not set("<>\"'$") & set(safe)
    assert html.unescape(safe) == raw


def test_a_chip_is_never_empty_and_shows_broken_bytes_in_hex():
    assert text.alone(1, {1: b""}) == "∅"
    assert text.alone(1, {1: b"\xf0\x9f"}) == "⟨f0 9f⟩"
    assert text.alone(7, {}) == "⟨7⟩"


def test_long_foreign_names_are_cut_and_the_cut_is_marked():
    assert text.label("w" * 100, 10) == "w" * 9 + "…"
    assert text.label("<b>") == "&lt;b&gt;"


def test_a_style_cannot_leave_its_attribute():
    markup = text.element("span", "", {"color": '"><script>'})
    assert "<script" not in markup


def test_a_long_sentence_in_hover_text_is_broken_into_lines_and_cut_nowhere_before_its_end():
    said = "what the drafter says off the target's path is drawn <b>, not recorded; " * 4
    shown = text.paragraph(said)
    parts = shown.split("<br>")
    assert 4 <= len(parts) <= 6
    assert all(len(html.unescape(part)) <= 72 for part in parts)
    assert html.unescape(" ".join(parts)) == said.strip()
    assert "&lt;b&gt;" in shown
    assert text.paragraph("") == ""
