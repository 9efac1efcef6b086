"""Sets and costs that the tests of all methods together share."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from replay_cases import EOS, bodies, corpus, disturbed, dyadic_ms, profile, width_costs, window

from as2d_core.profiles.profile import ChunkCosts
from as2d_core.replay.branches import ErrorChannel
from as2d_core.replay.windows import DrafterTrajectory


@st.composite
def channel_drafters(draw, body, name="small"):
    """A made-up drafter that every method can run with."""
    count = len(body) + 1
    chance = draw(st.randoms(use_true_random=False))
    rate = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    candidates = tuple(draw(disturbed(body)))
    return DrafterTrajectory(
        name,
        candidates,
        tuple(chance.choice([0.2, 0.9, 0.9]) for _ in candidates),
        batch_tokens=draw(st.integers(1, 9)),
        agrees=tuple(chance.random() >= rate for _ in range(count)),
        prefix_confidences=tuple(chance.choice([0.2, 0.9, 0.9, 0.9]) for _ in range(count)),
        error_channel=ErrorChannel(
            tuple(chance.randint(0, 4) for _ in range(count)), tuple(chance.randint(0, 4) for _ in range(count))
        ),
    )


@st.composite
def chunk_drafters(draw, body, name="ctc"):
    """A source that publishes chunk by chunk, without confidences."""
    candidates = tuple(draw(disturbed(body)))
    ends = sorted(draw(st.lists(st.integers(0, len(candidates)), max_size=4)))
    return DrafterTrajectory(name, candidates, chunk_ends=(*ends, len(candidates)))


@st.composite
def method_corpora(draw, splits=("test",), max_tokens=25):
    """Sets of a few windows with an autoregressive and a chunk source."""
    windows = []
    for i in range(draw(st.integers(1, 4))):
        body = draw(bodies(max_tokens))
        drafters = (draw(channel_drafters(body)), draw(chunk_drafters(body)))
        windows.append(window(f"w{i}", (*body, EOS), split=draw(st.sampled_from(splits)), drafters=drafters))
    return corpus(*windows)


@st.composite
def method_profiles(draw, widths=9):
    """Costs whose sums and halves are exact in floating point; every method can be priced."""
    return profile(
        widths,
        target_step_ms=draw(dyadic_ms),
        verify_idle_ms=draw(width_costs(widths)),
        verify_concurrent_ms=draw(width_costs(widths)),
        loop_ms=draw(dyadic_ms | st.just(0.0)),
        draft_serial_ms=draw(dyadic_ms),
        draft_overlapped_ms=draw(dyadic_ms),
        publish_ms=draw(dyadic_ms | st.just(0.0)),
        paired_forward_ms=draw(dyadic_ms),
        confidence_row_ms=draw(dyadic_ms | st.just(0.0)),
        refresh_base_ms=draw(dyadic_ms | st.just(0.0)),
        refresh_token_ms=draw(dyadic_ms),
        chunk_sources={"ctc": ChunkCosts(draw(dyadic_ms), draw(dyadic_ms | st.just(0.0)))},
        deployed_budget=5,
        asp_cap=8,
        search_max_budget=8,
    )


def scaled(costs, factor):
    """Every cost of a profile times a factor."""
    single = (
        "target_step_ms",
        "loop_ms",
        "draft_serial_ms",
        "draft_overlapped_ms",
        "publish_ms",
        "paired_forward_ms",
        "confidence_row_ms",
        "refresh_base_ms",
        "refresh_token_ms",
    )
    return replace(
        costs,
        **{name: getattr(costs, name) * factor for name in single},
        verify_idle_ms={k: cost * factor for k, cost in costs.verify_idle_ms.items()},
        verify_concurrent_ms={k: cost * factor for k, cost in costs.verify_concurrent_ms.items()},
        chunk_sources={
            name: ChunkCosts(own.chunk_ms * factor, own.convert_ms * factor)
            for name, own in costs.chunk_sources.items()
        },
    )


def same_times(a, b):
    """Equal to the last bit, NaN included."""
    return np.array_equal(a, b, equal_nan=True)
