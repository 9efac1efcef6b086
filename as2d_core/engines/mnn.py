"""One MNN audio language model with a hand-kept cache.

Import this only in a process whose standard output is nobody's protocol: MNN prints there.
``claim_stdout`` moves the protocol out of its way.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from as2d_core.clock import now_ns
from as2d_core.engines.drafting import Rows, probability
from as2d_core.errors import EngineError, ModelError
from as2d_core.models.folder import ModelInfo

PROMPT_HEAD = "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<audio>audio_0</audio>"
PROMPT_TAIL = "<|im_end|>\n<|im_start|>assistant\n"
END_OF_TURN = "<|im_end|>"
MAX_PROMPT_TOKENS = 4096
PINNED: dict[str, object] = {
    "all_logits": True,
    "async": False,
    "reuse_kv": True,
    "sampler_type": "greedy",
    "attention_mode": 8,
    "quant_qkv": 8,
    "speculative_type": "",
    "use_mmap": False,
    "kvcache_mmap": False,
    "use_cached_mmap": False,
    "tmp_path": "",
}
"""Settings of MNN that are not a model's to choose: others round keys and values, draft, or write a gigabyte of cache
wherever ``config.json`` says. 8 is MNN's default: exact attention."""
HUGE = 1e30
"""No logit comes near this."""


