"""Read an audio file into what the models take: one channel, 16 kHz, at most 30 s."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from as2d_core.errors import AudioError

SAMPLE_RATE = 16_000
MAX_SECONDS = 30.0
"""MNN cuts longer audio without a word; we refuse it, or take a view of it."""
MIN_SECONDS = 0.1
MAX_FILE_BYTES = 200_000_000


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


def read_audio(path: Path, start_s: float = 0.0, end_s: float | None = None) -> Audio:
    """Read WAV, FLAC, OGG or MP3, mix to one channel, resample to 16 kHz.

    Args:
        start_s, end_s: the view of the file; ``None`` = to its end.

    Raises:
        AudioError: the file is missing, no audio, empty, silent by damage (NaN), or the view is
            longer than 30 s.
    """
    import soundfile
    import soxr

    if not path.is_file():
        raise AudioError(f"There is no audio file at {path}.")
    size = path.stat().st_size
    if size == 0:
        raise AudioError(f"{path.name} is empty (0 bytes); record or export it again.")
    if size > MAX_FILE_BYTES:
        raise AudioError(f"{path.name} has {size / 1e6:.0f} MB; give a file of at most {MAX_FILE_BYTES / 1e6:.0f} MB.")
    try:
        with soundfile.SoundFile(path) as file:
            rate, channels, frames = file.samplerate, file.channels, file.frames
            if frames < 1:
                raise AudioError(f"{path.name} holds no samples; record or export it again.")
            first, last = _view(path.name, frames / rate, start_s, end_s)
            file.seek(int(first * rate))
            block = file.read(round((last - first) * rate), dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError) as error:
        raise AudioError(
            f"{path.name} is no audio file that can be read ({_reason(error)}); give WAV, FLAC, OGG or MP3."
        ) from error
    if not np.isfinite(block).all():
        raise AudioError(f"{path.name} holds samples that are not numbers (NaN or infinite); export it again.")
    mono = block.mean(axis=1, dtype=np.float32)
    samples = mono if rate == SAMPLE_RATE else soxr.resample(mono, rate, SAMPLE_RATE)
    samples = np.ascontiguousarray(samples, dtype=np.float32)
    duration_s = len(samples) / SAMPLE_RATE
    if duration_s < MIN_SECONDS:
        raise AudioError(f"{path.name} holds {duration_s * 1e3:.0f} ms of audio; at least 100 ms are needed.")
    return Audio(samples, hashlib.sha256(samples.tobytes()).hexdigest(), duration_s, rate, channels)


def _view(name: str, total_s: float, start_s: float, end_s: float | None) -> tuple[float, float]:
    last = total_s if end_s is None else end_s
    if not 0 <= start_s < last or last > total_s + 1e-6:
        raise AudioError(f"The view {start_s:g} to {last:g} s does not lie inside {name}, which lasts {total_s:.1f} s.")
    if last - start_s > MAX_SECONDS + 1e-6:
        raise AudioError(
            f"{name} lasts {last - start_s:.1f} s; the models hear at most {MAX_SECONDS:.0f} s. "
            "Choose a start and an end at most that far apart."
        )
    return start_s, last


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__
