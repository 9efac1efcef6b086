"""A free-running producer: what it publishes is its own greedy text, batch by batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.engines.scripted import ScriptedModel, VirtualClock
from as2d_core.sources.autoregressive import produce

EOS = 2
FORWARD_MS = 20.0


def run(text, batch_tokens=8, max_tokens=320, cancel_after=None):
    """Let a producer say ``text`` and EOS; returns its batches and the forwards it ran."""
    clock = VirtualClock()
    tokens = [*text, EOS]

    def predict(prefix):
        assert list(prefix) == tokens[: len(prefix)], "it follows its own text"
        return tokens[len(prefix)], 0.5 + len(prefix) / 1000

    model = ScriptedModel(clock, predict, EOS, FORWARD_MS)
    asked = iter(range(10_000))
    batches = []
    forwards = produce(
        model,
        batch_tokens,
        max_tokens,
        batches.append,
        lambda: cancel_after is not None and next(asked) >= cancel_after,
        clock.now_ns,
    )
    return batches, forwards


def published(batches):
    return [token for batch in batches for token in batch.tokens]


TEXTS = st.lists(st.integers(3, 99), max_size=40)


@given(TEXTS, st.integers(1, 12))
def test_the_batches_join_to_the_text_without_eos(text, batch_tokens):
    assert published(run(text, batch_tokens)[0]) == text


@given(TEXTS, st.integers(1, 12))
def test_every_batch_but_the_last_is_full(text, batch_tokens):
    batches, _ = run(text, batch_tokens)
    assert {len(batch.tokens) for batch in batches[:-1]} <= {batch_tokens}
    assert len(batches[-1].tokens) < batch_tokens


@given(TEXTS, st.integers(1, 12))
def test_only_the_last_batch_says_so(text, batch_tokens):
    batches, _ = run(text, batch_tokens)
    assert [batch.last for batch in batches] == [False] * (len(batches) - 1) + [True]


@given(TEXTS, st.integers(1, 12))
def test_offsets_follow_each_other_and_every_candidate_has_its_confidence(text, batch_tokens):
    batches, _ = run(text, batch_tokens)
    end = 0
    for batch in batches:
        assert (batch.offset, len(batch.confidences)) == (end, len(batch.tokens))
        end += len(batch.tokens)
    assert [c for b in batches for c in b.confidences] == [0.5 + i / 1000 for i in range(len(text))]


@given(TEXTS, st.integers(1, 12))
def test_the_first_candidate_is_free_and_every_other_token_costs_one_forward(text, batch_tokens):
    batches, forwards = run(text, batch_tokens)
    assert forwards == len(text) == sum(batch.forwards for batch in batches)


@given(TEXTS, st.integers(1, 12))
def test_a_batch_is_published_as_soon_as_it_is_full(text, batch_tokens):
    batches, _ = run(text, batch_tokens)
    for batch in batches[:-1]:
        assert batch.time_ns == (batch.offset + batch_tokens - 1) * FORWARD_MS * 1e6


def test_a_producer_that_has_nothing_to_say_publishes_one_empty_last_batch():
    batches, forwards = run([])
    assert [(b.offset, b.tokens, b.last) for b in batches] == [(0, (), True)]
    assert forwards == 0


@given(TEXTS.filter(bool), st.integers(1, 12), st.integers(1, 40))
def test_a_producer_stops_at_the_cap(text, batch_tokens, cap):
    batches, forwards = run(text, batch_tokens, max_tokens=cap)
    assert published(batches) == text[:cap]
    assert forwards == min(len(text), cap - 1)


@pytest.mark.parametrize("cancel_after", [0, 1, 7, 8, 9])
def test_a_cancelled_producer_runs_no_forward_more_and_publishes_what_it_has(cancel_after):
    text = list(range(10, 50))
    batches, forwards = run(text, cancel_after=cancel_after)
    assert forwards == cancel_after
    assert published(batches) == text[: cancel_after + 1]
    assert batches[-1].last
