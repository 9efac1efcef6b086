import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import corpus, dyadic_ms, profile, window

from as2d_core.errors import ProfileError, TrajectoryError
from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import ChunkCosts
from as2d_core.replay.chunks import chunk_source_schedule, chunks_of, ready_ms
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.kernel import replay_as2d
from as2d_core.replay.runs import replay_window
from as2d_core.replay.windows import DrafterTrajectory

EOS = 2
BODY = tuple(range(5, 25))


def chunked(ends, name="ctc", candidates=BODY):
    return DrafterTrajectory(name, tuple(candidates), chunk_ends=tuple(ends))


def chunk_set(*windows, **changes):
    return corpus(*(windows or (window("w0", (*BODY, EOS), drafters=(chunked((6, 6, 20)),)),)), **changes)


def test_each_chunk_is_out_whole_when_its_audio_and_its_conversion_are_done():
    schedule = chunk_source_schedule(chunked((6, 6, 20)), ChunkCosts(80.0, 5.0))
    assert schedule.batch_ends == (6, 20)
    assert schedule.batch_times_ms == (85.0, 255.0)
    assert (schedule.producer_end_ms, schedule.operation_ms) == (255.0, 85.0)


def test_silent_chunks_at_the_end_keep_the_source_busy():
    schedule = chunk_source_schedule(chunked((20, 20)), ChunkCosts(80.0))
    assert (schedule.batch_ends, schedule.producer_end_ms) == ((20,), 160.0)


def test_a_source_that_publishes_batches_has_no_chunks():
    with pytest.raises(TrajectoryError, match="Drafter 'small' publishes batches, not chunks"):
        chunk_source_schedule(DrafterTrajectory("small", BODY), ChunkCosts(80.0))


@given(st.integers(1, 400), st.floats(0.01, 60.0))
def test_audio_of_whole_chunks_gains_none_from_rounding(count, chunk_s):
    assert chunks_of(count * chunk_s, chunk_s) == count


@pytest.mark.parametrize("duration_s", [0.0, -1.0, math.nan, math.inf])
def test_audio_of_no_length_is_refused(duration_s):
    with pytest.raises(TrajectoryError, match="cannot be cut into chunks"):
        chunks_of(duration_s)


@pytest.mark.parametrize(("drafter", "published_s"), [("Parakeet CTC", 2.13), ("SenseVoice", 7.74)])
def test_the_published_sources_are_ready_when_the_paper_says(drafter, published_s):
    costs = load_profile("k70").chunk_sources[drafter]
    assert ready_ms(60.0, costs) / 1e3 == pytest.approx(published_s)


def test_a_profile_without_costs_of_a_chunk_names_the_drafter():
    with pytest.raises(ProfileError, match="'ctc' publishes chunk by chunk, but 'here' holds no cost"):
        replay_grid(chunk_set(), profile())


@pytest.mark.parametrize("costs", [ChunkCosts(0.0), ChunkCosts(math.nan), ChunkCosts(math.inf), ChunkCosts(5.0, -1.0)])
def test_a_chunk_cost_that_cannot_be_charged_is_refused(costs):
    with pytest.raises(ProfileError, match="hunk of 'ctc' costs"):
        replay_grid(chunk_set(), profile(chunk_sources={"ctc": costs}))


def test_a_source_that_publishes_both_ways_is_refused():
    with pytest.raises(TrajectoryError, match="Drafter 'ctc' publishes batches on some windows and chunks on others"):
        chunk_set(
            window("w0", (*BODY, EOS), drafters=(chunked((20,)),)),
            window("w1", (*BODY, EOS), drafters=(DrafterTrajectory("ctc", BODY),)),
        )


@settings(max_examples=60)
@given(st.lists(st.integers(0, 20), max_size=5), dyadic_ms, dyadic_ms, st.integers(0, 8))
def test_the_grid_the_window_and_the_method_agree_on_a_chunk_source(ends, chunk_ms, convert_ms, budget):
    drafter = chunked((*sorted(ends), 20))
    here = profile(chunk_sources={"ctc": ChunkCosts(chunk_ms, convert_ms)})
    whole = chunk_set(window("w0", (*BODY, EOS), drafters=(drafter,)))
    grid = replay_grid(whole, here, [budget])
    schedule = chunk_source_schedule(drafter, here.chunk_sources["ctc"])
    alone = replay_as2d(
        (*BODY, EOS),
        BODY,
        [False] * 20,
        schedule.batch_ends,
        schedule.batch_times_ms,
        schedule.producer_end_ms,
        schedule.operation_ms,
        budget,
        *here.round_costs(),
        output_cap=320,
    )
    assert grid.time_ms[0, 0, 0] == alone.time_ms
    run = replay_window(whole, "w0", here, "as2d", "ctc", budget)
    assert run.elapsed_ms == alone.time_ms
    assert list(run.outcome.tokens) == [*BODY, EOS]


def test_a_language_that_a_source_may_not_draft_takes_it_out_of_the_window():
    russian = window("w1", (*BODY, EOS), drafters=(chunked((20,)),), language="ru")
    whole = chunk_set(window("w0", (*BODY, EOS), drafters=(chunked((20,)),)), russian, languages={"ctc": ("en",)})
    grid = replay_grid(whole, profile(chunk_sources={"ctc": ChunkCosts(80.0)}), [3])
    assert [math.isnan(t) for t in grid.time_ms[0, 0]] == [False, True]
    allowed = replace(whole, languages={"ctc": ("en", "ru")})
    assert not any(
        math.isnan(t) for t in replay_grid(allowed, profile(chunk_sources={"ctc": ChunkCosts(80.0)}), [3]).time_ms[0, 0]
    )
