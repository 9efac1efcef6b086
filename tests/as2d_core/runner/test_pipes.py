"""Cheap pipes between processes carry the same messages as the ordinary ones."""

import multiprocessing
import time

import pytest

from as2d_core.runner.pipes import asker, send, wait_briefly


@pytest.fixture
def pipe():
    here, there = multiprocessing.Pipe()
    yield here, there
    here.close()
    there.close()


def test_a_sent_message_is_received_as_it_was(pipe):
    here, there = pipe
    message = ("batch", (1, (2, 3), None, 0.5))
    send(here, message)
    assert there.recv() == message


def test_asking_tells_whether_a_message_waits(pipe):
    here, there = pipe
    asked = asker(there)
    before = asked()
    send(here, "x")
    assert (before, asked()) == (False, True)


def test_asking_tells_when_the_other_side_has_gone(pipe):
    here, there = pipe
    asked = asker(there)
    here.close()
    assert asked()


def test_waiting_ends_as_soon_as_there_is_a_message():
    answers = iter([False, False, True])
    assert wait_briefly(lambda: next(answers), 60.0)


def test_waiting_ends_at_its_deadline():
    start = time.perf_counter()
    assert not wait_briefly(lambda: False, 0.02)
    assert 0.02 <= time.perf_counter() - start < 60
