"""How a runner lives: requests one after the other, cancellations, signals, the end of its input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from live_runner import ROOT

from as2d_core.models.demo_catalog import TARGET, demo_window
from as2d_core.protocol import parse, request_to_json
from as2d_core.request import AudioRef, ModelRef, Placement
from as2d_core.runner.coordinator import Coordinator

pytestmark = pytest.mark.models


@pytest.fixture
def endless(ask):
    """A request that decodes for many seconds: a drafter as slow as one may be, asked for every token."""
    return lambda **fields: ask("sd", "long_00", width=2, drafter_pace_ms=500.0, **fields)


# -- cancelling ------------------------------------------------------------------------------------


def test_a_cancelled_run_ends_at_its_next_round(runner, endless):
    request = endless()
    runner.send(request)
    runner.lines("round")
    runner.send({"cancel": request.run_id})
    assert runner.record().status == "cancelled"


def test_a_cancelled_run_keeps_the_tokens_it_committed(runner, endless, reference):
    request = endless()
    runner.send(request)
    runner.lines("round")
    runner.send({"cancel": request.run_id})
    assert 1 < len(runner.record().tokens) < len(reference("long_00"))


def test_a_cancelled_as2d_run_waits_until_its_drafter_stands_still(runner, ask):
    request = ask("as2d", "long_00", budget=3, drafter_pace_ms=300.0)
    runner.send(request)
    runner.lines("round")
    runner.send({"cancel": request.run_id})
    record = runner.record()
    assert record.status == "cancelled"
    assert max(s.end_ns for s in record.spans if s.work == "draft") <= record.marks["drained"].time_ns


def test_a_cancellation_that_comes_with_its_request_is_not_lost(runner, ask):
    request = ask("as2d", "long_00", budget=7)
    runner.send(request)
    runner.send({"cancel": request.run_id})
    assert runner.record().status == "cancelled"


def test_a_run_that_waits_in_line_can_be_cancelled(runner, ask):
    first, second = ask("target-only", "long_00"), ask("target-only", "long_00")
    runner.send(first)
    runner.send(second)
    runner.send({"cancel": second.run_id})
    assert [runner.record().status for _ in range(2)] == ["eos", "cancelled"]


def test_cancelling_a_run_that_has_ended_leaves_the_next_one_alone(runner, ask):
    done = ask()
    runner.run(done)
    runner.send({"cancel": done.run_id})
    runner.send({"cancel": "nobody"})
    assert runner.run(ask()).status == "eos"


def test_a_run_cancelled_while_the_widths_are_tested_ends_soon(start_runner, ask):
    runner = start_runner()
    request = ask("target-only", "long_00", exact_widths=None)
    runner.send(request)
    runner.lines("run")
    runner.target_pid()
    time.sleep(0.3)  # somewhere in the test, which takes seconds
    runner.send({"cancel": request.run_id})
    assert runner.record().status == "cancelled"


def test_a_run_after_a_cancelled_one_is_exact(runner, endless, ask, reference):
    request = endless()
    runner.send(request)
    runner.lines("round")
    runner.send({"cancel": request.run_id})
    runner.record()
    assert tuple(runner.run(ask("as2d", budget=3)).tokens) == reference()


# -- signals and the end of input ------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_cancels_the_run_and_ends_the_runner(number, start_runner, endless):
    runner = start_runner()
    runner.send(endless())
    runner.lines("round")
    runner.signal(number)
    assert runner.record().status == "cancelled"
    assert runner.wait() == 1


def test_a_signal_to_the_whole_group_is_a_cancellation_too(start_runner, endless):
    runner = start_runner()
    runner.send(endless())
    runner.lines("round")
    for process in runner.processes():
        process.send_signal(signal.SIGINT)
    assert runner.record().status == "cancelled"


def test_a_signal_ends_an_idle_runner_whose_input_is_open(start_runner, ask):
    runner = start_runner()
    runner.run(ask())
    runner.signal(signal.SIGTERM)
    assert runner.wait() == 0


def test_the_end_of_input_lets_waiting_requests_finish(start_runner, ask):
    runner = start_runner()
    for _ in range(2):
        runner.send(ask())
    runner.close_stdin()
    assert [runner.record().status for _ in range(2)] == ["eos", "eos"]
    assert runner.wait() == 0


def test_no_process_is_left_when_a_runner_has_ended(start_runner, ask):
    runner = start_runner()
    runner.run(ask("as2d", budget=3))
    runner.close_stdin()
    runner.wait()
    until = time.monotonic() + 60
    while runner.processes() and time.monotonic() < until:
        time.sleep(0.05)
    assert runner.processes() == []


def test_requests_are_read_from_a_file_too(start_runner, ask, tmp_path):
    file = tmp_path / "requests.ndjson"
    file.write_text("\n".join(json.dumps(request_to_json(ask())) for _ in range(2)) + "\n\n", encoding="utf-8")
    runner = start_runner(str(file))
    assert [runner.record().status for _ in range(2)] == ["eos", "eos"]
    assert runner.wait() == 0


def test_a_runner_ends_when_nobody_reads_its_events(ask):
    child = subprocess.Popen(
        [sys.executable, "-m", "as2d_core.runner"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with child:
        child.stdin.write(json.dumps(request_to_json(ask("target-only", "long_00"))).encode() + b"\n")
        child.stdin.flush()
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_ends_the_runner_with_a_sentence(ask, tmp_path):
    file = tmp_path / "request.ndjson"
    file.write_text(json.dumps(request_to_json(ask())) + "\n", encoding="utf-8")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "as2d_core.runner", str(file)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            text=True,
        )
    assert (done.returncode, done.stderr) == (1, "The events cannot be written: [Errno 28] No space left on device.\n")


def test_the_runner_describes_itself_without_loading_a_model():
    done = subprocess.run(
        [sys.executable, "-m", "as2d_core.runner", "--describe"], cwd=ROOT, capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["methods"] == ["target-only", "sd", "specasr", "as2d"]


# -- one request after the other -------------------------------------------------------------------


def test_the_cache_of_the_audio_is_used_again_with_the_same_output(runner, ask, reference):
    window = "clean_05"
    wanted = reference(window)
    runner.run(ask("as2d", window, budget=3))
    again = runner.run(ask("as2d", window, budget=3))
    assert [s.work for s in again.spans if s.work == "encode"] == []
    assert tuple(again.tokens) == wanted


def test_another_instruction_on_the_same_audio_gives_what_a_fresh_runner_gives(runner, start_runner, ask):
    def decode(on, task):
        instruction = demo_window(f"clean_03{task}").instruction
        return on.run(ask("as2d", "clean_03", budget=7, instruction=instruction)).tokens

    seen = [decode(runner, task) for task in ("", "-translate", "-question", "")]
    assert seen[1] == decode(start_runner(), "-translate")
    assert (seen[3], seen[0] != seen[1]) == (seen[0], True)


def test_a_run_after_a_failed_one_is_exact(runner, ask, reference):
    assert runner.run(ask("as2d", budget=40)).status == "failed"
    assert tuple(runner.run(ask("as2d", budget=3)).tokens) == reference()


def test_a_run_after_a_model_that_cannot_be_loaded_is_exact(runner, ask, reference, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in TARGET.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "llm.mnn").write_bytes(b"nothing")
    assert runner.run(ask(target=ModelRef(str(broken), exact_widths=(1,)))).status == "failed"
    assert tuple(runner.run(ask("sd", width=4)).tokens) == reference()


def test_a_view_is_what_the_same_samples_in_their_own_file_are(runner, ask, tmp_path):
    samples, rate = soundfile.read(demo_window("clean_05").path, dtype="float32")
    file = tmp_path / "part.wav"
    soundfile.write(file, samples[rate : 4 * rate], rate, subtype="FLOAT")
    view = AudioRef(str(demo_window("clean_05").path), view_start_s=1.0, view_end_s=4.0)
    whole = runner.run(ask(audio=AudioRef(str(file))))
    part = runner.run(ask(audio=view))
    assert (part.tokens, part.request.audio.sha256) == (whole.tokens, whole.request.audio.sha256)


def test_cores_are_read_back_when_a_request_changes_them(runner, ask):
    record = runner.run(ask("as2d", budget=3, placement=Placement(target_cores=(0,), drafter_cores=(0,))))
    other = runner.run(ask("as2d", budget=3))
    assert (record.engines["target"].cores, record.engines["drafter"].cores) == ((0,), (0,))
    assert other.engines["drafter"].cores == other.request.placement.drafter_cores


def test_impossible_cores_fall_back_and_the_record_says_so(runner, ask, reference):
    record = runner.run(ask("as2d", budget=3, placement=Placement(target_cores=(4000,), drafter_cores=(4001,))))
    target, drafter = record.engines["target"], record.engines["drafter"]
    assert (target.asked_cores, drafter.asked_cores) == ((4000,), (4001,))
    assert target.cores == drafter.cores
    assert set(target.cores).isdisjoint((4000, 4001))
    assert tuple(record.tokens) == reference()


# -- what reaches stdout ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run_id", ["a/../b", 'q"uote\\', "line\nfeed", "\u2028\u2029", "Größe-²", "\U0001f600", "x" * 5000, " "]
)
def test_any_text_is_a_run_id(run_id, runner, ask):
    record = runner.run(ask(run_id=run_id, max_tokens=3))
    assert (record.run_id, record.problems) == (run_id, [])


def test_nothing_but_events_reaches_stdout_however_much_mnn_prints(start_runner, ask):
    runner = start_runner()
    runner.run(ask("as2d", budget=3))
    runner.close_stdin()
    assert runner.rest() == []
    assert "Warning: module need new clone" in runner.stderr


def test_a_line_that_is_no_request_is_answered_on_stderr_and_costs_nothing_else(start_runner, ask):
    runner = start_runner()
    refused = (b"{", b"[]", b'"x"', b"\xff\xfe", b"nonsense" * 20_000, b'{"run_id": 1}', b"[" * 5000)
    for line in (*refused, b'{"cancel": 5}', b""):
        runner.send(line)
    runner.send(ask())
    runner.close_stdin()
    assert runner.record().status == "eos"
    assert (runner.rest(), runner.wait()) == ([], 2)
    said = [line for line in runner.stderr.splitlines() if line.startswith("A request")]
    assert len(said) == len(refused)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot freeze a process")
def test_silence_of_the_target_is_reported_after_its_deadline(ask):
    lines = []
    coordinator = Coordinator(lines.append)
    try:
        assert coordinator.run(ask()) == "eos"
        lines.clear()
        os.kill(coordinator.target_pid, signal.SIGSTOP)
        coordinator._silence_deadline_s = 2.0
        assert coordinator.run(ask()) == "failed"
    finally:
        coordinator.close()
    assert "did not answer for 2 s while it was" in parse(lines).end.error


def test_resampled_stereo_is_heard(runner, ask, tmp_path):
    samples, rate = soundfile.read(demo_window("clean_00").path, dtype="float32")
    stereo = np.column_stack([soxr.resample(samples, rate, 48_000)] * 2)
    file = tmp_path / "stereo.wav"
    soundfile.write(file, stereo, 48_000)
    record = runner.run(ask(audio=AudioRef(str(file))))
    assert record.end.text == demo_window("clean_00").reference
