import math

import numpy as np
import pytest
from drafter_cases import EOS, any_drafter
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import dyadic_ms

from as2d_core.errors import ProfileError, RequestError, TrajectoryError
from as2d_core.replay.kernel import replay_standard_sd
from as2d_core.replay.ledger import CHARGES
from as2d_core.replay.lookahead import replay_lookahead

some = settings(max_examples=80)
WIDTHS = 9


def by_width(base, step):
    return [np.nan, *(base + step * k for k in range(1, WIDTHS + 1))]


@st.composite
def settings_of(draw):
    """Flags, width, costs and output cap of one window."""
    flags = draw(st.lists(st.booleans(), min_size=1, max_size=40))
    cap = len(flags) + draw(st.integers(0, 12))
    return (
        flags,
        draw(st.integers(2, WIDTHS)),
        draw(dyadic_ms),
        draw(dyadic_ms),
        [np.nan, *(draw(dyadic_ms) for _ in range(WIDTHS))],
        [np.nan, *(draw(dyadic_ms) for _ in range(WIDTHS))],
        draw(dyadic_ms | st.just(0.0)),
        cap,
    )


@some
@given(settings_of())
def test_compiled_and_plain_lookahead_agree_to_the_last_bit(case):
    assert repr(replay_lookahead(*case)) == repr(replay_lookahead(*case, compiled=False))


@some
@given(any_drafter, st.integers(2, WIDTHS), st.floats(0.5, 80.0), st.floats(0.5, 80.0))
def test_compiled_and_plain_lookahead_count_the_same_realigned_tokens(case, width, draft_ms, ahead_ms):
    target, states, output_cap = case
    flags = [bool(states.words[i] == target[i]) for i in range(len(target))]
    costs = (draft_ms, ahead_ms, by_width(40.0, 3.3), by_width(38.0, 3.1), 0.7, output_cap)
    compiled, plain = (
        replay_lookahead(flags, width, *costs, compiled=c, target_tokens=target, drafter=states, eos=EOS)
        for c in (True, False)
    )
    assert repr(compiled) == repr(plain)
    if compiled.ahead_realigned is not None:
        assert compiled.ahead_realigned + compiled.ahead_used <= compiled.ahead_forwards


@some
@given(settings_of())
def test_rounds_are_those_of_standard_sd(case):
    flags, width, draft_ms, _, _, idle, loop_ms, cap = case
    sd = replay_standard_sd(flags, width, draft_ms, idle, loop_ms, cap)
    ahead = replay_lookahead(*case)
    assert ahead.rounds == sd.rounds
    assert ahead.draft_forwards + ahead.ahead_used == sd.draft_forwards


@some
@given(settings_of())
def test_every_charge_is_in_the_ledger(case):
    found = replay_lookahead(*case)
    entry = found.ledger
    assert sum(getattr(entry, name) for name in CHARGES) == entry.total_ns == round(found.time_ms * 1e6)
    account = entry.account
    assert account.total_ns == account.draft_ns + account.verify_ns - account.overlap_ns + account.idle_ns
    assert account.total_ns >= account.bound_ns
    assert 0 <= account.overlap_ns <= min(account.draft_ns, account.verify_ns)
    assert found.ahead_used <= found.ahead_forwards


@some
@given(settings_of(), st.sampled_from([0.5, 0.25]))
def test_time_never_rises_when_every_cost_is_lowered_to_a_fraction(case, fraction):
    flags, width, draft_ms, ahead_ms, concurrent, idle, loop_ms, cap = case
    lower = replay_lookahead(
        flags,
        width,
        draft_ms * fraction,
        ahead_ms * fraction,
        [c * fraction for c in concurrent],
        [c * fraction for c in idle],
        loop_ms * fraction,
        cap,
    )
    assert lower.time_ms == replay_lookahead(*case).time_ms * fraction


def test_by_hand_everything_that_is_looked_ahead_is_of_use_while_all_is_accepted():
    # Seven tokens, K = 3. Round 1 drafts two (20 ms) and verifies (31 ms beside the drafter): in that time
    # the drafter reads its second token, guesses the bonus and drafts two more, 3 forwards of 10 ms = 30 ms.
    # Round 2 needs nothing more, and verifies 31 ms; the output is complete behind it.
    found = replay_lookahead([True] * 7, 3, 10.0, 10.0, [np.nan, 30.0, 30.0, 30.0], [np.nan, 29.0, 29.0, 29.0], 1.0)
    assert (found.rounds, found.draft_forwards, found.ahead_forwards, found.ahead_used) == (2, 2, 6, 3)
    assert (found.draft_ms, found.verify_ms, found.loop_ms, found.drain_ms) == (20.0, 60.0, 2.0, 0.0)
    assert found.time_ms == 82.0
    assert found.hidden_ms == 60.0


def test_by_hand_a_rejection_voids_what_was_looked_ahead():
    # The second draft token is wrong, so that the three forwards beside round 1 are void.
    flags = [True, True, False, True, True, True, True]
    found = replay_lookahead(flags, 3, 10.0, 10.0, [np.nan, 30.0, 30.0, 30.0], [np.nan, 29.0, 29.0, 29.0], 1.0)
    assert (found.rounds, found.draft_forwards, found.ahead_used) == (3, 4, 3)
    assert found.time_ms == 40.0 + 3 * 31.0


def test_a_forward_that_has_begun_must_end_before_the_next_draft():
    # One forward of 50 ms beside a round of 31 ms, and the guess is wrong: the target waits 19 ms.
    found = replay_lookahead(
        [True, False, True, True, True, True, True],
        3,
        10.0,
        50.0,
        [np.nan, 30.0, 30.0, 30.0],
        [np.nan] + [29.0] * 3,
        1.0,
    )
    assert found.wait_ms + found.drain_ms == 19.0 * found.rounds


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"flags": []}, TrajectoryError, "no target tokens"),
        ({"flags": [True] * 9, "cap": 8}, TrajectoryError, "more than the cap of 8"),
        ({"width": 1}, RequestError, "the least width is 2"),
        ({"draft_ms": 0.0}, ProfileError, "A draft forward of 0.0 ms"),
        ({"ahead_ms": math.nan}, ProfileError, "beside the target of nan ms"),
        ({"loop_ms": -1.0}, ProfileError, "A loop of -1.0 ms"),
        ({"concurrent": [np.nan, np.nan]}, ProfileError, "verify_concurrent_ms has no cost at K = 1"),
        ({"idle": [np.nan, 5.0, -3.0]}, ProfileError, "verify_idle_ms at K = 2 is -3.0 ms"),
    ],
)
def test_bad_input_is_a_named_error(changes, error, sentence):
    values = {
        "flags": [True] * 5,
        "width": 3,
        "draft_ms": 10.0,
        "ahead_ms": 10.0,
        "concurrent": by_width(30.0, 1.0),
        "idle": by_width(29.0, 1.0),
        "loop_ms": 1.0,
        "cap": 320,
        **changes,
    }
    with pytest.raises(error, match=sentence):
        replay_lookahead(*values.values())


def test_a_width_without_a_cost_is_named_and_leaves_no_time():
    found = replay_lookahead([True] * 9, 5, 10.0, 10.0, [np.nan, 30.0, 30.0], by_width(29.0, 1.0), 1.0)
    assert (found.missing_width, found.feasible, found.rounds) == (5, False, None)
    assert math.isnan(found.time_ms)
