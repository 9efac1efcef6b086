"""The drafter process: drafts on its own (As²d) or on demand (serial methods), over one pipe."""

import gc
import os
from collections.abc import Sequence
from dataclasses import astuple
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from as2d_core.clock import now_ns
from as2d_core.engines.drafting import BranchDrafter, Rows, probability
from as2d_core.errors import As2dError
from as2d_core.models.folder import describe_model
from as2d_core.runner.lifeline import hold_on
from as2d_core.runner.pipes import asker, send, wait_briefly
from as2d_core.runner.placement import pin
from as2d_core.sources.autoregressive import Batch, produce

WIDEST_REFRESH = 25


class PacedModel:
    """A cache model whose every drafted token takes at least ``pace_ms``: an emulated slower drafter.

    It waits busily, so that the core stays occupied as it would with a bigger model.
    """

    def __init__(self, model: Any, pace_ms: float | None) -> None:
        self._model = model
        self._pace_ns = int((pace_ms or 0.0) * 1e6)
        self.eos: int = model.eos

    @property
    def first(self) -> tuple[int, float]:
        result: tuple[int, float] = self._model.first
        return result

    def keep(self, generated: int) -> None:
        self._model.keep(generated)

    def forward(self, tokens: Sequence[int]) -> Rows:
        rows: Rows = self._model.forward(tokens)
        if not self._pace_ns:
            return rows
        until = rows.start_ns + self._pace_ns
        while (now := now_ns()) < until:
            pass
        return Rows(rows.greedy, rows.confidences, rows.start_ns, max(rows.end_ns, now))


def main(pipe: Connection, folder: str, settings: Any, cores: tuple[int, ...], allowed: tuple[int, ...]) -> None:
    """Serve the target process until it goes away."""
    os.dup2(2, 1)  # MNN prints to standard output, which belongs to the protocol
    hold_on()
    granted = pin(cores, allowed)
    try:
        from pathlib import Path

        from as2d_core.engines.mnn import MnnModel

        model = MnnModel(describe_model(Path(folder)), settings)
        model.warm_up(range(1, WIDEST_REFRESH + 1))
    except Exception as error:  # noqa: BLE001 - whatever it is, the other side must hear it
        pipe.send(("error", f"{error}"))
        return
    pipe.send(("loaded", model.mnn_version, granted, (model.loaded.start_ns, model.loaded.end_ns)))
    server = _Server(pipe, model)
    while True:
        try:
            server.await_message()
            message = pipe.recv()
        except (EOFError, OSError):
            os._exit(0)  # the target process is gone; a live logits Var could crash an ordinary exit
        try:
            server.handle(*message)
        except (BrokenPipeError, EOFError):
            os._exit(0)
        except As2dError as error:
            pipe.send(("error", f"{error}"))
        except Exception as error:  # noqa: BLE001
            pipe.send(("error", f"{type(error).__name__}: {error}"))


