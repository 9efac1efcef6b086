"""Windows are one speaker's sentences, never too long, and are asked only what has one answer."""

import numpy as np
import pytest
from tones import PLAN, make_tone_bank

from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import Bank
from as2d_core.models.training.grammar import Sentence
from as2d_core.models.training.windows import LONGEST_S, Scene, Speakers, compose, queries


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tones")
    make_tone_bank(folder)
    return Bank(folder)


@pytest.mark.parametrize("seconds", [4.0, 12.0, 27.0])
def test_a_window_is_one_voice_of_about_one_pitch_and_fits(bank, seconds):
    speakers = Speakers(bank)
    for seed in range(20):
        chosen = speakers.pick(np.random.default_rng(seed), seconds)
        said = [bank.utterances[index] for index in chosen]
        assert len(set(chosen)) == len(chosen) >= 1
        assert len({(utterance.voice, utterance.pitch // 4) for utterance in said}) == 1
        samples = compose(bank, chosen, Scene(), np.random.default_rng(seed))
        assert len(samples) <= LONGEST_S * 16000


def test_distinct_sentences_are_of_different_kinds(bank):
    chosen = Speakers(bank).pick(np.random.default_rng(1), 20.0, distinct=True)
    kinds = [bank.utterances[index].sentence.kind for index in chosen]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("scene", [Scene(), Scene(signal_to_noise_db=(5.0, 22.0))])
def test_the_same_seed_sounds_the_same_and_is_never_clipped(bank, scene):
    first, second = (compose(bank, [0, 1], scene, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.dtype == np.float32
    assert np.isfinite(first).all()
    assert 0.1 < np.abs(first).max() <= 1.0


def test_noise_is_as_far_below_the_speech_as_asked(bank):
    scene = Scene(floor_exponent=(-9.0, -9.0), signal_to_noise_db=(0.0, 0.0), lead_s=(2.0, 2.0))
    quiet = compose(bank, [0], Scene(floor_exponent=(-9.0, -9.0), lead_s=(2.0, 2.0)), np.random.default_rng(1))
    loud = compose(bank, [0], scene, np.random.default_rng(1))
    assert np.abs(quiet[:16000]).max() < 1e-6
    assert np.sqrt((loud[:16000] ** 2).mean()) > 0.3 * np.sqrt((loud**2).mean())


def test_a_question_with_two_answers_is_not_asked():
    def fact(answer):
        return Sentence("k", f"say {answer}", f"sage {answer}", (("what", answer), (f"why {answer}", "so")))

    asked = queries([fact("a"), fact("b")])
    assert [(query.task, query.instruction) for query in asked] == [
        ("transcribe", "transcribe the speech."),
        ("translate", "translate into german."),
        ("question", "why a?"),
        ("question", "why b?"),
    ]
    assert asked[0].answer == "say a. say b."
    assert asked[1].answer == "sage a. sage b."


def test_too_few_sentences_for_one_voice_are_refused(tmp_path):
    from dataclasses import replace

    make_tone_bank(tmp_path, replace(PLAN, sentences=5))
    with pytest.raises(TrainingError, match="too few"):
        Speakers(Bank(tmp_path))
