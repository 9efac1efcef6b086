"""What tests of runs on a phone share: a tiny runner, patient limits, and what makes a run whole."""

import sys
from dataclasses import replace
from pathlib import Path

from patience import PATIENCE_S

from as2d_core.protocol import read_run
from as2d_core.request import AudioRef, ModelRef, Request
from device_bridge.devices import Limits
from device_bridge.plan import new_id
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import PHONE_ROOT

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parent / "fake_runner.py"
VISIBLE = [ROOT, sys.prefix, sys.base_prefix]
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
LIMITS = Limits(silence_s=120.0, request_s=600.0, cancel_s=60.0, terminate_s=60.0, idle_s=120.0, away_s=120.0)
"""Nobody is given up who is only slow."""
IMPATIENT = replace(LIMITS, cancel_s=0.5, terminate_s=0.5)
"""For runners that do not follow, and phones that do not come back."""
STOP = f"{PHONE_ROOT}/stop"
"""While this file is not there, a run that was asked for ``until STOP`` goes on."""


def ask(what, **fields):
    fields.setdefault("audio", AudioRef("a.wav"))
    return Request(fields.pop("run_id", None) or new_id(), "target-only", ModelRef("t"), instruction=what, **fields)


def finish(job):
    assert job.wait(PATIENCE_S)
    return job


def rounds(job):
    record = job.runs[0].record()
    return 0 if record is None else len(record.rounds)


def assert_whole(job):
    """The end line holds the count and the hash of all lines before it, so nothing is missing, double or changed."""
    for run in job.runs:
        assert run.error is None
        assert run.state == "done"
        record = read_run(run.path)
        assert (record.status, record.problems, run.stray_lines) == ("eos", [], 0)