class _Server:
    def __init__(self, pipe: Connection, model: Any) -> None:
        self._pipe, self._model = pipe, model
        self._paced: PacedModel = PacedModel(model, None)
        self._branch = BranchDrafter(self._paced)
        self._ids: list[int] = []
        self._asked = asker(pipe)
        self._spin_s = 0.0
        self._expecting = False

    def await_message(self) -> None:
        """Do not fall asleep where the next message comes at once.

        That is so before decoding starts, and between the rounds of a serial method. A core that slept has lost its
        caches: the first forwards after it would take several times as long as the others.
        """
        if self._expecting and self._spin_s:
            self._expecting = wait_briefly(self._asked, self._spin_s)

    def _on_spin(self, seconds: float) -> None:
        self._spin_s = seconds

    def handle(self, what: str, *args: Any) -> None:
        getattr(self, f"_on_{what}")(*args)

    def _on_hear(self, samples: npt.NDArray[np.float32] | None, instruction: str, pace_ms: float | None) -> None:
        """Audio prefill; ``None`` samples = the audio already in the cache."""
        self._ids = self._model.instruction_ids(instruction)
        spans = []
        if samples is not None:
            self._model.warm_up([len(self._ids)])
            encode, prefill = self._model.hear(samples)
            spans = [(encode.start_ns, encode.end_ns), (prefill.start_ns, prefill.end_ns)]
        self._paced = PacedModel(self._model, pace_ms)
        self._branch = BranchDrafter(self._paced)
        gc.collect()
        self._pipe.send(("heard", spans))
        self._expecting = True

    def _on_instruct(self) -> None:
        done = self._model.instruct(self._ids)
        self._branch.restart()
        self._pipe.send(("instructed", (done.start_ns, done.end_ns)))
        self._expecting = True

    def _on_source(self, batch_tokens: int, max_tokens: int) -> None:
        """Free-running production; a message from the target means stop."""
        stop, asked = False, self._asked
        self._expecting = False

        def cancelled() -> bool:
            nonlocal stop
            stop = stop or asked()
            return stop

        def publish(batch: Batch) -> None:
            send(self._pipe, ("batch", astuple(batch)))

        gc.disable()
        try:
            produce(self._paced, batch_tokens, max_tokens, publish, cancelled, now_ns)
        finally:
            gc.enable()

    def _on_stop(self) -> None:
        self._pipe.send(("stopped", now_ns()))

    def _on_fixed(self, committed: list[int], count: int) -> None:
        send(self._pipe, ("draft", self._branch.draft_fixed(committed, count)))
        self._expecting = True

    def _on_adaptive(
        self, committed: list[int], cap: int, threshold: float | None, old: list[int], old_confidences: list[float]
    ) -> None:
        draft = self._branch.draft_adaptive(committed, cap, threshold, old, old_confidences)
        send(self._pipe, ("draft", draft))
        self._expecting = True

    def _on_forced(self, tokens: list[int]) -> None:
        """The greedy token after each true prefix: the first is prefill's, then one forward a token."""
        token, confidence = self._model.first
        greedy, confidences = [token], [confidence]
        self._model.keep(0)
        self._branch.restart()
        for known in tokens[:-1]:
            rows = self._model.forward([known])
            greedy.append(rows.greedy[-1])
            confidences.append(rows.confidences[-1])
        self._model.keep(0)
        self._pipe.send(("forced", greedy, confidences))

    def _on_busy(self, length_tokens: int) -> None:
        """Draft over and over until a message arrives, to be measured beside; reports every forward."""
        times: list[int] = []
        self._branch.restart()
        while not self._pipe.poll():
            self._model.keep(0)
            token = self._model.first[0]
            for _ in range(length_tokens):
                rows = self._paced.forward([token])
                times.append(rows.end_ns - rows.start_ns)
                token = rows.greedy[-1]
                if self._pipe.poll():
                    break
        self._model.keep(0)
        self._pipe.send(("busy", times))

    def _on_confidence(self, repetitions: int) -> None:
        """Calibration: time the probability of one output row, as every drafted token needs it."""
        times = []
        self._model.keep(0)
        row = self._model.logits([self._model.first[0]])[0]
        for _ in range(repetitions):
            start_ns = now_ns()
            probability(row, int(row.argmax()))
            times.append(now_ns() - start_ns)
        self._branch.restart()
        self._model.keep(0)
        self._pipe.send(("times", times))

    def _on_timing(self, width: int, offset: int, repetitions: int) -> None:
        """Calibration: time forwards of one width at a cache offset; the cache holds dummy tokens."""
        times = []
        filler = [self._model.first[0]] * max(width, 1)
        for _ in range(repetitions):
            self._model.keep(min(offset, self._model.generated))
            while self._model.generated < offset:
                self._model.forward(filler[:1])
            rows = self._paced.forward(filler[:width])
            times.append(rows.end_ns - rows.start_ns)
        self._branch.restart()
        self._model.keep(0)
        self._pipe.send(("times", times))
