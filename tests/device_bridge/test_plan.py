from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import RequestError
from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.plan import plan_comparison


def variant(name: str) -> Request:
    return Request(name, "target-only", ModelRef("t"), AudioRef("a.wav"), task=name)


@given(variants=st.integers(1, 5), repetitions=st.integers(1, 5), warm_ups=st.integers(0, 2))
def test_every_variant_runs_equally_often(variants, repetitions, warm_ups):
    plan = plan_comparison([variant(f"v{i}") for i in range(variants)], repetitions, warm_ups)
    counts = Counter((r.task, r.warm_up) for r in plan)
    assert all(counts[(f"v{i}", False)] == repetitions for i in range(variants))
    assert all(counts[(f"v{i}", True)] == warm_ups for i in range(variants))


@given(variants=st.integers(1, 5), repetitions=st.integers(1, 5), warm_ups=st.integers(0, 2))
def test_run_ids_are_distinct_and_order_counts_up(variants, repetitions, warm_ups):
    plan = plan_comparison([variant("v")] * variants, repetitions, warm_ups)
    assert len({r.run_id for r in plan}) == len(plan)
    assert [r.order for r in plan] == list(range(len(plan)))
    assert len({r.group_id for r in plan}) == 1


def test_every_second_turn_runs_backwards():
    plan = plan_comparison([variant("a"), variant("b"), variant("c")], repetitions=3)
    assert "".join(r.task for r in plan) == "abccbaabc"


def test_warm_ups_come_first_and_are_marked():
    plan = plan_comparison([variant("a"), variant("b")], repetitions=2, warm_ups=1)
    assert [r.warm_up for r in plan] == [True, True, False, False, False, False]
    assert [r.repetition for r in plan] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(("variants", "repetitions"), [(0, 1), (1, 0), (1, 100_000)])
def test_a_plan_of_nothing_or_far_too_much_is_refused(variants, repetitions):
    with pytest.raises(RequestError):
        plan_comparison([variant("a")] * variants, repetitions)
