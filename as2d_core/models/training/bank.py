"""Where does the speech come from? espeak-ng says seeded sentences once; windows are composed from that bank.

A bank is a folder of shards, each a pair of files (16-bit samples at 16 kHz and their description). A shard appears
under its name only when it is complete, so that a killed run goes on with the first missing one.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from as2d_core.audio import SAMPLE_RATE
from as2d_core.errors import TrainingError
from as2d_core.models.training.grammar import Sentence, draw_sentence
from as2d_core.models.training.progress import Progress

SHARD_SENTENCES = 1000
ESPEAK_RATE = 22_050
SAY_DEADLINE_S = 60.0
SPLITS = {"training": (0, 90), "development": (90, 93), "validation": (93, 96), "sealed": (96, 100)}
"""Each sentence belongs to one split by the hash of its text (in hundredths), so splits never share a sentence."""

FAMILIAR_VOICES = ("en-us", "en-us+m3", "en-us+f3", "en-us+f2", "en-gb", "en-gb+m7", "en-gb-x-rp+f4")
"""Voices of the evaluation groups other than new_voice; half of the training sentences."""
OTHER_TRAINING_VOICES = tuple(
    f"{accent}+{variant}"
    for accent, variants in {
        "en-us": "m1 m2 m4 m6 m7 m8 f1 f4 f5",
        "en-gb": "m2 m4 f2 f3 f5",
        "en-gb-x-rp": "m1 m3 m6 f1",
        "en-gb-x-gbclan": "m2 m7 m8 f3",
        "en-gb-x-gbcwmd": "m1 m4 m6 f2",
        "en-us-nyc": "m3 m8 f4",
        "en-029": "m3 m6 f1 f5",
    }.items()
    for variant in variants.split()
)
NEW_VOICES = ("en-us+m5", "en-gb-scotland")
"""Never in training: the accent and the variant occur in no other voice."""


@dataclass(frozen=True, slots=True)
class BankPlan:
    """What a bank holds. The same plan gives the same samples (with the same espeak-ng)."""

    name: str
    split: str
    seed: int
    sentences: int
    voices: tuple[str, ...]
    fast_share: float
    """Share of sentences at 215 to 270 words a minute; the others have 140 to 195."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence and how it is said."""

    sentence: Sentence
    voice: str
    words_per_minute: int
    pitch: int
    """espeak-ng's 0 to 99."""

    @property
    def fast(self) -> bool:
        return self.words_per_minute > 205


def split_of(english: str) -> str:
    """The split a sentence belongs to."""
    hundredth = int.from_bytes(hashlib.sha256(english.encode()).digest()[:4]) % 100
    return next(name for name, (low, high) in SPLITS.items() if low <= hundredth < high)


def planned_utterances(plan: BankPlan) -> Iterator[Utterance]:
    """The bank's utterances in their order, no sentence twice."""
    rng = np.random.default_rng(plan.seed)
    seen: set[str] = set()
    while len(seen) < plan.sentences:
        sentence = draw_sentence(rng)
        if sentence.english in seen or split_of(sentence.english) != plan.split:
            continue
        seen.add(sentence.english)
        low, high = (215, 270) if rng.random() < plan.fast_share else (140, 195)
        voice = plan.voices[int(rng.integers(len(plan.voices)))]
        yield Utterance(sentence, voice, int(rng.integers(low, high + 1)), int(rng.integers(35, 66)))


