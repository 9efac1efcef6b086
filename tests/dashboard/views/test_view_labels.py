from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dashboard.views.labels import spread

places = st.lists(st.floats(-1e3, 1e3), max_size=12)


@given(places, st.floats(0.1, 50))
def test_labels_are_apart_and_keep_their_order(values, gap):
    moved = spread(values, gap)
    order = sorted(range(len(values)), key=lambda i: values[i])
    heights = [moved[i] for i in order]
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(heights))


@given(places)
def test_labels_that_do_not_touch_stay_where_they_are(values):
    distinct = sorted(set(values))
    gap = min((b - a for a, b in pairwise(distinct)), default=1.0)
    moved = spread(distinct, gap * 0.999)
    assert all(abs(a - b) < 1e-6 for a, b in zip(moved, distinct, strict=True))


def test_two_equal_labels_move_apart_around_their_place():
    assert spread([5.0, 5.0], 2.0) == [4.0, 6.0]
