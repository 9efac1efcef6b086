"""Processes that are killed: every run still ends with a sentence, and nothing is left running."""

import os
import signal
import time

import pytest

from as2d_core.protocol import parse
from as2d_core.validation import check_record

pytestmark = pytest.mark.models

KILLED = "it was killed, by somebody or by the system for lack of memory (SIGKILL)"


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def left_after(runner, seconds):
    until = time.monotonic() + seconds
    while (alive := runner.processes()) and time.monotonic() < until:
        time.sleep(0.05)
    return [" ".join(process.cmdline()) for process in alive]


# -- the target ------------------------------------------------------------------------------------


def test_a_target_killed_while_decoding_ends_the_run_with_the_signal(runner, ask):
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=20.0))
    runner.lines("round")
    kill(runner.target_pid())
    record = runner.record()
    assert (record.problems, record.status) == ([], "failed")
    assert record.end.error == f"The target process ended while it was decoding: {KILLED}."


def test_a_target_killed_while_decoding_leaves_the_tokens_that_were_written(runner, ask, reference):
    wanted = reference("long_00")
    runner.send(ask("sd", "long_00", width=2, drafter_pace_ms=20.0))
    runner.lines("round")
    kill(runner.target_pid())
    record = runner.record()
    assert 0 < record.end.tokens == len(record.tokens) < len(wanted)
    assert tuple(record.tokens) == wanted[: len(record.tokens)]


def test_a_target_killed_while_loading_ends_the_run_with_the_signal(start_runner, ask):
    for seconds in (1.0, 3.0, 0.4, 8.0, 25.0):
        runner = start_runner()
        runner.send(ask(exact_widths=None))
        target = runner.target_pid()
        time.sleep(seconds)
        kill(target)
        error = runner.record().end.error
        # On a crowded machine it may not have begun, and another one did the work; on a fast one it may be further.
        if error is not None and "loading" in error:
            break
    assert error == f"The target process ended while it was loading the models and testing widths: {KILLED}."


def test_a_target_killed_while_idle_is_replaced(runner, ask, reference):
    wanted = reference()
    runner.run(ask())
    kill(runner.target_pid())
    record = runner.run(ask("as2d", budget=3))
    assert (record.status, tuple(record.tokens)) == ("eos", wanted)


def test_the_run_after_a_killed_target_is_exact(runner, ask, reference):
    wanted = reference()
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=20.0))
    runner.lines("round")
    kill(runner.target_pid())
    runner.record()
    assert tuple(runner.run(ask("as2d", budget=3)).tokens) == wanted


def test_the_drafter_of_a_killed_target_ends_by_itself(start_runner, ask):
    runner = start_runner()
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=20.0))
    runner.lines("round")
    drafter = runner.drafter_pid()
    kill(runner.target_pid())
    runner.record()
    until = time.monotonic() + 60
    while drafter in [process.pid for process in runner.processes()] and time.monotonic() < until:
        time.sleep(0.05)
    assert drafter not in [process.pid for process in runner.processes()]


# -- the drafter -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2, 3, 7, 16])
def bereaved(request, runner, ask):
    """An As²d run whose drafter was killed when the given number of rounds had been read."""
    runner.send(ask("as2d", "long_00", budget=7, drafter_pace_ms=60.0))
    for _ in range(request.param):
        runner.lines("round")
    kill(runner.drafter_pid())
    return runner.record()


def test_as2d_without_its_drafter_still_gives_the_exact_output(bereaved, reference):
    assert tuple(bereaved.tokens) == reference("long_00")


def test_as2d_without_its_drafter_is_no_measurement(bereaved):
    assert (bereaved.problems, bereaved.status) == ([], "failed")
    assert bereaved.end.error == f"The drafter process ended during the run: {KILLED}."


def test_the_record_of_a_run_without_its_drafter_keeps_its_rules(bereaved):
    assert check_record(bereaved) == []


@pytest.mark.parametrize(("method", "fields"), [("sd", {"width": 5}), ("specasr", {"draft_cap": 7})])
def test_a_serial_method_without_its_drafter_fails_with_the_signal(method, fields, runner, ask, reference):
    runner.send(ask(method, "long_00", drafter_pace_ms=20.0, **fields))
    runner.lines("round")
    kill(runner.drafter_pid())
    record = runner.record()
    assert (record.status, record.end.error) == ("failed", f"The drafter process ended during the run: {KILLED}.")
    assert tuple(record.tokens) == reference("long_00")[: len(record.tokens)]


def test_a_drafter_killed_while_loading_ends_the_run_with_the_signal(start_runner, ask):
    runner = start_runner()
    runner.send(ask("as2d", budget=3))
    kill(runner.drafter_pid())
    assert runner.record().end.error == f"The drafter process ended during the run: {KILLED}."


@pytest.mark.parametrize("method", ["as2d", "sd"])
def test_a_drafter_killed_between_loading_and_drafting_ends_the_run_with_the_signal(method, start_runner, ask):
    runner = start_runner()
    runner.send(ask(method, "long_00", budget=3, width=4, drafter_pace_ms=60.0))
    for _ in ("target", "drafter"):
        runner.lines("engine")
    kill(runner.drafter_pid())
    record = runner.record()
    assert (record.status, record.end.error) == ("failed", f"The drafter process ended during the run: {KILLED}.")


def test_the_run_after_a_killed_drafter_is_exact(runner, ask, reference):
    wanted = reference()
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=20.0))
    runner.lines("round")
    kill(runner.drafter_pid())
    runner.record()
    record = runner.run(ask("as2d", budget=3))
    assert (record.status, tuple(record.tokens)) == ("eos", wanted)


# -- the runner ------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["testing widths", "loading", "decoding"])
def test_nothing_outlives_a_killed_runner(moment, start_runner, ask):
    runner = start_runner()
    widths = {"exact_widths": None} if moment == "testing widths" else {}
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=100.0, **widths))
    runner.target_pid()
    if moment == "testing widths":
        time.sleep(1.0)  # somewhere in the test; nothing may outlive it at whatever moment
    elif moment == "loading":
        runner.drafter_pid()
    else:
        runner.lines("round")
    kill(runner.pid)
    assert left_after(runner, 60) == []


def test_what_a_killed_runner_has_written_is_a_valid_beginning(start_runner, ask, reference):
    runner = start_runner()
    runner.send(ask("as2d", "long_00", budget=3, drafter_pace_ms=40.0))
    lines = runner.lines("round")
    kill(runner.pid)
    record = parse(lines + runner.rest())
    assert record.status == "incomplete"
    assert record.problems[-1].endswith("the end line is missing")
    assert len(record.problems) == 1 or record.problems[0].endswith("the line is cut off")
    assert tuple(record.tokens) == reference("long_00")[: len(record.tokens)]
