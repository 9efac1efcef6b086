"""Engines that answer from recorded tokens on a virtual clock: replay and tests of the decoding methods.

The clock moves only when an engine charges a cost. Milliseconds are floats, as in the replay
kernel, so that both add up the same numbers in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from as2d_core.engines.base import Call, Drain
from as2d_core.engines.drafting import Rows
from as2d_core.errors import EngineError, ProfileError
from as2d_core.records import Publication, Span
from as2d_core.replay.schedule import Schedule, drain_end


class VirtualClock:
    """Milliseconds since decoding began; never goes back."""

    def __init__(self) -> None:
        self._now_ms = 0.0

    @property
    def now_ms(self) -> float:
        return self._now_ms

    def now_ns(self) -> int:
        """The instant as the records keep it."""
        return nanoseconds(self._now_ms)

    def advance_to(self, instant_ms: float) -> None:
        """Move to a later instant.

        Raises:
            EngineError: the instant has passed, or is no number.
        """
        if not instant_ms >= self._now_ms:
            raise EngineError(f"A virtual clock at {self._now_ms} ms cannot move to {instant_ms} ms.")
        self._now_ms = instant_ms


def nanoseconds(instant_ms: float) -> int:
    """A virtual instant in the unit of the records."""
    return round(instant_ms * 1e6)


@dataclass(frozen=True, slots=True)
class TargetCosts:
    """What a target charges, in milliseconds. A width without a cost cannot be run."""

    step_ms: float
    """One target-only step (its own entry point, not the K = 1 verification)."""
    verify_concurrent_ms: Mapping[int, float]
    """Verification by width K while the producer runs."""
    verify_idle_ms: Mapping[int, float]
    """Verification by width K when nothing runs beside it."""
    loop_ms: float = 0.0
    """The rest of a verification round; target-only steps do not pay it."""


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What one round of a native run took, from its boundary to the next, in milliseconds."""

    before_ms: float
    """From the boundary to the model call: alignment."""
    call_ms: float
    after_ms: float
    """From the model call to the next boundary."""


class ScriptedTarget:
    """A target whose greedy tokens are known: the reference.

    After a wrong candidate it answers EOS, so that a method that used a row behind a mismatch would
    end its output early.
    """

    def __init__(
        self, clock: VirtualClock, tokens: Sequence[int], eos: int, costs: TargetCosts | Sequence[RoundCost]
    ) -> None:
        """``tokens`` is the reference y[0..N-1]; a sequence of costs is charged round by round."""
        if not tokens:
            raise EngineError("A scripted target needs at least the token that prefill selected.")
        self._clock, self._tokens, self._eos, self._costs = clock, tuple(tokens), eos, costs
        self._kept = 0
        self._fed = 0
        self._round = 0
        self._boundary_ms = clock.now_ms

    @property
    def first_token(self) -> int:
        return self._tokens[0]

    @property
    def eos(self) -> int:
        return self._eos

    def step(self, root: int) -> Call:
        """One target-only step at its scalar cost."""
        if isinstance(self._costs, TargetCosts):
            return self._forward((root,), RoundCost(0.0, self._costs.step_ms, 0.0))
        return self._forward((root,), self._measured(self._costs))

    def verify(self, root: int, candidates: Sequence[int], source_running: bool) -> Call:
        """One verification at the cost of its width; the loop cost passes until ``keep``."""
        fed = (root, *candidates)
        costs = self._costs
        if not isinstance(costs, TargetCosts):
            return self._forward(fed, self._measured(costs))
        table = costs.verify_concurrent_ms if source_running else costs.verify_idle_ms
        width = len(fed)
        if width not in table:
            beside = "beside a running producer" if source_running else "alone"
            raise ProfileError(f"There is no cost for verification at width {width} {beside}; it cannot be replayed.")
        return self._forward(fed, RoundCost(0.0, table[width], costs.loop_ms))

    def keep(self, generated: int) -> None:
        """End the round: the cache holds the first ``generated`` output tokens."""
        if not 0 <= generated <= self._fed:
            raise EngineError(f"The cache holds {self._fed} generated tokens; {generated} cannot be kept.")
        self._kept = self._fed = generated
        self._clock.advance_to(self._boundary_ms)

    def _measured(self, costs: Sequence[RoundCost]) -> RoundCost:
        if self._round >= len(costs):
            raise EngineError(f"Round {self._round} has no measured cost: the run that was recorded is shorter.")
        self._round += 1
        return costs[self._round - 1]

    def _forward(self, fed: tuple[int, ...], cost: RoundCost) -> Call:
        position = self._kept
        expected = self._tokens[position] if position < len(self._tokens) else None
        if fed[0] != expected:
            raise EngineError(f"The known root at position {position} is {fed[0]}, but the output has {expected}.")
        start_ms = self._clock.now_ms
        # The same sum as in the kernel, where one entry of a table holds verification and loop.
        self._boundary_ms = start_ms + (cost.before_ms + cost.call_ms + cost.after_ms)
        self._clock.advance_to(start_ms + cost.before_ms)
        start_ns = self._clock.now_ns()
        self._clock.advance_to(min(start_ms + cost.before_ms + cost.call_ms, self._boundary_ms))
        greedy = []
        on_path = True
        for i, token in enumerate(fed):
            here, behind = position + i, position + i + 1
            on_path = on_path and here < len(self._tokens) and token == self._tokens[here]
            greedy.append(self._tokens[behind] if on_path and behind < len(self._tokens) else self._eos)
        self._fed = position + len(fed)
        return Call(tuple(greedy), start_ns, self._clock.now_ns(), len(fed))


