import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import TrajectoryError
from as2d_core.replay.schedule import Schedule, autoregressive_schedule, chunk_schedule, drain_end

ms = st.floats(0.01, 1000.0)


@given(st.integers(0, 100), st.integers(1, 12), ms, ms)
def test_batches_cover_all_candidates_in_order(candidates, batch, draft_ms, publish_ms):
    schedule = autoregressive_schedule(candidates, batch, draft_ms, publish_ms)
    assert schedule.candidates == candidates
    sizes = [b - a for a, b in zip((0, *schedule.batch_ends), schedule.batch_ends, strict=False)]
    assert all(size == batch for size in sizes[:-1])
    assert sum(sizes) == candidates
    assert schedule.batch_times_ms == tuple(sorted(schedule.batch_times_ms))


def test_first_token_is_free_and_eos_costs_one_forward():
    schedule = autoregressive_schedule(16, 8, 10.0, 1.0)
    assert schedule.batch_times_ms == (71.0, 152.0)
    assert (schedule.producer_end_ms, schedule.operation_ms) == (162.0, 10.0)


def test_last_partial_batch_comes_out_when_the_source_ends():
    schedule = autoregressive_schedule(10, 8, 10.0, 1.0)
    assert (schedule.batch_ends, schedule.batch_times_ms) == ((8, 10), (71.0, 102.0))
    assert schedule.producer_end_ms == 102.0


def test_source_that_says_nothing_ends_at_once():
    assert autoregressive_schedule(0, 8, 10.0) == Schedule((), (), 0.0, 10.0)


def test_chunks_are_published_when_they_are_done_and_silent_chunks_publish_nothing():
    schedule = chunk_schedule([3, 3, 7], [20.0, 40.0, 60.0], 20.0)
    assert (schedule.batch_ends, schedule.batch_times_ms) == ((3, 7), (20.0, 60.0))
    assert chunk_schedule([3, 3], [20.0, 40.0], 20.0).producer_end_ms == 40.0
    with pytest.raises(TrajectoryError, match="2 chunk ends but 1 chunk times"):
        chunk_schedule([1, 2], [1.0], 1.0)


@given(ms, ms, ms)
def test_drain_ends_at_the_next_operation_boundary_or_with_the_producer(eos_ms, producer_end_ms, operation_ms):
    end = drain_end(eos_ms, producer_end_ms, operation_ms)
    assert end >= eos_ms
    if eos_ms >= producer_end_ms:
        assert end == eos_ms
    else:
        assert end <= producer_end_ms
        assert end - eos_ms <= operation_ms * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((15.0, 100.0, 10.0), 20.0), ((20.0, 100.0, 10.0), 20.0), ((95.0, 97.0, 10.0), 97.0), ((15.0, 100.0, 0.0), 15.0)],
)
def test_drain_by_example(arguments, expected):
    assert drain_end(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [((-1, 8, 1.0), "cannot publish -1 candidates"), ((5, 0, 1.0), "batches of 0")],
)
def test_impossible_sources_are_refused(arguments, sentence):
    with pytest.raises(TrajectoryError, match=sentence):
        autoregressive_schedule(*arguments)
