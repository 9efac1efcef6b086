"""A bank is decided by its plan, goes on after any interruption, and shares no sentence with another split."""

import io
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tones import PLAN, make_tone_bank, tone

from as2d_core.errors import TrainingError
from as2d_core.models.training import bank as bank_module
from as2d_core.models.training.bank import (
    FAMILIAR_VOICES,
    NEW_VOICES,
    OTHER_TRAINING_VOICES,
    SPLITS,
    Bank,
    BankPlan,
    make_bank,
    planned_utterances,
    say,
    split_of,
)
from as2d_core.models.training.progress import Progress, duration

SMALL = replace(PLAN, sentences=7)


def test_the_same_plan_says_the_same_in_the_same_voices():
    assert list(planned_utterances(PLAN)) == list(planned_utterances(PLAN))


@pytest.mark.parametrize("split", SPLITS)
def test_a_bank_holds_sentences_of_its_split_only(split):
    plan = replace(PLAN, split=split, sentences=60)
    assert {split_of(utterance.sentence.english) for utterance in planned_utterances(plan)} == {split}


def test_splits_cover_every_hash():
    assert sorted(hundredth for low, high in SPLITS.values() for hundredth in range(low, high)) == list(range(100))


def test_no_sentence_is_said_twice():
    said = [utterance.sentence.english for utterance in planned_utterances(PLAN)]
    assert len(set(said)) == len(said) == PLAN.sentences


def test_new_voices_share_neither_accent_nor_variant_with_training():
    trained = [voice.partition("+") for voice in FAMILIAR_VOICES + OTHER_TRAINING_VOICES]
    assert "m5" not in {variant for _, _, variant in trained}
    assert "en-gb-scotland" not in {accent for accent, _, _ in trained}
    assert NEW_VOICES == ("en-us+m5", "en-gb-scotland")


def test_fast_speech_is_as_frequent_as_planned():
    fast = [utterance.fast for utterance in planned_utterances(replace(PLAN, sentences=400, fast_share=0.25))]
    assert 0.18 < np.mean(fast) < 0.32


def test_a_bank_gives_back_what_was_said(tmp_path):
    make_tone_bank(tmp_path, SMALL)
    bank = Bank(tmp_path)
    assert bank.utterances == list(planned_utterances(SMALL))
    for index, utterance in enumerate(bank.utterances):
        assert np.array_equal(bank.samples(index), tone(utterance).astype(np.float32) / 32768)
        assert bank.seconds(index) == len(bank.samples(index)) / 16000


def test_an_interrupted_bank_goes_on_with_the_missing_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(bank_module, "SHARD_SENTENCES", 3)
    make_tone_bank(tmp_path / "whole", SMALL)
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    (tmp_path / "cut" / "0001.json").unlink()  # killed between the samples of a shard and its description
    said = []
    make_bank(SMALL, tmp_path / "cut", threads=1, voice=lambda utterance: (said.append(utterance), tone(utterance))[1])
    assert said == list(planned_utterances(SMALL))[3:6]
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "cut" / file.name).read_bytes()


def test_a_folder_with_another_plan_is_refused(tmp_path):
    make_tone_bank(tmp_path, SMALL)
    with pytest.raises(TrainingError, match="another plan"):
        make_tone_bank(tmp_path, replace(SMALL, seed=2))


def test_a_missing_bank_says_so(tmp_path):
    with pytest.raises(TrainingError, match="no speech bank"):
        Bank(tmp_path)


def test_a_computer_without_espeak_is_told_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(TrainingError, match="apt install espeak-ng"):
        say(next(planned_utterances(PLAN)))


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_espeak_says_a_sentence_without_silence_around_it():
    samples = say(next(planned_utterances(BankPlan("one", "training", 1, 1, FAMILIAR_VOICES, 0.0))))
    assert 1.0 < len(samples) / 16000 < 6.0
    assert np.abs(samples[:800]).max() > 30
    assert np.abs(samples[-1600:]).max() > 30


def test_progress_says_how_long_it_will_still_take():
    out = io.StringIO()
    progress = Progress(every_s=0.0, out=out)
    progress.show(10, 40, "bank")
    progress.show(20, 40, "bank")
    assert "bank: 20 of 40 (50%, 0 s left)" in out.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(40, "40 s"), (420, "7 min"), (7500, "2 h 05 min")])
def test_durations_are_said_as_people_do(seconds, text):
    assert duration(seconds) == text