class ScriptedSource:
    """A producer whose candidates and publication times are known. It never sees target state."""

    def __init__(
        self,
        clock: VirtualClock,
        candidates: Sequence[int],
        schedule: Schedule,
        confidences: Sequence[float | None] | None = None,
        publish_ms: float = 0.0,
        name: str = "drafter",
    ) -> None:
        if schedule.candidates != len(candidates):
            raise EngineError(f"A schedule publishes {schedule.candidates} candidates; there are {len(candidates)}.")
        if confidences is not None and len(confidences) != len(candidates):
            raise EngineError(f"There are {len(candidates)} candidates but {len(confidences)} confidences.")
        self._clock, self._candidates, self._schedule = clock, tuple(candidates), schedule
        self._confidences = None if confidences is None else tuple(confidences)
        self._publish_ms, self._name = publish_ms, name
        self._origin_ms = 0.0
        self._handed_out = 0
        self._running = False

    @property
    def running(self) -> bool:
        return self._running

    def start(self, now_ns: int) -> None:  # noqa: ARG002 - the clock itself is exacter
        """Let it run from the clock's present instant on."""
        self._origin_ms = self._clock.now_ms
        self._running = True

    def poll(self) -> list[Publication]:
        """Batches whose time has come; a publication at the very instant of a boundary is seen by it."""
        now_ms = self._clock.now_ms
        self._running = now_ms < self._origin_ms + self._schedule.producer_end_ms
        return self._take(now_ms)

    def stop(self, now_ns: int) -> Drain:  # noqa: ARG002 - the clock itself is exacter
        """Cancel: it stands still at its next operation boundary, or where it would have ended."""
        origin, schedule = self._origin_ms, self._schedule
        stopped_ms = drain_end(self._clock.now_ms - origin, schedule.producer_end_ms, schedule.operation_ms)
        self._clock.advance_to(max(origin + stopped_ms, self._clock.now_ms))
        self._running = False
        late = self._take(self._clock.now_ms)
        return Drain(tuple(late), tuple(self._spans(stopped_ms)), self._clock.now_ns())

    def _take(self, now_ms: float) -> list[Publication]:
        ends, times = self._schedule.batch_ends, self._schedule.batch_times_ms
        out = []
        while self._handed_out < len(ends) and self._origin_ms + times[self._handed_out] <= now_ms:
            i = self._handed_out
            chosen = slice(ends[i - 1] if i else 0, ends[i])
            out.append(
                Publication(
                    self._name,
                    chosen.start,
                    self._candidates[chosen],
                    None if self._confidences is None else self._confidences[chosen],
                    nanoseconds(self._origin_ms + times[i]),
                )
            )
            self._handed_out += 1
        return out

    def _spans(self, stopped_ms: float) -> list[Span]:
        """Service of the producer until it stood still: one draft and one publication per batch."""
        schedule = self._schedule
        spans: list[Span] = []
        free_from = 0.0

        def add(work: str, start_ms: float, end_ms: float, operations: int) -> None:
            start, end = (nanoseconds(self._origin_ms + min(ms, stopped_ms)) for ms in (start_ms, end_ms))
            if start < end:
                share = min(stopped_ms - start_ms, end_ms - start_ms) / (end_ms - start_ms)
                spans.append(Span("drafter", work, start, end, operations=round(operations * share)))

        forwards = 0
        for end, time_ms in zip(schedule.batch_ends, schedule.batch_times_ms, strict=True):
            # The last batch waits for the forward that finds EOS, unless it was full before.
            needed = end if time_ms == schedule.producer_end_ms else end - 1
            add("draft", free_from, time_ms - self._publish_ms, needed - forwards)
            add("publish", time_ms - self._publish_ms, time_ms, 1)
            free_from, forwards = time_ms, needed
        add("draft", free_from, schedule.producer_end_ms, schedule.candidates - forwards)
        return spans


