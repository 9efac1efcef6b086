import math
from dataclasses import replace

import numpy as np
import pytest
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from replay_cases import EOS, Case, bodies, cases, corpora, corpus, profile, window

from as2d_core.alignment import STOP, align_step, chain_length
from as2d_core.errors import ProfileError, RequestError
from as2d_core.replay.budgets import fixed_times
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.schedule import Schedule, autoregressive_schedule, drain_end
from as2d_core.replay.windows import DrafterTrajectory
from as2d_core.replay.within import best_widths, within_oracle

some = settings(max_examples=25, deadline=None)


def arguments(case):
    concurrent, idle = case.arrays()
    return (
        case.tokens,
        case.candidates,
        case.low,
        case.schedule.batch_ends,
        case.schedule.batch_times_ms,
        case.schedule.producer_end_ms,
        case.schedule.operation_ms,
        case.budget,
        concurrent,
        idle,
        case.search_window,
        case.cap,
    )


def best(case, **changes):
    return best_widths(*arguments(case), **changes)


class Walk:
    """As²d with a free choice at every boundary, written down once more and tried exhaustively."""

    def __init__(self, case):
        self.case = case
        self.concurrent, self.idle = case.arrays()

    def choices(self, now, committed, cursor, consumed):
        """``(chain length, time, committed, cursor, consumed)`` after every possible next round."""
        case = self.case
        ready = [
            end for end, time in zip(case.schedule.batch_ends, case.schedule.batch_times_ms, strict=True) if time <= now
        ]
        visible = ready[-1] if ready else 0
        while consumed < committed and cursor < visible:
            rule, cursor, consumed = align_step(
                case.candidates, visible, case.tokens, committed, cursor, consumed, case.search_window
            )
            if rule == STOP:
                break
        longest = 0
        if consumed == committed:
            longest = chain_length(case.low, cursor, visible, committed, case.budget, case.cap)
        for length in range(longest + 1):
            cost = float((self.concurrent if now < case.schedule.producer_end_ms else self.idle)[length + 1])
            if math.isnan(cost):
                continue
            matched = 0
            while (
                matched < length
                and committed + matched < len(case.tokens)
                and case.candidates[cursor + matched] == case.tokens[committed + matched]
            ):
                matched += 1
            after = min(committed + matched + 1, len(case.tokens))
            yield length, now + cost, after, cursor + matched, (after - 1 if length else consumed)

    def end(self, now):
        return drain_end(now, self.case.schedule.producer_end_ms, self.case.schedule.operation_ms)

    def fastest(self, now=0.0, committed=1, cursor=0, consumed=0):
        if committed >= len(self.case.tokens):
            return self.end(now)
        return min(self.fastest(*state) for _, *state in self.choices(now, committed, cursor, consumed))

    def along(self, lengths):
        state = (0.0, 1, 0, 0)
        for wanted in lengths:
            assert state[1] < len(self.case.tokens)
            state = next(tuple(after) for length, *after in self.choices(*state) if length == wanted)
        assert state[1] == len(self.case.tokens)
        return self.end(state[0])


@st.composite
def short_cases(draw):
    """Outputs so short that every sequence of widths can be tried."""
    case = draw(cases())
    body = draw(bodies(8))
    candidates = [*body, 3, 4][: draw(st.integers(0, len(body) + 2))]
    if candidates and draw(st.booleans()):
        candidates[draw(st.integers(0, len(candidates) - 1))] = 9
    confidences = [draw(st.sampled_from([0.1, 0.9, 0.9])) for _ in candidates]
    schedule = autoregressive_schedule(len(candidates), draw(st.integers(1, 4)), draw(st.integers(1, 300)) / 8)
    return replace(
        case,
        tokens=[*body, EOS],
        candidates=candidates,
        confidences=confidences,
        schedule=schedule,
        publish_ms=0.0,
        budget=draw(st.integers(0, 4)),
        cap=len(body) + 1 + draw(st.integers(0, 3)),
    )


@examples(8, 25)
@given(short_cases())
def test_on_short_windows_the_search_finds_what_trying_everything_finds(case):
    found = best(case, labels=64)
    assert found.exact
    assert found.time_ms == found.bound_ms == pytest.approx(Walk(case).fastest(), rel=1e-9)


@some
@given(short_cases(), st.integers(2, 4))
def test_with_little_room_the_truth_lies_between_time_and_bound(case, labels):
    found = best(case, labels=labels)
    truth = Walk(case).fastest()
    assert found.bound_ms <= truth * (1 + 1e-9)
    assert found.time_ms >= truth * (1 - 1e-9)


@examples(8, 25)
@given(cases())
def test_the_sequence_that_was_found_takes_its_time_to_the_last_bit(case):
    found = best(case)
    assert Walk(case).along(found.lengths) == found.time_ms


@some
@given(cases())
def test_no_fixed_budget_is_faster_and_the_bound_is_below_the_time(case):
    found = best(case)
    assert found.bound_ms <= found.time_ms
    for budget in range(case.budget + 1):
        assert found.time_ms <= case.kernel(budget=budget).time_ms


@settings(max_examples=10, deadline=None)
@given(cases())
def test_compiled_and_plain_search_agree_to_the_last_bit(case):
    case = replace(case, tokens=case.tokens[:12], cap=max(20, case.cap))
    assert repr(best(case, labels=4)) == repr(best(case, labels=4, compiled=False))


