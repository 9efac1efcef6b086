"""Audio files become one channel at 16 kHz, at most 30 s, or a sentence."""

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from as2d_core.audio import MAX_SECONDS, SAMPLE_RATE, read_audio
from as2d_core.errors import AudioError


def sine(seconds, rate=SAMPLE_RATE, hertz=440.0):
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


@pytest.fixture
def written(tmp_path):
    """Writes samples into a file and returns its path."""

    def write(samples, rate=SAMPLE_RATE, name="sound.wav", **options):
        path = tmp_path / name
        soundfile.write(path, samples, rate, **options)
        return path

    return write


def test_samples_at_the_right_rate_are_taken_as_they_are(written):
    samples = sine(0.5)
    assert np.array_equal(read_audio(written(samples, subtype="FLOAT")).samples, samples)


def test_channels_are_averaged(written):
    left, right = sine(0.5), sine(0.5, hertz=200)
    audio = read_audio(written(np.column_stack([left, right]), subtype="FLOAT"))
    assert audio.original_channels == 2
    assert np.allclose(audio.samples, (left + right) / 2, atol=1e-6)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
def test_another_rate_is_resampled_to_the_same_sound(rate, written):
    audio = read_audio(written(sine(1.0, rate), rate, subtype="FLOAT"))
    middle = slice(2_000, 14_000)
    assert (audio.original_rate, len(audio.samples)) == (rate, SAMPLE_RATE)
    assert np.allclose(audio.samples[middle], sine(1.0)[middle], atol=5e-3)


@pytest.mark.parametrize("frames", [22_051, 82_980, 82_981])
def test_the_end_that_is_told_of_a_resampled_file_lies_in_it(frames, written):
    path = written(sine(frames / 22_050, 22_050), 22_050)
    whole = read_audio(path)
    assert whole.end_s == frames / 22_050
    for end_s in (whole.end_s, whole.duration_s):  # resampling rounds up: a view may have been noted by its samples
        assert read_audio(path, 0.0, end_s).sha256 == whole.sha256


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.ogg", "a.mp3"])
def test_every_format_is_read(name, written):
    audio = read_audio(written(sine(1.0), name=name))
    assert audio.duration_s == pytest.approx(1.0, abs=0.1)
    assert audio.samples.dtype == np.float32


def test_the_hash_is_that_of_the_sound_and_not_of_the_file(written):
    samples = (np.round(sine(0.5) * 2**15) / 2**15).astype(np.float32)
    wav, flac = written(samples, name="a.wav", subtype="PCM_16"), written(samples, name="a.flac")
    assert read_audio(wav).sha256 == read_audio(flac).sha256


def test_other_samples_have_another_hash(written):
    first = read_audio(written(sine(0.5), name="a.wav")).sha256
    assert first != read_audio(written(sine(0.5, hertz=441), name="b.wav")).sha256


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.integers(0, 1900), st.integers(100, 2000))
def test_a_view_is_that_part_of_the_file(written, start_ms, length_ms):
    samples = sine(2.0)
    end_ms = min(start_ms + length_ms, 2000)
    if end_ms - start_ms < 101:
        return
    audio = read_audio(written(samples, subtype="FLOAT"), start_ms / 1e3, end_ms / 1e3)
    first = int(start_ms / 1e3 * SAMPLE_RATE)
    assert abs(len(audio.samples) - (end_ms - start_ms) * 16) <= 1
    assert np.array_equal(audio.samples, samples[first : first + len(audio.samples)])


def test_thirty_seconds_are_taken_whole(written):
    audio = read_audio(written(sine(MAX_SECONDS, 44_100), 44_100))
    assert audio.duration_s == MAX_SECONDS


def test_a_view_of_a_long_file_is_taken(written):
    assert read_audio(written(sine(45)), 10.0, 40.0).duration_s == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("start_s", "end_s"), [(-0.1, 1.0), (1.0, 1.0), (1.5, 1.0), (0.0, 2.1), (3.0, None), (float("nan"), None)]
)
def test_a_view_outside_of_the_file_is_refused(start_s, end_s, written):
    with pytest.raises(AudioError, match=r"does not lie inside sound\.wav, which lasts 2\.0 s"):
        read_audio(written(sine(2.0)), start_s, end_s)


def test_a_long_file_without_a_view_is_refused(written):
    with pytest.raises(AudioError, match=r"lasts 31\.0 s; the models hear at most 30 s"):
        read_audio(written(sine(31)))


