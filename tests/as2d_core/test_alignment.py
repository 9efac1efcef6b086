from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import EOS, Case

from as2d_core.alignment import (
    CORRECTION_PAIR,
    INSERTION,
    MATCH,
    NEXT_TOKEN,
    RULE_NAMES,
    STOP,
    UNMATCHED,
    align_step,
    chain_length,
)
from as2d_core.replay.schedule import Schedule

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=30)
many = settings(max_examples=200)


def by_the_book(c, av, y, n, u, s, window):
    """The rules as they are written down, searched with lists."""
    if c[u] == y[s]:
        return MATCH, u + 1, s + 1
    if s + 1 >= n:
        return STOP, u, s
    x = y[s + 1]
    if c[u] == x:
        return INSERTION, u + 1, s + 2
    near = [j for j in range(u + 1, u + window + 1) if j < av and c[j] == x]
    if near:
        return NEXT_TOKEN, near[0] + 1, s + 2
    j = u + window
    if j + 1 < av and c[j] == y[s] and c[j + 1] == x:
        return CORRECTION_PAIR, j + 2, s + 2
    return UNMATCHED, u, s + 1


@st.composite
def positions(draw):
    candidates, target = draw(tokens), draw(tokens)
    visible = draw(st.integers(1, len(candidates)))
    committed = draw(st.integers(1, len(target)))
    return (
        candidates,
        visible,
        target,
        committed,
        draw(st.integers(0, visible - 1)),
        draw(st.integers(0, committed - 1)),
        draw(st.integers(0, 12)),
    )


@many
@given(positions())
def test_step_follows_the_written_rules(position):
    assert align_step(*position) == by_the_book(*position)


@many
@given(positions())
def test_step_never_goes_back_and_never_past_what_is_visible_or_committed(position):
    _, visible, _, committed, cursor, consumed, _ = position
    rule, after, used = align_step(*position)
    assert cursor <= after <= visible
    assert consumed <= used <= committed
    assert (rule == STOP) == ((after, used) == (cursor, consumed))


@many
@given(positions(), st.lists(st.integers(0, 3), max_size=10), st.lists(st.integers(0, 3), max_size=10))
def test_step_does_not_see_unpublished_candidates_or_uncommitted_tokens(position, hidden, future):
    candidates, visible, target, committed, *rest = position
    changed = (candidates[:visible] + hidden, visible, target[:committed] + future, committed, *rest)
    assert align_step(*changed) == align_step(*position)


@pytest.mark.parametrize(
    ("candidates", "target", "window", "expected"),
    [
        ("A", "A", 16, (MATCH, 1, 1)),
        ("B", "A", 16, (STOP, 0, 0)),
        ("BC", "AB", 16, (INSERTION, 1, 2)),
        ("CDXB", "AB", 16, (NEXT_TOKEN, 4, 2)),
        ("CDXB", "AB", 2, (UNMATCHED, 0, 1)),
        ("CDAB", "AB", 2, (CORRECTION_PAIR, 4, 2)),
        ("CDAB", "AB", 3, (NEXT_TOKEN, 4, 2)),
        ("CDA", "AB", 2, (UNMATCHED, 0, 1)),
        ("CB", "AB", 0, (UNMATCHED, 0, 1)),
        ("CAB", "AB", 0, (UNMATCHED, 0, 1)),
    ],
)
def test_each_rule_by_example(candidates, target, window, expected):
    assert align_step(candidates, len(candidates), target, len(target), 0, 0, window) == expected


def test_every_rule_has_a_name():
    assert sorted(RULE_NAMES) == [STOP, MATCH, INSERTION, NEXT_TOKEN, CORRECTION_PAIR, UNMATCHED]


@st.composite
def chains(draw):
    low = draw(st.lists(st.booleans(), max_size=20))
    visible = draw(st.integers(0, len(low)))
    return low, draw(st.integers(0, visible)), visible, draw(st.integers(1, 30)), draw(st.integers(0, 12))


@many
@given(chains(), st.integers(1, 40))
def test_chain_is_the_longest_that_every_limit_allows(chain, cap):
    low, cursor, visible, committed, budget = chain
    length = chain_length(low, cursor, visible, committed, budget, cap)
    limit = max(0, min(budget, visible - cursor, cap - committed - 1))
    first_low = next((k + 1 for k in range(limit) if low[cursor + k]), limit)
    assert length == first_low


def test_low_confidence_candidate_is_included():
    assert chain_length([False, True, False], 0, 3, 1, 7, 100) == 2


# The worked example of Figure 4: the source publishes A B C D, then E F; the target says X for C.
R, A, B, C, D, E, F, X = range(10, 18)
FIGURE_4 = Case(
    tokens=[R, A, B, X, D, E, F, EOS],
    candidates=[R, A, B, C, D, E, F],
    confidences=None,
    schedule=Schedule((5, 7), (0.0, 15.0), 15.0, 1.0),
    concurrent_ms=dict.fromkeys(range(1, 9), 10.0),
    idle_ms=dict.fromkeys(range(1, 9), 10.0),
    loop_ms=0.0,
    budget=4,
    search_window=16,
    cap=320,
)


def test_figure_4_correction_waits_for_the_next_target_token_and_finds_it():
    candidates, target = FIGURE_4.candidates, FIGURE_4.tokens
    # After A B X: the correction X stands against C, and only the next token can tell where to go on.
    assert align_step(candidates, 5, target, 4, 3, 3, 16) == (STOP, 3, 3)
    # The target says D, which is found behind C; E F is what may be verified next.
    assert align_step(candidates, 7, target, 5, 3, 3, 16) == (NEXT_TOKEN, 5, 5)
    assert chain_length([False] * 7, 5, 7, 5, 4, 320) == 2


def test_figure_4_through_the_method():
    run = FIGURE_4.method()
    rounds = run.record.rounds
    assert [r.candidates for r in rounds] == [(A, B, C, D), (), (E, F)]
    assert [r.committed for r in rounds] == [(A, B, X), (D,), (E, F, EOS)]
    assert [r.accepted for r in rounds] == [2, 0, 2]
    assert [r.width_reason for r in rounds] == ["budget", "awaiting target token", "ready"]
    assert [r.cursor_after for r in rounds] == [3, 3, 7]
    assert rounds[2].moves == (("next target token found", 3, 5),)
    assert run.outcome.tokens == tuple(FIGURE_4.tokens)


@pytest.mark.parametrize("compiled", [True, False])
def test_figure_4_through_the_kernel(compiled):
    replayed = FIGURE_4.kernel(with_rounds=True, compiled=compiled)
    assert [(r.width, r.accepted, r.cursor_after, r.visible) for r in replayed.round_list] == [
        (5, 2, 3, 5),
        (1, 0, 3, 5),
        (3, 2, 7, 7),
    ]
    assert (replayed.time_ms, replayed.proposed, replayed.accepted) == (30.0, 6, 4)


def test_figure_4_without_search_never_reuses_what_follows():
    rounds = replace(FIGURE_4, search_window=0).method().record.rounds
    assert sum(r.accepted for r in rounds) == 2
