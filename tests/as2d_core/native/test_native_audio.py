"""The native runner hears what the Python runner hears: the same samples of WAV and FLAC, near ones when resampled."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import soundfile
from flac_streams import stream

from as2d_core.audio import read_audio
from as2d_core.errors import AudioError
from as2d_core.protocol import request_to_json
from as2d_core.request import AudioRef, ModelRef, Request

FLAC_STREAMS, SOAK_FLAC_STREAMS = 8, 2_000
DAMAGED, SOAK_DAMAGED = 80, 20_000
BATCH = 500
"""Files that one program hears, so that also a slow one with sanitizers ends before its deadline."""
SPEECH_NOISE = 2e-4
"""Root mean square of what resampling may differ by, as a share of the signal's."""


def hear(runner, views):
    """Answers of the native runner: samples, or the sentence of a refusal."""
    lines = [json.dumps(request_to_json(Request("r", "target-only", ModelRef("t"), view))) for view in views]
    answers = [json.loads(line) for line in runner.run(lines, "--hear").splitlines()]
    return [a.get("error") or np.frombuffer(bytes.fromhex(a["samples"]), np.float32) for a in answers]


def python_hears(view):
    return read_audio(Path(view.path), view.view_start_s, view.view_end_s).samples


def assert_same(runner, views):
    for view, heard in zip(views, hear(runner, views), strict=True):
        assert not isinstance(heard, str), heard
        assert np.array_equal(heard, python_hears(view)), view


def tones(rate, channels, seconds=0.2):
    """Something like a voice: tones to 1.9 kHz and a little noise, that rise and fall."""
    turn = 2 * np.pi * np.arange(round(rate * seconds))[:, None] / rate
    sound = sum(0.2 / n * np.sin(n * 170 * turn + np.arange(channels)) for n in range(1, 12))
    noise = np.random.default_rng(3).uniform(-0.01, 0.01, sound.shape)
    return (sound / np.abs(sound).max() * 0.7 + noise) * np.hanning(len(sound))[:, None]


@pytest.fixture
def written(tmp_path):
    def write(name, samples, rate=16_000, **coding):
        soundfile.write(tmp_path / name, samples, rate, **coding)
        return AudioRef(str(tmp_path / name))

    return write


def test_every_coding_of_wav_gives_the_samples_of_python(native_runner, written):
    codings = [(form, part) for form in ("WAV", "WAVEX") for part in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32")]
    codings += [(form, part) for form in ("WAV", "WAVEX") for part in ("FLOAT", "DOUBLE")]
    views = [
        written(f"{form}-{part}-{channels}.wav", tones(16_000, channels), format=form, subtype=part)
        for form, part in codings
        for channels in (1, 2, 9)
    ]
    assert_same(native_runner, views)


def test_a_view_of_a_file_gives_the_samples_of_python(native_runner, written):
    paths = [written(f"a.{form}", tones(16_000, 2, 1.0), subtype="PCM_16").path for form in ("wav", "flac")]
    spans = [(0.0, None), (0.25, None), (0.1234567, 0.7654321), (0.5, 1.0)]
    assert_same(native_runner, [AudioRef(path, view_start_s=a, view_end_s=b) for path in paths for a, b in spans])


def check_streams(runner, folder, seeds):
    views, wanted = [], []
    for seed in seeds:
        data, samples, bits = stream(seed)
        path = folder / f"{seed}.flac"
        path.write_bytes(data)
        if bits in (8, 16, 24):  # the Python runner takes no others
            read, _ = soundfile.read(path, dtype="int32", always_2d=True)
            assert np.array_equal(read, samples << (32 - bits)), f"stream {seed} is not what it should be"
        views.append(AudioRef(str(path)))
        wanted.append((samples / 2 ** (bits - 1)).astype(np.float32).mean(axis=1, dtype=np.float32))
    for view, heard, samples in zip(views, hear(runner, views), wanted, strict=True):
        assert not isinstance(heard, str), f"{view.path}: {heard}"
        assert np.array_equal(heard, samples), view.path


def test_flac_with_every_kind_of_prediction_gives_its_samples(native_runner, tmp_path):
    check_streams(native_runner, tmp_path, range(FLAC_STREAMS))


@pytest.mark.soak
def test_many_random_flac_streams_give_their_samples(native_runner, tmp_path):
    for first in range(FLAC_STREAMS, SOAK_FLAC_STREAMS, BATCH):
        check_streams(native_runner, tmp_path, range(first, min(first + BATCH, SOAK_FLAC_STREAMS)))


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000])
def test_other_rates_give_nearly_the_samples_of_python(rate, native_runner, written):
    view = written("a.wav", tones(rate, 2), rate, subtype="PCM_16")
    (heard,), wanted = hear(native_runner, [view]), python_hears(view)
    assert heard.shape == wanted.shape
    assert np.sqrt(np.mean((heard - wanted) ** 2) / np.mean(wanted**2)) < SPEECH_NOISE
    assert np.abs(heard - wanted).max() < 2e-4


