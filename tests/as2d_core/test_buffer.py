import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.buffer import CandidateBuffer
from as2d_core.errors import RecordError
from as2d_core.records import Publication

EOS = 2
batches = st.lists(st.lists(st.tuples(st.integers(3, 99), st.none() | st.floats(0, 1)), max_size=9), max_size=9)


def publications(contents):
    offset = 0
    for batch in contents:
        tokens = tuple(t for t, _ in batch)
        yield Publication("source", offset, tokens, tuple(c for _, c in batch), offset)
        offset += len(tokens)


@given(batches)
def test_every_published_token_stands_where_it_was_published(contents):
    buffer = CandidateBuffer(EOS, 0.4)
    snapshots = []
    for batch in publications(contents):
        buffer.publish(batch)
        snapshots.append(buffer.snapshot())
    everything = [pair for batch in contents for pair in batch]
    assert buffer.snapshot() == tuple(t for t, _ in everything)
    assert buffer.visible == len(everything)
    assert buffer.low_confidence == [c is not None and c < 0.4 for _, c in everything]
    for earlier in snapshots:
        assert buffer.snapshot()[: len(earlier)] == earlier


def test_snapshot_is_not_changed_by_later_publications():
    buffer = CandidateBuffer()
    buffer.publish(Publication("source", 0, (5, 6), None, 0))
    snapshot = buffer.snapshot()
    buffer.publish(Publication("source", 2, (7,), None, 1))
    assert snapshot == (5, 6)


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (Publication("source", 1, (5,), None, 0), "offset 1 does not follow the 2 candidates"),
        (Publication("source", 3, (5,), None, 0), "offset 3 does not follow the 2 candidates"),
        (Publication("source", 2, (5, 6), (0.5,), 0), "has 2 tokens but 1 confidences"),
        (Publication("source", 2, (5, EOS), None, 0), "holds EOS"),
    ],
)
def test_refused_publication_leaves_the_buffer_as_it_was(batch, sentence):
    buffer = CandidateBuffer(EOS, 0.4)
    buffer.publish(Publication("source", 0, (5, 6), (0.1, 0.9), 0))
    with pytest.raises(RecordError, match=sentence):
        buffer.publish(batch)
    assert (buffer.snapshot(), buffer.low_confidence, buffer.visible) == ((5, 6), [True, False], 2)


def test_without_a_threshold_no_candidate_is_unsure():
    buffer = CandidateBuffer(EOS, None)
    buffer.publish(Publication("source", 0, (5, 6), (0.0, 0.1), 0))
    assert buffer.low_confidence == [False, False]


def test_readers_beside_a_producer_never_see_a_token_lost_moved_or_changed():
    total, readers = 20_000, 3
    buffer = CandidateBuffer(-1, 0.4)
    start, done = threading.Barrier(readers + 1), threading.Event()
    wrong = []

    def read():
        start.wait(60)
        before = 0
        while True:
            last = done.is_set()
            visible = buffer.visible
            if visible < before:
                wrong.append(f"visible fell from {before} to {visible}")
            if list(buffer.tokens[before:visible]) != list(range(before, visible)):
                wrong.append(f"tokens between {before} and {visible} are not those published")
            if buffer.low_confidence[before:visible] != [t % 3 == 0 for t in range(before, visible)]:
                wrong.append(f"confidences between {before} and {visible} are not those published")
            if len(buffer.snapshot()) < visible:
                wrong.append(f"a snapshot lost tokens that were visible at {visible}")
            before = visible
            if last:
                return

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    start.wait(60)
    for offset in range(0, total, 8):
        tokens = tuple(range(offset, offset + 8))
        buffer.publish(Publication("source", offset, tokens, tuple(0.1 if t % 3 == 0 else 0.9 for t in tokens), 0))
    done.set()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert wrong == []
    assert buffer.snapshot() == tuple(range(total))