Prefix = tuple[int, ...]
Prediction = tuple[int, float]


class ScriptedModel:
    """A drafter with a hand-kept cache whose next token is a function of the generated prefix.

    ``predict`` maps the tokens generated so far to the greedy next token and its probability; a
    table must hold every prefix that is asked for.
    """

    def __init__(
        self,
        clock: VirtualClock,
        predict: Callable[[Prefix], Prediction] | Mapping[Prefix, Prediction],
        eos: int,
        forward_ms: Callable[[int], float] | float,
    ) -> None:
        """``forward_ms`` is the cost of a forward, or a function of the number of fed tokens."""
        self._clock, self._predict, self._eos, self._forward_ms = clock, predict, eos, forward_ms
        self._cache: list[int] = []

    @property
    def eos(self) -> int:
        return self._eos

    @property
    def first(self) -> Prediction:
        return self._ask(())

    def forward(self, tokens: Sequence[int]) -> Rows:
        """Append tokens to the cache; the predictions after each of them."""
        if not tokens:
            raise EngineError("A forward needs at least one token.")
        start_ns = self._clock.now_ns()
        cost = self._forward_ms if isinstance(self._forward_ms, int | float) else self._forward_ms(len(tokens))
        self._clock.advance_to(self._clock.now_ms + cost)
        rows = []
        for token in tokens:
            self._cache.append(token)
            rows.append(self._ask(tuple(self._cache)))
        greedy, confidences = zip(*rows, strict=True)
        return Rows(greedy, confidences, start_ns, self._clock.now_ns())

    def keep(self, generated: int) -> None:
        """Keep the first ``generated`` tokens."""
        if not 0 <= generated <= len(self._cache):
            raise EngineError(f"The cache holds {len(self._cache)} tokens; {generated} cannot be kept.")
        del self._cache[generated:]

    def _ask(self, prefix: Prefix) -> Prediction:
        if callable(self._predict):
            return self._predict(prefix)
        if prefix not in self._predict:
            raise EngineError(f"The scripted drafter has no prediction after {list(prefix)}.")
        return self._predict[prefix]


@dataclass(slots=True)
class ListRecorder:
    """Keeps every event in memory, in the order it was recorded."""

    clock: VirtualClock
    cancel_after: int | None = None
    """Cancel when this many rounds have been asked about; ``None`` = never."""
    events: list[object] = field(default_factory=list)
    _asked: int = 0

    def now_ns(self) -> int:
        return self.clock.now_ns()

    def add(self, *events: object) -> None:
        self.events.extend(events)

    def cancelled(self) -> bool:
        self._asked += 1
        return self.cancel_after is not None and self._asked > self.cancel_after
