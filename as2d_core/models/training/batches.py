"""Which windows does a training step see? Composed on the fly; step number and seed decide everything.

All that is asked about a window stands in one sequence: the prompt up to the audio once, then one branch for each
query. Branches have the same positions and do not see one another, so that each is what the model will meet when it is
asked that alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from as2d_core.models.training.bank import Bank
from as2d_core.models.training.features import log_mel, positions
from as2d_core.models.training.network import CHUNK_FRAMES, CHUNK_POSITIONS, MEL_BINS
from as2d_core.models.training.tokens import AUDIO_PAD, Tokens
from as2d_core.models.training.windows import Query, Samples, Scene, Speakers, compose, queries

NOT_ASKED = -100
"""Label of positions that no answer token follows."""
PADDING = -1
"""Branch of positions behind the end of a sequence."""
CLEAN = Scene(lead_s=(0.02, 1.1))
"""The lead spreads sentences over the one-second chunks of the tower."""
NOISY = Scene(lead_s=(0.02, 1.1), signal_to_noise_db=(5.0, 22.0))


@dataclass(frozen=True, slots=True)
class Example:
    """A window's frames [128, n], what is said, and what is asked."""

    mel: Tensor
    transcript: str
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of one step; ``count`` is the longest sequence."""

    mel: Tensor
    """[batch, 128, chunks * 100]."""
    present: Tensor
    """[batch, chunks * 13] bool: positions within the window."""
    ids: Tensor
    """[batch, count] token ids; the audio pad where the tower's output goes."""
    is_audio: Tensor
    """[batch, count] bool."""
    positions: Tensor
    """[batch, count] rotary positions."""
    branch: Tensor
    """[batch, count]: 0 = shared prefix, then 1, 2, ...; ``PADDING`` behind the end."""
    labels: Tensor
    """[batch, count] id of the next answer token, or ``NOT_ASKED``."""
    transcript: Tensor
    """[sum of lengths] transcripts' ids one after the other, for the connectionist loss."""
    transcript_lengths: Tensor
    """[batch]."""

    def visible(self) -> Tensor:
        """[batch, 1, count, count] bool: the prefix and the own branch, as far as they are past."""
        row, column = self.branch[:, :, None], self.branch[:, None, :]
        past = torch.ones(self.ids.shape[1], self.ids.shape[1], dtype=torch.bool).tril()
        return (past & ((column == 0) | (column == row)))[:, None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What training windows are like."""

    seconds_per_step: float = 48.0
    durations_s: tuple[float, ...] = (3.5, 6.0, 10.0, 15.0, 20.0, 27.0)
    duration_weights: tuple[float, ...] = (1, 2, 3, 4, 5, 10)
    """Long windows weigh most: their order of sentences is what is hardest to learn."""
    noisy_share: float = 0.3
    translate_share: float = 0.6
    most_questions: int = 2
    clean: Scene = CLEAN
    noisy: Scene = NOISY


USUAL = Recipe()


class TrainingWindows(Dataset[Batch]):
    """The batch of each step."""

    def __init__(self, bank: Bank, tokens: Tokens, recipe: Recipe, seed: int) -> None:
        self.speakers, self.tokens, self.recipe, self.seed = Speakers(bank), tokens, recipe, seed

    def __getitem__(self, step: int) -> Batch:
        recipe, rng = self.recipe, np.random.default_rng([self.seed, step])
        weights = np.array(recipe.duration_weights, float)
        duration = float(rng.choice(recipe.durations_s, p=weights / weights.sum()))
        count = max(1, round(recipe.seconds_per_step / duration))
        return collate([self._example(duration * rng.uniform(0.8, 1.1), rng) for _ in range(count)], self.tokens)

    def _example(self, duration: float, rng: np.random.Generator) -> Example:
        recipe, bank = self.recipe, self.speakers.bank
        chosen = self.speakers.pick(rng, duration)
        scene = recipe.noisy if rng.random() < recipe.noisy_share else recipe.clean
        transcribe, translate, *questions = queries([bank.utterances[index].sentence for index in chosen])
        asked = [transcribe]
        if rng.random() < recipe.translate_share:
            asked.append(translate)
        asked += [questions[index] for index in rng.permutation(len(questions))[: recipe.most_questions]]
        return example(compose(bank, chosen, scene, rng), asked, rng)


def example(samples: Samples, asked: Sequence[Query], masking: np.random.Generator | None = None) -> Example:
    """An example of a recording whose first query is the transcript; with ``masking``, bands and times are hidden."""
    mel = log_mel(samples)
    if masking is not None:
        mel = _hide(mel, masking)
    return Example(mel, asked[0].answer, tuple(asked))


def collate(examples: Sequence[Example], tokens: Tokens) -> Batch:
    """Put examples into one batch."""
    frames = [example.mel.shape[1] for example in examples]
    chunks = -(-max(frames) // CHUNK_FRAMES)
    mel = torch.zeros(len(examples), MEL_BINS, chunks * CHUNK_FRAMES)
    present = torch.zeros(len(examples), chunks * CHUNK_POSITIONS, dtype=torch.bool)
    for row, (item, length) in enumerate(zip(examples, frames, strict=True)):
        mel[row, :, :length] = item.mel
        present[row, : positions(length)] = True
    sequences = [_sequence(item, positions(length), tokens) for item, length in zip(examples, frames, strict=True)]
    fill = (tokens.end, 0, 0, PADDING, NOT_ASKED)
    stacked = [
        torch.nn.utils.rnn.pad_sequence([sequence[part] for sequence in sequences], True, value)
        for part, value in enumerate(fill)
    ]
    spoken = [torch.tensor(tokens.encode(item.transcript)) for item in examples]
    return Batch(
        mel,
        present,
        ids=stacked[0],
        is_audio=stacked[1].bool(),
        positions=stacked[2],
        branch=stacked[3],
        labels=stacked[4],
        transcript=torch.cat(spoken),
        transcript_lengths=torch.tensor([len(ids) for ids in spoken]),
    )


def _sequence(item: Example, audio: int, tokens: Tokens) -> tuple[Tensor, ...]:
    """Ids, is audio, positions, branches and labels of one example."""
    before = tokens.before()
    ids = before + tokens.encode(AUDIO_PAD) * audio
    prefix = len(ids)
    is_audio = [0] * len(before) + [1] * audio
    places, branches, labels = list(range(prefix)), [0] * prefix, [NOT_ASKED] * prefix
    for number, query in enumerate(item.queries, 1):
        prompt, answer = tokens.after(query.instruction), tokens.encode(query.answer)
        ids += prompt + answer
        count = len(prompt) + len(answer)
        is_audio += [0] * count
        places += range(prefix, prefix + count)
        branches += [number] * count
        labels += [NOT_ASKED] * (len(prompt) - 1) + answer + [tokens.end]
    return tuple(torch.tensor(part) for part in (ids, is_audio, places, branches, labels))


def _hide(mel: Tensor, rng: np.random.Generator) -> Tensor:
    """Two bands of frequencies and two stretches of up to 100 ms become the mean; the level is off by a little."""
    mel = mel.clone()
    mean = float(mel.mean())
    for axis in (0, 0, 1, 1):
        width = int(rng.integers(11))
        start = int(rng.integers(max(1, mel.shape[axis] - width)))
        mel.narrow(axis, start, min(width, mel.shape[axis] - start)).fill_(mean)
    return mel + rng.uniform(-0.1, 0.1)
