"""A producer that dies never changes the output, and its run is never taken for a measurement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.engines.base import Drain
from as2d_core.engines.scripted import ListRecorder, ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.errors import DrafterLostError
from as2d_core.methods.as2d import decode
from as2d_core.records import Publication, Round
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request

EOS = 2
COSTS = TargetCosts(50.0, {k: 60.0 + 8 * k for k in range(1, 30)}, {k: 50.0 + 8 * k for k in range(1, 30)}, 10.0)
REASON = "The drafter process ended during the run: it was killed."
REFERENCE = [*range(10, 40), EOS]


class MortalSource(ScriptedSource):
    """Dies at its ``dies_at``-th operation: 0 is the start, then every poll; ``None`` = in the drain."""

    def __init__(self, clock, dies_at):
        tokens = REFERENCE[:-1]
        super().__init__(clock, tokens, autoregressive_schedule(len(tokens), 4, 20.0, 1.0))
        self._dies_at = dies_at
        self._operations = 0
        self.dead = False

    def _live(self):
        if self._operations == self._dies_at:
            self.dead = True
            raise DrafterLostError(REASON)
        self._operations += 1

    def start(self, now_ns):
        self._live()
        super().start(now_ns)

    def poll(self):
        assert not self.dead, "nobody asks a dead producer"
        self._live()
        return super().poll()

    def stop(self, now_ns):
        if self._dies_at is None or self.dead:
            return Drain((), (), now_ns, None if self.dead else REASON)
        return super().stop(now_ns)


def run(dies_at, cancel_after=None, **fields):
    clock = VirtualClock()
    recorder = ListRecorder(clock, cancel_after)
    request = Request("run", "as2d", ModelRef("target"), AudioRef("audio"), budget=fields.pop("budget", 4), **fields)
    source = MortalSource(clock, dies_at)
    outcome = decode(ScriptedTarget(clock, REFERENCE, EOS, COSTS), source, request, recorder)
    return outcome, recorder


@pytest.mark.parametrize("dies_at", [0, 1, 2, 3, 5, 8, None])
def test_the_output_is_exact_whenever_the_producer_dies(dies_at):
    assert list(run(dies_at)[0].tokens) == REFERENCE


@pytest.mark.parametrize("dies_at", [0, 1, 2, 3, 5, 8, None])
def test_a_run_whose_producer_died_is_failed_with_the_reason(dies_at):
    outcome, _ = run(dies_at)
    assert (outcome.status, outcome.error) == ("failed", REASON)


@given(st.integers(1, 9))
def test_a_dead_producer_is_not_reported_as_running(dies_at):
    _, recorder = run(dies_at)
    rounds = [event for event in recorder.events if isinstance(event, Round)]
    assert not any(item.source_running for item in rounds[dies_at - 1 :])


@given(st.integers(2, 9))
def test_what_a_producer_published_before_it_died_is_still_used(dies_at):
    _, recorder = run(dies_at, budget=2)
    published = sum(len(e.tokens) for e in recorder.events if isinstance(e, Publication))
    used = max(e.cursor_after for e in recorder.events if isinstance(e, Round))
    assert published - 1 <= used <= published


def test_a_cancelled_run_stays_cancelled_when_its_producer_had_died():
    assert run(2, cancel_after=5)[0].status == "cancelled"


def test_nothing_is_drained_at_the_end_when_the_producer_has_died():
    outcome, _ = run(3)
    assert outcome.end_ns == outcome.eos_ns
