import pytest
from patience import PATIENCE_S
from phone_rigs import LIMITS, RUNNER, STOP, VISIBLE
from virtual_phones import Phones

from device_bridge.jobs import JobManager
from device_bridge.phones import PhoneDevice


@pytest.fixture(scope="module")
def rig(own_adb, tmp_path_factory):
    """One phone that can run Python, for the tests of a file that leave nothing running."""
    phones = Phones(own_adb.server, tmp_path_factory.mktemp("runners"))
    yield phones("k70", visible=VISIBLE)
    phones.close()


@pytest.fixture
def make_manager(tmp_path):
    made = []

    def build(*phones, limits=LIMITS, folder="incoming", taken=None, runner=RUNNER):
        devices = [PhoneDevice(phone.phone, phone.preset.name, lambda: runner, limits=limits) for phone in phones]
        made.append(JobManager(tmp_path / folder, devices, (taken if taken is not None else []).append))
        return made[-1]

    yield build
    for manager in made:
        for job in manager.jobs():
            job.cancel()
            job.wait(PATIENCE_S)
        manager.close()


@pytest.fixture
def manager(make_manager, rig):
    rig.wait_ready().run(["rm", "-f", STOP])
    return make_manager(rig)
