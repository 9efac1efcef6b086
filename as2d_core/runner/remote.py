"""The drafter process as the target process sees it: a serial drafter, or a free-running source."""

import multiprocessing
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from as2d_core.engines.base import Draft, Drain, Recorder
from as2d_core.engines.mnn import Settings
from as2d_core.errors import DrafterLostError, EngineError
from as2d_core.records import Publication, Span
from as2d_core.runner import drafter_worker
from as2d_core.runner.exit_reason import exit_reason
from as2d_core.runner.pipes import asker, send, wait_briefly
from as2d_core.sources.autoregressive import Batch

LOAD_DEADLINE_S = 120.0
PREFILL_DEADLINE_S = 60.0
DRAFT_DEADLINE_S = 100.0
DRAIN_DEADLINE_S = 10.0
SPIN_S = 0.05
"""Longer than a verification of the demo models; a real phone's waits are longer than any wake-up."""


class DrafterProcess:
    """Owns the drafter process. Every wait has a deadline, every death a reason."""

    def __init__(
        self,
        folder: str,
        settings: Settings,
        cores: tuple[int, ...],
        allowed: tuple[int, ...] = (),
        target_cores: tuple[int, ...] = (),
    ) -> None:
        """Start and load it.

        Args:
            cores: where it shall run; ``allowed`` is where it runs when it cannot be bound to them.
            target_cores: where the target runs. Where the two share no core, both may spin.

        Raises:
            DrafterLostError: it died while loading.
            EngineError: it could not load the model.
        """
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(
            target=drafter_worker.main, args=(far, folder, settings, cores, allowed), daemon=True, name="as2d-drafter"
        )
        self.process.start()
        far.close()
        self.asked = asker(self.pipe)
        self._spin_s = 0.0
        _, self.mnn_version, self.cores, self.loaded = self.receive("loaded", LOAD_DEADLINE_S)
        own_cores = self.cores and target_cores and not set(self.cores) & set(target_cores)
        self._spin_s = SPIN_S if own_cores else 0.0
        self.send("spin", self._spin_s)

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def send(self, *message: Any) -> None:
        """Send a message.

        Raises:
            DrafterLostError: nobody is there to take it.
        """
        try:
            send(self.pipe, message)
        except (BrokenPipeError, OSError) as error:
            raise self.lost() from error

    def receive(self, wanted: str, deadline_s: float) -> tuple[Any, ...]:
        """The next message, which must be ``wanted``.

        Raises:
            DrafterLostError: the process died, or did not answer within the deadline.
            EngineError: it answers with an error.
        """
        try:
            if self._spin_s:
                wait_briefly(self.asked, self._spin_s)
            if not self.pipe.poll(deadline_s):
                self.kill()
                raise DrafterLostError(f"The drafter did not answer within {deadline_s:g} s and was stopped.")
            message: tuple[Any, ...] = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.lost() from error
        if message[0] == "error":
            raise EngineError(f"The drafter failed: {message[1]}")
        if message[0] != wanted:
            raise EngineError(f"The drafter answered {message[0]!r} where {wanted!r} was expected.")
        return message

    def lost(self) -> DrafterLostError:
        """The error for a drafter that is gone."""
        self.process.join(1.0)
        return DrafterLostError(f"The drafter process ended during the run: {exit_reason(self.process.exitcode)}.")

    def kill(self) -> None:
        """End it now."""
        self.process.kill()
        self.process.join(5.0)
        self.pipe.close()

    # -- preparation ----------------------------------------------------------------------------

    def start_hearing(self, samples: npt.NDArray[np.float32] | None, instruction: str, pace_ms: float | None) -> None:
        """Begin audio prefill; ``None`` samples = the audio is in the cache already."""
        self.send("hear", samples, instruction, pace_ms)

    def heard(self) -> list[Span]:
        """Wait for audio prefill; returns its spans."""
        spans: list[tuple[int, int]] = self.receive("heard", PREFILL_DEADLINE_S)[1]
        works = ("encode", "prefill")
        return [Span("drafter", work, *times) for work, times in zip(works, spans, strict=False)]

    def start_instruction(self) -> None:
        """Begin instruction prefill."""
        self.send("instruct")

    def instructed(self) -> Span:
        """Wait for instruction prefill; returns its span."""
        start_ns, end_ns = self.receive("instructed", PREFILL_DEADLINE_S)[1]
        return Span("drafter", "prefill", start_ns, end_ns)

    # -- operations -----------------------------------------------------------------------------

    def forced(self, tokens: Sequence[int]) -> tuple[list[int], list[float]]:
        """Greedy tokens and confidences after each true prefix of ``tokens``."""
        self.send("forced", list(tokens))
        _, greedy, confidences = self.receive("forced", PREFILL_DEADLINE_S)
        return greedy, confidences

    def timing(self, width: int, offset_tokens: int, repetitions: int) -> list[int]:
        """Nanoseconds of ``repetitions`` forwards of one width at a cache offset."""
        self.send("timing", width, offset_tokens, repetitions)
        times: list[int] = self.receive("times", DRAFT_DEADLINE_S)[1]
        return times

    def confidence(self, repetitions: int) -> list[int]:
        """Nanoseconds of ``repetitions`` probabilities of one output row."""
        self.send("confidence", repetitions)
        times: list[int] = self.receive("times", DRAFT_DEADLINE_S)[1]
        return times

    def start_busy(self, length_tokens: int) -> None:
        """Let it draft over and over until ``stop_busy``."""
        self.send("busy", length_tokens)

    def stop_busy(self) -> list[int]:
        """End ``start_busy``; returns nanoseconds of every forward."""
        self.send("stop")
        times: list[int] = self.receive("busy", DRAIN_DEADLINE_S)[1]
        self.receive("stopped", DRAIN_DEADLINE_S)
        return times


