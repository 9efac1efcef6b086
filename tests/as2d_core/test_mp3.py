"""An MP3 file is heard to its end, whatever it says of its length; and what is no MP3 stays as it is."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from as2d_core import mp3
from as2d_core.audio import opened_audio, read_audio
from as2d_core.mp3 import with_length


def sound(loud_first):
    loud = np.random.default_rng(1).standard_normal(80_000).astype(np.float32) * 0.3
    quiet = np.sin(np.arange(80_000) / 16_000 * 1256).astype(np.float32) * 0.01
    return np.concatenate([loud, quiet] if loud_first else [quiet, loud])


def written(samples, rate=16_000, mode="VARIABLE"):
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format="MP3", bitrate_mode=mode, compression_level=0.5)
    return out.getvalue()


def bare(data):
    """The same file without the header that says its length."""
    return data[mp3._frame(data, 0).length :]


def heard_s(data):
    with opened_audio(data) as file:
        samples = file.read()
        assert len(samples) == file.frames
        return len(samples) / file.samplerate


@pytest.mark.parametrize("loud_first", [True, False])
def test_a_file_of_many_bitrates_that_does_not_say_its_length_is_heard_whole(tmp_path, loud_first):
    data = bare(written(sound(loud_first)))
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        assert file.frames < 6 * 16_000  # what a decoder makes of it by itself
    assert heard_s(data) == pytest.approx(10.0, abs=0.1)
    (tmp_path / "bare.mp3").write_bytes(data)
    assert read_audio(tmp_path / "bare.mp3").duration_s == pytest.approx(10.0, abs=0.1)


def test_two_files_joined_are_heard_to_the_end_of_the_second():
    data = written(sound(loud_first=True))
    assert heard_s(data + data) == pytest.approx(20.0, abs=0.25)
    tagged = b"ID3\x04\0\0\0\0\x01\x05" + bytes(133) + data
    assert heard_s(tagged + tagged) == pytest.approx(20.0, abs=0.25)


@pytest.mark.parametrize("rate", [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_frames_are_counted_as_the_encoder_counted_them_and_the_header_is_as_long_as_it_says(rate, channels):
    noise = np.random.default_rng(2).standard_normal((rate // 2, channels)).astype(np.float32) * 0.2
    data = written(noise, rate)
    first = mp3._frame(data, 0)
    said = mp3._said(data, 0, first)
    assert with_length(data) is data
    assert mp3._count(data, first.length, first.head)[0] == said
    header = mp3._header(first.head, said)
    assert mp3._frame(header, 0).length == len(header)
    assert mp3._said(header, 0, mp3._frame(header, 0)) == said


def test_a_file_of_one_bitrate_or_one_that_was_cut_off_stays_as_it_is():
    constant, cut = bare(written(sound(loud_first=True), mode="CONSTANT")), written(sound(loud_first=True))[:9_000]
    assert with_length(constant) is constant
    assert with_length(cut) is cut


def test_junk_between_frames_is_passed_over_and_endless_junk_ends_the_count(monkeypatch):
    data = bare(written(sound(loud_first=True)))
    half = mp3._next(data, len(data) // 2, None, len(data))
    frames = mp3._count(data, 0, mp3._frame(data, 0).head)[0]
    assert mp3._count(data[:half] + b"\xff" * 5_000 + data[half:], 0, mp3._frame(data, 0).head)[0] == frames
    monkeypatch.setattr(mp3, "_MOST_JUNK", 4_000)
    assert 0 < mp3._count(data[:half] + b"\xff" * 5_000 + data[half:], 0, mp3._frame(data, 0).head)[0] < frames


def test_a_file_of_nothing_but_tags_is_not_looked_through_to_its_end():
    tag, music = b"ID3\x04" + bytes(6), bare(written(sound(loud_first=True)))
    assert mp3._first(tag * 3 + music) == 3 * len(tag)
    assert mp3._first(tag * (mp3._MOST_TAGS + mp3._MOST_JUNK // len(tag) + 1) + music) is None


@given(st.binary(max_size=300))
def test_any_bytes_come_back_or_get_a_header(data):
    assert with_length(data).endswith(data[-100:] if data else b"")
