"""Read an audio file into what the models take: one channel, 16 kHz, at most 30 s."""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from as2d_core.chunk_promise import promised_share
from as2d_core.errors import AudioError
from as2d_core.mp3 import with_length

SAMPLE_RATE = 16_000
MAX_SECONDS = 30.0
"""MNN cuts longer audio without a word; we refuse it, or take a view of it."""
MIN_SECONDS = 0.1
MAX_FILE_BYTES = 200_000_000
LOUDEST = 100.0
"""Full scale is 1. Up to here the models hear the same; far above, whole numbers were written as fractions, say."""
_ROUNDED_S = 1 / SAMPLE_RATE
"""An end that was counted in samples at 16 kHz may lie that far behind the end of a file at another rate."""
_LONGEST_KNOWN_S = 1e6
"""No file of ``MAX_FILE_BYTES`` lasts longer: a header that says so does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Audio:
    """Samples a model can take, and where they come from."""

    samples: npt.NDArray[np.float32]
    """Shape [n], mono, 16 kHz, finite, within about [-1, 1]."""
    sha256: str
    """Hash of the samples, not of the file: the same view in two formats differs only if it sounds different."""
    duration_s: float
    original_rate: int
    original_channels: int
    end_s: float
    """Where the view ends in the file; start + ``duration_s`` may lie behind it, for resampling rounds up."""


def read_audio(path: Path, start_s: float = 0.0, end_s: float | None = None) -> Audio:
    """Read WAV, FLAC, OGG or MP3, mix to one channel, resample to 16 kHz.

    Args:
        start_s, end_s: the view of the file; ``None`` = to its end.

    Raises:
        AudioError: the file is missing, no audio, empty, cut off, damaged (NaN, or far beyond full
            scale), or the view is longer than 30 s.
    """
    import soundfile
    import soxr

    try:
        size = path.stat().st_size if path.is_file() else None
    except OSError as error:
        raise AudioError(f"There is no audio file at {path} ({error.strerror or error}).") from error
    if size is None:
        raise AudioError(f"There is no audio file at {path}.")
    if size == 0:
        raise AudioError(f"{path.name} is empty (0 bytes); record or export it again.")
    if size > MAX_FILE_BYTES:
        raise AudioError(f"{path.name} has {size / 1e6:.0f} MB; give a file of at most {MAX_FILE_BYTES / 1e6:.0f} MB.")
    try:
        with opened_audio(path) as file:
            rate, channels, frames = file.samplerate, file.channels, said_frames(file, path)
            if frames < 1:
                raise AudioError(f"{path.name} holds no samples; record or export it again.")
            if frames / rate > _LONGEST_KNOWN_S:
                raise AudioError(f"{path.name} does not say how long it is; open it in an audio program and save it.")
            first, last = _view(path.name, frames / rate, start_s, end_s)
            asked = round((last - first) * rate)
            file.seek(int(first * rate))
            block = file.read(asked, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, OSError, RuntimeError, ValueError, TypeError) as error:
        raise AudioError(
            f"{path.name} is no audio file that can be read ({audio_trouble(error)}); give WAV, FLAC, OGG or MP3."
        ) from error
    if len(block) < asked - rate * MIN_SECONDS:  # an MP3 decoder passes over broken frames, and may lose some samples
        raise AudioError(
            f"{path.name} breaks off: of {asked / rate:.1f} s only {len(block) / rate:.1f} s can be read; "
            "it is cut or damaged, so copy or export it again."
        )
    if not np.isfinite(block).all():
        raise AudioError(f"{path.name} holds samples that are not numbers (NaN or infinite); export it again.")
    peak = float(np.abs(block).max(initial=0.0))
    if peak > LOUDEST:
        raise AudioError(
            f"{path.name} has samples up to {peak:.3g}, where full scale is 1; export it again, with its loudness "
            "between -1 and 1."
        )
    mono = block.mean(axis=1, dtype=np.float32)
    samples = mono if rate == SAMPLE_RATE else soxr.resample(mono, rate, SAMPLE_RATE)
    samples = np.ascontiguousarray(samples, dtype=np.float32)
    duration_s = len(samples) / SAMPLE_RATE
    if duration_s < MIN_SECONDS:
        raise AudioError(f"{path.name} holds {floor(duration_s * 1e3)} ms of audio; at least 100 ms are needed.")
    return Audio(samples, hashlib.sha256(samples.tobytes()).hexdigest(), duration_s, rate, channels, last)


@contextmanager
def opened_audio(source: Path | bytes) -> Iterator[Any]:
    """An audio file that knows how long it is, as ``soundfile.SoundFile``.

    Raises:
        soundfile.LibsndfileError, OSError, RuntimeError, ValueError, TypeError: it is none, or cannot be read.
    """
    import soundfile

    with soundfile.SoundFile(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
        if file.format not in ("MP3", "MPEG"):
            yield file
            return
    data = source if isinstance(source, bytes) else source.read_bytes()
    with soundfile.SoundFile(io.BytesIO(with_length(data))) as file:
        yield file


def said_frames(file: Any, source: Path | bytes) -> int:
    """Samples of each channel as a file that was opened says it: more than can be read when it was cut off.

    Raises:
        OSError: it cannot be read.
    """
    return round(int(file.frames) * promised_share(source, MAX_FILE_BYTES))


def _view(name: str, total_s: float, start_s: float, end_s: float | None) -> tuple[float, float]:
    last = total_s if end_s is None else end_s
    if not 0 <= start_s < last or last > total_s + _ROUNDED_S:
        raise AudioError(
            f"The view {start_s:g} to {last:g} s does not lie inside {name}, which lasts {_seconds(total_s, last)} s; "
            "choose a start and an end within it."
        )
    if last - start_s > MAX_SECONDS + 1e-6:
        whole = start_s == 0 and last >= total_s
        what = name if whole else f"The view {start_s:g} to {last:g} s of {name}"
        raise AudioError(
            f"{what} lasts {_seconds(last - start_s, MAX_SECONDS)} s; the models hear at most {MAX_SECONDS:.0f} s. "
            "Cut it, or choose a start and an end at most that far apart."
        )
    return start_s, min(last, total_s)


def _seconds(value_s: float, beside_s: float) -> str:
    """A length with as many digits as tell it from the other one that it is held against, one at least."""
    exact = next((d for d in range(1, 6) if f"{value_s:.{d}f}" != f"{beside_s:.{d}f}"), 1)
    return f"{value_s:.{exact}f}"


def audio_trouble(error: Exception) -> str:
    """What a reader of audio complains about, as a clause without the name that it gave to the file."""
    said = str(getattr(error, "error_string", None) or error)
    if "does not exist" in said and not isinstance(error, OSError):
        return "its beginning is damaged"  # how the MP3 reader says that it found no frame
    return said.splitlines()[0].rstrip(". ") if said else type(error).__name__
