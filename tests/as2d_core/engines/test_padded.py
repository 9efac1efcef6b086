"""Every forward of a target runs at an exact width; what the padding says is never seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.engines.padded import PaddedTarget, WidthPolicy
from as2d_core.errors import RequestError

EOS = 2
WIDTHS = (2, 3, 4, 5, 8, 9)


class EchoModel:
    """Answers every token with ten times itself and keeps what it was fed."""

    eos = EOS
    first = (7, 0.9)

    def __init__(self):
        self.fed = []
        self.kept = []

    def greedy(self, tokens):
        self.fed.append(list(tokens))
        return [10 * token for token in tokens], 100, 200

    def keep(self, generated):
        self.kept.append(generated)


@pytest.fixture
def model():
    return EchoModel()


@given(st.sets(st.integers(1, 30), min_size=1), st.integers(1, 30))
def test_a_width_is_padded_to_the_smallest_exact_one_that_holds_it(widths, width):
    policy = WidthPolicy(tuple(sorted(widths)))
    fitting = [w for w in sorted(widths) if w >= width]
    if fitting:
        assert policy.pad(width) == fitting[0]
    else:
        with pytest.raises(RequestError, match=f"the largest budget is {max(widths) - 1}"):
            policy.pad(width)


def test_a_step_runs_at_the_first_exact_width(model):
    call = PaddedTarget(model, WidthPolicy(WIDTHS)).step(5)
    assert (model.fed, call.physical_width) == ([[5, EOS]], 2)


def test_a_plain_step_runs_at_width_one(model):
    call = PaddedTarget(model, WidthPolicy(WIDTHS), plain_step=True).step(5)
    assert (model.fed, call.physical_width) == ([[5]], 1)


def test_a_verification_is_padded_behind_its_candidates(model):
    call = PaddedTarget(model, WidthPolicy(WIDTHS)).verify(5, [6, 7, 8, 9, 10], False)
    assert (model.fed, call.physical_width) == ([[5, 6, 7, 8, 9, 10, EOS, EOS]], 8)


def test_the_answer_holds_one_token_for_every_real_row(model):
    call = PaddedTarget(model, WidthPolicy(WIDTHS)).verify(5, [6, 7, 8, 9, 10], False)
    assert call.greedy == (50, 60, 70, 80, 90, 100)


def test_a_plain_step_does_not_change_the_width_of_a_verification(model):
    PaddedTarget(model, WidthPolicy(WIDTHS), plain_step=True).verify(5, [6], False)
    assert model.fed == [[5, 6]]


def test_a_round_without_candidates_runs_at_the_width_of_a_step(model):
    assert PaddedTarget(model, WidthPolicy(WIDTHS)).verify(5, [], True).physical_width == 2


def test_a_verification_beyond_the_widest_exact_width_is_refused(model):
    with pytest.raises(RequestError, match="width 10 is not exact on this processor; the widest exact width is 9"):
        PaddedTarget(model, WidthPolicy(WIDTHS)).verify(5, [6] * 9, False)


def test_what_is_kept_is_counted_without_padding(model):
    target = PaddedTarget(model, WidthPolicy(WIDTHS))
    target.verify(5, [6, 7], False)
    target.keep(2)
    assert model.kept == [2]


def test_the_first_token_and_the_times_are_those_of_the_model(model):
    target = PaddedTarget(model, WidthPolicy(WIDTHS))
    call = target.step(5)
    assert (target.first_token, target.eos, call.start_ns, call.end_ns) == (7, EOS, 100, 200)
