import pytest

from as2d_core.errors import UnknownNameError
from as2d_core.profiles import load_profile
from as2d_core.protocol import parse
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.folders import user_folders
from dashboard.services.replays import replay, sample_replay, window_audio

CORPUS, PROFILE = load_corpus("demo"), load_profile("k70")


@pytest.fixture
def folders(data_folder):
    return user_folders()


@pytest.mark.models
def test_the_words_of_a_replay_are_those_of_the_model(folders):
    found = replay(folders, PROFILE, CORPUS, "clean_00", budget=7)
    pieces = found.record.pieces
    text = b"".join(pieces[token] for token in found.record.tokens[:-1]).decode()
    assert text == CORPUS.window("clean_00").target_text


@pytest.mark.models
def test_the_sample_is_whole_and_labelled_replayed(folders):
    found = sample_replay(folders)
    assert (found.record.status, found.record.header.source) == ("eos", "replayed")
    assert parse(found.lines).problems == []


def test_the_gain_is_against_target_only_with_the_same_costs(folders):
    found = replay(folders, PROFILE, CORPUS, "clean_00", method="target-only")
    decoding_ms = (found.record.marks["eos"].time_ns - found.record.marks["decode_start"].time_ns) / 1e6
    assert found.target_only_tps == pytest.approx(len(found.record.tokens) / decoding_ms * 1e3)


def test_an_unknown_window_is_a_sentence(folders):
    with pytest.raises(UnknownNameError, match="clean_99"):
        replay(folders, PROFILE, CORPUS, "clean_99", budget=7)


def test_a_bundled_window_has_its_recording():
    assert window_audio(CORPUS, "clean_00").name == "clean_00.flac"
