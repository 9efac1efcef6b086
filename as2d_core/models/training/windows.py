"""How do sentences become a recording? One voice, pauses, level, noise and room; and what can be asked about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from as2d_core.audio import SAMPLE_RATE
from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import Bank
from as2d_core.models.training.grammar import Sentence, written

TRANSCRIBE = "transcribe the speech."
TRANSLATE = "translate into german."
LONGEST_S = 29.5
NOISE_SECONDS = 60
LEAST_GROUP = 6
"""Voices and pitches with fewer sentences are left out; a window of them would repeat itself."""

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scene:
    """How a window sounds, apart from who speaks. Each pair is the range a value is drawn from."""

    pause_s: tuple[float, float] = (0.15, 0.5)
    lead_s: tuple[float, float] = (0.1, 0.4)
    floor_exponent: tuple[float, float] = (-4.5, -3.0)
    """Power of ten of the recording's own white noise (standard deviation)."""
    signal_to_noise_db: tuple[float, float] | None = None
    """With a value: reverberation, and coloured noise or other voices at this distance; ``None`` = a clean window."""
    babble_share: float = 0.3


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked about a window, and the right answer."""

    task: str
    instruction: str
    answer: str


class Speakers:
    """The bank's utterances by who says them (voice, fast or not, about the same pitch)."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        groups: dict[tuple[str, bool, int], list[int]] = {}
        for index, utterance in enumerate(bank.utterances):
            groups.setdefault((utterance.voice, utterance.fast, utterance.pitch // 4), []).append(index)
        self._groups = [group for _, group in sorted(groups.items()) if len(group) >= LEAST_GROUP]
        if not self._groups:
            raise TrainingError(f"{len(bank.utterances)} sentences are too few to compose windows of one voice.")
        sizes = np.array([len(group) for group in self._groups], float)
        self._weights = sizes / sizes.sum()

    def pick(self, rng: np.random.Generator, seconds: float, *, distinct: bool = False) -> list[int]:
        """Utterances of one speaker that fill about ``seconds``; ``distinct``: no two of one kind."""
        group = self._groups[int(rng.choice(len(self._groups), p=self._weights))]
        chosen: list[int] = []
        kinds: set[str] = set()
        filled = 0.5
        for index in rng.permutation(group)[:60].tolist():
            kind = self.bank.utterances[index].sentence.kind
            more = self.bank.seconds(index) + 0.35
            if (distinct and kind in kinds) or filled + more > LONGEST_S - 0.5:
                continue
            if chosen and filled + more > seconds * 1.15:
                break
            chosen.append(index)
            kinds.add(kind)
            filled += more
            if filled >= seconds * 0.9:
                break
        return chosen


def compose(bank: Bank, chosen: Sequence[int], scene: Scene, rng: np.random.Generator) -> Samples:
    """One recording [n] at 16 kHz: the chosen sentences with pauses, in the scene's sound."""
    parts = [_silence(rng, scene.lead_s)]
    for index in chosen:
        parts += [bank.samples(index), _silence(rng, scene.pause_s)]
    samples = np.concatenate(parts)[: int(LONGEST_S * SAMPLE_RATE)]
    if scene.signal_to_noise_db is not None:
        samples = _in_a_room(samples, rng)
        noise = _babble(bank, len(samples), rng) if rng.random() < scene.babble_share else _noise(len(samples), rng)
        level = np.sqrt((samples**2).mean() / ((noise**2).mean() + 1e-9))
        samples = samples + noise * level * 10 ** (-rng.uniform(*scene.signal_to_noise_db) / 20)
    peak = max(0.05, float(np.abs(samples).max()))
    samples = samples * (rng.uniform(0.2, 0.55) / peak)
    floor = rng.standard_normal(len(samples), np.float32) * 10 ** rng.uniform(*scene.floor_exponent)
    return (samples + floor).astype(np.float32)


def queries(sentences: Sequence[Sentence]) -> list[Query]:
    """Everything that can be asked: transcript, translation, then each question that only one sentence answers."""
    asked: dict[str, list[str]] = {}
    for sentence in sentences:
        for question, answer in sentence.questions:
            asked.setdefault(question, []).append(answer)
    clear = [(question, answers[0]) for question, answers in asked.items() if len(answers) == 1]
    return [
        Query("transcribe", TRANSCRIBE, written([sentence.english for sentence in sentences])),
        Query("translate", TRANSLATE, written([sentence.german for sentence in sentences])),
        *(Query("question", f"{question}?", written([answer])) for question, answer in clear),
    ]


def _silence(rng: np.random.Generator, seconds: tuple[float, float]) -> Samples:
    return np.zeros(int(SAMPLE_RATE * rng.uniform(*seconds)), np.float32)


def _in_a_room(samples: Samples, rng: np.random.Generator) -> Samples:
    """Reverberation: decaying noise of 80 to 300 ms behind the direct sound."""
    count = int(SAMPLE_RATE * rng.uniform(0.08, 0.3))
    response = rng.standard_normal(count) * np.exp(-np.arange(count) * 6.9 / count) * rng.uniform(0.02, 0.06)
    response[0] = 1.0
    length = 1 << (len(samples) + count).bit_length()
    spectrum = np.fft.rfft(samples, length) * np.fft.rfft(response, length)
    return np.asarray(np.fft.irfft(spectrum, length)[: len(samples)], np.float32)


def _babble(bank: Bank, count: int, rng: np.random.Generator) -> Samples:
    """Three other sentences at once, over and over."""
    voices = [bank.samples(int(index)) for index in rng.integers(len(bank.utterances), size=3)]
    return np.asarray(np.sum([np.resize(voice, count) for voice in voices], axis=0), np.float32)


def _noise(count: int, rng: np.random.Generator) -> Samples:
    colour = _colours()[int(rng.integers(3))]
    start = int(rng.integers(len(colour) - count))
    return colour[start : start + count]


@cache
def _colours() -> tuple[Samples, ...]:
    """A minute each of white, pinkish and brown noise with unit power."""
    rng = np.random.default_rng(3)
    colours = []
    for slope in (0.0, 0.5, 1.0):
        spectrum = np.fft.rfft(rng.standard_normal(NOISE_SECONDS * SAMPLE_RATE))
        noise = np.fft.irfft(spectrum / (np.arange(len(spectrum)) + 50.0) ** slope)
        colours.append((noise / noise.std()).astype(np.float32))
    return tuple(colours)
