import math

import pytest
from hypothesis import assume, given, settings
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, UnknownNameError
from as2d_core.profiles.profile import ChunkCosts
from as2d_core.replay.acceptance import learn_width_rules
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.headroom import COSTS, ERRORS, headroom
from as2d_core.replay.windows import DrafterTrajectory

some = settings(max_examples=12, deadline=None)
TOKENS = (*range(10, 74), EOS)


def asked(windows, costs=None, **options):
    return headroom(windows, costs or profile(), **{"budget": 4, "resamples": 20, **options})


def worth_asking(windows):
    assume(any(len(w.target_tokens) > 1 for w in windows.windows))
    return windows


def noisy(name="w", every=7, **changes):
    """A window whose source is wrong now and then."""
    candidates = tuple(9 if k % every == every - 1 else token for k, token in enumerate(TOKENS[:-1]))
    return window(name, TOKENS, candidates, **changes)


@some
@given(corpora(drafters=("small",)))
def test_times_are_those_of_the_grid_and_are_accounted_for(windows):
    found = asked(worth_asking(windows))
    total = replay_grid(windows, profile(), [4]).time_ms[0, 0].sum()
    assert found.tps == pytest.approx(found.tokens / total * 1e3)
    assert found.draft_ms + found.verify_ms - found.overlap_ms + found.idle_ms == pytest.approx(total)


@some
@given(corpora(drafters=("small",)))
def test_no_throughput_is_above_the_bound(windows):
    found = asked(worth_asking(windows))
    assert found.tps <= found.bound_tps * (1 + 1e-12)


@some
@given(corpora(drafters=("small",)))
def test_shares_of_verification_loop_and_drain_make_up_the_time(windows):
    found = asked(worth_asking(windows))
    assert found.lever("verify").share + found.lever("loop").share + found.drain_percent == pytest.approx(100.0)
    widths = [item.share for item in found.levers if item.name.startswith("verify K")]
    assert sum(widths) == pytest.approx(found.lever("verify").share)


@some
@given(corpora(drafters=("small",)))
def test_with_all_candidates_ready_a_cheaper_round_never_slows_down_and_moves_by_its_share(windows):
    worth_asking(windows)
    same = {k: 46.0 + 4.0 * k for k in range(1, 10)}
    # The source is done before the first boundary: rounds do not depend on time.
    ready = profile(verify_idle_ms=same, verify_concurrent_ms=same, draft_overlapped_ms=1e-9, publish_ms=0.0)
    found = asked(windows, ready)
    for item in found.levers:
        if item.share is not None:
            assert item.move >= -1e-6
            assert item.move == pytest.approx(100 * item.share / (100 - item.share / 100) / 100, abs=1e-3)


@some
@given(corpora(drafters=("small",)))
def test_drafting_that_is_free_already_has_nothing_to_give(windows):
    worth_asking(windows)
    found = asked(windows, profile(draft_overlapped_ms=1e-9, publish_ms=0.0))
    assert found.lever("draft").move == pytest.approx(0.0, abs=1e-6)
    assert found.lever("readiness").move == pytest.approx(0.0, abs=1e-6)


def test_a_source_without_errors_is_worth_more_than_one_with_fewer():
    found = asked(corpus(noisy("a"), noisy("b", 5)))
    errors = found.lever(ERRORS)
    assert found.errors == 9 + 12
    assert errors.gone_gain > 0
    assert errors.share is None


def test_a_source_without_errors_has_no_errors_to_lose():
    errors = asked(corpus(window("w", TOKENS))).lever(ERRORS)
    assert (errors.move, errors.gone_gain) == (0.0, 0.0)


def test_verification_cannot_go_and_what_costs_nothing_has_not_to():
    found = asked(corpus(noisy()), profile(publish_ms=0.0, loop_ms=0.0))
    for name in ("verify", "verify K = 1", "publish", "loop"):
        assert found.lever(name).gone_tps is None
        assert found.lever(name).gone_gain is None
    assert found.lever("draft").gone_tps > 0


