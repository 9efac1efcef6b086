"""Every bad input is a named error with one sentence, or has a defined result; docs/replay.md lists them."""

import math
from pathlib import Path

import numpy as np
import pytest
from replay_cases import EOS, corpus, profile, window

from as2d_core.deployment import choose
from as2d_core.errors import As2dError, ProfileError, RequestError, SelectionError, TrajectoryError
from as2d_core.profiles.codec import profile_from_json, profile_to_json
from as2d_core.replay import oracle, replay_as2d, replay_grid, replay_standard_sd
from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.headroom import headroom
from as2d_core.replay.oracle_report import fixed_choice, report_oracle, within_report
from as2d_core.replay.windows import DrafterTrajectory

COSTS = [math.nan, 60.0, 65.0, 70.0]
DOCS = Path(__file__).parents[3] / "docs" / "replay.md"


def as2d(**changes):
    values = {
        "target_tokens": [5, 6, 7, EOS],
        "candidates": [5, 6, 7],
        "low_confidence": [False] * 3,
        "batch_ends": [3],
        "batch_times_ms": [10.0],
        "producer_end_ms": 10.0,
        "operation_ms": 5.0,
        "budget": 2,
        "verify_concurrent_ms": COSTS,
        "verify_idle_ms": COSTS,
    }
    return replay_as2d(**{**values, **changes})


def sd(**changes):
    values = {"agrees": [True] * 4, "width": 3, "draft_ms": 10.0, "verify_ms": COSTS, "loop_ms": 1.0}
    return replay_standard_sd(**{**values, **changes})


