"""Random scripted calibrations and collections for both runners: the Python code itself on a virtual clock."""

import random
from dataclasses import dataclass, replace
from math import floor
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import numpy as np
from scripted_cases import EOS, _disturbed, _ms

from as2d_core import __version__
from as2d_core.calibration import measure
from as2d_core.collection import observe
from as2d_core.engines.padded import PaddedTarget, WidthPolicy
from as2d_core.engines.scripted import ListRecorder, ScriptedModel, ScriptedSource, VirtualClock, nanoseconds
from as2d_core.errors import As2dError, EngineError
from as2d_core.gates import Gates
from as2d_core.protocol import Writer
from as2d_core.records import SCHEMA_VERSION, Mark, RunHeader, Telemetry
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.runner import drafter_worker, gatekeeper, remote
from as2d_core.runner.gatekeeper import Gatekeeper
from as2d_core.runner.pipe_recorder import CancelledError

DRAFTER = "drafter"


@dataclass(frozen=True)
class OperationCase:
    """One operation, as both sides need it."""

    request: Request
    """Its options hold the script."""
    lines: list[str]
    """What Python records."""
    seed: int


class Model(ScriptedModel):
    """A scripted model that can verify, and remembers what it said; some widths fail, or say EOS."""

    def __init__(self, clock, predict, cost, fails_from=None, differs_from=None):
        self.asked = {}
        self.cost = cost
        self.fails_from, self.differs_from = fails_from or 10**9, differs_from or 10**9
        super().__init__(clock, self._remember(predict), EOS, cost)

    def _remember(self, predict):
        def asked(prefix):
            self.asked[prefix] = predict(prefix)
            return self.asked[prefix]

        return asked

    @property
    def generated(self):
        return len(self._cache)

    def greedy(self, tokens):
        if len(tokens) >= self.fails_from:
            raise EngineError(f"The scripted model does not run {len(tokens)} rows.")
        rows = self.forward(tokens)
        said = [EOS] * len(tokens) if len(tokens) >= self.differs_from else list(rows.greedy)
        return said, rows.start_ns, rows.end_ns

    def logits(self, _):
        return np.zeros((1, 4), np.float32)


class Process(remote.DrafterProcess):
    """The drafter process without a process: it works when its answer is asked for."""

    def __init__(self, clock, model):
        self.pipe, far = Pipe()
        self._server, self._far = drafter_worker._Server(far, model), far
        self._clock, self._model, self._busy_ms = clock, model, 0.0

    def receive(self, wanted, _):
        while self._far.poll():
            self._server.handle(*self._far.recv())
        message = self.pipe.recv()
        assert message[0] == wanted
        return message

    def restart(self):
        self._model.keep(0)
        self._server._branch.restart()

    def start_busy(self, _):
        self._busy_ms = self._clock.now_ms

    def stop_busy(self):
        """The forwards that fit beside the target."""
        cost = self._model.cost(1)
        return [nanoseconds(cost)] * floor((self._clock.now_ms - self._busy_ms) / cost)

    def close(self):
        self.pipe.close()
        self._far.close()


class Recorder(ListRecorder):
    """Sends nothing, so that there is nothing to be flushed."""

    def flush(self):
        pass


class Sensors:
    """Says what is known of an instant."""

    def __init__(self, clock, readings, possible):
        self._clock, self._readings, self._possible = clock, readings, possible

    def refresh(self, *, wait):
        assert wait

    def read(self):
        now = {}
        for reading in self._readings:
            if reading["from_s"] <= self._clock.now_ms / 1e3:
                now = dict(reading)
        now.pop("from_s", None)
        extra = {name: now.pop(name) for name in ("plugged", "ceiling_mhz") if name in now}
        return Telemetry(self._clock.now_ns(), **now, extra=extra)

    def possible(self):
        return self._possible

    def screen_on(self):
        return None


