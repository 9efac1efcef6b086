import math
from dataclasses import replace

import numpy as np
import pytest
from drafter_cases import CAP, EOS, THRESHOLD, any_drafter, asp_cost_table, recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_cases import profile

from as2d_core.engines.scripted import ListRecorder, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.errors import ProfileError, RequestError, TrajectoryError, UnknownNameError
from as2d_core.methods import method
from as2d_core.profiles import load_profile
from as2d_core.records import Round
from as2d_core.replay.branches import Branches, recorded_states
from as2d_core.replay.ledger import CHARGES
from as2d_core.replay.specasr import asp_costs, replay_specasr
from as2d_core.replay.states import RecordedDrafter, StateModel
from as2d_core.request import AudioRef, ModelRef, Request

some = settings(max_examples=80)
forms = st.sampled_from(["paired", "serial"])


def replayed(case, cap=CAP, form="serial", **changes):
    target, states, output_cap = case
    changes = {"output_cap": output_cap, **changes}
    return replay_specasr(target, states, EOS, cap, changes.pop("costs", asp_cost_table(form)), **changes)


@some
@given(any_drafter, st.integers(1, CAP), forms)
def test_compiled_and_plain_specasr_agree_to_the_last_bit(case, cap, form):
    costs = asp_cost_table(form, draft_ms=7.1, confidence_row_ms=0.951, refresh_token_ms=16.2)
    compiled, plain = (replayed(case, cap, form, costs=costs, with_rounds=True, compiled=c) for c in (True, False))
    assert repr(compiled) == repr(plain)


@some
@given(any_drafter, st.integers(1, CAP), forms)
def test_every_round_commits_what_it_accepted_and_one_more_until_the_end(case, cap, form):
    target = case[0]
    found = replayed(case, cap, form, with_rounds=True)
    committed = 1
    for item in found.round_list:
        assert item.accepted < item.width <= cap + 1
        committed = min(committed + item.accepted + 1, len(target))
    assert committed == len(target)
    assert found.rounds == len(found.round_list)
    assert sum(found.widths.values()) == found.rounds


@some
@given(any_drafter, st.integers(1, CAP), forms)
def test_every_charge_is_in_the_ledger_and_nothing_overlaps(case, cap, form):
    found = replayed(case, cap, form)
    entry = found.ledger
    assert sum(getattr(entry, name) for name in CHARGES) == entry.total_ns == round(found.time_ms * 1e6)
    account = entry.account
    assert account.total_ns == account.draft_ns + account.verify_ns - account.overlap_ns + account.idle_ns
    assert (account.overlap_ns, account.idle_ns) == (0, 0)
    assert entry.draft_ns / 1e6 == 8.0 * found.scalar_forwards + (12.0 * found.paired_forwards)
    assert entry.refresh_ns / 1e6 == 2.0 * found.refreshes + 3.0 * found.refreshed
    assert entry.confidence_ns / 1e6 == 0.5 * found.confidence_rows
    assert entry.verify_ns / 1e6 == sum(count * (32.0 + 4.0 * k) for k, count in found.widths.items())
    assert entry.loop_ns / 1e6 == found.rounds


@some
@given(any_drafter, st.integers(1, CAP))
def test_the_native_method_takes_the_rounds_of_the_loop_in_the_same_time(case, cap):
    target, states, output_cap = case
    costs = asp_cost_table("serial")
    clock = VirtualClock()

    def forward_ms(fed):
        own_ms = costs.draft_ms if fed == 1 else costs.refresh_base_ms + fed * costs.refresh_token_ms
        return own_ms + costs.confidence_row_ms

    recorder = ListRecorder(clock)
    verify = {k: float(costs.verify_ms[k]) for k in range(1, len(costs.verify_ms))}
    request = Request(
        "run", "specasr", ModelRef("t"), AudioRef("a"), draft_cap=cap, threshold=THRESHOLD, max_tokens=output_cap
    )
    scripted = ScriptedTarget(clock, target, EOS, TargetCosts(10.0, {}, verify, costs.loop_ms))
    drafter = RecordedDrafter(StateModel(clock, target, states, EOS, forward_ms))
    outcome = method("specasr")(scripted, drafter, request, recorder)
    rounds = [event for event in recorder.events if isinstance(event, Round)]
    found = replayed(case, cap, "serial", with_rounds=True)
    assert list(outcome.tokens) == list(target)
    assert [(r.width, r.accepted, r.origins.count("r")) for r in rounds] == [
        (r.width, r.accepted, r.reused) for r in found.round_list
    ]
    assert clock.now_ms == found.time_ms


@some
@given(any_drafter, st.integers(1, CAP), forms, st.sampled_from([0.5, 0.25]))
def test_time_never_rises_when_every_cost_is_lowered_to_a_fraction(case, cap, form, fraction):
    costs = asp_cost_table(form)
    lower = replace(
        costs,
        draft_ms=costs.draft_ms * fraction,
        paired_ms=costs.paired_ms * fraction,
        confidence_row_ms=costs.confidence_row_ms * fraction,
        refresh_base_ms=costs.refresh_base_ms * fraction,
        refresh_token_ms=costs.refresh_token_ms * fraction,
        verify_ms=costs.verify_ms * fraction,
        loop_ms=costs.loop_ms * fraction,
    )
    assert replayed(case, cap, form, costs=lower).time_ms == replayed(case, cap, form).time_ms * fraction


