import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import RecordError
from as2d_core.sustained import LEAST_RUNS, judge_drift, pace_of, trailing_mean

RATES = st.lists(st.floats(0.5, 500), min_size=LEAST_RUNS, max_size=60)


def scattered(level, n=60, spread=0.01):
    return (np.asarray(level) * np.random.default_rng(7).normal(1, spread, n)).tolist()


def test_a_level_throughput_is_steady():
    drift = judge_drift(scattered(10.0))
    assert drift.verdict == "steady"
    assert drift.low < drift.change < drift.high


@pytest.mark.parametrize(("end", "verdict"), [(7.0, "slower"), (13.0, "faster")])
def test_a_throughput_that_moves_is_called_by_its_direction(end, verdict):
    drift = judge_drift(scattered(np.linspace(10, end, 60)))
    assert drift.verdict == verdict
    line = np.linspace(10, end, 60)
    assert drift.change == pytest.approx(100 * (np.median(line[-20:]) / np.median(line[:20]) - 1), abs=2)


def test_scatter_that_hides_a_drift_is_undecided():
    assert judge_drift(scattered(10.0, 12, 0.5)).verdict == "undecided"


def test_too_few_requests_have_no_change():
    drift = judge_drift([10.0] * (LEAST_RUNS - 1))
    assert (drift.verdict, drift.change, drift.low) == ("undecided", None, None)


@given(RATES, st.floats(0.01, 100))
def test_the_verdict_does_not_depend_on_the_unit(rates, unit):
    assert judge_drift(rates, 50).change == pytest.approx(judge_drift([r * unit for r in rates], 50).change, abs=1e-6)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_what_is_no_throughput_is_refused(bad):
    with pytest.raises(RecordError):
        judge_drift([bad] * LEAST_RUNS)


def test_a_trailing_mean_pools_tokens_over_time():
    assert trailing_mean([10, 20, 30], [1, 1, 4], most=2) == pytest.approx([10, 15, 10])


@given(st.lists(st.floats(0.01, 8), min_size=1, max_size=50))
def test_a_lag_is_at_least_the_blocks_own_work_and_its_wait(work):
    pace = pace_of([4.0 * (i + 1) for i in range(len(work))], work, [4.0] * len(work))
    assert pace.lag_s == pytest.approx(pace.wait_s + np.array(work))
    assert (pace.wait_s >= -1e-9).all()
    assert pace.wait_s[0] == 0


def test_work_that_is_longer_than_its_audio_makes_a_backlog():
    slow, fast = (pace_of([4.0, 8.0, 12.0], [w] * 3, [4.0] * 3) for w in (5.0, 3.0))
    assert slow.wait_s.tolist() == [0, 1, 2]
    assert fast.wait_s.tolist() == [0, 0, 0]
    assert (slow.keeps_pace, fast.keeps_pace) == (False, True)
    assert slow.active_rtf == pytest.approx(1.25)


def test_blocks_that_do_not_fit_each_other_are_refused():
    with pytest.raises(RecordError):
        pace_of([4.0], [1.0, 1.0], [4.0])
