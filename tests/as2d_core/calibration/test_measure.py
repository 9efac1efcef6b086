"""The sweep itself, on models whose calls take no time: order, resuming, and a width that fails."""

import pytest

from as2d_core.calibration.measure import calibrate
from as2d_core.calibration.plan import REFRESH_WIDTHS, cells, failed_width, plan_from, turns_done
from as2d_core.engines.padded import WidthPolicy
from as2d_core.errors import EngineError
from as2d_core.operation_records import Sample
from as2d_core.records import End, Mark, RunHeader, RunRecord
from as2d_core.request import AudioRef, ModelRef, Request

OPTIONS = {"repetitions": 2, "episodes": 0, "max_width": 6, "offsets_tokens": [0, 4]}


class Model:
    """Says n + 1 after n; fails at every width from ``broken`` on."""

    eos = -1

    def __init__(self, broken=99, liar=99):
        self.cache, self.broken, self.liar = [], broken, liar
        self.calls = []
        self.now = 0

    @property
    def first(self):
        return 10, 1.0

    @property
    def generated(self):
        return len(self.cache)

    def keep(self, generated):
        assert generated <= len(self.cache)
        del self.cache[generated:]

    def greedy(self, tokens):
        if len(tokens) >= self.broken:
            raise EngineError(f"logits of shape [1, 1, 9] for {len(tokens)} tokens")
        self.calls.append((len(tokens), len(self.cache)))
        self.cache += tokens
        start, self.now = self.now, self.now + 1000 * len(tokens)
        lies = len(tokens) >= self.liar
        return [0 if lies else token + 1 for token in tokens], start, self.now


class Drafter:
    """A drafter process without a process."""

    def __init__(self):
        self.busy = False

    def start_busy(self, _):
        self.busy = True

    def stop_busy(self):
        self.busy = False
        return [5, 6]

    def timing(self, rows, _offset, repetitions):
        return [rows] * repetitions

    def confidence(self, repetitions):
        return [3] * repetitions


class Recorder:
    """Keeps events; asks to stop after a number of samples."""

    def __init__(self, stop_after=10**9):
        self.events, self.stop_after = [], stop_after
        self.gates = []

    def now_ns(self):
        return len(self.events)

    def add(self, *events):
        self.events += events

    def flush(self):
        pass

    def cancelled(self):
        return len(self.samples) >= self.stop_after

    @property
    def samples(self):
        return [e for e in self.events if isinstance(e, Sample)]


def measure(recorder=None, model=None, **options):
    recorder, model = recorder or Recorder(), model or Model()
    request = Request("r", "calibrate", ModelRef("t"), AudioRef("a"), options={**OPTIONS, **options})
    policy = WidthPolicy((2, 3, 4, 5, 6))
    outcome = calibrate(model, policy, Drafter(), request, recorder, lambda: model.keep(0), recorder.gates.append)
    return outcome, recorder, model


def test_every_cell_gets_its_warm_up_and_its_turns():
    outcome, recorder, _ = measure()
    assert outcome.status == "eos"
    assert turns_done(recorder.samples) == dict(cells(plan_from(OPTIONS)))


def test_each_width_is_computed_with_as_many_rows_at_its_offset_and_stands_where_it_stood():
    _, recorder, model = measure()
    wanted = {(width, offset) for width in range(1, 7) for offset in (0, 4)}
    assert wanted <= set(model.calls)
    assert all(s.extra["physical"] == s.width for s in recorder.samples if s.name == "verify")


def test_the_widths_of_a_sweep_come_in_another_order_each_time():
    _, recorder, _ = measure(repetitions=4)
    orders = {
        tuple(s.width for s in recorder.samples if s.name == "verify" and (s.repetition, s.offset_tokens) == (turn, 0))
        for turn in range(4)
    }
    assert len(orders) > 2


def test_idle_and_concurrent_sweeps_take_turns_in_alternating_order():
    _, recorder, _ = measure()
    first = [s.running for s in recorder.samples if s.name == "verify"][:1]
    by_turn = {}
    for s in recorder.samples:
        if s.name == "verify":
            by_turn.setdefault((s.repetition, s.warm_up), s.running)
    assert first == [False]
    assert list(by_turn.values()) == [False, True, False]


def test_a_gate_stands_before_every_sweep_and_the_drafter():
    _, recorder, _ = measure()
    assert len(recorder.gates) == 3 * 3


def test_what_was_measured_before_an_interruption_is_not_measured_again():
    outcome, first, _ = measure(Recorder(stop_after=40))
    assert outcome.status == "cancelled"
    done = turns_done(first.samples)
    _, second, _ = measure(done=done)
    both = [*first.samples, *second.samples]
    assert turns_done(both) == turns_done(second.samples, done) == dict(cells(plan_from(OPTIONS)))
    single = [
        (s.name, s.width, s.offset_tokens, s.running, s.repetition, s.warm_up) for s in both if s.name == "verify"
    ]
    assert len(single) == len(set(single))


def test_a_plan_that_is_done_measures_nothing_and_waits_at_no_gate():
    outcome, recorder, model = measure(done=dict(cells(plan_from(OPTIONS))))
    assert outcome.status == "eos"
    assert (recorder.samples, recorder.gates, model.calls) == ([], [], [])


def test_the_first_width_that_fails_is_kept_as_failed_and_ends_the_widths():
    outcome, recorder, _ = measure(model=Model(broken=5))
    assert outcome.status == "eos"
    measured = {s.width for s in recorder.samples if s.name == "verify" and "failed" not in s.extra}
    assert measured == {1, 2, 3, 4}
    run = RunRecord(RunHeader(1, "r", Request("r", "calibrate", ModelRef("t"), AudioRef("a")), {}, {}, "virtual"))
    for event in recorder.events:
        run.add(event)
    run.end = End("eos", 1, {}, "")
    found = failed_width([run])
    assert found.width == 5
    assert "shape" in found.reason


def test_a_width_is_named_before_it_is_tried():
    _, recorder, _ = measure(model=Model(broken=5))
    assert [e.name for e in recorder.events if isinstance(e, Mark)] == [f"trying width {n}" for n in range(1, 6)]


def test_a_model_that_cannot_even_take_one_token_is_an_error():
    with pytest.raises(EngineError):
        measure(model=Model(broken=1))


def test_rows_that_differ_from_single_steps_are_counted_by_width():
    _, recorder, _ = measure(model=Model(liar=4))
    differing = {s.width: s.extra["differing_rows"] for s in recorder.samples if s.name == "verify"}
    assert differing == {1: 0, 2: 0, 3: 0, 4: 4, 5: 5, 6: 6}


def test_the_drafter_is_measured_alone_in_every_operation():
    _, recorder, _ = measure()
    alone = {(s.name, s.width) for s in recorder.samples if not s.running and s.name not in ("verify", "step")}
    assert alone == {("draft", None), ("paired", None), ("confidence", None), *(("refresh", w) for w in REFRESH_WIDTHS)}
    paired = [s.value_ns for s in recorder.samples if s.name == "paired"]
    assert set(paired) == {2}
