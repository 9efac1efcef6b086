"""The picture of a recording: its seconds, the part that is heard, and few enough marks at any length."""

import numpy as np
import pytest
from view_checks import check_figure, column

from as2d_core.envelope import envelope
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.waveform import COLUMNS, heard_text, waveform_figure, waveform_info

RATE = 16_000


def info(samples, heard=(0.0, None), rate=RATE):
    blocks = np.asarray(samples, np.float32)
    channels = 1 if blocks.ndim == 1 else blocks.shape[1]
    return waveform_info(envelope([blocks], len(blocks), COLUMNS), rate, channels, heard)


@pytest.mark.parametrize("frames", [1, 5, RATE, 40 * RATE + 7])
def test_at_any_length_the_outline_lies_within_the_seconds_and_has_fewer_than_2000_points(frames):
    made = info(np.sin(np.arange(frames)))
    for theme in (LIGHT, DARK):
        (outline,) = check_figure(waveform_figure(made, theme))["data"]
        x = column(outline, "x")
        assert len(x) == 2 * min(frames, COLUMNS) < 2000
        assert 0 <= x.min() <= x.max() <= max(made.duration_s, 1e-4)


def test_silence_is_a_line_in_the_middle_and_said():
    made = info(np.zeros((RATE, 2)))
    figure = waveform_figure(made, LIGHT)
    assert set(column(check_figure(figure)["data"][0], "y")) == {0.0}
    low, high = figure.layout.yaxis.range
    assert low == -high < 0
    assert made.sentence == "1.0 s, 2 channels, mixed to one, 16 kHz, silent throughout"


def test_no_samples_are_a_sentence():
    figure = waveform_figure(info([]), LIGHT)
    assert figure.layout.annotations[0].text == "The recording holds no samples."


@pytest.mark.parametrize(
    ("heard", "said", "framed"),
    [
        ((0.0, None), "heard: all of it", None),
        ((10.0, 40.0), "heard: 10.0 to 40.0 s, the last 30.0 s", (10.0, 40.0)),
        ((2.0, 32.0), "heard: 2.0 to 32.0 s", (2.0, 32.0)),
        ((50.0, 99.0), "heard: 40.0 to 40.0 s, the last 0.0 s", (40.0, 40.0)),
    ],
)
def test_the_part_that_the_models_hear_is_framed_and_named(heard, said, framed):
    made = info(np.full(40 * RATE, 0.5), heard)
    shapes = check_figure(waveform_figure(made, LIGHT))["layout"].get("shapes", [])
    assert heard_text(made) == said
    assert (shapes[-1]["x0"], shapes[-1]["x1"]) == framed if framed else not shapes


def test_loudness_is_told_against_full_scale():
    assert info([0.5, -0.25]).sentence.endswith("peak −6.0 dB of full scale")
    assert info([1.0]).sentence.endswith("peak +0.0 dB of full scale")
