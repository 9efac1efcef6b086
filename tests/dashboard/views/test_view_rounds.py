from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_checks import HOSTILE, read_html
from view_samples import cut_off, decode

from as2d_core.profiles import load_profile
from as2d_core.records import WIDTH_REASONS
from as2d_core.request import METHODS
from dashboard.views import text
from dashboard.views.rounds import FATES, round_details
from dashboard.views.rounds_html import round_details_html
from dashboard.views.theme import DARK, LIGHT

AS2D = decode()
K70 = load_profile("k70")


def every(record, profile=None):
    return [round_details(record, item.index, profile) for item in record.rounds]


@pytest.mark.parametrize("method", METHODS)
def test_chips_spell_what_was_proposed_and_the_outcome_what_was_committed(method):
    record = decode(method)
    for item, details in zip(record.rounds, every(record), strict=True):
        assert [chip.text for chip in details.chips] == [text.alone(t, record.pieces) for t in item.candidates]
        assert {chip.fate for chip in details.chips} <= set(FATES)
        agreed = sum(chip.fate in ("accepted", "reused") for chip in details.chips)
        assert agreed == item.accepted
        committed = [chip.text for chip in details.chips[:agreed]] + ([details.next.text] if details.next else [])
        assert committed == [text.alone(t, record.pieces) for t in item.committed]


def test_the_root_is_the_token_committed_before():
    tokens = AS2D.tokens
    position = 0
    for item, details in zip(AS2D.rounds, every(AS2D), strict=True):
        assert details.root.text == text.alone(tokens[position], AS2D.pieces)
        position += len(item.committed)


def test_exactly_one_candidate_is_rejected_and_those_behind_it_are_set_aside():
    corrected = [d for d in every(AS2D) if d.outcome == "correction"]
    assert corrected
    for details in corrected:
        fates = [chip.fate for chip in details.chips[details.accepted :]]
        assert fates == ["rejected"] + ["set aside"] * (len(fates) - 1)


def test_outcomes_tell_corrections_bonuses_and_lone_tokens_apart():
    for details in every(AS2D):
        if details.proposed == 0:
            assert details.outcome == "next token"
        elif details.accepted < details.proposed:
            assert details.outcome == "correction"
        else:
            assert details.outcome == "bonus"
    assert {"next token", "correction", "bonus"} == {d.outcome for d in every(AS2D)}


def test_candidates_that_the_cursor_passed_are_matched_or_retired():
    passed = [chip for details in every(AS2D) for chip in details.passed]
    assert {chip.fate for chip in passed} == {"matched", "retired"}
    for details in every(AS2D):
        indices = [chip.index for chip in details.passed]
        first = details.cursor[0]
        assert indices == list(range(first, first + len(indices)))
        if details.chips:
            assert details.chips[0].index == first + len(indices)


def test_a_candidate_set_aside_says_what_became_of_it():
    notes = [c.note for d in every(AS2D) for c in d.chips if c.fate == "set aside"]
    assert any(note.startswith("proposed again in round") for note in notes)
    assert all(note for note in notes)


def test_confidences_come_from_the_publication_of_the_very_candidate():
    known = {b.offset + i: c for b in AS2D.publications for i, c in enumerate(b.confidences)}
    for details in every(AS2D):
        for chip in details.chips:
            assert chip.confidence == known[chip.index]


def test_every_move_is_explained_and_leads_from_cursor_to_cursor():
    for details in every(AS2D):
        places = [(m.before, m.after) for m in details.moves]
        assert all(m.explanation and "does not know" not in m.explanation for m in details.moves)
        assert [a for _, a in places][:-1] == [b for b, _ in places][1:]


@pytest.mark.parametrize("reason", WIDTH_REASONS)
def test_every_reason_of_a_width_is_put_in_words(reason):
    record = decode()
    record.rounds[0] = replace(record.rounds[0], width_reason=reason)
    assert round_details(record, 0).width_reason != reason


def test_an_unknown_reason_is_shown_as_it_is():
    record = decode()
    record.rounds[0] = replace(record.rounds[0], width_reason="the moon")
    assert round_details(record, 0).width_reason == "the moon"


@pytest.mark.parametrize("method", METHODS)
def test_a_replayed_round_costs_what_its_profile_says(method):
    record = decode(method)
    for details in every(record, K70):
        assert details.profile_cost_ms is not None
        assert details.cost_difference == pytest.approx(0.0, abs=1e-3)
        assert details.target_ms <= details.cost_ms


def test_a_cost_that_the_profile_lacks_is_not_made_up():
    narrow = replace(K70, verify_concurrent_ms={1: 59.0}, verify_idle_ms={1: 59.0})
    details = next(d for d in every(AS2D, narrow) if d.proposed)
    assert details.profile_cost_ms is None
    assert details.cost_difference is None
    assert f"no cost for K = {details.width}" in details.profile_note
    assert "n/a" in read_html(round_details_html(details, LIGHT)).text


def test_a_round_that_is_not_in_the_record_has_no_details():
    assert round_details(AS2D, 9_999) is None


def test_details_of_a_run_that_broke_off_say_what_is_known():
    record = cut_off(0.6)
    assert round_details(record, 0).total == len(record.rounds)
    later = decode()
    del later.rounds[:5]
    later.marks.pop("decode_start")
    assert round_details(later, 5).root is None


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("method", METHODS)
def test_the_html_says_everything_in_words(method, theme):
    for details in every(decode(method), K70):
        reader = read_html(round_details_html(details, theme))
        assert f"round {details.index} of {details.total}" in reader.text
        assert details.width_reason in reader.text
        for chip in details.chips:
            assert chip.text in reader.text
            assert chip.fate in reader.text
        assert details.outcome in reader.text or details.next is None


@pytest.mark.parametrize("method", METHODS)
def test_hostile_tokens_stay_text_in_the_details(method):
    record = decode(method, reference=HOSTILE * 3, draft=HOSTILE * 3)
    for details in every(record):
        reader = read_html(round_details_html(details, LIGHT))
        assert "$" not in round_details_html(details, LIGHT)
        assert all(chip.text in reader.text for chip in details.chips)


@settings(max_examples=40)
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_name_that_a_record_brings_along_becomes_markup(rule, reason):
    record = decode()
    first = record.rounds[3]
    record.rounds[3] = replace(first, width_reason=reason.replace("\r", " "), moves=((rule, 0, 4),))
    details = round_details(record, 3)
    markup = round_details_html(details, LIGHT)
    assert "<script" not in markup
    assert markup.count("<") == markup.count(">")
