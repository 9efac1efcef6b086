"""What is collected off the true path is enough for SpecASR, exact, and no more than a few facts."""

from drafter_cases import CAP, EOS, THRESHOLD, SpokenDrafter, collected, prefix_answers, spoken_cases
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import ListRecorder, ScriptedModel, ScriptedTarget, TargetCosts, VirtualClock
from as2d_core.methods import method
from as2d_core.records import Round
from as2d_core.replay.branches import branch_faults, recorded_states
from as2d_core.replay.specasr import explore_specasr
from as2d_core.replay.states import RecordedDrafter, StateModel
from as2d_core.request import AudioRef, ModelRef, Request

some = settings(max_examples=60)


def decoded(target, model_of, cap, output_cap):
    """Rounds of SpecASR with a drafter, live or recorded."""
    clock = VirtualClock()
    costs = TargetCosts(10.0, {}, dict.fromkeys(range(1, CAP + 2), 10.0))
    recorder = ListRecorder(clock)
    request = Request(
        "run", "specasr", ModelRef("t"), AudioRef("a"), draft_cap=cap, threshold=THRESHOLD, max_tokens=output_cap
    )
    outcome = method("specasr")(ScriptedTarget(clock, target, EOS, costs), model_of(clock), request, recorder)
    return outcome.tokens, [r for r in recorder.events if isinstance(r, Round)], clock.now_ms


@some
@given(spoken_cases(), st.integers(1, CAP))
def test_specasr_from_what_was_collected_is_specasr_with_the_drafter_itself(case, cap):
    target, drafter, output_cap = case
    states = recorded_states(
        target, *prefix_answers(target, drafter), collected(target, drafter, output_cap), THRESHOLD
    )
    live = decoded(
        target, lambda clock: BranchDrafter(ScriptedModel(clock, drafter.predict, EOS, float)), cap, output_cap
    )
    replayed = decoded(
        target, lambda clock: RecordedDrafter(StateModel(clock, target, states, EOS, float)), cap, output_cap
    )
    assert live == replayed
    assert list(live[0]) == target


@some
@given(spoken_cases(), st.integers(1, CAP), st.booleans())
def test_nothing_is_missing_at_any_cap_and_in_either_form(case, cap, paired):
    target, drafter, output_cap = case
    tokens, confidences = prefix_answers(target, drafter)
    states = recorded_states(target, tokens, confidences, collected(target, drafter, output_cap), THRESHOLD)
    import numpy as np

    missing, _, _ = explore_specasr(np.array(target), states, EOS, cap, output_cap, paired, compiled=False)
    assert missing is None


@some
@given(spoken_cases())
def test_what_was_collected_has_no_fault_and_every_word_is_the_drafters(case):
    target, drafter, output_cap = case
    tokens, _ = prefix_answers(target, drafter)
    found = collected(target, drafter, output_cap)
    assert list(branch_faults(found, target, tokens, EOS)) == []
    read = [tuple(target[:i]) for i in range(len(target))]
    at = 0
    for leaf, fed, length in zip(found.leaves, found.feeds, found.lengths, strict=True):
        prefix = (*read[leaf], fed)
        for k in range(length):
            assert (found.tokens[at + k], found.confidences[at + k]) == drafter.predict(prefix)
            read.append(prefix)
            prefix = (*prefix, found.tokens[at + k])
        at += length


def test_drafter_that_agrees_everywhere_needs_no_branches():
    target = [5, 6, 7, 8, EOS]
    assert collected(target, SpokenDrafter(1, target, 0), 320).lengths == ()


def test_a_disagreement_is_followed_one_token_further_than_the_cap():
    target = [5, 6, *range(10, 60), EOS]
    tokens = [5, 9, *range(10, 60), EOS]
    asked = []

    def ask(read, count):
        asked.append((tuple(read), count))
        return list(range(10, 10 + count)), [0.9] * count

    from as2d_core.collection.branches import collect_branches

    found = collect_branches(target, tokens, [0.9] * len(target), EOS, 320, ask, 4, THRESHOLD)
    assert asked[0] == ((5, 9), 5)
    assert (found.leaves[0], found.feeds[0], found.lengths[0]) == (1, 9, 5)
    assert (found.draft_cap, found.threshold) == (4, THRESHOLD)
