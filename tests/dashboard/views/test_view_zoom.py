import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_samples import decode

from dashboard.views.timeline import timeline_info
from dashboard.views.zoom import LEAST_MS, around_rounds, first_round, shifted, valid, whole, zoomed

INFO = timeline_info(decode())
END = INFO.end_ms
TIMES = st.floats(-2 * END, 3 * END) | st.none()


@given(TIMES, TIMES)
def test_a_window_lies_inside_the_run_and_is_never_empty(low, high):
    window = valid((low, high), INFO)
    if window is not None:
        assert window[0] >= 0
        assert window[1] <= END
        assert window[1] - window[0] >= LEAST_MS


@pytest.mark.parametrize("asked", [(None, None), (0, END), (-5, END + 5), (300, 100), (50, 50)])
def test_no_window_means_the_whole_run(asked):
    assert valid(asked, INFO) is None


def test_zooming_in_and_out_again_keeps_the_middle():
    window = (END / 4, END / 2)
    back = zoomed(zoomed(window, INFO, 0.5), INFO, 2.0)
    assert back == pytest.approx(window)


def test_zooming_out_far_enough_is_the_whole_run():
    assert zoomed((END / 4, END / 2), INFO, 100.0) is None


@given(st.floats(-3, 3))
def test_a_shift_keeps_the_length_and_stops_at_the_ends(share):
    window = (END / 4, END / 2)
    moved = shifted(window, INFO, share)
    assert moved is not None
    assert moved[1] - moved[0] == pytest.approx(window[1] - window[0])


def test_the_whole_run_cannot_be_shifted():
    assert shifted(None, INFO, 0.5) is None


def test_merged_rounds_are_zoomed_into_from_their_first_to_their_last():
    window = around_rounds(INFO, int(INFO.rounds.index[2]), 3)
    assert window == (INFO.rounds.start_ms[2], INFO.rounds.end_ms[4])


def test_an_unknown_round_is_zoomed_into_nowhere():
    assert around_rounds(INFO, 10_000, 1) is None


def test_the_whole_of_a_run_begins_at_zero():
    assert whole(INFO) == (0.0, END)


def test_the_first_round_in_view_is_one_with_candidates_where_there_is_one():
    rounds = INFO.rounds
    at = rounds.index.tolist().index(first_round(INFO, None))
    assert rounds.proposed[at] > 0
    assert not (rounds.proposed[:at] > 0).any()
    later = (float(rounds.end_ms[at]), END)
    assert rounds.start_ms[rounds.index.tolist().index(first_round(INFO, later))] >= later[0]
    assert first_round(INFO, (END + 1, END + 2)) is None