def make_bank(
    plan: BankPlan,
    folder: Path,
    threads: int = 2,
    progress: Progress | None = None,
    voice: Callable[[Utterance], npt.NDArray[np.int16]] | None = None,
) -> None:
    """Say every sentence of ``plan`` that is not in ``folder`` yet.

    Args:
        voice: gives the samples of an utterance; espeak-ng unless said otherwise.

    Raises:
        TrainingError: the folder belongs to another plan, or espeak-ng is missing or fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _check_plan(plan, folder)
    utterances = planned_utterances(plan)
    with ThreadPoolExecutor(threads) as pool:
        for shard in range(-(-plan.sentences // SHARD_SENTENCES)):
            batch = list(islice(utterances, SHARD_SENTENCES))
            if not (folder / f"{shard:04d}.json").exists():
                _write_shard(folder / f"{shard:04d}", batch, list(pool.map(voice or say, batch)))
            if progress:
                progress.show(min((shard + 1) * SHARD_SENTENCES, plan.sentences), plan.sentences, plan.name)


def say(utterance: Utterance) -> npt.NDArray[np.int16]:
    """Samples [n] at 16 kHz without the silence that espeak-ng adds around a sentence."""
    import soxr

    command = ["espeak-ng", "-v", utterance.voice, "-s", str(utterance.words_per_minute)]
    command += ["-p", str(utterance.pitch), "--stdout", utterance.sentence.english]
    wave = _output(command)
    start = wave.find(b"data") + 8  # the length field behind it is not filled in when writing to a pipe
    if start < 44:
        raise TrainingError(f"espeak-ng gave no WAV for voice {utterance.voice}; is the voice installed?")
    raw = np.frombuffer(wave[start : start + (len(wave) - start) // 2 * 2], np.int16).astype(np.float32)
    samples = soxr.resample(raw / 32768, ESPEAK_RATE, SAMPLE_RATE)
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    if not len(loud):
        raise TrainingError(f"espeak-ng said nothing for {utterance.sentence.english!r}.")
    samples = samples[max(0, loud[0] - 400) : loud[-1] + 800]
    return np.asarray(np.clip(samples * 32767, -32768, 32767), np.int16)


def _output(command: list[str]) -> bytes:
    """What a command writes; a second and third try, because a frozen machine lets any deadline pass."""
    for tries_left in (2, 1, 0):
        try:
            return subprocess.run(command, capture_output=True, check=True, timeout=SAY_DEADLINE_S).stdout
        except FileNotFoundError:
            raise TrainingError(
                "espeak-ng is not installed; the speech bank needs it (apt install espeak-ng)."
            ) from None
        except subprocess.TimeoutExpired as error:
            if not tries_left:
                raise TrainingError(f"espeak-ng did not answer within {SAY_DEADLINE_S:g} s: {command}.") from error
        except (subprocess.SubprocessError, OSError) as error:
            raise TrainingError(f"espeak-ng failed on {command} ({error}).") from error
    raise AssertionError("unreachable")


class Bank:
    """A finished bank: utterances and their samples (mapped, not read)."""

    def __init__(self, folder: Path) -> None:
        shards = sorted(folder.glob("[0-9]*.json"))
        if not shards:
            raise TrainingError(f"There is no speech bank in {folder}; make it first.")
        self.utterances: list[Utterance] = []
        self._places: list[tuple[int, int, int]] = []
        self._samples: list[npt.NDArray[np.int16]] = []
        for number, shard in enumerate(shards):
            self._samples.append(np.memmap(shard.with_suffix(".pcm"), np.int16, "r"))
            for item in json.loads(shard.read_text(encoding="utf-8")):
                place = item.pop("first"), item.pop("samples")
                self._places.append((number, *place))
                self.utterances.append(_utterance(item))

    def samples(self, index: int) -> npt.NDArray[np.float32]:
        """Samples [n] of one utterance, within [-1, 1]."""
        shard, first, count = self._places[index]
        return self._samples[shard][first : first + count].astype(np.float32) / np.float32(32768)

    def seconds(self, index: int) -> float:
        """Its duration."""
        return self._places[index][2] / SAMPLE_RATE


def _check_plan(plan: BankPlan, folder: Path) -> None:
    file, wanted = folder / "plan.json", json.loads(json.dumps(asdict(plan)))
    if not file.exists():
        _replace(file, json.dumps(wanted).encode())
    elif json.loads(file.read_text(encoding="utf-8")) != wanted:
        raise TrainingError(f"{folder} holds a bank of another plan; choose another folder or remove that one.")


def _write_shard(stem: Path, batch: Sequence[Utterance], waves: Sequence[npt.NDArray[np.int16]]) -> None:
    first, items = 0, []
    for utterance, wave in zip(batch, waves, strict=True):
        items.append({**asdict(utterance), "first": first, "samples": len(wave)})
        first += len(wave)
    _replace(stem.with_suffix(".pcm"), np.concatenate(waves).tobytes())
    _replace(stem.with_suffix(".json"), json.dumps(items, ensure_ascii=False).encode())  # last: it completes the shard


def _replace(file: Path, content: bytes) -> None:
    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)


def _utterance(item: dict[str, Any]) -> Utterance:
    said = item.pop("sentence")
    questions = tuple((question, answer) for question, answer in said.pop("questions"))
    return Utterance(Sentence(**said, questions=questions), **item)
