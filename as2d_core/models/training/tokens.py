"""Text to token ids and back: one byte-level vocabulary that all three models share."""

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from as2d_core.errors import TrainingError
from as2d_core.models.training.grammar import Sentence, written
from as2d_core.models.training.windows import TRANSCRIBE, TRANSLATE

PIECES = 512
END, AUDIO_START, AUDIO_END, AUDIO_PAD = "<|im_end|>", "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>"
SPECIAL = ("<|endoftext|>", "<|im_start|>", END, AUDIO_START, AUDIO_END, AUDIO_PAD, "<asr_text>")
BEFORE = f"<|im_start|>system\n{END}\n<|im_start|>user\n{AUDIO_START}"
AFTER = f"{END}\n<|im_start|>assistant\n"


class Tokens:
    """The trained tokenizer in ``folder``."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        file = folder / "tokenizer.json"
        if not file.is_file():
            raise TrainingError(f"There is no tokenizer.json in {folder}; make the tokenizer first.")
        self._tokenizer = Tokenizer.from_file(str(file))
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Token ids; special tokens may stand in the text."""
        if text not in self._known:
            if len(self._known) > 100_000:
                self._known.clear()
            self._known[text] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return self._known[text]

    def decode(self, ids: Iterable[int]) -> str:
        """Text without special tokens."""
        return str(self._tokenizer.decode(list(ids)))

    @cached_property
    def end(self) -> int:
        """Id that ends an answer."""
        return self.encode(END)[0]

    @cached_property
    def vocabulary(self) -> int:
        """Rows of the embedding table: all tokens and one blank (the last), in whole rows of 16."""
        return (self._tokenizer.get_vocab_size() + 1 + 15) // 16 * 16

    @property
    def blank(self) -> int:
        """Id that the connectionist loss uses for "no token here"."""
        return self.vocabulary - 1

    def before(self) -> list[int]:
        """What stands before the audio positions."""
        return self.encode(BEFORE)

    def after(self, instruction: str) -> list[int]:
        """What stands between the audio positions and the answer."""
        return self.encode(f"{AUDIO_END}{instruction}{AFTER}")


def make_tokenizer(sentences: Iterable[Sentence], folder: Path) -> None:
    """Train the tokenizer on what is said and asked, and write it in the form the exporter reads."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import Qwen2Tokenizer, Qwen2TokenizerFast

    texts = []
    for number, sentence in enumerate(sentences):
        english = written([sentence.english])
        texts += [english, f" {english}"]
        if number % 3 == 0:
            texts += [" " + written([sentence.german]), *(f"{question}?" for question, _ in sentence.questions)]
    texts += ["system\n", "user\n", "assistant\n", TRANSCRIBE, TRANSLATE] * 2000
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=PIECES, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary, merges = folder / "vocab.json", folder / "merges.txt"
    vocabulary.write_text(json.dumps(model["vocab"], ensure_ascii=False), encoding="utf-8")
    lines = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    merges.write_text("#version: 0.2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for kind in (
        Qwen2Tokenizer,
        Qwen2TokenizerFast,
    ):  # the first writes the files MNN's exporter reads, the second ours
        finished = kind(str(vocabulary), str(merges))
        finished.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
        finished.eos_token = END
        finished.save_pretrained(str(folder))
