import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import EOS, bodies, disturbed

from as2d_core.replay.corrections import corrected_source
from as2d_core.replay.windows import DrafterTrajectory

some = settings(max_examples=80)


@st.composite
def pairs(draw):
    body = draw(bodies(30))
    candidates = tuple(draw(disturbed(body)))
    confidences = draw(st.none() | st.just(tuple(draw(st.sampled_from([None, 0.2, 0.9])) for _ in candidates)))
    return DrafterTrajectory("small", candidates, confidences), (*body, EOS)


@some
@given(pairs())
def test_without_any_share_nothing_changes(pair):
    drafter, target = pair
    assert corrected_source(drafter, target, EOS, 0.0, "seed")[0] == drafter


@some
@given(pairs())
def test_without_errors_the_candidates_are_the_output(pair):
    drafter, target = pair
    better, errors = corrected_source(drafter, target, EOS, 1.0, "seed")
    assert better.candidates == target[:-1]
    assert (errors == 0) == (drafter.candidates == target[:-1])
    assert corrected_source(better, target, EOS, 1.0, "seed")[1] == 0


@some
@given(pairs(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_larger_share_leaves_no_more_errors(pair, one, other):
    drafter, target = pair
    few, many = sorted((one, other))

    def left(share):
        return corrected_source(corrected_source(drafter, target, EOS, share, "seed")[0], target, EOS, 0.0, "seed")[1]

    assert left(many) <= left(few)


@some
@given(pairs(), st.floats(0.0, 1.0))
def test_every_candidate_keeps_its_confidence_or_is_sure(pair, share):
    drafter, target = pair
    better, _ = corrected_source(drafter, target, EOS, share, "seed")
    if drafter.confidences is None:
        assert better.confidences is None
    else:
        assert len(better.confidences) == len(better.candidates)
        assert set(better.confidences) <= {*drafter.confidences, 1.0}


def test_which_errors_go_is_a_matter_of_the_seed():
    target = (*range(10, 60), EOS)
    drafter = DrafterTrajectory("small", tuple(9 if k % 5 == 0 else token for k, token in enumerate(target[:-1])))
    found = {corrected_source(drafter, target, EOS, 0.5, str(seed))[0].candidates for seed in range(5)}
    assert len(found) > 1
    again = corrected_source(drafter, target, EOS, 0.5, "1")
    assert again == corrected_source(drafter, target, EOS, 0.5, "1")
    assert again[1] == 10


def test_chunks_end_where_their_candidates_went():
    drafter = DrafterTrajectory("ctc", (10, 9, 12, 13), chunk_ends=(0, 2, 4))
    better, _ = corrected_source(drafter, (10, 11, 99, 12, 13, EOS), EOS, 1.0, "seed")
    assert better.candidates == (10, 11, 99, 12, 13)
    assert better.chunk_ends == (0, 3, 5)


@pytest.mark.parametrize("ends", [(), (0,), (0, 0)])
def test_a_source_without_candidates_publishes_the_corrected_ones_last(ends):
    better, errors = corrected_source(DrafterTrajectory("ctc", (), chunk_ends=ends), (10, EOS), EOS, 1.0, "seed")
    assert (better.candidates, errors) == ((10,), 1)
    assert better.chunk_ends == (*ends[:-1], 1)[: len(ends)]
