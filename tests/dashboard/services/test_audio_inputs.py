import os

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from as2d_core.errors import AudioError, UnknownNameError
from as2d_core.models.demo_catalog import demo_window
from dashboard.services import audio_inputs
from dashboard.services.audio_inputs import keep_audio, kept_audio, list_windows, named_recording, recording_settings
from dashboard.services.folders import user_folders

CLEAN = demo_window("clean_00").path


@pytest.fixture
def folders(data_folder):
    return user_folders()


def tone(path, seconds=1.0, rate=16000, value=None):
    samples = np.full(int(seconds * rate), value) if value is not None else np.sin(np.arange(int(seconds * rate)) / 9)
    soundfile.write(path, samples.astype(np.float32), rate, subtype="FLOAT" if path.suffix == ".wav" else None)
    return path


def test_bundled_windows_are_found_by_task_and_group():
    assert len(list_windows("transcribe")) == 60
    assert {w.group for w in list_windows(group="clean")} == {"clean"}


def test_a_file_is_kept_under_the_hash_of_its_content(folders):
    kept = keep_audio(folders, CLEAN)
    assert kept.file_name == kept.sha256 + ".flac"
    assert (folders.uploads / kept.file_name).read_bytes() == CLEAN.read_bytes()
    assert (kept.name, kept.duration_s) == ("clean_00.flac", pytest.approx(3.352, abs=0.01))


def test_the_same_content_is_kept_once_under_any_name(folders):
    keep_audio(folders, CLEAN)
    again = keep_audio(folders, CLEAN.read_bytes(), "other.wav")
    assert [k.file_name for k in kept_audio(folders)] == [again.file_name]


def test_a_recording_is_named_for_notebooks_and_found_again(folders, tmp_path):
    kept = keep_audio(folders, CLEAN.read_bytes(), "meeting.flac")
    own = folders.uploads / kept.file_name
    assert named_recording(folders, **recording_settings(folders, own)) == (own, "meeting.flac", "")
    assert named_recording(folders, **recording_settings(folders, CLEAN))[:2] == (CLEAN, "clean_00")
    assert recording_settings(folders, tmp_path / "elsewhere.wav") is None
    own.unlink()
    with pytest.raises(UnknownNameError, match="is not on this computer"):
        named_recording(folders, audio=kept.file_name)


def test_a_kept_file_that_is_chosen_again_keeps_its_name(folders):
    kept = keep_audio(folders, CLEAN.read_bytes(), "meeting.flac")
    assert keep_audio(folders, folders.uploads / kept.file_name) == kept


def test_a_recording_longer_than_the_models_hear_is_kept(folders, tmp_path):
    assert keep_audio(folders, tone(tmp_path / "long.flac", 45.0)).duration_s == 45.0


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(name=st.text(max_size=300) | st.sampled_from(["../../etc/passwd", "C:\\x\\y.wav", "\udcff.wav", "a\nb", ""]))
def test_a_hostile_name_is_only_shown(folders, name):
    kept = keep_audio(folders, CLEAN.read_bytes(), name)
    assert (folders.uploads / kept.file_name).resolve().parent == folders.uploads.resolve()
    assert kept.name.isprintable()
    assert 0 < len(kept.name) <= 80
    assert "/" not in kept.name
    kept.window_id.encode()


@pytest.mark.parametrize("data", [b"", b"not audio", b"RIFF\x24\x00\x00\x00WAVEfmt ", CLEAN.read_bytes()[:50]])
def test_what_is_no_audio_is_refused_and_not_kept(folders, data):
    with pytest.raises(AudioError, match=r"talk\.wav"):
        keep_audio(folders, data, "talk.wav")
    assert not folders.uploads.exists() or list(folders.uploads.iterdir()) == []


@pytest.mark.parametrize(("seconds", "value", "why"), [(0.05, None, "100 ms"), (1.0, np.nan, "not numbers")])
def test_audio_that_no_model_can_use_is_refused_by_its_own_name(folders, tmp_path, seconds, value, why):
    with pytest.raises(AudioError, match=f"bad.wav.*{why}"):
        keep_audio(folders, tone(tmp_path / "bad.wav", seconds, value=value))
    assert kept_audio(folders) == []


def test_a_file_that_is_too_big_is_refused(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(audio_inputs, "MAX_FILE_BYTES", 1000)
    with pytest.raises(AudioError, match="at most"):
        keep_audio(folders, CLEAN)


@pytest.mark.parametrize("name", ["nothing.wav", ".", os.fsdecode(b"\xff.wav")])
def test_a_file_that_is_not_there_is_a_sentence(folders, tmp_path, name):
    with pytest.raises(AudioError, match="no audio file at"):
        keep_audio(folders, tmp_path / name)