def claim_stdout() -> TextIO:
    """Keep file descriptor 1 for ourselves and send everything printed to it to stderr.

    Must run before MNN is imported. Returns the stream that still reaches the real stdout.
    """
    sys.stdout.flush()
    mine = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return mine


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is loaded. The defaults of the files ("low") are not exact; "high" is."""

    threads: int = 1
    precision: str = "high"
    memory: str = "high"
    backend: str = "cpu"


@dataclass(frozen=True, slots=True)
class Timed:
    """Start and end of one piece of work."""

    start_ns: int
    end_ns: int


class MnnModel:
    """A loaded model. ``generated`` output tokens lie in the cache behind the prompt.

    Every method that runs the model raises ``EngineError`` with a sentence when MNN fails without
    crashing; a crash ends the process, and the parent explains it.
    """

    def __init__(self, info: ModelInfo, settings: Settings) -> None:
        """Load the model.

        Raises:
            ModelError: MNN cannot load it, or the backend that was asked for is not in this build.
        """
        if settings.backend != "cpu":
            # The wheel falls back to the CPU without a word; a figure from it would be a lie.
            raise ModelError(
                f"This MNN build runs on the CPU only; {settings.backend!r} would silently become the CPU. "
                "Choose the cpu backend."
            )
        import MNN

        # ``from MNN import llm`` finds the C module instead of the package of that name.
        llm, expr = import_module("MNN.llm"), import_module("MNN.expr")
        self.info, self.settings = info, settings
        self.mnn_version = str(MNN.version())
        self._expr = expr
        self._wrapper: Any = llm.create(str(info.path / "config.json"))  # owns the object below
        self._llm: Any = self._wrapper._c_obj  # noqa: SLF001 - the wrapper lacks erase_history
        self._llm.set_config(
            json.dumps(
                {
                    "backend_type": settings.backend,
                    "thread_num": settings.threads,
                    "precision": settings.precision,
                    "memory": settings.memory,
                    **PINNED,
                }
            )
        )
        start_ns = now_ns()
        if not self._llm.load():
            raise ModelError(
                f"MNN could not load {info.name}; the model files may be damaged or of a newer MNN; copy them again, "
                "or export them for MNN 3.6.1."
            )
        self.loaded = Timed(start_ns, now_ns())
        ids = self._encode_text(END_OF_TURN)
        if len(ids) != 1:
            raise ModelError(f"The tokenizer of {info.name} has no {END_OF_TURN} token; the prompt form does not fit.")
        self.eos: int = ids[0]
        self._audio_length = 0
        self._prompt_length = 0
        self._logical = 0
        self._physical = 0
        self._first: tuple[int, float] | None = None
        self._pieces: dict[int, bytes] = {}
        self.warm: set[int] = set()
        """Widths that MNN has allocated for."""

    # -- prompt ---------------------------------------------------------------------------------

    def warm_up(self, widths: Sequence[int]) -> None:
        """Let MNN allocate for each new width (it clones its module at a first use); that clears the cache."""
        new = [width for width in widths if width not in self.warm]
        for width in new:
            self._run([self.eos] * width)
            self.warm.add(width)
        if new:
            self.clear()

    def clear(self) -> None:
        """Forget prompt and output."""
        self._llm.reset()
        self._audio_length = self._prompt_length = self._logical = self._physical = 0
        self._first = None

    def instruction_ids(self, instruction: str) -> list[int]:
        """Tokens of the part of the prompt that follows the audio."""
        return self._encode_text(instruction + PROMPT_TAIL)

    def hear(self, samples: npt.NDArray[np.float32]) -> tuple[Timed, Timed]:
        """Prefill the audio part of the prompt (background preparation, Appendix A.1).

        Returns:
            Times of audio encoding and of language-model prefill.
        """
        self.clear()
        start_ns = now_ns()
        # NCHW would break the filter bank: the waveform must be NHWC.
        wave = self._expr.const(samples, [len(samples)], self._expr.NHWC)
        ids = list(self._llm.tokenizer_encode({"text": PROMPT_HEAD, "audios": [{"waveform": wave}]}))
        encoded_ns = now_ns()
        if self.info.audio_pad not in ids:
            raise EngineError(f"{self.info.name} took no audio: its prompt holds no audio positions.")
        if len(ids) > MAX_PROMPT_TOKENS:
            raise EngineError(f"The audio becomes {len(ids)} positions, more than {MAX_PROMPT_TOKENS}.")
        self._run(ids)
        self._audio_length = self._prompt_length = self._logical = self._physical = len(ids)
        return Timed(start_ns, encoded_ns), Timed(encoded_ns, now_ns())

    def read(self, text: str) -> None:
        """Prefill plain text as the whole prompt (self-test, calibration)."""
        self.clear()
        ids = self._encode_text(text)
        logits = self._run(ids)
        self._audio_length = self._prompt_length = self._logical = self._physical = len(ids)
        self._first = self._pick(logits[-1:])

    def instruct(self, ids: Sequence[int]) -> Timed:
        """Prefill the instruction behind the retained audio; may be called again with another one."""
        if not self._audio_length:
            raise EngineError("The instruction came before the audio; hear the audio first.")
        self._prompt_length = self._logical = self._audio_length
        start_ns = now_ns()
        logits = self._append(list(ids))
        end_ns = now_ns()
        self._prompt_length = self._logical
        self._first = self._pick(logits[-1:])
        return Timed(start_ns, end_ns)

    # -- CacheModel -----------------------------------------------------------------------------

    @property
    def first(self) -> tuple[int, float]:
        """The token that prefill selected, and its probability."""
        if self._first is None:
            raise EngineError("Nothing has been prefilled yet.")
        return self._first

    @property
    def generated(self) -> int:
        """Output tokens in the cache."""
        return self._logical - self._prompt_length

    def forward(self, tokens: Sequence[int]) -> Rows:
        """Append tokens; returns the greedy token and its probability after each."""
        start_ns = now_ns()
        logits = self._append(tokens)
        end_ns = now_ns()
        greedy = self._best(self._without_audio(logits))
        # Row by row: a draft is one row, and this runs between two forwards, where every array call costs.
        confidences = [probability(row, top) for row, top in zip(logits, greedy, strict=True)]
        return Rows(tuple(greedy), tuple(confidences), start_ns, end_ns)

    def greedy(self, tokens: Sequence[int]) -> tuple[list[int], int, int]:
        """Append tokens; returns the greedy token after each, and when the call started and ended."""
        start_ns = now_ns()
        logits = self._append(tokens)
        end_ns = now_ns()
        top = self._best(logits)
        if self.info.audio_pad in top:  # rare, and looking costs less than masking every row
            top = self._best(self._without_audio(logits))
        return top, start_ns, end_ns

    def logits(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """Append tokens; returns the raw rows, shape [len(tokens), vocabulary], as a copy."""
        logits = self._without_audio(self._append(tokens))
        self._best(logits)
        return logits.copy()

    def keep(self, generated: int) -> None:
        """Keep the prompt and the first ``generated`` output tokens."""
        length = self._prompt_length + generated
        if length > self._logical:
            raise EngineError(f"Cannot keep {generated} output tokens: only {self.generated} are in the cache.")
        self._logical = length

    # -- text -----------------------------------------------------------------------------------

    def piece(self, token: int) -> bytes:
        """Bytes of one token; a token may hold part of a UTF-8 character."""
        known = self._pieces.get(token)
        if known is None:
            try:
                known = str(self._llm.tokenizer_decode(token)).encode()
            except UnicodeDecodeError as error:
                known = bytes(error.object)
            self._pieces[token] = known
        return known

    # -- inside ---------------------------------------------------------------------------------

    def _encode_text(self, text: str) -> list[int]:
        return list(self._llm.tokenizer_encode(text))

    def _append(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        # One erase per forward: a second would replace the first, so it happens here and only here.
        if self._physical > self._logical:
            self._llm.erase_history(self._logical, 0)
        logits = self._run(tokens)
        self._logical += len(tokens)
        self._physical = self._logical
        return logits

    def _run(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        ids = list(tokens)
        # A view of MNN's memory: valid until the next forward, and never kept beyond it, because a
        # live Var at interpreter exit can crash. Between two forwards all caches are cold, so that every
        # further array operation here would cost microseconds.
        read = self._llm.forward(ids).read()
        if read.ndim != 3 or len(read[0]) != len(ids):
            raise EngineError(
                f"{self.info.name} returned logits of shape {read.shape} for {len(ids)} tokens; "
                "the backend does not compute all rows (all_logits)."
            )
        logits: npt.NDArray[np.float32] = read[0]
        return logits

    def _without_audio(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The same rows without audio positions: to feed one without its audio crashes MNN, so none is proposed."""
        if self.info.audio_pad < logits.shape[1]:
            logits[:, self.info.audio_pad] = -np.inf
        return logits

    def _best(self, logits: npt.NDArray[np.float32]) -> list[int]:
        """Greedy token of every row."""
        top: list[int] = logits.argmax(axis=1).tolist()
        # NaN counts as the largest, and MNN turns a row of NaN into the lowest float: damaged weights spoil the
        # first row, which is always a real one, as they spoil the others.
        if not -HUGE < logits.item(top[0]) < HUGE:
            raise EngineError(
                f"{self.info.name} computes values that are no numbers; its weights are damaged, or this "
                "precision is too low for it. Copy or export the model again."
            )
        return top

    def _pick(self, logits: npt.NDArray[np.float32]) -> tuple[int, float]:
        last = self._without_audio(logits[-1:])
        token = self._best(last)[0]
        return token, probability(last[0], token)