def make_operation(seed, name):
    """A random case; the same seed gives the same case."""
    chance = random.Random(f"{name} {seed}")
    clock = VirtualClock()
    vocabulary = chance.choice([3, 8, 300])
    body = [chance.randint(3, 2 + vocabulary) for _ in range(chance.randint(1, 14))]
    widths = sorted(chance.sample(range(1, 6), chance.randint(1, 4)))
    target, target_script = _model(chance, clock, body, 0.0, vocabulary, 0.0)
    # A fast drafter would leave thousands of lines beside a slow target.
    drafter, drafter_script = _model(chance, clock, body, chance.choice([0.05, 0.3]), vocabulary, 9.0)
    if name == "calibrate" and chance.random() < 0.4:
        target.fails_from = target_script["fails_from"] = widths[0] + chance.randint(0, 2)
    if name == "calibrate" and chance.random() < 0.3:
        target.differs_from = target_script["differs_from"] = chance.randint(1, 6)
    candidates = _disturbed(chance, body, vocabulary)
    draft_ms, publish_ms = _ms(chance), chance.choice([0.0, 0.25])
    schedule = autoregressive_schedule(len(candidates), chance.randint(1, 9), draft_ms, publish_ms)
    confidences = [chance.choice([0.1, 0.4, 0.9, 1.0]) for _ in candidates]
    source = {
        "candidates": candidates,
        "confidences": confidences,
        "batch_ends": list(schedule.batch_ends),
        "batch_times_ms": list(schedule.batch_times_ms),
        "producer_end_ms": schedule.producer_end_ms,
        "operation_ms": schedule.operation_ms,
        "publish_ms": publish_ms,
        "name": DRAFTER,
    }
    script: dict[str, Any] = {
        "clock": "virtual",
        "eos": EOS,
        "model": target_script,
        "widths": widths,
        "drafter": drafter_script,
        "source": source,
    }
    gates = None
    sensors = Sensors(clock, [], None)
    if chance.random() < 0.5:
        gates, script["sensors"] = _gates(chance)
        sensors = Sensors(clock, script["sensors"]["readings"], script["sensors"]["possible"])
    cancel_after = chance.randint(0, 60) if chance.random() < 0.15 else None
    if cancel_after is not None:
        script["cancel_after"] = cancel_after
    request = Request(
        f"{name}-{seed}",
        name,
        ModelRef("target"),
        AudioRef("audio.wav"),
        ModelRef("drafter", DRAFTER),
        threshold=chance.choice([None, 0.4]),
        draft_cap=chance.choice([None, 1, 5, 9]) if name == "collect" else None,
        max_tokens=chance.choice([3, 10, 320]),
        gates=gates,
        options=_options(chance) if name == "calibrate" else {},
    )
    process = Process(clock, drafter)
    own_time = SimpleNamespace(
        monotonic=lambda: clock.now_ms / 1e3, sleep=lambda seconds: clock.advance_to(clock.now_ms + seconds * 1e3)
    )

    def stands_in(*_):
        return ScriptedSource(clock, candidates, schedule, confidences, publish_ms, DRAFTER)

    patched = [
        (gatekeeper, "time", own_time),
        (gatekeeper, "now_ns", clock.now_ns),
        (drafter_worker, "now_ns", clock.now_ns),
        (measure, "RemoteSource", stands_in),
        (observe, "RemoteSource", stands_in),
        (observe, "time", own_time),
    ]
    before = [(module, what, getattr(module, what)) for module, what, _ in patched]
    try:
        for module, what, value in patched:
            setattr(module, what, value)
        events, ending = _operate(request, target, widths, process, sensors, clock, cancel_after)
    finally:
        for module, what, value in before:
            setattr(module, what, value)
        process.close()
    for model, own in ((target, target_script), (drafter, drafter_script)):
        own["predictions"] = [[list(prefix), *said] for prefix, said in model.asked.items()]
    request = replace(request, options={**request.options, "script": script})
    return OperationCase(request, _lines(request, events, ending), seed)


def _operate(request, target, widths, process, sensors, clock, cancel_after):
    recorder = Recorder(clock, cancel_after)

    def stop_if_cancelled():
        if recorder.cancelled():
            raise CancelledError

    def prepare():
        target.keep(0)
        process.restart()

    gate = Gatekeeper(request.gates, sensors, recorder.add, stop_if_cancelled)
    recorder.add(Mark("decode_start", 0, target.first[0]))
    try:
        policy = WidthPolicy(tuple(widths))
        if request.method == "collect":
            outcome = observe.collect(PaddedTarget(target, policy), process, request, recorder)
        else:
            outcome = measure.calibrate(target, policy, process, request, recorder, prepare, gate.wait)
    except CancelledError:
        return recorder.events, ("cancelled", 0, None)
    except As2dError as error:
        return recorder.events, ("failed", 0, str(error))
    recorder.add(Mark("eos", outcome.eos_ns), Mark("drained", outcome.end_ns))
    return recorder.events, (outcome.status, len(outcome.tokens), None)


