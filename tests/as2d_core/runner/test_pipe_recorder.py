"""Events travel in groups, with the text of every token that appears for the first time."""

import multiprocessing

import pytest

from as2d_core.records import Mark, Pieces, Publication, Span
from as2d_core.runner import pipe_recorder
from as2d_core.runner.pipe_recorder import CancelledError, PipeRecorder

TEXT = {5: b" walk", 6: b"\xe6\x97", 7: b"\xa5", 8: "ß".encode()}


@pytest.fixture
def pipe():
    here, there = multiprocessing.Pipe()
    yield here, there
    here.close()
    there.close()


@pytest.fixture
def clock(monkeypatch):
    now = [0]
    monkeypatch.setattr(pipe_recorder, "now_ns", lambda: now[0])
    return now


@pytest.fixture
def recorder(pipe, clock):
    return PipeRecorder(pipe[0], TEXT.__getitem__)


def received(pipe):
    out = []
    while pipe[1].poll():
        kind, events = pipe[1].recv()
        assert kind == "events"
        out.append(events)
    return out


SPAN = Span("target", "step", 1, 2)


def test_events_wait_until_they_are_flushed(recorder, pipe):
    recorder.add(SPAN)
    before = received(pipe)
    recorder.flush()
    assert (before, received(pipe)) == ([], [[SPAN]])


def test_events_are_sent_by_themselves_when_the_last_group_is_long_ago(recorder, pipe, clock):
    recorder.add(SPAN)
    clock[0] += pipe_recorder.FLUSH_NS + 1
    recorder.add(SPAN)
    assert received(pipe) == [[SPAN, SPAN]]


def test_work_that_leaves_no_events_gives_a_sign_of_life_once_in_a_while(recorder, pipe, clock):
    for _ in range(25):
        clock[0] += pipe_recorder.ALIVE_NS // 10
        recorder.still_works()
    assert received(pipe) == [[], []]


def test_what_has_gathered_goes_before_a_sign_of_life(recorder, pipe, clock):
    recorder.add(SPAN)
    clock[0] += pipe_recorder.ALIVE_NS + 1
    recorder.still_works()
    assert received(pipe) == [[SPAN], []]


def test_work_that_leaves_no_events_ends_when_the_run_is_cancelled(recorder, pipe):
    pipe[1].send(("cancel",))
    with pytest.raises(CancelledError):
        recorder.still_works()


def test_nothing_is_sent_when_there_is_nothing(recorder, pipe):
    recorder.flush()
    assert received(pipe) == []


def test_the_text_of_a_token_comes_before_its_first_use_and_once(recorder, pipe):
    first, second = Mark("decode_start", 1, 5), Publication("d", 0, (5, 8), None, 2)
    for event in (first, second):
        recorder.add(event)
        recorder.flush()
    assert received(pipe) == [[Pieces({"5": " walk"}), first], [Pieces({"8": "ß"}), second]]


def test_part_of_a_character_is_written_as_hex(recorder, pipe):
    recorder.add(Publication("d", 0, (6, 7), None, 2))
    recorder.flush()
    pieces = received(pipe)[0][0]
    assert (pieces.text, pieces.hex) == ({}, {"6": "e697", "7": "a5"})


def test_a_cancellation_is_seen_at_the_next_asking_and_stays(recorder, pipe, clock):
    before = recorder.cancelled()
    pipe[1].send(("cancel",))
    at_once = recorder.cancelled()
    clock[0] += pipe_recorder.ASK_NS
    assert (before, at_once, recorder.cancelled(), recorder.cancelled()) == (False, False, True, True)


def test_a_coordinator_that_has_gone_ends_the_run(recorder, pipe):
    pipe[1].close()
    with pytest.raises(EOFError):
        recorder.cancelled()
