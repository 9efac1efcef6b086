"""Log-mel frames as MNN computes them for Qwen3-ASR (Whisper's front end: 128 bands, 10 ms steps).

They differ from MNN's by rounding: 0.001 on average, up to 0.1 in bands that are silent.
"""

from functools import cache

import torch
from torch import Tensor

from as2d_core.audio import SAMPLE_RATE
from as2d_core.models.training.network import CHUNK_FRAMES, CHUNK_POSITIONS, MEL_BINS
from as2d_core.models.training.windows import Samples

WINDOW_SAMPLES = 400
STEP_SAMPLES = 160


def log_mel(samples: Samples) -> Tensor:
    """Samples [n] to frames [128, n // 160], scaled to about [-1, 1]."""
    spectrum = torch.stft(
        torch.from_numpy(samples), WINDOW_SAMPLES, STEP_SAMPLES, window=_window(), return_complex=True
    )[..., :-1]
    power = spectrum.real**2 + spectrum.imag**2
    mel = (_filters() @ power).clamp(min=1e-10).log10()
    return (torch.maximum(mel, mel.max() - 8) + 4) / 4


def positions(frames: int) -> int:
    """How many decoder inputs ``frames`` become: 13 a second, the last chunk by three halvings."""
    whole, rest = divmod(frames, CHUNK_FRAMES)
    for _ in range(3):
        rest = (rest - 1) // 2 + 1
    return whole * CHUNK_POSITIONS + rest


@cache
def _window() -> Tensor:
    return torch.hann_window(WINDOW_SAMPLES)


@cache
def _filters() -> Tensor:
    """[128, 201] triangular bands on Slaney's mel scale, each of unit area."""
    from transformers.audio_utils import mel_filter_bank

    filters = mel_filter_bank(
        num_frequency_bins=WINDOW_SAMPLES // 2 + 1,
        num_mel_filters=MEL_BINS,
        min_frequency=0.0,
        max_frequency=SAMPLE_RATE / 2,
        sampling_rate=SAMPLE_RATE,
        norm="slaney",
        mel_scale="slaney",
    )
    return torch.from_numpy(filters).float().T.contiguous()
