"""The producer as the target sees it over a pipe: batches, its spans, its end, its death."""

import multiprocessing

import pytest

from as2d_core.engines.scripted import ListRecorder, VirtualClock
from as2d_core.errors import DrafterLostError, EngineError
from as2d_core.runner.pipes import asker
from as2d_core.runner.remote import RemoteSource


class FarDrafter:
    """The other end of the pipe: the test says what the drafter process would."""

    def __init__(self):
        self.pipe, self.far = multiprocessing.Pipe()
        self.asked = asker(self.pipe)
        self.sent = []

    def send(self, *message):
        if self.far.closed:
            raise self.lost()
        self.sent.append(message)

    def receive(self, wanted, _deadline_s):
        assert self.pipe.poll(5)
        try:
            message = self.pipe.recv()
        except EOFError:
            raise self.lost() from None
        if message[0] != wanted:
            raise EngineError(f"The drafter answered {message[0]!r} where {wanted!r} was expected.")
        return message

    def lost(self):
        return DrafterLostError("The drafter process ended during the run: it was killed.")

    def publishes(self, offset, tokens, start_ns=100, forwards=8, last=False):
        fields = (offset, tuple(tokens), (0.5,) * len(tokens), start_ns, start_ns + 80, forwards, start_ns + 90, last)
        self.far.send(("batch", fields))


@pytest.fixture
def drafter():
    far = FarDrafter()
    yield far
    far.pipe.close()
    far.far.close()


@pytest.fixture
def recorder():
    return ListRecorder(VirtualClock())


@pytest.fixture
def source(drafter, recorder):
    started = RemoteSource(drafter, recorder, "small", 8, 320)
    started.start(50)
    return started


def spans(recorder):
    return [(s.work, s.start_ns, s.end_ns, s.operations) for s in recorder.events]


def test_starting_tells_the_drafter_its_batch_and_its_cap(source, drafter):
    assert (drafter.sent, source.running) == ([("source", 8, 320)], True)


def test_nothing_has_come_before_the_first_batch(source):
    assert (source.poll(), source.running) == ([], True)


def test_batches_are_handed_out_once_and_in_order(source, drafter):
    drafter.publishes(0, [5, 6])
    drafter.publishes(2, [7])
    assert [(b.source, b.offset, b.tokens) for b in source.poll()] == [("small", 0, (5, 6)), ("small", 2, (7,))]
    assert source.poll() == []


def test_a_publication_carries_the_time_of_its_producer(source, drafter):
    drafter.publishes(0, [5], start_ns=1000)
    assert source.poll()[0].time_ns == 1090


def test_the_last_batch_ends_the_source(source, drafter):
    drafter.publishes(0, [5], last=True)
    source.poll()
    assert not source.running


def test_an_empty_last_batch_is_no_publication(source, drafter):
    drafter.publishes(0, [], last=True)
    assert (source.poll(), source.running) == ([], False)


def test_a_batch_leaves_a_span_of_its_drafting_and_one_of_its_publication(source, drafter, recorder):
    drafter.publishes(0, [5] * 8, start_ns=100, forwards=7)
    drafter.publishes(8, [5] * 3, start_ns=200, forwards=4, last=True)
    source.poll()
    assert spans(recorder) == [
        ("draft", 100, 180, 7),
        ("publish", 180, 200, 0),
        ("draft", 200, 280, 4),
        ("publish", 280, 290, 0),
    ]


def test_a_dead_producer_first_hands_out_what_it_published(source, drafter):
    drafter.publishes(0, [5])
    drafter.far.close()
    assert [b.tokens for b in source.poll()] == [(5,)]
    with pytest.raises(DrafterLostError, match="it was killed"):
        source.poll()


def test_a_producer_that_reports_an_error_is_lost(source, drafter):
    drafter.far.send(("error", "MNN has failed"))
    with pytest.raises(DrafterLostError, match="The drafter failed: MNN has failed"):
        source.poll()


def test_what_a_producer_published_before_its_error_is_handed_out(source, drafter):
    drafter.publishes(0, [5])
    drafter.far.send(("error", "MNN has failed"))
    assert [b.tokens for b in source.poll()] == [(5,)]
    with pytest.raises(DrafterLostError, match="MNN has failed"):
        source.poll()


def test_stopping_waits_for_the_last_batch_and_for_rest(source, drafter):
    drafter.publishes(0, [5], start_ns=100)
    drafter.publishes(1, [6], start_ns=200, last=True)
    drafter.far.send(("stopped", 400))
    drain = source.stop(150)
    assert drafter.sent[-1] == ("stop",)
    assert ([b.tokens for b in drain.publications], drain.end_ns, drain.lost) == ([(5,), (6,)], 290, None)
    assert not source.running


def test_a_source_that_has_ended_is_not_asked_to_stop(source, drafter):
    drafter.publishes(0, [5], start_ns=100, last=True)
    source.poll()
    drain = source.stop(500)
    assert (drafter.sent[-1][0], drain.publications, drain.end_ns) == ("source", (), 190)


def test_a_producer_that_died_is_lost_when_it_is_stopped(source, drafter):
    drafter.far.close()
    drain = source.stop(500)
    assert (drain.lost, drain.end_ns) == ("The drafter process ended during the run: it was killed.", 500)


def test_an_answer_that_was_not_expected_is_a_loss(source, drafter):
    drafter.far.send(("stopped", 400))
    assert "answered 'stopped' where 'batch' was expected" in source.stop(500).lost
