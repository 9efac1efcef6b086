import contextlib
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE_S, wait_for

from as2d_core.errors import RequestError
from as2d_core.gates import Gates
from as2d_core.protocol import Writer, read_run
from as2d_core.records import SCHEMA_VERSION, Conditions, RunHeader
from device_bridge.devices import Limits
from device_bridge.errors import DeviceBusyError, JobsClosedError, UnknownDeviceError, UnknownJobError
from device_bridge.ledger import Ledger, LeftJob
from device_bridge.local import LocalDevice
from device_bridge.streams import LiveRun

IMPATIENT = Limits(cancel_s=0.5, terminate_s=0.5)
"""For runners that do not follow."""
FAKE = [sys.executable, str(Path(__file__).parent / "fake_runner.py")]


def run(manager, *requests, device="here"):
    job = manager.submit(device, requests)
    assert job.wait(PATIENCE_S)
    return job


def gone(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


# -- whole streams ----------------------------------------------------------------------------------


def test_a_finished_run_lies_whole_in_the_incoming_folder(manager, ask):
    job = run(manager, ask("ok"))
    assert (job.state, job.error) == ("done", None)
    record = read_run(job.runs[0].path)
    assert (record.status, len(record.rounds)) == ("eos", 3)


def test_the_live_record_equals_the_file(manager, ask):
    job = run(manager, ask("ok 40"))
    assert job.runs[0].record() == read_run(job.runs[0].path)


def test_a_core_that_goes_off_line_stops_the_batch_and_the_failure_is_kept(manager, ask):
    job = run(manager, ask("ok"), ask("core"), ask("ok"), ask("ok"))
    assert [item.state for item in job.runs] == ["done", "failed", "skipped", "skipped"]
    assert (job.state, job.error) == ("failed", "Core 7 went off-line.")
    assert read_run(job.runs[1].path).status == "failed"


def test_a_record_that_was_looked_at_does_not_change_afterwards(manager, ask):
    job = manager.submit("here", [ask("slow 100000")])
    early = wait_for(lambda: (r := job.runs[0].record()) is not None and r.rounds and r)
    seen = len(early.rounds)
    wait_for(lambda: len(job.runs[0].record().rounds) > seen + 3)
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert len(early.rounds) == seen


def test_a_thousand_rounds_arrive_in_order(manager, ask):
    job = run(manager, ask("ok 1000"))
    assert [r.index for r in job.runs[0].record().rounds] == list(range(1000))


def test_a_line_of_300_kilobytes_is_taken(manager, ask):
    job = run(manager, ask("wide 300000"))
    assert job.state == "done"
    assert read_run(job.runs[0].path).unknown == {"wide": 1}


def test_a_full_stderr_pipe_blocks_nothing(manager, ask):
    assert run(manager, ask("chatty")).state == "done"


def test_lines_before_the_header_belong_to_no_run(manager, ask):
    job = run(manager, ask("stray"))
    assert (job.state, job.runs[0].stray_lines) == ("done", 1)
    assert read_run(job.runs[0].path).status == "eos"


def test_an_operation_that_is_no_decoding_method_is_passed_on(manager, ask):
    assert run(manager, ask("ok", method="calibrate")).state == "done"


def test_every_stream_is_handed_on_before_the_job_is_over(make_manager, ask):
    paths = []
    manager = make_manager(on_stream=paths.append)
    job = run(manager, ask("ok"), ask("die"), ask("ok"))
    assert paths == [r.path for r in job.runs]


def test_a_listener_that_fails_leaves_the_run_done_and_is_reported(make_manager, ask):
    def listener(path):
        raise ValueError("no room")

    job = run(make_manager(on_stream=listener), ask("ok"))
    assert job.state == "done"
    assert "no room" in job.warnings[0]


# -- broken streams ---------------------------------------------------------------------------------


def test_a_garbage_line_makes_the_run_incomplete_and_is_kept(manager, ask):
    job = run(manager, ask("garbage"))
    assert job.state == "failed"
    assert "2: " in job.error
    assert "not a line of ours" in job.runs[0].path.read_text(encoding="utf-8", errors="replace")
    assert job.runs[0].record().status == "incomplete"


def test_half_a_line_is_kept_as_half_a_line(manager, ask):
    job = run(manager, ask("half"))
    assert "exit code 3; its last words: about to fall over" in job.error
    assert job.runs[0].path.read_text().endswith('"index":0,"sta')
    assert any("cut off" in p for p in job.runs[0].record().problems)


def test_a_runner_that_is_killed_leaves_an_incomplete_stream_and_a_reason(manager, ask):
    job = run(manager, ask("die"))
    assert job.state == "failed"
    assert "SIGKILL" in job.error
    assert read_run(job.runs[0].path).status == "incomplete"


def test_the_next_request_after_a_loss_starts_a_new_runner(manager, ask):
    job = run(manager, ask("die"), ask("ok"))
    assert [r.state for r in job.runs] == ["failed", "done"]
    assert "SIGKILL" in job.error


def test_a_job_is_given_up_when_runners_are_lost_in_a_row(manager, ask):
    job = run(manager, ask("die"), ask("die"), ask("ok"))
    assert [r.state for r in job.runs] == ["failed", "failed", "skipped"]


def test_a_failed_run_does_not_stop_the_runs_behind_it(manager, ask):
    job = run(manager, ask("fail"), ask("ok"))
    assert [r.state for r in job.runs] == ["failed", "done"]
    assert (job.state, job.error) == ("failed", "The model is unwell.")


def test_a_line_without_an_end_stops_the_runner(manager, ask):
    job = run(manager, ask("endless"))
    assert "1000000 bytes" in job.error
    assert manager.device("here").runner_pid is None


def test_a_runner_that_says_nothing_is_stopped_at_the_deadline(make_manager, ask):
    manager = make_manager(limits=Limits(silence_s=0.5))
    job = run(manager, ask("deaf"))
    assert "0.5 s" in job.error
    assert manager.device("here").runner_pid is None


def test_a_runner_that_never_reads_blocks_nobody(make_manager, ask):
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    job = run(make_manager(command=command, limits=Limits(silence_s=0.5)), ask("x" * 90_000))  # more than a pipe holds
    assert "said nothing" in job.error


def test_a_request_that_never_ends_is_stopped_at_the_deadline(make_manager, ask):
    manager = make_manager(limits=Limits(request_s=0.5))
    assert "longer than 0.5 s" in run(manager, ask("slow 100000")).error


def test_a_runner_that_does_not_start_says_why(make_manager, ask):
    job = run(make_manager(command=[*FAKE, "--sulk"]), ask("ok"))
    assert "no module named everything" in job.error
    assert not job.runs[0].path.exists()


def test_a_program_that_is_not_there_is_a_sentence(make_manager, ask):
    assert "cannot be started" in run(make_manager(command=["/nowhere/runner"]), ask("ok")).error


def test_a_stream_that_cannot_be_written_stops_the_run(manager, ask, tmp_path):
    job = manager.submit("here", [ask("slow 100000"), ask("ok")])
    wait_for(lambda: job.runs[0].started)
    job.runs[0]._file.close()
    job.runs[0]._file = open("/dev/full", "wb")  # noqa: PTH123, SIM115 - every write to it fails
    assert job.wait(PATIENCE_S)
    assert "cannot be written" in job.runs[0].error
    assert job.runs[1].state == "done"


# -- cancelling -------------------------------------------------------------------------------------


def test_cancelling_a_decoding_run_keeps_what_was_decoded(manager, ask):
    job = manager.submit("here", [ask("slow 100000"), ask("ok")])
    wait_for(lambda: (r := job.runs[0].record()) is not None and r.rounds)
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert job.state == "cancelled"
    assert [r.state for r in job.runs] == ["cancelled", "skipped"]
    assert read_run(job.runs[0].path).status == "cancelled"


def test_cancelling_before_the_header_ends_the_runner(make_manager, ask):
    manager = make_manager(limits=IMPATIENT)
    job = manager.submit("here", [ask("deaf")])
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert job.state == "cancelled"
    assert manager.device("here").runner_pid is None


def test_a_runner_that_ignores_the_cancel_line_follows_the_signal(make_manager, ask):
    manager = make_manager(limits=replace(IMPATIENT, terminate_s=60.0))
    job = manager.submit("here", [ask("unhearing")])
    wait_for(lambda: (r := job.runs[0].record()) is not None and r.unknown)
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert read_run(job.runs[0].path).status == "cancelled"


def test_a_runner_that_ignores_everything_is_killed_with_its_children(make_manager, ask):
    manager = make_manager(limits=IMPATIENT)
    job = manager.submit("here", [ask("stubborn")])
    wait_for(lambda: (r := job.runs[0].record()) is not None and r.unknown)
    child = int(job.runs[0].path.read_text().split('"pid":')[1].split("}")[0])
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert job.state == "cancelled"
    wait_for(lambda: gone(child))


def test_cancelling_a_finished_job_changes_nothing(manager, ask):
    job = run(manager, ask("ok"))
    job.cancel()
    assert job.state == "done"


def test_after_a_cancelled_job_the_device_takes_the_next(make_manager, ask):
    manager = make_manager(limits=IMPATIENT)
    job = manager.submit("here", [ask("stubborn")])
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert run(manager, ask("ok")).state == "done"


# -- devices ----------------------------------------------------------------------------------------


def test_a_busy_device_refuses_a_second_job_and_names_the_first(manager, ask):
    job = manager.submit("here", [ask("slow 100000")], title="the long one")
    with pytest.raises(DeviceBusyError, match="the long one") as refused:
        manager.submit("here", [ask("ok")])
    assert refused.value.job_id == job.id
    job.cancel()


def test_of_two_threads_that_start_a_job_one_is_refused(manager, ask):
    barrier, results = threading.Barrier(2), []

    def start():
        barrier.wait(PATIENCE_S)
        try:
            results.append(manager.submit("here", [ask("slow 100000")]))
        except DeviceBusyError as error:
            results.append(error)

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(r, DeviceBusyError) for r in results) == [False, True]
    job = next(r for r in results if not isinstance(r, DeviceBusyError))
    job.cancel()
    assert job.wait(PATIENCE_S)


