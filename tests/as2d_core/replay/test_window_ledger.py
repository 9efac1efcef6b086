"""A ledger charges what a whole run of the same window was charged, and rounds to whole nanoseconds without a rest."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_cases import method_corpora, method_profiles

from as2d_core.accounting import summarise
from as2d_core.errors import ProfileError
from as2d_core.replay.every_method import replay_methods
from as2d_core.replay.kernel import As2dReplay
from as2d_core.replay.ledger import CHARGES, ledger, ledger_of_as2d, ledger_of_target_only
from as2d_core.replay.method_times import MethodCase
from as2d_core.replay.runs import replay_window

some = settings(max_examples=60)
parts = st.floats(0.0, 1e5)


@some
@given(parts, parts, parts, parts, parts, parts, parts)
def test_charges_sum_up_to_the_time_whatever_rounding_leaves(draft, confidence, refresh, verify, loop, drain, hidden):
    time_ms = draft + confidence + refresh + verify + loop + drain
    entry = ledger(
        time_ms,
        draft_ms=draft,
        confidence_ms=confidence,
        refresh_ms=refresh,
        verify_ms=verify,
        loop_ms=loop,
        drain_ms=drain,
        hidden_ms=hidden,
    )
    assert sum(getattr(entry, name) for name in CHARGES) == entry.total_ns == round(time_ms * 1e6)
    account = entry.account
    assert account.total_ns == account.draft_ns + account.verify_ns - account.overlap_ns + account.idle_ns
    assert account.total_ns >= account.bound_ns


def test_by_hand_a_window_of_as2d_with_a_drain():
    # Ten rounds of 50 ms, 5 ms of each the loop; a source that runs to 530 ms and is stopped at 520 ms.
    replayed = As2dReplay(520.0, 500.0, 20.0, 10, 4, 12, 9)
    entry = ledger_of_as2d(replayed, 5.0, 530.0)
    assert (entry.verify_ns, entry.loop_ns, entry.drain_ns) == (450_000_000, 50_000_000, 20_000_000)
    assert (entry.draft_ns, entry.publish_ns, entry.align_ns) == (0, 0, 0)
    account = entry.account
    assert (account.draft_ns, account.verify_ns, account.overlap_ns, account.idle_ns) == (
        520_000_000,
        500_000_000,
        500_000_000,
        0,
    )


def test_by_hand_a_source_that_ended_early_overlaps_as_long_as_it_ran():
    account = ledger_of_as2d(As2dReplay(500.0, 500.0, 0.0, 10, 4, 12, 9), 5.0, 130.0).account
    assert (account.draft_ns, account.overlap_ns, account.idle_ns) == (130_000_000, 130_000_000, 0)


def test_by_hand_target_only_is_verification_from_end_to_end():
    entry = ledger_of_target_only(11, 50.0)
    assert (entry.verify_ns, entry.total_ns, entry.account.draft_ns) == (500_000_000, 500_000_000, 0)


def test_a_replay_without_a_time_has_no_ledger():
    with pytest.raises(ProfileError, match="has no ledger: a cost is missing"):
        ledger(math.nan)


PARAMETERS = {"target-only": {}, "sd": {"width": 5}, "specasr": {"draft_cap": 4}, "as2d": {"budget": 5}}


@some
@given(method_corpora(), method_profiles(), st.sampled_from(sorted(PARAMETERS)))
def test_the_ledger_of_a_window_is_that_of_its_whole_run(whole, costs, method):
    parameters = PARAMETERS[method]
    value = next(iter(parameters.values()), None)
    case = MethodCase(
        method,
        None if method == "target-only" else "small",
        value,
        "serial" if method == "specasr" else None,
    )
    (item,) = replay_methods(whole, costs, [case])
    for w, window in enumerate(whole.windows):
        run = replay_window(whole, window.window_id, costs, method, case.drafter, **parameters)
        found = summarise(run.record).account
        entry = item.ledgers[w]
        assert entry.total_ns == pytest.approx(found.total_ns, abs=2)
        assert astuple(entry.account) == pytest.approx(astuple(found), abs=2 + len(run.record.rounds))
        calls = [s for s in run.record.spans if s.lane == "target" and s.work in ("verify", "step")]
        calls_ns = sum(s.end_ns - s.start_ns for s in calls)
        assert entry.verify_ns == pytest.approx(calls_ns, abs=2 + len(run.record.rounds))
