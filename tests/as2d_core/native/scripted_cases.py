"""Random scripted runs for the Python methods and the native runner: same request, same script, same clock."""

import random
from dataclasses import dataclass, replace
from typing import Any

from as2d_core.engines import scripted_run
from as2d_core.engines.base import Drain
from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import (
    ListRecorder,
    RoundCost,
    ScriptedModel,
    ScriptedSource,
    ScriptedTarget,
    TargetCosts,
    VirtualClock,
)
from as2d_core.errors import As2dError, DrafterLostError
from as2d_core.replay.schedule import Schedule, autoregressive_schedule, chunk_schedule, drain_end
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.width_rule import WidthRule

EOS = 2
LAST_WORDS = "The drafter process ended during the run: it was killed, “somehow” (SIGKILL)."


@dataclass(frozen=True)
class ScriptedCase:
    """One run, as both sides need it."""

    request: Request
    """Its options hold the script."""
    lines: tuple[str, ...] | None
    """What Python records; ``None`` when it refuses to run."""
    error: str | None
    seed: int


class MortalSource(ScriptedSource):
    """A source that dies at a known instant; what would have come from then on never comes."""

    def __init__(self, *args: Any, dies_ms: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dies_ms = dies_ms

    @property
    def _dead(self):
        return self._clock.now_ms >= self._origin_ms + self._dies_ms

    def poll(self):
        batches = super().poll()
        if self._dead and not batches:
            raise DrafterLostError(LAST_WORDS)
        return batches

    def stop(self, now_ns):
        schedule = self._schedule
        stopped_ms = drain_end(self._clock.now_ms - self._origin_ms, schedule.producer_end_ms, schedule.operation_ms)
        if not self._dead:
            return super().stop(now_ns)
        stopped_ms = min(stopped_ms, self._dies_ms)
        late = self._take(self._clock.now_ms)
        return Drain(tuple(late), tuple(self._spans(stopped_ms)), self._clock.now_ns())

    def _take(self, now_ms):
        return super()._take(min(now_ms, self._origin_ms + self._dies_ms))


def make_case(seed: int, method: str | None = None) -> ScriptedCase:
    """A random case; the same seed gives the same case."""
    chance = random.Random(seed)
    name = method or chance.choice(["as2d", "as2d", "as2d", "specasr", "specasr", "sd", "target-only"])
    vocabulary = chance.choice([2, 3, 6, 40])
    body = [chance.randint(3, 2 + vocabulary) for _ in range(chance.randint(0, chance.choice([3, 12, 50])))]
    tokens = [*body, EOS]
    request = Request(
        f"case {seed} “é”" if seed % 7 == 0 else f"case-{seed}",
        name,
        ModelRef("target"),
        AudioRef("audio.wav", window_id=chance.choice([None, "w1"]), view_start_s=chance.choice([0.0, 1.5, 1e-7])),
        None if name == "target-only" else ModelRef("drafter"),
        budget=chance.choice([0, 1, 2, 3, 5, 8, 15]) if name == "as2d" else None,
        width=chance.randint(2, 9) if name == "sd" else None,
        draft_cap=chance.randint(1, 12) if name == "specasr" else None,
        threshold=chance.choice([None, 0, 0.0, 0.4, 0.4, 0.4, 0.7, 1]),
        search_window=chance.choice([0, 1, 2, 2, 3, 3, 16, 16, 10**12]),
        max_tokens=chance.choice([2, 3, 10, 30, 320, 320]),
        width_rule=_width_rule(chance) if name == "as2d" and chance.random() < 0.25 else None,
    )
    costs = _costs(chance)
    script: dict[str, Any] = {"clock": "virtual", "eos": EOS, "target": tokens, "costs": costs[1]}
    cancel_after = chance.randint(0, 12) if chance.random() < 0.1 else None
    if cancel_after is not None:
        script["cancel_after"] = cancel_after
    clock = VirtualClock()
    proposer: Any = None
    asked: dict[tuple[int, ...], tuple[int, float]] = {}
    if name == "as2d":
        proposer, script["source"] = _source(chance, clock, body, vocabulary)
    elif name != "target-only":
        any_ms, by_width = _ms(chance), {width: _ms(chance) for width in chance.sample(range(1, 9), 3)}
        proposer = BranchDrafter(
            ScriptedModel(clock, _predictor(seed, tokens, vocabulary, asked), EOS, lambda n: by_width.get(n, any_ms))
        )
        script["drafter"] = {"forward_ms": {"any": any_ms, "by_width": {str(w): ms for w, ms in by_width.items()}}}
    # The options are one object for Python's record and for the script: the predictions that Python asked for are
    # filled in behind its run, and its header is written then.
    options = {"script": script}
    request = replace(request, options=options)
    lines, error = _run(request, ScriptedTarget(clock, tokens, EOS, costs[0]), proposer, clock, cancel_after, asked)
    return ScriptedCase(request, lines, error, seed)


def _run(request, target, proposer, clock, cancel_after, asked):
    script = request.options["script"]

    def recorder(own_clock):
        return ListRecorder(own_clock, cancel_after)

    def decide(*args):
        try:
            return known(*args)
        finally:
            if "drafter" in script:
                script["drafter"]["predictions"] = [[list(p), *answer] for p, answer in asked.items()]

    known = scripted_run.method(request.method)
    own = {"ListRecorder": recorder, "method": lambda _: decide}
    before = {name: getattr(scripted_run, name) for name in own}
    try:
        for name, value in own.items():
            setattr(scripted_run, name, value)
        run = scripted_run.run_virtually(request, target, proposer, clock, scripted_run.RunFacts(source="synthetic"))
    except As2dError as error:
        return None, str(error)
    finally:
        for name, value in before.items():
            setattr(scripted_run, name, value)
    return run.lines, None


def _ms(chance):
    """A cost; every second one is exact in floating point, so that instants coincide."""
    return chance.randint(1, 640) / 64 if chance.random() < 0.5 else chance.uniform(0.01, 90.0)


def _costs(chance):
    if chance.random() < 0.15:
        rounds = [
            [chance.uniform(0, 1), _ms(chance), chance.choice([0.0, chance.uniform(0, 1)])]
            for _ in range(chance.choice([3, 60]))
        ]
        return [RoundCost(*r) for r in rounds], {"rounds": rounds}
    widest = chance.choice([3, 17, 17, 17, 17])  # with few widths some rounds have no cost, and cannot be run
    idle = {width: _ms(chance) for width in range(1, widest + 1)}
    concurrent = {width: _ms(chance) for width in range(1, widest + 1)}
    step_ms, loop_ms = _ms(chance), chance.choice([0.0, 0.125, chance.uniform(0, 3)])
    script = {
        "step_ms": step_ms,
        "verify_concurrent_ms": {str(w): ms for w, ms in concurrent.items()},
        "verify_idle_ms": {str(w): ms for w, ms in idle.items()},
        "loop_ms": loop_ms,
    }
    return TargetCosts(step_ms, concurrent, idle, loop_ms), script


def _width_rule(chance):
    size = chance.choice([4, 16])
    return WidthRule(
        tuple(chance.randint(0, m) for m in range(size)), tuple(chance.randint(0, m) for m in range(size)), "rule"
    )


def _disturbed(chance, body, vocabulary):
    """Nearly what the target says: tokens left out, put in, exchanged."""
    rate = chance.choice([0.0, 0.1, 0.3, 0.9])
    out = []
    for token in body:
        if chance.random() >= rate:
            out.append(token)
            continue
        what = chance.randrange(4)
        if what == 0:
            out.append(chance.randint(3, 2 + vocabulary))
        elif what == 1:
            out += [chance.randint(3, 2 + vocabulary), token]
        elif what == 2:
            out += [*(chance.randint(3, 2 + vocabulary) for _ in range(chance.randint(2, 4))), token]
    return out + [chance.randint(3, 2 + vocabulary) for _ in range(chance.choice([0, 0, 5]))]


def _source(chance, clock, body, vocabulary):
    candidates = _disturbed(chance, body, vocabulary)
    confidences = None
    if chance.random() < 0.8:
        confidences = [chance.choice([None, 0.1, 0.39999999999999997, 0.4, 0.9, 1.0]) for _ in candidates]
    publish_ms = chance.choice([0.0, 0.25, chance.uniform(0, 2)])
    draft_ms = chance.choice([0.0, 1e-05, _ms(chance), _ms(chance) / 4])
    if chance.random() < 0.7:
        schedule = autoregressive_schedule(len(candidates), chance.randint(1, 9), draft_ms, publish_ms)
    else:
        ends = sorted(chance.randint(0, len(candidates)) for _ in range(3))
        times = sorted(_ms(chance) for _ in range(4))
        schedule = chunk_schedule([*ends, len(candidates)], times, draft_ms)
    name = chance.choice(["drafter", "ctc ‘x’"])
    script = {
        "candidates": candidates,
        "confidences": confidences,
        "batch_ends": list(schedule.batch_ends),
        "batch_times_ms": list(schedule.batch_times_ms),
        "producer_end_ms": schedule.producer_end_ms,
        "operation_ms": schedule.operation_ms,
        "publish_ms": publish_ms,
        "name": name,
    }
    arguments = (clock, candidates, Schedule(*_fields(schedule)), confidences, publish_ms, name)
    if chance.random() < 0.1:
        dies_ms = _ms(chance) * 2
        return MortalSource(*arguments, dies_ms=dies_ms), {**script, "dies_ms": dies_ms, "last_words": LAST_WORDS}
    return ScriptedSource(*arguments), script


def _fields(schedule):
    return schedule.batch_ends, schedule.batch_times_ms, schedule.producer_end_ms, schedule.operation_ms


def _predictor(seed, tokens, vocabulary, asked):
    """A drafter that is near the target: off the path it runs late or early, and finds back. Remembers what it said."""
    error_rate = random.Random(seed).choice([0.05, 0.3, 0.7])

    def predict(prefix):
        chance = random.Random(f"{seed} {prefix}")
        at = len(prefix)
        if prefix and at <= len(tokens) and prefix[-1] != tokens[at - 1]:
            at += chance.choice([-1, 0, 0, 1])
        if chance.random() < error_rate or not 0 <= at < len(tokens):
            token = chance.choice([EOS, *range(3, 3 + vocabulary)])
        else:
            token = tokens[at]
        answer = (token, chance.choice([0.05, 0.39, 0.4, 0.9, 0.95, 1.0]))
        asked[prefix] = answer
        return answer

    return predict