def test_two_devices_run_side_by_side(make_manager, ask):
    manager = make_manager("a", "b")
    jobs = [manager.submit(name, [ask("slow 100000")]) for name in ("a", "b")]
    wait_for(lambda: all(job.runs[0].started for job in jobs))
    assert not any(job.finished for job in jobs)
    for job in jobs:
        job.cancel()
        assert job.wait(PATIENCE_S)
        assert read_run(job.runs[0].path).status == "cancelled"


def test_the_runner_stays_warm_between_jobs(manager, ask):
    run(manager, ask("ok"))
    pid = manager.device("here").runner_pid
    run(manager, ask("ok"))
    assert manager.device("here").runner_pid == pid


def test_an_idle_runner_is_let_go(make_manager, ask):
    manager = make_manager(limits=Limits(idle_s=0.2))
    run(manager, ask("ok"))
    wait_for(lambda: manager.device("here").runner_pid is None)
    assert run(manager, ask("ok")).state == "done"


def test_an_unknown_device_suggests_a_known_one(manager, ask):
    with pytest.raises(UnknownDeviceError, match="'here'"):
        manager.submit("hear", [ask("ok")])


def test_a_device_can_be_added_later(manager, ask, tmp_path):
    manager.add_device(LocalDevice("late", "Late", FAKE))
    assert run(manager, ask("ok"), device="late").state == "done"


