"""No runner outlives the program that started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).parent
PROGRAM = """
import sys, time
from pathlib import Path
from as2d_core.records import *
from device_bridge.jobs import JobManager
from device_bridge.local import LocalDevice
manager = JobManager(Path(sys.argv[1]), [LocalDevice("here", "Here", sys.argv[4:] or None)])
request = Request("r1", "target-only", ModelRef("t"), AudioRef("a.wav"), instruction=sys.argv[3])
job = manager.submit("here", [request])
while not (job.finished or job.runs[0].started):
    time.sleep(0.01)
print(manager.device("here").runner_pid, flush=True)
if sys.argv[2] == "stay":
    time.sleep(60)
"""


def start(tmp_path, how, instruction, *command):
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), how, instruction, *command]
    program = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    pid = int(program.stdout.readline())
    runner = psutil.Process(pid)
    return program, [runner, *runner.children(recursive=True)]


def assert_all_gone(processes, within_s=10.0):
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    for process in alive:
        process.kill()
    assert not alive


@pytest.mark.parametrize("instruction", ["ok", "slow 100000"])
def test_a_killed_program_leaves_no_runner(tmp_path, instruction):
    fake = [sys.executable, str(HERE / "fake_runner.py")]
    program, processes = start(tmp_path, "stay", instruction, *fake)
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert_all_gone(processes)


def test_a_killed_program_leaves_no_real_runner(tmp_path):
    program, processes = start(tmp_path, "stay", "transcribe")
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert_all_gone(processes)


def test_a_program_that_ends_in_the_middle_of_a_run_ends_its_runner(tmp_path):
    fake = [sys.executable, str(HERE / "fake_runner.py")]
    began = time.monotonic()
    program, processes = start(tmp_path, "end", "slow 100000", *fake)
    assert program.wait(20) == 0
    program.stdout.close()
    assert_all_gone(processes)
    assert time.monotonic() - began < 15
