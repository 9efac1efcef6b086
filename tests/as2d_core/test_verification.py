import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import EngineError
from as2d_core.verification import accept, commit

EOS = 2


@st.composite
def verifications(draw):
    candidates = draw(st.lists(st.integers(2, 5), max_size=10))
    greedy = draw(st.lists(st.integers(2, 5), min_size=len(candidates) + 1, max_size=len(candidates) + 1))
    return candidates, greedy


@given(verifications())
def test_accepted_is_the_matching_prefix_and_the_targets_own_token_follows(case):
    candidates, greedy = case
    accepted, following = accept(candidates, greedy)
    assert candidates[:accepted] == greedy[:accepted]
    assert accepted == len(candidates) or candidates[accepted] != greedy[accepted]
    assert following == greedy[accepted]


@given(verifications(), st.integers(1, 12))
def test_committed_tokens_are_those_of_decoding_one_by_one(case, room):
    candidates, greedy = case
    one_by_one = []
    for position in range(len(greedy)):
        one_by_one.append(greedy[position])
        if greedy[position] == EOS or len(one_by_one) == room:
            break
        if position == len(candidates) or candidates[position] != greedy[position]:
            break
    accepted, committed = commit(candidates, greedy, EOS, room)
    assert list(committed) == one_by_one
    assert accepted <= len(committed)
    assert list(committed[:accepted]) == candidates[:accepted]


def test_output_ends_at_eos_even_inside_a_chain():
    assert commit([5, EOS, 6], [5, EOS, 6, 7], EOS, 99) == (2, (5, EOS))


def test_output_never_outgrows_its_room():
    assert commit([5, 6, 7], [5, 6, 7, 8], EOS, 2) == (2, (5, 6))


@pytest.mark.parametrize("rows", [[], [5], [5, 6, 7]])
def test_backend_that_returns_another_number_of_rows_is_refused(rows):
    with pytest.raises(EngineError, match=f"returned {len(rows)} rows for a width of 2"):
        accept([5], rows)
