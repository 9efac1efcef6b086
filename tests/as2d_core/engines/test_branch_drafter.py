"""A prefix-conditioned drafter: what it proposes depends on the committed prefix, never on its own past."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import ScriptedModel, VirtualClock

EOS = 2


def model_of(predict):
    return ScriptedModel(VirtualClock(), predict, EOS, lambda fed: 5.0 if fed == 1 else 4.0 + fed)


def counting(prefix):
    """After token n comes n + 1, with certainty."""
    return (prefix[-1] + 1 if prefix else 10), 0.9


def random_model(seed):
    """Some fixed next token and confidence for every prefix; EOS now and then."""

    def predict(prefix):
        draw = hash((seed, prefix)) % 1000
        return (EOS if draw % 11 == 0 else 10 + draw % 5), (draw % 10) / 10

    return model_of(predict)


def greedy_chain(model, committed, count):
    """What the model says after a prefix, worked out from an empty cache."""
    tokens, confidences = [], []
    while len(tokens) < count:
        token, confidence = model._predict((*committed, *tokens))
        tokens.append(token)
        confidences.append(confidence)
    return tokens, confidences


# -- fixed drafts ----------------------------------------------------------------------------------


def test_a_fixed_draft_has_exactly_the_asked_tokens():
    draft = BranchDrafter(model_of(counting)).draft_fixed([10], 4)
    assert (draft.tokens, draft.origins, draft.reason) == ((11, 12, 13, 14), "dddd", "fixed width")


def test_a_fixed_draft_goes_on_past_eos():
    draft = BranchDrafter(model_of(lambda _: (EOS, 0.5))).draft_fixed([10], 3)
    assert draft.tokens == (EOS, EOS, EOS)


@pytest.mark.parametrize("count", [0, -1])
def test_a_draft_of_nothing_runs_nothing(count):
    draft = BranchDrafter(model_of(counting)).draft_fixed([10], count)
    assert (draft.tokens, draft.reason, draft.forwards, draft.spans) == ((), "budget", 0, ())


def test_the_first_draft_costs_a_forward_a_token():
    assert BranchDrafter(model_of(counting)).draft_fixed([10], 4).forwards == 4


def test_after_full_acceptance_one_catch_up_forward_is_added():
    drafter = BranchDrafter(model_of(counting))
    drafter.draft_fixed([10], 3)
    assert drafter.draft_fixed([10, 11, 12, 13, 14], 3).forwards == 3 + 1


def test_after_a_rejection_only_the_correction_is_fed_before_drafting():
    drafter = BranchDrafter(model_of(counting))
    drafter.draft_fixed([10], 4)
    assert drafter.draft_fixed([10, 11, 50], 4).forwards == 4


def test_a_span_lasts_from_the_first_to_the_last_forward():
    (span,) = BranchDrafter(model_of(counting)).draft_fixed([10, 11], 3).spans
    assert (span.lane, span.work, span.operations, span.end_ns - span.start_ns) == ("drafter", "draft", 4, 20_000_000)


def test_a_restarted_drafter_feeds_everything_again():
    model = model_of(counting)
    drafter = BranchDrafter(model)
    drafter.draft_fixed([10, 11], 3)
    model.keep(0)
    drafter.restart()
    assert drafter.draft_fixed([10, 11], 3).forwards == 4


@given(st.integers(0, 2**30), st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=1, max_size=8))
def test_a_fixed_draft_depends_on_the_committed_prefix_alone(seed, rounds):
    model = random_model(seed)
    drafter = BranchDrafter(model)
    committed = [10]
    for accepted, count in rounds:
        draft = drafter.draft_fixed(committed, count)
        assert list(draft.tokens) == greedy_chain(model, committed, count)[0]
        committed += [*draft.tokens[:accepted], 60 + accepted]


# -- adaptive drafts -------------------------------------------------------------------------------


def test_an_adaptive_draft_stops_at_its_cap():
    draft = BranchDrafter(model_of(counting)).draft_adaptive([10], 3, 0.4)
    assert (draft.tokens, draft.reason, draft.forwards) == ((11, 12, 13), "budget", 3)


def test_an_adaptive_draft_includes_the_token_of_low_confidence_and_stops():
    model = model_of(lambda prefix: (prefix[-1] + 1, 0.39 if prefix[-1] == 12 else 0.9))
    draft = BranchDrafter(model).draft_adaptive([10], 9, 0.4)
    assert (draft.tokens, draft.reason) == ((11, 12, 13), "confidence")


def test_a_confidence_at_the_threshold_is_not_low():
    draft = BranchDrafter(model_of(lambda prefix: (prefix[-1] + 1, 0.4))).draft_adaptive([10], 3, 0.4)
    assert (len(draft.tokens), draft.reason) == (3, "budget")


def test_without_a_threshold_no_confidence_stops_a_draft():
    draft = BranchDrafter(model_of(lambda prefix: (prefix[-1] + 1, 0.0))).draft_adaptive([10], 3, None)
    assert (len(draft.tokens), draft.reason) == (3, "budget")


def test_eos_ends_an_adaptive_draft_and_is_not_proposed():
    model = model_of(lambda prefix: (EOS if prefix[-1] == 12 else prefix[-1] + 1, 0.9))
    draft = BranchDrafter(model).draft_adaptive([10], 9, 0.4)
    assert (draft.tokens, draft.reason) == ((11, 12), "drafter end")


def test_a_drafter_that_wants_to_end_at_once_proposes_nothing():
    draft = BranchDrafter(model_of(lambda _: (EOS, 0.9))).draft_adaptive([10], 9, 0.4)
    assert (draft.tokens, draft.reason, draft.forwards) == ((), "drafter end", 1)


def test_a_cap_of_zero_runs_nothing():
    draft = BranchDrafter(model_of(counting)).draft_adaptive([10], 0, 0.4)
    assert (draft.tokens, draft.reason, draft.forwards) == ((), "budget", 0)


@given(st.integers(0, 2**30), st.integers(1, 8), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_an_adaptive_draft_without_an_old_branch_is_the_greedy_chain_up_to_its_stop(seed, cap, acceptances):
    model = random_model(seed)
    drafter = BranchDrafter(model)
    committed = [10]
    for accepted in acceptances:
        draft = drafter.draft_adaptive(committed, cap, 0.3)
        tokens, confidences = greedy_chain(model, committed, cap + 1)
        stop = next(i for i in range(cap + 1) if i == cap or tokens[i] == EOS or (i and confidences[i - 1] < 0.3))
        assert list(draft.tokens) == tokens[:stop]
        committed += [*draft.tokens[:accepted], 60 + accepted]


# -- taking over the old branch --------------------------------------------------------------------


def recycled(old, old_confidences=None, cap=9, threshold=0.4, predict=counting):
    confidences = [0.8] * len(old) if old_confidences is None else old_confidences
    return BranchDrafter(model_of(predict)).draft_adaptive([10], cap, threshold, old, confidences)


def test_the_old_branch_is_taken_over_where_it_says_the_same_at_the_same_position():
    draft = recycled([11, 30, 31], cap=4)
    assert (draft.tokens, draft.origins) == ((11, 30, 31, 32), "drrd")


def test_the_old_branch_is_taken_over_one_position_earlier():
    draft = recycled([40, 11, 30, 31], cap=4)
    assert (draft.tokens, draft.origins) == ((11, 30, 31, 32), "drrd")


def test_the_old_branch_is_taken_over_one_position_later():
    draft = recycled([12, 30, 31], cap=5)
    assert (draft.tokens, draft.origins) == ((11, 12, 30, 31, 32), "ddrrd")


def test_the_same_position_comes_before_its_neighbours():
    draft = recycled([11, 11, 30], cap=3)
    assert (draft.tokens, draft.origins) == ((11, 11, 30), "drr")


def test_an_old_branch_two_positions_away_is_not_used():
    draft = recycled([40, 41, 11, 30], cap=2)
    assert (draft.tokens, draft.origins) == ((11, 12), "dd")


def test_an_old_branch_that_ends_at_the_meeting_point_gives_nothing():
    draft = recycled([11], cap=2)
    assert (draft.tokens, draft.origins) == ((11, 12), "dd")


def test_the_taken_suffix_is_refreshed_in_one_forward():
    draft = recycled([11, 30, 31], cap=4)
    assert draft.forwards == 2
    assert draft.spans[0].extra == {"refresh_widths": [3]}


def test_drafting_goes_on_from_the_end_of_the_taken_suffix():
    assert recycled([11, 30, 31], cap=5).tokens == (11, 30, 31, 32, 33)


def test_a_take_over_never_goes_beyond_the_cap():
    draft = recycled([11, 30, 31, 32, 33, 34], cap=3)
    assert (draft.tokens, draft.reason) == ((11, 30, 31), "budget")


def test_a_take_over_stops_behind_an_old_token_of_low_confidence():
    draft = recycled([11, 30, 31, 32], [0.9, 0.9, 0.1, 0.9])
    assert (draft.tokens, draft.reason) == ((11, 30, 31), "confidence")


def test_the_old_branch_is_used_once():
    # Its tail would fit again at 32: 11 -> take over 30, 31, then 32 is drafted and stands where 32 stood.
    draft = recycled([11, 30, 31], cap=6)
    assert draft.origins.count("r") == 2


def test_taken_tokens_keep_the_confidences_they_had():
    assert recycled([11, 30, 31], [0.9, 0.7, 0.6], cap=3).confidences == (0.9, 0.7, 0.6)


@given(
    st.integers(0, 2**30),
    st.integers(1, 10),
    st.lists(st.tuples(st.integers(10, 14), st.sampled_from([0.1, 0.9])), max_size=8),
)
def test_a_draft_with_any_old_branch_keeps_cap_stop_and_conditioning(seed, cap, old):
    model = random_model(seed)
    draft = BranchDrafter(model).draft_adaptive([10], cap, 0.3, [t for t, _ in old], [c for _, c in old])
    assert len(draft.tokens) == len(draft.confidences) == len(draft.origins) <= cap
    assert EOS not in draft.tokens
    assert all(confidence >= 0.3 for confidence in draft.confidences[:-1])
    for i, (token, origin) in enumerate(zip(draft.tokens, draft.origins, strict=True)):
        if origin == "d":
            assert token == model._predict((10, *draft.tokens[:i]))[0]


@given(st.integers(0, 2**30), st.lists(st.integers(0, 4), min_size=2, max_size=6))
def test_after_a_take_over_the_cache_is_that_of_the_proposed_tokens(seed, acceptances):
    model = random_model(seed)
    drafter = BranchDrafter(model)
    committed = [10]
    old, old_confidences = (), ()
    for accepted in acceptances:
        draft = drafter.draft_adaptive(committed, 6, 0.2, old, old_confidences)
        known = (*committed, *draft.tokens)
        assert tuple(model._cache) == known[: len(model._cache)]
        committed = [*committed, *draft.tokens[:accepted], 60 + accepted]
        old, old_confidences = draft.tokens[accepted + 1 :], draft.confidences[accepted + 1 :]
