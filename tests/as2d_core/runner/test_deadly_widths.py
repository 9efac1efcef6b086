"""A target process that a width kills in the self-test goes on without it; one with other threads is another one."""

import os
import signal
from itertools import pairwise

import pytest
from live_runner import demo_request

from as2d_core.clock import now_ns
from as2d_core.methods.base import Outcome
from as2d_core.operation_records import SelfTest
from as2d_core.protocol import parse
from as2d_core.records import Mark
from as2d_core.request import Placement
from as2d_core.runner import coordinator, target_worker
from as2d_core.runner.job import TESTED, TESTING

START = "decode_start"


def dies_above_four(pipe):
    """A target process that the fifth width kills, as a driver of a phone might."""
    serve(pipe, lambda width: width > 4)


def dies_at_once(pipe):
    """A target process that the very first width kills."""
    serve(pipe, lambda *_: True)


def serve(pipe, deadly):
    while True:
        try:
            _, job = pipe.recv()
        except EOFError:
            return
        pipe.send(("taken",))
        tried = range(1, (job.widest or 16) + 1)
        for width in tried:
            pipe.send(("events", [Mark(f"{TESTING}{width}", now_ns())]))
            if deadly(width):
                os.kill(os.getpid(), signal.SIGKILL)
        test = SelfTest(job.target.sha256, tuple(tried), "bit-equal", (tuple(tried),), {}, 1)
        pipe.send(("events", [Mark(TESTED, now_ns()), test, Mark("decode_start", now_ns(), 1)]))
        pipe.send(("done", Outcome("eos", (1,), now_ns(), now_ns()), "one", None))


def says_who_it_is(pipe):
    """A target process whose first token is its number."""
    while True:
        try:
            pipe.recv()
        except EOFError:
            return
        pipe.send(("taken",))
        pipe.send(("events", [Mark(START, now_ns(), os.getpid())]))
        pipe.send(("done", Outcome("eos", (1,), now_ns(), now_ns()), "one", None))


@pytest.fixture
def run(monkeypatch):
    lines = []
    made = coordinator.Coordinator(lines.append)

    def go(main, run_id, **fields):
        monkeypatch.setattr(target_worker, "main", main)
        lines.clear()
        made.run(demo_request(run_id, **fields))
        return parse(lines)

    yield go
    made.close()


@pytest.mark.models
def test_a_width_that_kills_the_process_twice_is_left_out_and_not_tried_again(run):
    record = run(dies_above_four, "first")
    assert (record.status, record.problems) == ("eos", [])
    assert record.self_tests[-1].exact_widths == (1, 2, 3, 4)
    assert f"{TESTING}5" in record.marks
    assert f"{TESTING}6" not in record.marks
    assert f"{TESTING}5" not in run(dies_above_four, "second").marks


@pytest.mark.models
def test_a_process_that_not_even_one_row_survives_fails_the_run_with_its_reason(run):
    record = run(dies_at_once, "dead")
    assert record.status == "failed"
    assert "target process ended" in record.end.error


@pytest.mark.models
def test_a_target_with_other_threads_gets_another_process_and_one_with_the_same_keeps_it(run):
    threads = {"two": (2, (0,)), "two again": (2, (0,)), "on another core": (2, (1,))}
    numbers = [
        run(says_who_it_is, name, placement=Placement(target_threads=count, target_cores=cores)).marks[START].token
        for name, (count, cores) in threads.items()
    ]
    assert [number == before for before, number in pairwise(numbers)] == [True, False]
