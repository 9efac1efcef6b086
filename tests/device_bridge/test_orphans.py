"""No runner outlives the program that started it, however that ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE_S

HERE = Path(__file__).parent
PROGRAM = """
import sys, time
from pathlib import Path
from as2d_core.request import *
from device_bridge.jobs import JobManager
from device_bridge.local import LocalDevice
manager = JobManager(Path(sys.argv[1]), [LocalDevice("here", "Here", sys.argv[4:] or None)])
request = Request("r1", "target-only", ModelRef("t"), AudioRef("a.wav"), instruction=sys.argv[3])
job = manager.submit("here", [request])
while not (job.finished or job.runs[0].started):
    time.sleep(0.01)
print(manager.device("here").runner_pid, flush=True)
if sys.argv[2] == "stay":
    time.sleep(600)
"""


def start(tmp_path, how, instruction, *command):
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), how, instruction, *command]
    program = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    pid = int(program.stdout.readline())
    try:
        runner = psutil.Process(pid)
        return program, [runner, *runner.children(recursive=True)]
    except psutil.NoSuchProcess:  # a program that ends may have ended it by now
        return program, []


MODELS_PROGRAM = """
import sys, time
from pathlib import Path
from as2d_core.models.demo_catalog import DRAFTER, TARGET, demo_window
from as2d_core.request import *
from device_bridge.jobs import JobManager
from device_bridge.local import LocalDevice
manager = JobManager(Path(sys.argv[1]), [LocalDevice("here", "Here")])
audio = AudioRef(str(demo_window("long_00").path))
# A drafter this slow keeps the run going until the test is done with it.
models = {"target": ModelRef(str(TARGET), exact_widths=(2, 4, 8)), "drafter": ModelRef(str(DRAFTER))}
job = manager.submit("here", [Request("r1", "sd", audio=audio, width=8, drafter_pace_ms=50.0, **models)])
while not job.finished and not ((record := job.runs[0].record()) and record.rounds):
    time.sleep(0.01)
print(job.state, flush=True)
time.sleep(600)
"""


def assert_all_gone(processes):
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_S)
    for process in alive:
        process.kill()
    assert not alive


@pytest.mark.parametrize("instruction", ["ok", "slow 100000"])
def test_a_killed_program_leaves_no_runner(tmp_path, instruction):
    fake = [sys.executable, str(HERE / "fake_runner.py")]
    program, processes = start(tmp_path, "stay", instruction, *fake)
    os.kill(program.pid, signal.SIGKILL)
    program.wait(PATIENCE_S)
    program.stdout.close()
    assert_all_gone(processes)


def test_a_killed_program_leaves_no_real_runner(tmp_path):
    program, processes = start(tmp_path, "stay", "transcribe")
    os.kill(program.pid, signal.SIGKILL)
    program.wait(PATIENCE_S)
    program.stdout.close()
    assert_all_gone(processes)


def test_a_program_that_ends_in_the_middle_of_a_run_ends_its_runner(tmp_path):
    fake = [sys.executable, str(HERE / "fake_runner.py")]
    program, processes = start(tmp_path, "end", "slow 100000", *fake)
    assert program.wait(PATIENCE_S) == 0
    program.stdout.close()
    assert_all_gone(processes)


@pytest.mark.models
def test_a_program_that_is_killed_while_the_models_work_leaves_none_of_their_processes(tmp_path):
    arguments = [sys.executable, "-c", MODELS_PROGRAM, str(tmp_path)]
    program = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "running\n"
    processes = psutil.Process(program.pid).children(recursive=True)
    assert len(processes) >= 3  # coordinator, target, drafter
    os.kill(program.pid, signal.SIGKILL)
    program.wait(PATIENCE_S)
    program.stdout.close()
    assert_all_gone(processes)
