import pytest

from as2d_core.errors import RequestError
from as2d_core.profiles import load_profile
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.budgets import compare_costs
from dashboard.services.what_if import gap_interval, scaled_costs

PROFILE = load_profile("k70")


@pytest.fixture(scope="module")
def report():
    return compare_costs(PROFILE, load_corpus("demo"), budgets=(1, 7))


def test_nothing_changed_is_the_profile_itself():
    assert scaled_costs(PROFILE) is PROFILE


def test_drafting_and_verification_are_scaled_and_nothing_else():
    scaled = scaled_costs(PROFILE, draft=2.0, verify=0.5)
    assert scaled.draft_overlapped_ms == PROFILE.draft_overlapped_ms * 2
    assert scaled.verify_idle_ms[8] == PROFILE.verify_idle_ms[8] / 2
    assert scaled.verify_concurrent_ms[8] == PROFILE.verify_concurrent_ms[8] / 2
    assert (scaled.target_step_ms, scaled.loop_ms) == (PROFILE.target_step_ms, PROFILE.loop_ms)
    assert scaled.name == "Redmi K70 Pro, draft × 2, verification × 0.5"


@pytest.mark.parametrize("factor", [0.0, -1.0, 1e6, float("nan")])
def test_a_factor_that_makes_no_sense_is_refused(factor):
    with pytest.raises(RequestError, match="makes no sense"):
        scaled_costs(PROFILE, draft=factor)


def test_cheaper_verification_is_never_slower(report):
    cheaper = compare_costs(scaled_costs(PROFILE, verify=0.5), load_corpus("demo"), budgets=(1, 7))
    pairs = zip(report.table.rows, cheaper.table.rows, strict=True)
    assert all(cheap.tps > plain.tps for plain, cheap in pairs)


def test_the_interval_of_a_gap_holds_the_gap(report):
    row = report.table.rows[1]
    interval = gap_interval(report.grid, row.drafter, row.budget)
    assert interval.low <= row.gap <= interval.high


def test_a_pair_that_was_not_replayed_has_no_interval(report):
    assert gap_interval(report.grid, "nobody", 7) is None
    assert gap_interval(report.grid, "drafter", 99) is None
