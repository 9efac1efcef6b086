"""The outline of a recording leaves out no sample, whatever its length and however it comes in pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.envelope import envelope

SAMPLES = st.lists(st.floats(-1, 1, width=32), max_size=200)


@given(SAMPLES, st.integers(1, 50), st.lists(st.integers(0, 200), max_size=5))
def test_each_stretch_has_its_least_and_greatest_sample_however_the_blocks_are_cut(samples, columns, cuts):
    whole = np.array(samples, np.float32)
    found = envelope(np.split(whole, sorted(min(cut, len(whole)) for cut in cuts)), len(whole), columns)
    count = min(columns, len(whole))
    of = [[] for _ in range(count)]
    for i, value in enumerate(whole.tolist()):
        of[i * count // len(whole)].append(value)
    assert found.lows.tolist() == [min(stretch) for stretch in of]
    assert found.highs.tolist() == [max(stretch) for stretch in of]
    assert found.frames == len(whole)
    assert found.peak == max(map(abs, samples), default=0.0)


def test_two_channels_are_mixed_as_the_models_hear_them():
    both = np.array([[1.0, -1.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    assert envelope([both], 3, 3).highs.tolist() == [0.0, 0.5, 0.5]


def test_a_file_that_breaks_off_has_the_stretches_that_it_reaches_and_one_that_goes_on_is_cut():
    ten = np.linspace(0, 1, 10, dtype=np.float32)
    short = envelope([ten[:5]], 10, 5)
    assert (short.frames, len(short.highs)) == (5, 3)
    assert envelope([ten, ten], 10, 5).highs[-1] == 1.0
    assert envelope([], 10, 5).frames == 0


@pytest.mark.parametrize(("bad", "peak"), [([np.nan, 0.5], 0.5), ([np.nan, np.nan], 0.0)])
def test_damaged_samples_are_passed_over(bad, peak):
    assert envelope([np.array(bad, np.float32)], 2, 1).peak == peak