@some
@given(recorded(), st.integers(1, CAP))
def test_the_serial_form_pays_no_paired_forward(case, cap):
    assert replayed(case, cap, "serial").paired_forwards == 0


# The drafter says 6 7 8 9 10 11 behind the first token; the target goes 6 7 20 9 10 11. After the
# correction 20 the drafter says 9, as the old branch did at the same position: its rest is reused.
EXAMPLE = (5, 6, 7, 20, 9, 10, 11, EOS)


def example():
    prefix = (5, 6, 7, 8, 9, 10, 11, EOS)
    branches = Branches((3,), (8,), (4,), (9, 10, 11, EOS), (0.9,) * 4, 9, THRESHOLD)
    return EXAMPLE, recorded_states(EXAMPLE, prefix, (0.9,) * 8, branches, THRESHOLD), 320


def test_a_rejected_suffix_that_fits_again_is_reused_after_one_refresh():
    found = replayed(example(), 9, "serial", with_rounds=True)
    assert [(r.width, r.accepted, r.reused, r.reason) for r in found.round_list] == [
        (7, 2, 0, "drafter end"),
        (4, 3, 2, "drafter end"),
    ]
    # Round 1: 7 forwards (6 tokens, EOS). Round 2: 9 is drafted, 10 and 11 are taken over, a refresh
    # reads 9, 10 and 11 and says EOS.
    assert (found.scalar_forwards, found.refreshes, found.refreshed) == (8, 1, 3)
    assert found.time_ms == 8 * 8.0 + 9 * 0.5 + (2.0 + 3 * 3.0) + (60.0 + 48.0) + 2 * 1.0


def test_a_first_round_at_the_cap_of_one_token_drafts_one_and_verifies_two():
    found = replayed(example(), 1, "serial", with_rounds=True)
    assert (found.round_list[0].width, found.round_list[0].reason) == (2, "budget")


def test_one_token_takes_no_time():
    found = replay_specasr((EOS,), recorded_states((EOS,), (EOS,), (0.9,), None, None), EOS, 7, asp_cost_table())
    assert (found.time_ms, found.rounds, found.ledger.total_ns) == (0.0, 0, 0)


def test_a_width_without_a_cost_is_named_and_leaves_no_time():
    found = replayed(example(), 9, costs=asp_cost_table("serial", widths=5))
    assert math.isnan(found.time_ms)
    assert (found.missing_width, found.feasible) == (7, False)
    with pytest.raises(ProfileError, match="has no ledger"):
        _ = found.ledger


@pytest.mark.parametrize("cap", [0, -1, True, 2.5])
def test_a_cap_that_cannot_be_is_refused(cap):
    with pytest.raises(RequestError, match="SpecASR needs a whole number of at least 1"):
        replayed(example(), cap)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("draft_ms", 0.0),
        ("draft_ms", math.nan),
        ("paired_ms", 0.0),
        ("confidence_row_ms", -1.0),
        ("refresh_token_ms", math.inf),
        ("loop_ms", math.nan),
        ("verify_ms", np.array([np.nan, 0.0])),
        ("verify_ms", np.array([np.nan, np.nan, 5.0])),
    ],
)
def test_a_cost_that_cannot_be_charged_is_refused(field, value):
    with pytest.raises(ProfileError):
        replayed(example(), 7, costs=asp_cost_table("paired", **{field: value}))


def test_a_fact_that_was_not_recorded_is_named():
    states = recorded_states(EXAMPLE, (5, 6, 7, 8, 9, 10, 11, EOS), (0.9,) * 8, None, THRESHOLD)
    with pytest.raises(TrajectoryError, match=r"in state 3 was not recorded; collect the window again"):
        replay_specasr(EXAMPLE, states, EOS, 7, asp_cost_table("serial"))


def test_an_output_beyond_the_cap_and_an_empty_one_are_refused():
    with pytest.raises(TrajectoryError, match="more than the cap of 3"):
        replayed(example(), 7, output_cap=3)
    with pytest.raises(TrajectoryError, match="no target tokens"):
        replay_specasr((), example()[1], EOS, 7, asp_cost_table())


def test_only_a_profile_that_can_price_paired_branches_has_them():
    assert asp_costs(load_profile("k70")).form == "paired"
    assert asp_costs(profile()).form == "serial"
    with pytest.raises(ProfileError, match="needs paired_forward_ms, confidence_row_ms"):
        asp_costs(profile(), "paired")
    with pytest.raises(UnknownNameError, match="paired"):
        asp_costs(profile(), "pared")


def test_costs_that_stand_in_for_others_are_named():
    costs = asp_costs(profile(), "serial")
    assert [text.partition(":")[0] for text in costs.substituted] == ["confidence_row_ms", "refresh_token_ms"]
    assert (costs.confidence_row_ms, costs.refresh_token_ms) == (0.0, 15.0)
    assert asp_costs(load_profile("k70"), "serial").substituted == ()