def _lines(request, events, ending):
    lines = []
    writer = Writer(lines.append)
    writer.add(
        RunHeader(SCHEMA_VERSION, request.run_id, request, {}, {"as2d": __version__}, "virtual", "", "synthetic")
    )
    writer.add(Mark("request", 0))
    for event in events:
        writer.add(event)
    status, tokens, error = ending
    writer.end(status, tokens, error=error)
    return lines


def _model(chance, clock, body, error_rate, vocabulary, least_ms):
    tokens, seed = [*body, EOS], chance.random()
    any_ms = least_ms + _ms(chance)
    by_width = {width: least_ms + _ms(chance) for width in chance.sample(range(1, 9), 3)}

    def predict(prefix):
        own = random.Random(f"{seed} {prefix}")
        at = len(prefix)
        if own.random() < error_rate or prefix != tuple(tokens[:at]):
            token = own.choice([EOS, *range(3, 3 + min(vocabulary, 5))])
        else:
            token = tokens[at] if at < len(tokens) else EOS
        return token, own.choice([0.05, 0.4, 0.9, 1.0])

    model = Model(clock, predict, lambda rows: by_width.get(rows, any_ms))
    return model, {"forward_ms": {"any": any_ms, "by_width": {str(w): ms for w, ms in by_width.items()}}}


def _options(chance):
    options = {
        "repetitions": chance.randint(1, 2),
        "max_width": chance.randint(2, 6),
        "episodes": chance.randint(0, 2),
        "seed": chance.choice([0, 1, 20260915, 2**31]),
        "offsets_tokens": chance.choice([[0], [5, 0], [3]]),
        "profile": "p",
    }
    if chance.random() < 0.3:
        names = ["step@0", "verify.1@0", "verify.2@0+", "draft", "paired", "refresh.3", "episode sd", "episode as2d"]
        options["done"] = {name: chance.randint(0, 4) for name in chance.sample(names, 4)}
    kept = chance.sample(sorted(options), chance.randint(4, len(options)))
    options = {name: options[name] for name in kept}
    # The defaults are those of a real calibration, which is long.
    options = {"max_width": 3, "repetitions": 1, "episodes": 1, "offsets_tokens": [0], **options}
    if chance.random() < 0.1:
        options |= chance.choice(
            [{"speed": 9}, {"repetitions": 0}, {"offsets_tokens": [513]}, {"done": {"draft": -1}}, {"profile": 1}]
        )
    return options


def _gates(chance):
    possible = chance.choice([[0, 1, 2, 3], list(range(10)), []])
    readings = []
    for at in sorted({0.0, *(chance.choice([3.0, 12.5, 16.0, 70.0]) for _ in range(3))}):
        values = {
            "online_mask": chance.choice([0b1111, 0b0101, 0b1111111111, 0b1111111111]),
            "battery_temperature_c": chance.choice([31.0, 39.96, 40.05]),
            "thermal_status": chance.choice([0, 0, 0, 1, 2, 9]),
            "charging": chance.choice([True, False]),
            "plugged": chance.choice([True, False]),
            "ceiling_mhz": chance.choice([[1800.0, None, 2841.6], [1401.6, 2400.5], [None, 1881.6]]),
        }
        readings.append({"from_s": at, **{name: v for name, v in values.items() if chance.random() < 0.7}})
    gates = Gates(
        rest_s=chance.choice([0.0, 0.5, 15.0]),
        checks=chance.randint(1, 3),
        check_gap_s=chance.choice([0.0, 0.3, 5.0]),
        all_cores=chance.random() < 0.8,
        ceiling_mhz=chance.choice([None, 1881.6, 2500.0]),
        ceiling_core=chance.choice([None, 0, 1, 2, 7]),
        max_battery_c=chance.choice([None, 40.0, 39.9]),
        max_thermal_status=chance.choice([None, 0, 1]),
        patience_s=chance.choice([0.0, 0.7, 9.0]),
    )
    return gates, {"possible": possible, "readings": readings}
