"""Word errors are counted as Levenshtein does, groups are pooled by words, and missing is n/a."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tones import PLAN, make_tone_bank

from as2d_core.models.training.evaluate import (
    GROUPS,
    Decoded,
    Item,
    Score,
    add,
    evaluation_items,
    table,
    word_errors,
)
from as2d_core.models.training.windows import Query

SOUND = np.zeros(10, np.float32)
TEXT = st.lists(st.sampled_from("abc"), max_size=7)


@pytest.mark.parametrize(
    ("right", "said", "errors"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a c", 1),
        ("a b", "a x b", 1),
        ("a b", "a c", 1),
        ("", "a b", 2),
        ("a b", "", 2),
    ],
)
def test_words_to_change_leave_out_or_put_in(right, said, errors):
    assert word_errors(right.split(), said.split()) == errors


@given(TEXT, TEXT, TEXT)
def test_word_errors_are_a_distance(first, second, third):
    assert word_errors(first, second) == word_errors(second, first)
    assert (word_errors(first, second) == 0) == (first == second)
    assert word_errors(first, third) <= word_errors(first, second) + word_errors(second, third)


def test_an_answer_cut_off_is_counted_and_shown():
    scores = {}
    item = Item("clean", SOUND, Query("transcribe", "transcribe the speech.", "it is cold, anna. call."))
    add(scores, item, Decoded((1, 2, 3), "it is cold anna call", finished=True, decode_s=0.01))
    add(scores, item, Decoded((1, 2, 3, 4, 5), "it is cold", finished=False, decode_s=0.02))
    score = scores["clean"]
    assert (score.items, score.words, score.errors, score.right, score.unfinished) == (2, 10, 2, 1, 1)
    assert score.word_error == pytest.approx(0.2)
    assert "| clean | 2 | 10 | 20.0 % | 1 | 1 | 5.00 |" in table(scores)


def test_groups_without_words_are_na():
    assert Score().word_error is None
    assert "n/a" in table({"clean": Score(items=1)})


def test_tasks_are_not_pooled_with_transcription():
    lines = table({"clean": Score(1, 10, 1), "long": Score(1, 30, 3), "question": Score(1, 50, 50)}).splitlines()
    assert "| all transcribed | 2 | 40 | 10.0 %" in lines[-1]


def test_evaluation_windows_are_decided_by_their_seed(tmp_path):
    for name in ("familiar", "fast", "new_voice"):
        make_tone_bank(tmp_path / name, PLAN)
    first, again = (list(evaluation_items(tmp_path, 5, 2)) for _ in range(2))
    assert all(np.array_equal(a.samples, b.samples) and a.query == b.query for a, b in zip(first, again, strict=True))
    assert {item.group for item in first} == {*GROUPS, "translate", "question"}
    assert len(first) == 2 * (len(GROUPS) + 1 + 2)
    other = list(evaluation_items(tmp_path, 6, 2))
    assert [item.query for item in other] != [item.query for item in first]
