"""Faults during a profile, and what the phone's sensors show during a run, by the real runner on the demo models.

The phone runs the Python of this computer, so that no emulator slows it down. Everything else is as on a phone.
"""

import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from live_runner import demo_request
from patience import PATIENCE_S, wait_for

from as2d_core.calibration.plan import cells, failed_width, plan_from, turns_done
from as2d_core.calibration.stability import clock_drop
from as2d_core.energy import calibrated, energy_between
from as2d_core.gates import Gates
from as2d_core.protocol import read_run
from device_bridge.devices import Limits
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.plan import new_id
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import PHONE_ROOT

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
RUNNER = RunnerCommand(
    [sys.executable, "-m", "as2d_core.runner"], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
)
LIMITS = Limits(silence_s=180.0, request_s=600.0, cancel_s=60.0, terminate_s=60.0, idle_s=120.0, away_s=120.0)
QUICK = Gates(rest_s=0.3, checks=1, patience_s=0.5)
OPTIONS = {"repetitions": 1, "episodes": 1, "max_width": 4, "offsets_tokens": [0, 8]}


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    """One phone for all tests here; each takes back what it did to it."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("profiles"))
    rig = phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix], storage_mb=64)
    if rig.isolation != "namespaces":
        pytest.skip(f"the runner would see this computer's own sensors: {rig.reason}")
    yield rig
    phones.close()


@pytest.fixture(scope="module")
def manager(rig, tmp_path_factory):
    """One job manager: the models stay loaded from test to test."""
    made = JobManager(
        tmp_path_factory.mktemp("incoming"), [PhoneDevice(rig.phone, "K70", lambda: RUNNER, limits=LIMITS)]
    )
    yield made
    for job in made.jobs():
        job.cancel()
        job.wait(PATIENCE_S)
    made.close()


@pytest.fixture
def phone(rig):
    rig.wait_ready()
    yield rig
    rig.fault("slow", bytes_per_s=0)
    rig.wait_ready(60)


@pytest.fixture
def ask_models():
    """Builds a request over the demo models, which lie at the same place on the phone; no self-test takes seconds."""
    return lambda method="target-only", **fields: demo_request(new_id(), method, exact_widths=(2, 4, 8), **fields)


@pytest.fixture
def profile(ask_models):
    """Builds the request of a profile; ``samples`` are what was measured before."""

    def build(samples=(), **fields):
        options = {**OPTIONS, "done": turns_done(samples)}
        return ask_models("calibrate", options=options, gates=fields.pop("gates", QUICK), **fields)

    return build


def finished(job):
    assert job.wait(PATIENCE_S)
    return job


def started(manager, phone, *requests, samples=0, rounds=0):
    """A job whose first run has measured, or decoded, so much."""
    job = manager.submit(phone.phone.id, requests)

    def far_enough():
        assert not job.finished, job.error
        record = job.runs[0].record()
        return record is not None and len(record.samples) >= samples and len(record.rounds) >= rounds

    if samples or rounds:
        wait_for(far_enough)
    return job


def measured_so_far(job):
    return len(job.runs[0].record().samples)


def assert_every_cell_once(*records):
    """Every turn of every cell is there, and none is there twice."""
    samples = [s for record in records for s in record.samples]
    assert turns_done(samples) == dict(cells(plan_from(OPTIONS)))
    sweeps = [s for s in samples if s.origin == "sweep" and s.offset_tokens is not None]
    counts = Counter((s.name, s.width, s.offset_tokens, s.running, s.warm_up, s.repetition) for s in sweeps)
    assert set(counts.values()) == {1}


def break_after_break(phone, own_adb):
    """Every way in which a connection can go wrong, one after the other; the way back is in each."""
    yield lambda: phone.fault("drop", s=0.3)
    yield lambda: phone.fault("freeze", s=0.4)
    yield lambda: phone.fault("adbd-restart", s=0.2)
    yield lambda: phone.fault("slow", bytes_per_s=200_000)
    for fault, end in (("unauthorized", "authorize"), ("offline", "online")):

        def keep_out(fault=fault, end=end):
            phone.fault(fault)
            time.sleep(0.3)
            phone.fault(end)

        yield keep_out

    def restart_server():
        own_adb.stop()
        own_adb.start()

    yield restart_server


@pytest.mark.soak
def test_a_profile_goes_on_through_every_break_of_the_connection(manager, phone, profile, own_adb):
    options = {**OPTIONS, "repetitions": 3, "done": {}}
    request = replace(profile(), options=options)
    job = started(manager, phone, request, samples=5)
    for number, do_break in enumerate(break_after_break(phone, own_adb)):
        before = measured_so_far(job)
        do_break()
        phone.wait_ready(60)
        wait_for(lambda before=before: job.finished or measured_so_far(job) > before + 3)
        assert not job.finished or number > 2, job.error
    finished(job)
    assert (job.error, job.state) == (None, "done")
    record = read_run(job.runs[0].path)
    assert (record.status, record.problems) == ("eos", [])
    assert turns_done(record.samples) == dict(cells(plan_from(options)))


@pytest.mark.parametrize(
    "fault", ["low-memory-kill", *(pytest.param(name, marks=pytest.mark.soak) for name in ("reboot", "disk-full"))]
)
def test_what_a_profile_lost_is_measured_by_the_next_one_and_nothing_twice(manager, phone, profile, fault):
    job = started(manager, phone, profile(), samples=12)
    phone.fault(fault, **({"s": 0.3} if fault == "reboot" else {}))
    finished(job)
    first = read_run(job.runs[0].path)
    assert job.state == "failed"
    assert first.status in {"failed", "incomplete"}  # never as a run that was short
    words = {"low-memory-kill": "SIGKILL|memory ran out", "reboot": "does not run any more", "disk-full": "is full"}
    assert re.search(words[fault], job.error), job.error
    assert len(first.samples) > 12
    assert failed_width([first]) is None  # it is not the fault of the width that was tried
    phone.fault("disk-free")
    phone.wait_ready(60)
    again = finished(started(manager, phone, profile(first.samples)))
    assert again.error is None
    assert_every_cell_once(first, read_run(again.runs[0].path))


@pytest.mark.soak
def test_a_core_that_goes_off_line_stops_the_profile_and_what_follows_until_it_is_back(manager, phone, profile):
    job = started(manager, phone, profile(), profile(), samples=12)
    phone.fault("core-offline", core=6)
    finished(job)
    assert [run.state for run in job.runs] == ["failed", "skipped"]
    first = read_run(job.runs[0].path)
    assert (first.status, first.end.error) == ("failed", job.error)
    assert job.error.startswith("Core 6 went off-line during the run; it was stopped, and so is its batch.")
    refused = finished(manager.submit(phone.phone.id, [profile(first.samples)]))
    assert "core 6 is off-line, and that did not change within 0.5 s" in refused.error
    phone.fault("core-online", core=6)
    again = finished(started(manager, phone, profile(first.samples)))
    assert again.error is None
    assert_every_cell_once(first, read_run(refused.runs[0].path), read_run(again.runs[0].path))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("fault", "values", "back", "back_values", "words"),
    [
        ("clock-drop", {"khz": 900_000}, "clock-restore", {}, "no core may run faster than 900 MHz, less than 2000"),
        ("temperature", {"celsius": 47}, "temperature", {"celsius": 31.2}, "the battery has 47.0 °C, more than 40"),
        ("thermal-status", {"status": 3}, "thermal-status", {"status": 0}, r"the thermal status is severe \(3\)"),
    ],
)
def test_a_profile_waits_while_the_phone_is_not_as_it_should_be_and_ends_with_what_was_missing(
    manager, phone, profile, fault, values, back, back_values, words
):
    gates = replace(QUICK, ceiling_mhz=2000.0)
    job = started(manager, phone, profile(gates=gates), samples=8)
    phone.fault(fault, **values)
    finished(job)
    phone.fault(back, **back_values)
    first = read_run(job.runs[0].path)
    assert first.status == "failed"
    assert re.search(words, job.error), job.error
    assert [look.passed for look in first.conditions][-1] is False
    again = finished(started(manager, phone, profile(first.samples, gates=gates)))
    assert again.error is None
    assert_every_cell_once(first, read_run(again.runs[0].path))


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["charging", "current-sign", "sysfs-denied"])
def test_what_concerns_only_the_energy_does_not_stop_a_profile(manager, phone, profile, fault):
    job = started(manager, phone, profile(), samples=8)
    phone.fault(fault)
    finished(job)
    phone.fault({"charging": "discharging", "current-sign": "current-sign", "sysfs-denied": "sysfs-allowed"}[fault])
    assert job.error is None
    record = read_run(job.runs[0].path)
    assert_every_cell_once(record)
    assert record.telemetry


def slow_run(ask_models):
    """A run that takes some seconds: its drafter is slowed down."""
    return ask_models("sd", width=2, drafter_pace_ms=150.0)


def endless_run(ask_models):
    """A run that takes much longer than what is done to it."""
    return ask_models("sd", window="long_00", width=2, drafter_pace_ms=250.0)


def energy_of(record):
    readings, scale = calibrated(record.telemetry)
    return energy_between(readings, record.marks["request"].time_ns, record.marks["eos"].time_ns), scale


def test_what_the_sensors_show_during_a_run_is_recorded_and_its_stream_stays_whole(manager, phone, ask_models):
    job = started(manager, phone, endless_run(ask_models), rounds=2)

    def seen():
        return job.runs[0].record().telemetry

    wait_for(lambda: len(seen()) > 3)
    phone.fault("clock-drop", khz=600_000)
    phone.fault("current-sign")
    wait_for(lambda: clock_drop([seen()]) is not None and len({r.extra["current_raw"] > 0 for r in seen()}) == 2)
    job.cancel()
    finished(job)
    phone.fault("clock-restore")
    phone.fault("current-sign")
    record = read_run(job.runs[0].path)
    assert (record.status, record.problems) == ("cancelled", [])
    assert {round(min(v for v in r.core_mhz if v)) for r in record.telemetry} >= {600}
    assert len({r.extra["current_raw"] > 0 for r in record.telemetry}) == 2
    assert {r.battery_current_ma < 0 for r in record.telemetry} == {True}  # it was unplugged all the time
    assert clock_drop([record.telemetry]) is not None


@pytest.mark.soak
def test_the_energy_of_a_run_in_which_the_phone_was_charged_is_not_available(manager, phone, ask_models):
    job = started(manager, phone, slow_run(ask_models), rounds=2)
    phone.fault("charging")
    finished(job)
    phone.fault("discharging")
    assert job.error is None
    energy, _ = energy_of(read_run(job.runs[0].path))
    assert (energy.joules, energy.reason) == (None, "n/a: charging")


@pytest.mark.soak
def test_a_phone_that_denies_its_sensors_in_a_run_is_asked_by_its_own_commands(manager, phone, ask_models):
    job = started(manager, phone, slow_run(ask_models), rounds=2)
    phone.fault("sysfs-denied")
    finished(job)
    phone.fault("sysfs-allowed")
    assert job.error is None
    record = read_run(job.runs[0].path)
    last = record.telemetry[-1]
    assert last.battery_temperature_c == 31.2
    assert last.charging is False
    assert last.extra["charge_counter_uah"] > 0
    assert last.battery_current_ma is None  # no command of this phone says it


def test_a_model_killed_for_memory_in_a_run_ends_it_as_failed_and_the_next_run_works(manager, phone, ask_models):
    job = started(manager, phone, endless_run(ask_models), rounds=2)
    phone.fault("low-memory-kill")
    finished(job)
    record = read_run(job.runs[0].path)
    assert job.state == "failed"
    assert record.status in {"failed", "incomplete"}
    assert "SIGKILL" in job.error
    job = finished(manager.submit(phone.phone.id, [ask_models()]))
    assert (job.error, read_run(job.runs[0].path).status) == (None, "eos")
    assert phone.phone.run(["ls", f"{PHONE_ROOT}/sessions"]).text.split() == [manager.device(phone.phone.id).session_id]


def test_a_core_that_goes_off_line_during_a_run_stops_the_batch(manager, phone, ask_models):
    job = started(manager, phone, endless_run(ask_models), ask_models(), rounds=2)
    phone.fault("core-offline", core=3)
    finished(job)
    phone.fault("core-online", core=3)
    assert [run.state for run in job.runs] == ["failed", "skipped"]
    assert job.error.startswith("Core 3 went off-line during the run")
    assert read_run(job.runs[0].path).status == "failed"
