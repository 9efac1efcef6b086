"""Random and fixed inputs that the replay tests share."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from as2d_core.engines.scripted import ScriptedSource, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.engines.scripted_run import run_virtually
from as2d_core.profiles import Profile
from as2d_core.replay.schedule import Schedule, autoregressive_schedule, chunk_schedule
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet, WindowTrajectory
from as2d_core.request import AudioRef, ModelRef, Request

EOS = 2
MAX_WIDTH = 12

dyadic_ms = st.integers(1, 64 * 80).map(lambda n: n / 64)
"""Costs whose sums and small fractions are exact in floating point, so that ties stay ties."""


@dataclass(frozen=True)
class Case:
    """One window, one source, one set of costs."""

    tokens: list[int]
    candidates: list[int]
    confidences: list[float | None] | None
    schedule: Schedule
    concurrent_ms: dict[int, float]
    idle_ms: dict[int, float]
    loop_ms: float
    budget: int
    search_window: int
    cap: int
    publish_ms: float = 0.0

    @property
    def low(self):
        if self.confidences is None:
            return [False] * len(self.candidates)
        return [c is not None and c < 0.4 for c in self.confidences]

    def arrays(self):
        concurrent = np.full(max(self.concurrent_ms) + 1, np.nan)
        idle = np.full(max(self.idle_ms) + 1, np.nan)
        for array, costs in ((concurrent, self.concurrent_ms), (idle, self.idle_ms)):
            for width, cost in costs.items():
                array[width] = cost + self.loop_ms
        return concurrent, idle

    def kernel(self, **changes):
        from as2d_core.replay.kernel import replay_as2d

        concurrent, idle = self.arrays()
        values = {
            "target_tokens": self.tokens,
            "candidates": self.candidates,
            "low_confidence": self.low,
            "batch_ends": self.schedule.batch_ends,
            "batch_times_ms": self.schedule.batch_times_ms,
            "producer_end_ms": self.schedule.producer_end_ms,
            "operation_ms": self.schedule.operation_ms,
            "budget": self.budget,
            "verify_concurrent_ms": concurrent,
            "verify_idle_ms": idle,
            "search_window": self.search_window,
            "output_cap": self.cap,
        }
        return replay_as2d(**{**values, **changes})

    def method(self):
        """The same case through the decoding method on the virtual clock."""
        clock = VirtualClock()
        costs = TargetCosts(1.0, self.concurrent_ms, self.idle_ms, self.loop_ms)
        target = ScriptedTarget(clock, self.tokens, EOS, costs)
        source = ScriptedSource(clock, self.candidates, self.schedule, self.confidences, self.publish_ms)
        request = Request(
            "run",
            "as2d",
            ModelRef("target"),
            AudioRef("audio"),
            budget=self.budget,
            search_window=self.search_window,
            max_tokens=self.cap,
        )
        return run_virtually(request, target, source, clock)


@st.composite
def bodies(draw, max_tokens=60):
    """Outputs without EOS over a small vocabulary, so that tokens repeat and alignment has work."""
    length = draw(st.integers(0, max_tokens))
    vocabulary = draw(st.sampled_from([2, 5, 200]))
    chance = draw(st.randoms(use_true_random=False))
    return [chance.randint(3, 3 + vocabulary) for _ in range(length)]


@st.composite
def disturbed(draw, tokens):
    """A source that follows ``tokens`` with substitutions, omissions and insertions, or not at all."""
    rate = draw(st.sampled_from([0.0, 0.05, 0.2, 0.6, 1.0]))
    chance = draw(st.randoms(use_true_random=False))
    out = []
    for token in tokens:
        kind = chance.choice("rdi") if chance.random() < rate else "s"
        if kind in "ri":
            out.append(chance.randint(3, 8))
        if kind in "si":
            out.append(token)
    return out


@st.composite
def width_costs(draw, widths=MAX_WIDTH):
    return {k: draw(dyadic_ms) for k in range(1, widths + 1)}


@st.composite
def cases(draw):
    body = draw(bodies())
    capped = draw(st.booleans()) and body
    tokens = body if capped else [*body, EOS]
    cap = len(tokens) if capped else len(tokens) + draw(st.integers(0, 30))
    candidates = draw(disturbed(body))
    confidences = draw(st.none() | st.just("some"))
    if confidences is not None:
        chance = draw(st.randoms(use_true_random=False))
        confidences = [chance.choice([None, 0.1, 0.39, 0.4, 0.9, 0.9, 0.9]) for _ in candidates]
    publish_ms = draw(st.sampled_from([0.0, 0.5, 3.0]))
    if draw(st.booleans()):
        draft_ms = draw(dyadic_ms) / draw(st.sampled_from([1, 4, 16]))
        schedule = autoregressive_schedule(len(candidates), draw(st.integers(1, 9)), draft_ms, publish_ms)
    else:
        publish_ms = 0.0
        ends = [*sorted(draw(st.lists(st.integers(0, len(candidates)), max_size=5))), len(candidates)]
        step = draw(dyadic_ms)
        schedule = chunk_schedule(ends, [step * (i + 1) for i in range(len(ends))], step)
    return Case(
        tokens,
        candidates,
        confidences,
        schedule,
        draw(width_costs()),
        draw(width_costs()),
        draw(dyadic_ms | st.just(0.0)),
        draw(st.integers(0, MAX_WIDTH - 1)),
        draw(st.integers(0, 20)),
        cap,
        publish_ms,
    )


def profile(widths=9, **changes):
    """A small profile: costs rise with the width, a concurrent round costs a little more."""
    values = {
        "id": "here",
        "name": "This computer",
        "kind": "measured",
        "target_step_ms": 50.0,
        "verify_idle_ms": {k: 46.0 + 4.0 * k for k in range(1, widths + 1)},
        "verify_concurrent_ms": {k: 47.0 + 4.0 * k for k in range(1, widths + 1)},
        "loop_ms": 5.0,
        "draft_serial_ms": 15.0,
        "draft_overlapped_ms": 16.0,
        "publish_ms": 0.5,
    }
    return Profile(**{**values, **changes})


def window(name="w0", tokens=(5, 6, 7, 8, 9, EOS), candidates=None, **changes):
    """One window with one drafter, "small"."""
    tokens = tuple(tokens)
    values = {
        "window_id": name,
        "group": "read",
        "language": "en",
        "task": "transcribe",
        "duration_s": 3.0,
        "audio_sha256": f"hash-{name}",
        "split": "test",
        "instruction": "transcribe the speech.",
        "target_tokens": tokens,
        "target_capped": False,
        "target_text": "",
        "drafters": (
            DrafterTrajectory(
                "small", tuple(tokens[:-1] if candidates is None else candidates), agrees=(True,) * len(tokens)
            ),
        ),
    }
    return WindowTrajectory(**{**values, **changes})


def corpus(*windows, **changes):
    values = {"id": "few", "label": "measured", "eos": EOS, "output_cap": 320, "windows": windows or (window(),)}
    return TrajectorySet(**{**values, **changes})


@st.composite
def corpora(draw, drafters=("small", "tiny"), splits=("test",)):
    """Sets of a few windows with disturbed drafters."""
    windows = []
    for i in range(draw(st.integers(1, 5))):
        body = draw(bodies(30))
        tokens = (*body, EOS)
        trajectories = []
        for name in drafters:
            candidates = tuple(draw(disturbed(body)))
            trajectories.append(
                DrafterTrajectory(
                    name,
                    candidates,
                    tuple(draw(st.sampled_from([0.2, 0.9])) for _ in candidates),
                    agrees=tuple(draw(st.booleans()) for _ in tokens),
                )
            )
        split = draw(st.sampled_from(splits))
        windows.append(window(f"w{i}", tokens, split=split, drafters=tuple(trajectories)))
    return corpus(*windows)