class RemoteSerialDrafter:
    """``engines.base.SerialDrafter`` over the pipe."""

    def __init__(self, process: DrafterProcess) -> None:
        self._process = process

    def draft_fixed(self, committed: Sequence[int], count: int) -> Draft:
        return self._draft("fixed", list(committed), count)

    def draft_adaptive(
        self,
        committed: Sequence[int],
        cap: int,
        threshold: float | None,
        old_branch: Sequence[int],
        old_confidences: Sequence[float],
    ) -> Draft:
        return self._draft("adaptive", list(committed), cap, threshold, list(old_branch), list(old_confidences))

    def _draft(self, *message: Any) -> Draft:
        self._process.send(*message)
        draft: Draft = self._process.receive("draft", DRAFT_DEADLINE_S)[1]
        return draft


class RemoteSource:
    """``engines.base.Source`` over the pipe; records the producer's spans as they arrive."""

    def __init__(
        self, process: DrafterProcess, recorder: Recorder, name: str, batch_tokens: int, max_tokens: int
    ) -> None:
        self._process, self._recorder, self._name = process, recorder, name
        self._batch_tokens, self._max_tokens = batch_tokens, max_tokens
        self._running = False
        self._end_ns = 0
        self._previous: Batch | None = None
        self._lost: DrafterLostError | None = None

    def start(self, now_ns: int) -> None:
        self._end_ns = now_ns
        self._process.send("source", self._batch_tokens, self._max_tokens)
        self._running = True

    @property
    def running(self) -> bool:
        return self._running

    def poll(self) -> list[Publication]:
        batches: list[Publication] = []
        while self._running and self._lost is None:
            try:
                if not self._process.asked():
                    break
                batches += self._take(self._process.pipe.recv())
            except DrafterLostError as error:
                self._lost = error
            except (EOFError, OSError):
                self._lost = self._process.lost()
        if self._lost is not None and not batches:
            raise self._lost
        return batches  # what came before a loss is handed out; the next poll reports it

    def stop(self, now_ns: int) -> Drain:
        if not self._running:
            return Drain((), (), self._end_ns)
        late: list[Publication] = []
        try:
            self._process.send("stop")
            while self.running:
                late += self._take(self._process.receive("batch", DRAIN_DEADLINE_S))
            self._process.receive("stopped", DRAIN_DEADLINE_S)
        except (DrafterLostError, EngineError) as error:
            self._running = False
            return Drain(tuple(late), (), max(now_ns, self._end_ns), str(error))
        return Drain(tuple(late), (), self._end_ns)

    def _take(self, message: tuple[Any, ...]) -> list[Publication]:
        if message[0] == "error":
            # A producer that failed is as lost as one that died: the target goes on alone.
            raise DrafterLostError(f"The drafter failed: {message[1]}")
        batch = Batch(*message[1])
        spans = []
        if self._previous is not None:
            spans.append(Span("drafter", "publish", self._previous.draft_end_ns, batch.draft_start_ns, operations=0))
        if batch.forwards:
            spans.append(Span("drafter", "draft", batch.draft_start_ns, batch.draft_end_ns, operations=batch.forwards))
        if batch.last:
            spans.append(Span("drafter", "publish", batch.draft_end_ns, batch.time_ns, operations=0))
            self._running = False
        self._previous = batch
        self._end_ns = batch.time_ns
        self._recorder.add(*spans)
        if not batch.tokens:
            return []
        return [Publication(self._name, batch.offset, batch.tokens, batch.confidences, batch.time_ns)]