def test_a_long_view_is_told_by_its_own_length(written):
    path = written(sine(60))
    with pytest.raises(AudioError, match=r"The view 10 to 45 s of sound\.wav lasts 35\.0 s; the models hear"):
        read_audio(path, 10.0, 45.0)


def test_a_length_has_the_digits_that_tell_it_from_the_limit(written):
    with pytest.raises(AudioError, match=r"sound\.wav lasts 30\.0001 s; the models hear at most 30 s"):
        read_audio(written(np.zeros(480_002, np.float32)))


def test_less_than_a_tenth_of_a_second_is_refused(written):
    with pytest.raises(AudioError, match=r"holds 99 ms of audio; at least 100 ms are needed"):
        read_audio(written(sine(0.099)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_no_numbers_are_refused(value, written):
    samples = sine(0.5)
    samples[100] = value
    with pytest.raises(AudioError, match="not numbers"):
        read_audio(written(samples, subtype="FLOAT"))


def test_a_damaged_sample_outside_of_the_view_does_not_matter(written):
    samples = sine(1.0)
    samples[-1] = np.nan
    assert read_audio(written(samples, subtype="FLOAT"), 0.0, 0.5).duration_s == 0.5


def test_a_flac_file_that_is_cut_off_is_refused(written):
    path = written(sine(1.0), name="a.flac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioError, match=r"a\.flac"):
        read_audio(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.wav"
    with path.open("wb") as file:
        file.truncate(200_000_001)
    with pytest.raises(AudioError, match=r"huge\.wav has 200 MB; give a file of at most 200 MB"):
        read_audio(path)


def test_a_folder_is_no_audio_file(tmp_path):
    with pytest.raises(AudioError, match="There is no audio file at"):
        read_audio(tmp_path)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_an_mp3_that_is_cut_is_not_heard_as_a_shorter_one(share, written):
    path = written(sine(3.0), name="cut.mp3")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(AudioError, match=r"cut\.mp3 breaks off: of 3\.0 s only [12]?\d\.\d s can be read"):
        read_audio(path)


@pytest.mark.parametrize("form", ["WAV", "WAVEX", "AIFF"])
def test_a_file_that_says_its_length_is_not_heard_as_a_shorter_one_when_it_is_cut(form, written):
    path = written(sine(3.0), name="cut.wav", format=form, subtype="PCM_16")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioError, match=r"cut\.wav breaks off: of 3\.0 s only 1\.5 s can be read"):
        read_audio(path)
    assert read_audio(path, 0.0, 1.2).duration_s == pytest.approx(1.2)


@pytest.mark.parametrize("length", [0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 0])
def test_a_recorder_that_never_wrote_its_length_is_heard_to_the_end(length, written):
    path = written(sine(1.0), subtype="PCM_16")
    content = bytearray(path.read_bytes())
    content[40:44] = length.to_bytes(4, "little")
    content[4:8] = (8 if length == 0 else length).to_bytes(4, "little")
    path.write_bytes(content)
    assert read_audio(path).duration_s == 1.0


def test_junk_between_the_chunks_promises_nothing(written):
    path = written(sine(1.0), subtype="PCM_16")
    content = path.read_bytes()
    for junk in (content[:36] + b"LIST" + b"\xff" * 8, content[:12] + bytes(9_000) + content[12:], content[:11]):
        path.write_bytes(junk)
        with pytest.raises(AudioError):
            read_audio(path)


def test_the_whole_part_of_a_cut_file_can_be_heard(written):
    path = written(sine(3.0), name="cut.mp3")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert read_audio(path, 0.0, 1.0).duration_s == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("factor", [32768.0, 1e12, 3e38])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_samples_far_beyond_full_scale(rate, channels, factor, written):
    samples = np.full((rate, channels), factor, np.float32)
    with pytest.raises(AudioError, match="where full scale is 1; export it again"):
        read_audio(written(samples, rate, subtype="FLOAT"))


def test_a_flac_that_does_not_say_how_long_it_is(written):
    path = written(sine(1.0), name="stream.flac")
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the number of samples, 36 bits of which these are the first
    content[22:26] = bytes(4)
    path.write_bytes(content)
    with pytest.raises(AudioError, match=r"stream\.flac does not say how long it is"):
        read_audio(path)


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(AudioError, match=r"There is no audio file at .* \(File name too long\)"):
        read_audio(tmp_path / ("a" * 5000))
