"""Which widths may a target use here? Found by running it, since the answer is a property of the CPU.

A width is exact when all its rows, and the cache it leaves behind, reproduce sequential decoding
bit for bit. Sequential decoding itself runs at some width: the step. On some processors plain
K = 1 forwards go through another kernel than wider ones, so the step that makes most widths exact
is chosen (a one-row step padded to two rows, say).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from as2d_core.engines.mnn import MnnModel
from as2d_core.errors import EngineError
from as2d_core.operation_records import SelfTest

MAX_WIDTH = 16
STEP_CANDIDATES = (1, 2, 3, 4)
OFFSETS = (0, 1, 6, 15, 31, 33, 64, 80)
"""Generated tokens in the cache when a width is tried; odd and even, short and long."""
PROMPT = "turn left at the library and walk to the station. " * 5

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WidthReport:
    """Outcome for every tried width."""

    step: int
    exact: tuple[int, ...]
    classes: dict[int, tuple[int, ...]]
    """Exact widths for each step that was tried."""
    argmax_differences: dict[int, int]
    """Rows of each width whose greedy token differs from plain K = 1 decoding."""
    rows: int


def find_exact_widths(
    model: MnnModel,
    max_width: int = MAX_WIDTH,
    progress: Callable[[float], None] = lambda _: None,
    trying: Callable[[int], None] = lambda _: None,
) -> WidthReport:
    """Try every width from 1 to ``max_width`` against sequential decoding; clears the cache.

    ``progress`` is told the share that is done, again and again: on a slow phone the whole takes minutes, and
    nobody should think that it hangs. ``trying`` is told each width before its first forward, which may be the
    last thing this process does, and 0 once all of them have run.

    Where no two widths agree bit for bit, only plain K = 1 is exact (speculation is then refused).
    """
    max_width = _widest(model, max_width, trying)
    trying(0)
    model.read(PROMPT)
    share = 0.0

    def alive() -> None:
        progress(share)

    tokens = _continuation(model, OFFSETS[-1] + max_width + 1, alive)
    differences = dict.fromkeys(range(1, max_width + 1), 0)
    plain: list[Rows] = []
    classes: dict[int, tuple[int, ...]] = {1: (1,)}
    rows_seen = 0
    for done, step in enumerate(STEP_CANDIDATES):
        sequential = _sequential(model, tokens, step, alive)
        plain = plain or sequential
        exact = set(range(step, max_width + 1))
        for before, offset in pairwise((0, *OFFSETS)):
            _rebuild(model, tokens, before, offset, step)
            for width in range(1, max_width + 1):
                alive()
                model.keep(offset)
                rows = model.logits(tokens[offset : offset + width])
                after = _one(model, tokens, offset + width, step)
                rows_seen += width
                if step == STEP_CANDIDATES[0]:
                    differences[width] += sum(
                        int(a.argmax() != b.argmax()) for a, b in zip(rows, plain[offset : offset + width], strict=True)
                    )
                wanted = sequential[offset : offset + width + 1]
                if not all(np.array_equal(a, b) for a, b in zip([*rows, after], wanted, strict=True)):
                    exact.discard(width)
        # A step of several rows must also verify as many; else two widths would go by one number.
        if step in exact:
            classes[step] = tuple(sorted(exact))
        share = (done + 1) / len(STEP_CANDIDATES)
        alive()
        if len(classes.get(step, ())) > max_width // 2:
            break
    step = max(classes, key=lambda s: (len(classes[s]), -s))
    model.clear()
    return WidthReport(step, classes[step], classes, differences, rows_seen)


def _widest(model: MnnModel, most: int, trying: Callable[[int], None]) -> int:
    """Largest width such that every width up to it runs at all; what a wider one says is left to a calibration."""
    for width in range(1, most + 1):
        trying(width)
        try:
            model.warm_up([width])
        except EngineError:
            if width == 1:
                raise
            model.clear()
            return width - 1
    return most


def as_event(report: WidthReport, model: MnnModel, cpu: str) -> SelfTest:
    """The report as a line of the protocol; it is stored, so that a model is tested once per CPU."""
    return SelfTest(
        model_sha256=model.info.sha256,
        exact_widths=report.exact,
        grade="bit-equal" if len(report.exact) > 1 else "plain only",
        classes=tuple(dict.fromkeys(report.classes.values())),
        argmax_differences={str(w): n for w, n in report.argmax_differences.items()},
        rows=report.rows,
        extra={
            "cpu": cpu,
            "mnn_version": model.mnn_version,
            "threads": model.settings.threads,
            "precision": model.settings.precision,
            "memory": model.settings.memory,
            "step": report.step,
        },
    )


def _continuation(model: MnnModel, length: int, alive: Callable[[], None]) -> list[int]:
    """Greedy tokens after the prompt."""
    # An early EOS would end the text, so it is replaced: the kernels do not care what tokens mean.
    tokens = [model.first[0]]
    while len(tokens) < length:
        alive()
        token = int(model.logits([tokens[-1]])[0].argmax())
        tokens.append(token if token != model.eos else tokens[len(tokens) // 2])
    return tokens


def _sequential(model: MnnModel, tokens: Sequence[int], step: int, alive: Callable[[], None]) -> list[Rows]:
    """Every row of sequential decoding at width ``step``."""
    model.keep(0)
    rows = []
    for index in range(len(tokens)):
        alive()
        rows.append(_one(model, tokens, index, step))
    return rows


def _one(model: MnnModel, tokens: Sequence[int], index: int, step: int) -> Rows:
    """Row ``index`` of sequential decoding; the cache holds the ``index`` tokens before it."""
    row: Rows = model.logits([tokens[index]] + [model.eos] * (step - 1))[0]
    model.keep(index + 1)
    return row


def _rebuild(model: MnnModel, tokens: Sequence[int], clean: int, offset: int, step: int) -> None:
    """Cache = prompt and ``offset`` tokens, each from a step; the first ``clean`` of them are so already.

    What lies behind those came from whichever width was tried last.
    """
    model.keep(clean)
    for index in range(clean, offset):
        _one(model, tokens, index, step)
