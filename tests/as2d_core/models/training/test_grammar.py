"""The corpus says the same for the same seed, in both languages, and asks only what it answers."""

import re

import numpy as np
import pytest

from as2d_core.models.training import words
from as2d_core.models.training.grammar import KINDS, draw_sentence, written

SENTENCES = [draw_sentence(np.random.default_rng(seed)) for seed in range(600)]


def test_the_same_seed_says_the_same():
    assert draw_sentence(np.random.default_rng(5)) == SENTENCES[5]


def test_every_kind_is_said():
    assert {sentence.kind for sentence in SENTENCES} == set(KINDS)


def test_every_sentence_has_a_translation_and_a_question():
    for sentence in SENTENCES:
        assert sentence.english
        assert sentence.german != sentence.english
        assert sentence.questions


def test_text_is_what_the_models_write():
    for sentence in SENTENCES:
        for text in (sentence.english, sentence.german, *(part for pair in sentence.questions for part in pair)):
            assert re.fullmatch(r"[a-zäöüß',]+( [a-zäöüß',]+)*", text), text


def test_a_written_comma_follows_its_word():
    assert written(["we need bread , milk and tea", "it is cold"]) == "we need bread, milk and tea. it is cold."


@pytest.mark.parametrize(
    ("value", "english", "german"), [(1, "one", "eins"), (20, "twenty", "zwanzig"), (21, "twenty one", "einundzwanzig")]
)
def test_numbers_are_said_in_both_languages(value, english, german):
    assert words.number(value) == (english, german)


def test_a_number_without_words_is_refused():
    with pytest.raises(ValueError, match="0 to 99"):
        words.number(100)


def test_half_past_is_before_the_next_hour_in_german():
    assert words.clock_time(12, 1) == ("half past twelve", "halb eins")