@pytest.mark.parametrize(
    ("work", "error", "sentence"),
    [
        pytest.param(lambda: corpus(windows=()), TrajectoryError, "no windows", id="empty corpus"),
        pytest.param(lambda: corpus(window("a"), window("a")), TrajectoryError, "'a'", id="duplicate windows"),
        pytest.param(lambda: corpus(window("a", (EOS, EOS, EOS))), TrajectoryError, "EOS at position 0", id="all EOS"),
        pytest.param(
            lambda: corpus(window("a", (5, EOS), (EOS,))),
            TrajectoryError,
            "EOS is never a candidate",
            id="EOS candidates",
        ),
        pytest.param(lambda: corpus(window("a", ())), TrajectoryError, "no target tokens", id="no tokens"),
        pytest.param(
            lambda: corpus(window("a", (*range(5, 20), EOS)), output_cap=8),
            TrajectoryError,
            "more than the cap of 8",
            id="output over cap",
        ),
        pytest.param(lambda: as2d(target_tokens=[]), TrajectoryError, "no target tokens", id="as2d without tokens"),
        pytest.param(lambda: as2d(output_cap=3), TrajectoryError, "more than the cap of 3", id="as2d over cap"),
        pytest.param(
            lambda: as2d(low_confidence=[True]), TrajectoryError, "3 candidates but 1 confidence flags", id="flags"
        ),
        pytest.param(lambda: as2d(batch_ends=[2]), TrajectoryError, "publish 2 of 3", id="unpublished candidates"),
        pytest.param(lambda: as2d(budget=-1), RequestError, "budget is -1", id="negative budget"),
        pytest.param(lambda: as2d(budget=2.5), RequestError, "budget is 2.5", id="broken budget"),
        pytest.param(lambda: as2d(search_window=-1), RequestError, "search window is -1", id="negative search window"),
        pytest.param(lambda: as2d(verify_idle_ms=[math.nan, 0.0]), ProfileError, "K = 1 is 0.0 ms", id="zero cost"),
        pytest.param(
            lambda: as2d(verify_idle_ms=[math.nan, 60.0, -1.0]), ProfileError, "K = 2 is -1.0 ms", id="negative cost"
        ),
        pytest.param(
            lambda: as2d(verify_idle_ms=[math.nan, math.inf]), ProfileError, "K = 1 is inf ms", id="infinite cost"
        ),
        pytest.param(
            lambda: as2d(verify_concurrent_ms=[math.nan, math.nan, 65.0]),
            ProfileError,
            "no cost at K = 1",
            id="NaN at K = 1",
        ),
        pytest.param(lambda: as2d(verify_idle_ms=[math.nan]), ProfileError, "no cost at K = 1", id="no K = 1"),
        pytest.param(lambda: sd(agrees=[]), TrajectoryError, "no target tokens", id="sd without tokens"),
        pytest.param(lambda: sd(width=1), RequestError, "the least width is 2", id="sd width"),
        pytest.param(lambda: sd(draft_ms=0.0), ProfileError, "draft forward of 0.0 ms", id="sd zero draft"),
        pytest.param(lambda: sd(draft_ms=math.nan), ProfileError, "draft forward of nan ms", id="sd NaN draft"),
        pytest.param(lambda: sd(loop_ms=-1.0), ProfileError, "loop of -1.0 ms", id="sd negative loop"),
        pytest.param(lambda: replay_grid(corpus(), profile(), []), RequestError, "no budget", id="no budgets"),
        pytest.param(
            lambda: replay_grid(corpus(), profile(), [3, 3]), RequestError, "given twice", id="same budget twice"
        ),
        pytest.param(
            lambda: replay_grid(corpus(), profile(verify_idle_ms={2: 50.0})),
            ProfileError,
            "no cost at K = 1",
            id="profile without K = 1",
        ),
        pytest.param(
            lambda: replay_grid(corpus(), profile(loop_ms=math.nan)),
            ProfileError,
            "loop_ms of 'here' is nan",
            id="NaN loop",
        ),
        pytest.param(
            lambda: replay_grid(corpus(), profile(target_step_ms=0.0)),
            ProfileError,
            "target_step_ms of 'here' is 0.0",
            id="zero step",
        ),
        pytest.param(
            lambda: replay_grid(corpus(), profile(verify_idle_ms={1: 50.0, 2: math.nan})),
            ProfileError,
            "at K = 2 is no number",
            id="NaN width",
        ),
        pytest.param(
            lambda: replay_grid(corpus(window("a", drafters=())), profile()),
            TrajectoryError,
            "no drafters",
            id="no drafters",
        ),
        pytest.param(
            lambda: choose(corpus(), profile()),
            SelectionError,
            "no development and validation windows",
            id="test windows only",
        ),
        pytest.param(
            lambda: headroom(corpus(), profile(), budget=40),
            ProfileError,
            "needs widths up to 41",
            id="headroom beyond widths",
        ),
        pytest.param(
            lambda: headroom(corpus(window("a", (EOS,))), profile(), budget=2),
            ProfileError,
            "single token",
            id="headroom without time",
        ),
    ],
)
def test_a_bad_input_is_a_named_error_with_one_sentence(work, error, sentence):
    with pytest.raises(error) as caught:
        work()
    assert isinstance(caught.value, As2dError)
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("field", ["target_step_ms", "draft_serial_ms", "draft_overlapped_ms"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_no_profile_file_holds_a_cost_that_cannot_be_charged(field, value):
    body = profile_to_json(profile())
    body[field] = value
    with pytest.raises(ProfileError, match=field):
        profile_from_json(body)


def test_one_token_takes_no_time_and_has_no_throughput():
    single = corpus(window("a", (EOS,)))
    silent = {"candidates": [], "low_confidence": [], "batch_ends": [], "batch_times_ms": [], "producer_end_ms": 0.0}
    assert as2d(target_tokens=[EOS], **silent).time_ms == 0.0
    assert sd(agrees=[True]).time_ms == 0.0
    grid = replay_grid(single, profile(), [0, 3])
    assert grid.time_ms.tolist() == [[[0.0], [0.0]]]
    assert oracle(grid).tps is None
    row = compare_budgets(grid, 10).rows[0]
    assert (row.tps, row.gap, row.slower_windows) == (None, None, 0)
    found = report_oracle(grid, [fixed_choice(grid, "small", 3, "given")], 10).row("small b=3")
    assert (found.tps, found.gap, found.slowdown.ties) == (None, None, 1)


def test_an_output_of_eos_alone_beside_a_long_source_waits_for_its_drain_only():
    long = window("a", (EOS,), tuple(range(10, 60)))
    grid = replay_grid(corpus(long), profile(), [3])
    assert 0.0 <= grid.time_ms[0, 0, 0] <= profile().draft_overlapped_ms


def test_a_source_longer_than_the_cap_is_cut_by_the_cap():
    tokens = [5, 6, 7, 8]
    result = as2d(
        target_tokens=tokens,
        candidates=[5, 6, 7, 8, 9, 9, 9, 9],
        low_confidence=[False] * 8,
        batch_ends=[8],
        batch_times_ms=[0.0],
        producer_end_ms=1.0,
        operation_ms=1.0,
        budget=7,
        output_cap=4,
        verify_concurrent_ms=[math.nan, *[60.0] * 8],
        verify_idle_ms=[math.nan, *[60.0] * 8],
        with_rounds=True,
    )
    assert [r.width for r in result.round_list] == [3]  # 4 - 1 - 1 candidates and the root
    assert (result.time_ms, result.accepted) == (60.0, 2)


def test_budget_0_is_the_loop_of_single_tokens():
    grid = replay_grid(corpus(), profile(), [0, 3])
    assert grid.rounds[0, 0, 0] == grid.k1_rounds[0, 0, 0] == len(corpus().windows[0].target_tokens) - 1
    assert (grid.proposed[0, 0, 0], grid.accepted[0, 0, 0]) == (0, 0)


def test_a_budget_beyond_every_width_is_excluded_and_no_zero():
    grid = replay_grid(corpus(), profile(widths=4), [3, 50])
    assert np.isnan(grid.times("small", 50)).all()
    assert grid.rounds[0, 1, 0] == -1
    rows = compare_budgets(grid, 10).rows
    assert [row.feasible for row in rows] == [True, False]
    assert rows[1].tps is None
    assert oracle(grid).budgets == (3,)
    alone = replay_grid(corpus(), profile(widths=4), [50])
    assert (oracle(alone).budgets, oracle(alone).tps) == ((None,), None)
    found, _ = within_report(corpus(), profile(widths=4), alone)
    assert found.tps is None


def test_a_width_without_a_cost_is_said_when_it_is_met():
    result = as2d(verify_idle_ms=COSTS[:2], verify_concurrent_ms=COSTS[:2])
    assert (result.feasible, result.missing_width, result.rounds) == (False, 2, None)
    assert math.isnan(result.time_ms)
    assert as2d(verify_idle_ms=COSTS[:2], verify_concurrent_ms=COSTS[:2], budget=0).feasible


def test_a_window_without_its_drafter_is_taken_by_the_first_one_and_counted():
    both = tuple(DrafterTrajectory(name, (5, 6, 7, 8, 9)) for name in ("small", "tiny"))
    windows = corpus(window("a", drafters=both), window("b", drafters=both[:1]))
    rows = compare_budgets(replay_grid(windows, profile(), [3]), 10).rows
    assert [row.fallback_windows for row in rows] == [0, 1]
    assert rows[1].tps is not None


def test_the_page_about_replay_lists_every_bad_input():
    text = DOCS.read_text(encoding="utf-8")
    for name in (
        "Empty corpus", "One token", "All EOS", "Source longer than the cap", "Zero, negative, infinite or NaN cost",
        "Budget 0", "Budget larger than every width", "Duplicate windows", "Profile without K = 1",
    ):  # fmt: skip
        assert f"| {name} |" in text, name