WIDER_IS_CHEAPER = Case(
    tokens=[*[3] * 16, 4, *[3] * 4, 4, *[3] * 4, 4, *[3] * 12, 4, 3, 3, 3, 4, 3, 3, 3, EOS],
    candidates=[3, 3, 3, 3, 4, *[3] * 8, 5, *[3] * 13, 4, *[3] * 14, 4, *[3] * 7],
    confidences=None,
    schedule=Schedule(tuple(range(1, 51)), tuple(8.34375 * i for i in range(50)), 417.1875, 8.34375),
    concurrent_ms={1: 51.015625, 2: 0.015625, 3: 0.015625, 4: 2.09375, 5: 0.015625},
    idle_ms={1: 0.4375, 2: 0.03125, 3: 0.359375, 4: 0.015625, 5: 0.015625},
    loop_ms=0.0,
    budget=4,
    search_window=2,
    cap=53,
    publish_ms=0.0,
)
"""K = 4 costs more than K = 5 here, and just so a round of K = 4 meets the next publication."""


@some
@example(WIDER_IS_CHEAPER)
@given(cases())
def test_a_larger_budget_is_never_slower_where_both_are_exact(case):
    wider = best(case)
    for budget in {case.budget // 2, max(0, case.budget - 1)}:
        assert wider.bound_ms <= best(replace(case, budget=budget)).time_ms * (1 + 1e-9)


@some
@given(cases())
def test_budget_zero_leaves_nothing_to_choose(case):
    found = best(replace(case, budget=0))
    assert found.exact
    assert found.time_ms == case.kernel(budget=0).time_ms
    assert found.lengths == (0,) * (len(case.tokens) - 1)


def test_a_shorter_chain_that_meets_a_publication_beats_every_fixed_budget():
    # Candidates 4 to 7 come out at 130 ms. Taking all three ready ones at once (100 ms) leads to a boundary at
    # 105 ms, too early; one of them (40 ms) and then the others leads there just in time.
    tokens = [*range(10, 18), EOS]
    concurrent = np.array([math.nan, 30.0, 40.0, 90.0, 100.0, 110.0])
    schedule = Schedule((4, 8), (0.0, 130.0), 140.0, 5.0)
    common = (tokens, tokens[:-1], [False] * 8, schedule.batch_ends, schedule.batch_times_ms, 140.0, 5.0)
    found = best_widths(*common, 4, concurrent, concurrent)
    assert found.exact
    assert len(set(found.lengths)) > 1
    fixed = best_widths(*common, 0, concurrent, concurrent)
    assert found.time_ms < fixed.time_ms


def test_width_without_a_cost_is_passed_over():
    tokens = [*range(10, 18), EOS]
    costs = np.array([math.nan, 30.0, 40.0, math.nan, 42.0])
    schedule = Schedule((8,), (0.0,), 1.0, 1.0)
    found = best_widths(tokens, tokens[:-1], [False] * 8, *[schedule.batch_ends, (0.0,), 1.0, 1.0], 3, costs, costs)
    assert 2 not in found.lengths
    assert 3 in found.lengths


def test_single_token_takes_no_time_and_is_exact():
    found = best_widths([EOS], [], [], [], [], 0.0, 1.0, 3, [0, 1.0, 1.0, 1.0, 1.0], [0, 1.0, 1.0, 1.0, 1.0])
    assert (found.time_ms, found.bound_ms, found.exact, found.lengths) == (0.0, 0.0, True, ())


def test_search_refuses_bad_input_with_a_sentence():
    common = ([5, EOS], [], [], [], [], 0.0, 1.0)
    with pytest.raises(RequestError, match="1 boundary times"):
        best_widths(*common, 3, [0, 1.0], [0, 1.0], labels=1)
    with pytest.raises(RequestError, match="proposal budget is -1"):
        best_widths(*common, -1, [0, 1.0], [0, 1.0])
    with pytest.raises(ProfileError, match="K = 1"):
        best_widths(*common, 1, [0, math.nan], [0, 1.0])


@settings(max_examples=12, deadline=None)
@given(corpora())
def test_within_window_oracle_is_never_slower_than_the_per_window_oracle(windows):
    grid = replay_grid(windows, profile())
    per_window, within = oracle(grid), within_oracle(windows, profile())
    assert (within.time_ms <= per_window.time_ms).all()
    assert (within.bound_ms <= within.time_ms).all()
    if per_window.tps is not None:
        assert within.tps >= per_window.tps * (1 - 1e-12)
    times, _ = fixed_times(grid)
    assert (within.time_ms <= times).all()


def test_oracle_takes_the_better_drafter_of_every_window_and_names_it():
    tokens = (*range(10, 30), EOS)
    good, bad = DrafterTrajectory("good", tokens[:-1]), DrafterTrajectory("bad", (9,) * 20)
    found = within_oracle(corpus(window("w", tokens, drafters=(bad, good))), profile())
    assert found.drafters == ("good",)
    assert found.exact_windows == 1
    assert found.largest_doubt_percent == 0.0


def test_window_that_no_drafter_takes_has_no_time():
    few = corpus(window("a"), window("b", drafters=()))
    found = within_oracle(few, profile())
    assert found.drafters == ("small", None)
    assert math.isnan(found.time_ms[1])
    assert (found.tps, found.bound_tps) == (None, None)


def test_progress_is_told_window_by_window():
    said = []
    within_oracle(corpus(window("a"), window("b")), profile(), progress=lambda done, every: said.append((done, every)))
    assert said == [(1, 2), (2, 2)]