def damaged_files(folder, seeds):
    """Files with a wrong byte or more, or without their end; ``None`` or the samples that they held before."""
    whole = [(stream(seed)[0], "flac") for seed in range(8)]
    for form, coding in (("WAV", "PCM_16"), ("WAVEX", "PCM_24"), ("WAV", "FLOAT")):
        soundfile.write(folder / "whole.wav", tones(16_000, 2, 0.2), 16_000, format=form, subtype=coding)
        whole.append(((folder / "whole.wav").read_bytes(), "wav"))
    for seed in seeds:
        chance = random.Random(seed)
        number = chance.randrange(len(whole))
        data, suffix = whole[number]
        changed = bytearray(data)
        area = chance.choice([60, len(changed)])
        for _ in range(chance.choice([1, 1, 3])):
            changed[chance.randrange(4, area)] ^= 1 << chance.randrange(8)
        if chance.random() < 0.2:
            del changed[chance.randrange(len(changed)) :]
        path = folder / f"{seed}.{suffix}"
        path.write_bytes(changed)
        in_frames = suffix == "flac" and changed[:51] == data[:51] and len(changed) == len(data)
        yield AudioRef(str(path)), AudioRef(str(folder / f"whole-{number}.flac")) if in_frames else None
    for number, (data, suffix) in enumerate(whole):
        (folder / f"whole-{number}.{suffix}").write_bytes(data)


def check_damage(runner, folder, seeds):
    cases = list(damaged_files(folder, seeds))
    refused = 0
    for (view, original), heard in zip(cases, hear(runner, [view for view, _ in cases]), strict=True):
        refused += isinstance(heard, str)
        if original is not None and not isinstance(heard, str):
            assert np.array_equal(heard, python_hears(original)), f"{view.path} was heard as something else"
    assert refused > len(seeds) // 4


def test_a_damaged_file_is_refused_or_heard_without_an_undefined_operation(memory_checked_runner, tmp_path):
    check_damage(memory_checked_runner, tmp_path, range(DAMAGED))


@pytest.mark.soak
def test_many_damaged_files_are_refused_or_heard_without_an_undefined_operation(memory_checked_runner, tmp_path):
    for first in range(DAMAGED, SOAK_DAMAGED, BATCH):
        check_damage(memory_checked_runner, tmp_path, range(first, min(first + BATCH, SOAK_DAMAGED)))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.mp3", b"\xff\xfb\x90\x00" * 200, "a.mp3 is no WAV and no FLAC file, and this runner takes no other"),
        ("a.wav", b"", "a.wav is empty (0 bytes)"),
        ("a.flac", b"fLaC", "a.flac breaks off"),
        ("a.wav", b"RIFF\0\0\0\0WAVE", "a.wav holds no samples"),
    ],
)
def test_what_the_native_runner_cannot_hear_is_a_sentence(name, data, said, native_runner, tmp_path):
    (tmp_path / name).write_bytes(data)
    (answer,) = hear(native_runner, [AudioRef(str(tmp_path / name))])
    assert answer.startswith(said)


def test_a_rate_whose_filters_would_fill_the_memory_is_a_sentence(native_runner, written):
    view = written("a.wav", np.zeros(200_000), 999_983, subtype="PCM_16")
    (answer,) = hear(native_runner, [view])
    assert answer == (
        "a.wav has 999983 Hz, which takes too much memory to bring to 16 kHz; export it at 44100 or 48000 Hz."
    )


def test_a_flac_file_that_is_cut_is_refused_by_both(native_runner, written):
    view = written("a.flac", tones(16_000, 1, 2.0), subtype="PCM_16")
    path = Path(view.path)
    path.write_bytes(path.read_bytes()[:-9_000])
    (answer,) = hear(native_runner, [view])
    assert answer.startswith("a.flac breaks off")
    with pytest.raises(AudioError):
        python_hears(view)


@pytest.mark.parametrize("form", ["WAV", "WAVEX"])
def test_a_wav_file_that_is_cut_is_refused_by_both_and_its_whole_part_heard(form, native_runner, written):
    path = Path(written("a.wav", tones(16_000, 2, 2.0), format=form, subtype="PCM_16").path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    answer, *_ = hear(native_runner, [AudioRef(str(path))])
    assert answer.startswith("a.wav breaks off")
    with pytest.raises(AudioError, match="breaks off"):
        python_hears(AudioRef(str(path)))
    assert_same(native_runner, [AudioRef(str(path), view_end_s=0.75)])


def test_a_wav_file_that_never_learned_its_length_is_heard_by_both(native_runner, written):
    view = written("a.wav", tones(16_000, 1, 0.5), subtype="PCM_16")
    content = bytearray(Path(view.path).read_bytes())
    content[40:44] = b"\xff" * 4
    Path(view.path).write_bytes(content)
    assert_same(native_runner, [view])


def test_channels_far_beyond_full_scale_are_refused_by_both_even_where_they_cancel_out(native_runner, written):
    view = written("a.wav", np.tile([500.0, -500.0], (4_000, 1)), subtype="FLOAT")
    (answer,) = hear(native_runner, [view])
    assert answer.startswith("a.wav has samples far beyond full scale")
    with pytest.raises(AudioError, match="full scale"):
        python_hears(view)