def test_slow_verification_is_named_as_the_bottleneck_and_its_widest_share():
    found = asked(corpus(noisy(), noisy("b")), profile(draft_overlapped_ms=0.01))
    assert "verification is the bottleneck" in found.sentence
    assert "at K = " in found.sentence
    assert "it would not help to have a drafter that takes no time" in found.sentence


def test_slow_drafting_is_named_as_the_bottleneck():
    slow = profile(draft_overlapped_ms=55.0, verify_idle_ms=dict.fromkeys(range(1, 10), 46.0))
    found = asked(corpus(window("a", TOKENS), window("b", TOKENS)), slow, budget=8)
    assert found.lever("draft").gone_gain > 50
    assert found.lever("draft").move > found.lever("verify").move
    assert "drafting is the bottleneck" in found.sentence


def test_only_windows_that_the_drafter_takes_are_asked():
    other = window("b", TOKENS, drafters=(DrafterTrajectory("other", TOKENS[:-1]),))
    found = asked(corpus(noisy("a"), other), drafter="small")
    assert (found.windows, found.tokens, found.drafter) == (1, len(TOKENS), "small")
    assert found.lever("draft").move_low is None
    assert asked(corpus(noisy("a"), other), drafter="other").windows == 1


def test_the_deployed_budget_is_asked_about_by_default():
    found = headroom(corpus(noisy("a"), noisy("b")), profile(deployed_budget=3), resamples=20)
    assert found.budget == 3
    assert found.lever("verify").move_low <= found.lever("verify").move <= found.lever("verify").move_high


def test_a_width_rule_takes_part():
    learned = corpus(noisy("a", split="development"), noisy("b"))
    dear = {k: 50.0 + (200.0 if k > 3 else 0.0) for k in range(1, 10)}
    costs = profile(verify_idle_ms=dear, verify_concurrent_ms=dear)
    rules, _ = learn_width_rules(learned, costs)
    found = asked(learned, costs, budget=8, width_rule=rules["small"])
    assert {item.name for item in found.levers} <= {*COSTS, ERRORS, *(f"verify K = {k}" for k in (1, 2, 3))}


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"budget": None}, RequestError, "'here' has no deployed one"),
        ({"budget": 40}, ProfileError, "widths up to 41"),
        ({"budget": -1}, RequestError, "budget is -1"),
        ({"drafter": "smal"}, UnknownNameError, "small"),
    ],
)
def test_headroom_refuses_bad_input_with_a_sentence(options, error, sentence):
    with pytest.raises(error) as caught:
        asked(corpus(noisy()), **options)
    assert sentence in str(caught.value)


def test_a_set_of_single_tokens_has_no_throughput_to_move():
    with pytest.raises(ProfileError, match="every output is a single token"):
        asked(corpus(window("w", (EOS,))))


def test_a_cost_that_is_not_there_is_looked_up_with_a_suggestion():
    found = asked(corpus(noisy()))
    with pytest.raises(UnknownNameError, match="verify"):
        found.lever("verif")
    assert all(math.isfinite(item.move) for item in found.levers)


def test_a_chunk_is_drafting_for_a_source_that_publishes_chunks():
    ends = (16, 32, 48, len(TOKENS) - 1)
    chunked = DrafterTrajectory("small", TOKENS[:-1], chunk_ends=ends)
    costs = profile(chunk_sources={"small": ChunkCosts(300.0, 20.0)})
    found = asked(corpus(window("w", TOKENS, drafters=(chunked,), duration_s=10.0)), costs)
    assert found.lever("draft").gone_gain > 0
    assert found.lever("draft").gone_tps == pytest.approx(found.lever("readiness").gone_tps, rel=0.05)
    assert found.lever("publish").move == 0
    shorter = profile(chunk_sources={"small": ChunkCosts(300.0 * 0.99, 20.0 * 0.99)})
    cheaper = asked(corpus(window("w", TOKENS, drafters=(chunked,), duration_s=10.0)), shorter)
    assert found.lever("draft").move == pytest.approx(100 * (cheaper.tps / found.tps - 1))