# -- requests and jobs ------------------------------------------------------------------------------


@pytest.mark.parametrize("run_id", ["../up", "a/b", "", "a b", "ü", ".hidden", "x" * 101])
def test_a_run_id_that_is_no_plain_file_name_is_refused(manager, ask, run_id):
    with pytest.raises(RequestError):
        manager.submit("here", [ask("ok", run_id=run_id)])


def test_a_run_id_is_used_once(manager, ask):
    request = ask("ok")
    run(manager, request)
    with pytest.raises(RequestError, match=request.run_id):
        manager.submit("here", [request])
    with pytest.raises(RequestError, match="same run id"):
        manager.submit("here", [(twin := ask("ok")), twin])


@pytest.mark.parametrize("fields", [{"drafter_pace_ms": float("nan")}, {"budget": "many"}, {"task": "x" * 100_000}])
def test_a_request_that_the_runner_could_not_read_is_refused_here(manager, ask, fields):
    with pytest.raises(RequestError):
        manager.submit("here", [replace(ask("ok"), **fields)])


def test_jobs_are_found_again_by_their_id(manager, ask):
    job = run(manager, ask("ok"))
    assert manager.job(job.id) is job
    assert manager.jobs() == [job]
    assert manager.active("here") is None
    with pytest.raises(UnknownJobError):
        manager.job("nothing")


