"""How well does an exported model do? Decoded by MNN as a user would meet it, on windows it was not trained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from as2d_core.engines.mnn import MnnModel, Settings
from as2d_core.models.folder import describe_model
from as2d_core.models.training.bank import Bank
from as2d_core.models.training.windows import Query, Samples, Scene, Speakers, compose, queries

MOST_TOKENS = 400
QUIET_FLOOR = (-4.5, -3.6)
GROUPS = {
    "clean": ("familiar", (3.0, 13.0), Scene(floor_exponent=QUIET_FLOOR)),
    "far_field": ("familiar", (3.0, 13.0), Scene(floor_exponent=QUIET_FLOOR, signal_to_noise_db=(5.0, 15.0))),
    "fast": ("fast", (3.0, 11.0), Scene(floor_exponent=QUIET_FLOOR)),
    "new_voice": ("new_voice", (3.0, 13.0), Scene(floor_exponent=QUIET_FLOOR)),
    "long": ("familiar", (24.0, 29.0), Scene(floor_exponent=QUIET_FLOOR)),
}
"""Group: its bank, the shortest and longest window in seconds, how it sounds."""
ALSO_TRANSLATED = "clean"
ALSO_QUESTIONED = ("clean", "far_field")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decode and the right answer."""

    group: str
    """A group of recordings, or the task where that is not transcription."""
    samples: Samples
    query: Query


@dataclass(slots=True)
class Score:
    """Errors of one group."""

    items: int = 0
    words: int = 0
    errors: int = 0
    """Words to change, leave out or put in."""
    right: int = 0
    """Items without any."""
    unfinished: int = 0
    """Items cut at ``MOST_TOKENS``; their errors count as they are."""
    tokens: int = 0
    decode_s: float = 0.0
    """Time of plain decoding after prefill."""

    @property
    def word_error(self) -> float | None:
        """Share of words; ``None`` where there are none."""
        return self.errors / self.words if self.words else None


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a model said to an item."""

    tokens: tuple[int, ...]
    text: str
    finished: bool
    decode_s: float


def evaluation_items(banks: Path, seed: int, per_group: int) -> Iterator[Item]:
    """The windows of one split, from its banks ``familiar``, ``fast`` and ``new_voice``; the seed decides them."""
    speakers = {name: Speakers(Bank(banks / name)) for name in dict.fromkeys(bank for bank, _, _ in GROUPS.values())}
    for place, (group, (bank_name, (shortest, longest), scene)) in enumerate(GROUPS.items()):
        source = speakers[bank_name]
        for number, seconds in enumerate(np.linspace(shortest, longest, per_group)):
            rng = np.random.default_rng([seed, place, number])
            chosen = source.pick(rng, float(seconds), distinct=group != "long")
            samples = compose(source.bank, chosen, scene, rng)
            transcribe, translate, *asked = queries([source.bank.utterances[index].sentence for index in chosen])
            yield Item(group, samples, transcribe)
            if group == ALSO_TRANSLATED:
                yield Item("translate", samples, translate)
            if group in ALSO_QUESTIONED:
                yield Item("question", samples, asked[int(rng.integers(len(asked)))])


def load(folder: Path) -> MnnModel:
    """An exported model, ready to decode."""
    model = MnnModel(describe_model(folder), Settings())
    model.warm_up([1])
    return model


def decode(model: MnnModel, item: Item) -> Decoded:
    """Plain greedy decoding."""
    model.hear(item.samples)
    model.instruct(model.instruction_ids(item.query.instruction))
    tokens, nanoseconds = [model.first[0]], 0
    while tokens[-1] != model.eos and len(tokens) < MOST_TOKENS:
        following, start_ns, end_ns = model.greedy(tokens[-1:])
        tokens += following
        nanoseconds += end_ns - start_ns
    finished = tokens[-1] == model.eos
    said = tokens[:-1] if finished else tokens
    text = b"".join(model.piece(token) for token in said).decode("utf-8", "replace")
    return Decoded(tuple(tokens), text.strip(), finished, nanoseconds / 1e9)


def add(scores: dict[str, Score], item: Item, decoded: Decoded) -> None:
    """Count one item in its group."""
    score = scores.setdefault(item.group, Score())
    right, said = _words(item.query.answer), _words(decoded.text)
    errors = word_errors(right, said)
    score.items += 1
    score.words += len(right)
    score.errors += errors
    score.right += errors == 0
    score.unfinished += not decoded.finished
    score.tokens += len(decoded.tokens) - 1
    score.decode_s += decoded.decode_s


def word_errors(right: Sequence[str], said: Sequence[str]) -> int:
    """Least number of words to change, leave out or put in (Levenshtein)."""
    costs = list(range(len(said) + 1))
    for row, word in enumerate(right, 1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(said, 1):
            change = diagonal + (word != other)
            diagonal = costs[column]
            costs[column] = min(costs[column] + 1, costs[column - 1] + 1, change)
    return costs[-1]


def table(scores: dict[str, Score]) -> str:
    """One line for each group, and all transcription groups together."""
    together = Score()
    for group in GROUPS:
        for name in together.__slots__:
            setattr(together, name, getattr(together, name) + getattr(scores.get(group, Score()), name))
    lines = [
        "| group | items | words | word error | without error | unfinished | ms/token |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, score in {**scores, "all transcribed": together}.items():
        rate = "n/a" if score.word_error is None else f"{100 * score.word_error:.1f} %"
        pace = f"{1e3 * score.decode_s / score.tokens:.2f}" if score.tokens else "n/a"
        lines.append(
            f"| {name} | {score.items} | {score.words} | {rate} | {score.right} | {score.unfinished} | {pace} |"
        )
    return "\n".join(lines)


def _words(text: str) -> list[str]:
    return text.replace(".", " ").replace(",", " ").split()
