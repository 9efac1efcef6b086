"""What the native runner reads from rows of logits is what numpy reads from them."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from compiled import compiled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from as2d_core.engines.drafting import probability

HERE = Path(__file__).parent
SOURCES = Path(__file__).parents[3] / "as2d_core/native/src"
FOREIGN = np.full(8, np.nan, np.float32)
"""Stands behind every row: whoever reads on finds no number."""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    files = [HERE / "logits_for_python.cpp", SOURCES / "engines/logits.cpp"]
    options = ["-O2", "-ftree-vectorize", "-fno-trapping-math", f"-I{SOURCES}"]
    return Reader(compiled(tmp_path_factory.mktemp("logits"), files, *options))


class Reader:
    def __init__(self, library):
        self._library = library
        library.as2d_greedy_probability.restype = ctypes.c_double

    def token(self, row, barred):
        return self._library.as2d_greedy_token(*_passed(row), ctypes.c_size_t(barred))

    def probability(self, row, barred, token):
        return self._library.as2d_greedy_probability(*_passed(row), ctypes.c_size_t(barred), token)


def _passed(row):
    held = np.concatenate([row, FOREIGN])
    return held.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(row))


values = st.one_of(st.floats(-60, 60, width=32), st.sampled_from([-3.0, 0.0, 5.0, -np.inf]))
rows = st.integers(2, 700).flatmap(lambda size: arrays(np.float32, size, elements=values, fill=st.just(-4.0)))


@given(rows, st.integers(0, 800))
def test_greedy_token_and_its_probability_are_those_of_numpy(reader, row, barred):
    expected = row.astype(np.float64)
    if barred < len(row):
        expected[barred] = -np.inf
    token = reader.token(row, barred)
    if np.isneginf(expected).all():
        assert token == -1
        return
    assert token == expected.argmax()
    assert reader.probability(row, barred, token) == pytest.approx(probability(expected, token), rel=1e-6)


@given(rows, st.data())
def test_a_row_with_one_value_that_is_no_number_is_refused(reader, row, data):
    row[data.draw(st.integers(0, len(row) - 1))] = data.draw(st.sampled_from([np.nan, np.inf, 3e38]))
    assert reader.token(row, len(row)) == -1


def test_an_audio_position_does_not_spoil_its_row(reader):
    row = np.array([1.0, np.nan, 3.0, 2.0], np.float32)
    assert reader.token(row, 1) == 2
    assert reader.probability(row, 1, 2) == pytest.approx(1 / (1 + np.exp(-1) + np.exp(-2)), rel=1e-6)


def test_probability_holds_over_a_whole_vocabulary(reader):
    row = np.random.default_rng(7).normal(0, 6, 151_936).astype(np.float32)
    token = reader.token(row, 151_676)
    expected = row.astype(np.float64)
    expected[151_676] = -np.inf
    assert token == expected.argmax()
    assert reader.probability(row, 151_676, token) == pytest.approx(probability(expected, token), rel=1e-6)
