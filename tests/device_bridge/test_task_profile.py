"""Android's highest task profile: asked for where the phone offers it, recorded, refused with a sentence elsewhere."""

import sys
from pathlib import Path

import pytest

from as2d_core.protocol import read_run
from as2d_core.request import AudioRef, ModelRef, Placement, Request
from device_bridge.facts import read_facts
from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice
from device_bridge.plan import new_id
from device_bridge.sessions import RunnerCommand, find_sessions
from device_bridge.task_profile import HIGHEST, TaskProfileError, check_task_profile
from device_bridge.virtual_phone.programs import CALLS_LOG

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parent / "fake_runner.py"
RUNNER = RunnerCommand([sys.executable, str(FAKE)], {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"})
DENIED, MISSING, ALLOWED = "task-profile-denied", "task-profile-missing", "task-profile-allowed"


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("profiles"))
    yield phones("k70", visible=[ROOT, sys.prefix, sys.base_prefix])
    phones.close()


@pytest.fixture
def manager(rig, tmp_path):
    rig.fault(ALLOWED)
    made = JobManager(tmp_path / "incoming", [PhoneDevice(rig.phone, "Phone", lambda: RUNNER)])
    yield made
    made.close()


def run(manager, rig, profile):
    asked = Request(
        new_id(), "target-only", ModelRef("t"), AudioRef("a.wav"), instruction="ok",
        placement=Placement(task_profile=profile),
    )  # fmt: skip
    job = manager.submit(rig.phone.id, [asked])
    assert job.wait(60)
    return job


def offered(rig):
    facts = read_facts(lambda text: rig.phone.script(text, check=False).text)
    return facts.value("task_profile")


def test_what_a_phone_offers_is_a_fact(rig):
    rig.fault(ALLOWED)
    assert offered(rig) == HIGHEST
    check_task_profile(rig.phone, "Phone")
    for fault in (DENIED, MISSING):
        rig.fault(fault)
        assert offered(rig) is False


@pytest.mark.parametrize(("fault", "sentence"), [(DENIED, "refuses the task profile"), (MISSING, "no settaskprofile")])
def test_a_phone_that_lacks_it_refuses_the_run_with_a_sentence_and_runs_without(manager, rig, fault, sentence):
    rig.fault(fault)
    with pytest.raises(TaskProfileError, match=sentence):
        check_task_profile(rig.phone, "Phone")
    job = run(manager, rig, HIGHEST)
    assert job.state == "failed"
    assert sentence in job.error
    assert run(manager, rig, None).state == "done"


def test_a_run_under_the_profile_says_so_in_its_record_and_one_without_does_not(manager, rig):
    sessions = []
    for profile in (HIGHEST, HIGHEST, None, HIGHEST):
        job = run(manager, rig, profile)
        assert (job.state, job.error) == ("done", None)
        header = read_run(job.runs[0].path).header
        assert header.device.get("task_profile") == profile
        assert header.request.placement.task_profile == profile
        sessions.append(manager.device(rig.phone.id).session_id)
    # A runner that works as it is asked to is kept; one that does not makes room for another.
    assert sessions[0] == sessions[1]
    assert len(set(sessions)) == 3
    assert f"settaskprofile {HIGHEST}" in rig.phone.run(["cat", CALLS_LOG]).text
    manager.device(rig.phone.id).close()
    assert find_sessions(rig.phone) == []