def test_a_run_that_waits_for_conditions_says_for_which(ask, tmp_path):
    request = ask("ok", gates=Gates())
    run = LiveRun(request, tmp_path)
    writer = Writer(lambda line: run.take(line.encode()))
    writer.add(RunHeader(SCHEMA_VERSION, request.run_id, request, {}, {}, "", ""))
    writer.add(Conditions(1, passed=False, missing=("core 5 is off-line", "the battery has 41.0 °C, more than 40")))
    assert run.stage() == "waiting, because core 5 is off-line; the battery has 41.0 °C, more than 40"
    early = run.record()
    writer.add(Conditions(2, passed=True))
    assert run.stage() == "checking its conditions"
    assert len(early.conditions) == 1
    run.close()


def test_the_stage_is_a_sentence_at_every_time(manager, ask, tmp_path):
    enough = tmp_path / "enough"
    job = manager.submit("here", [ask(f"until {enough}"), ask("ok")])
    seen = set()
    while not job.wait(0.005):
        seen.add(job.stage)
        assert 0 <= job.progress.done <= job.progress.total == 2
        if any("Run 1 of 2" in s and "decoding" in s for s in seen):
            enough.touch()
    assert all(s.endswith(".") for s in seen)
    assert job.progress.done == 2


def test_closing_ends_the_running_job_and_its_runner(make_manager, ask):
    manager = make_manager()
    job = manager.submit("here", [ask("slow 100000")])
    wait_for(lambda: job.runs[0].started)
    pid = manager.device("here").runner_pid
    manager.close()
    assert job.state == "cancelled"
    assert gone(pid)
    with pytest.raises(JobsClosedError):
        manager.submit("here", [ask("ok")])


def timed(manager, *requests, stop_after_s):
    job = manager.submit("here", requests, stop_after_s=stop_after_s)
    assert job.wait(PATIENCE_S)
    return job


def test_no_request_is_begun_after_the_time_is_up_and_the_job_is_done(manager, ask):
    job = timed(manager, ask("ok"), ask("ok"), stop_after_s=0.0)
    assert (job.state, job.error) == ("done", None)
    assert [item.state for item in job.runs] == ["skipped", "skipped"]


def test_time_that_is_not_up_changes_nothing(manager, ask):
    job = timed(manager, ask("ok"), ask("fail"), stop_after_s=3600.0)
    assert [item.state for item in job.runs] == ["done", "failed"]
    assert job.state == "failed"


def test_a_job_that_is_picked_up_again_keeps_the_end_of_its_time(tmp_path, ask):
    left = LeftJob("j1", "here", "title", (ask("ok"),), stop_at=1_800_000_000.5)
    Ledger(tmp_path).write(left)
    assert Ledger(tmp_path).read() == ([left], [])
