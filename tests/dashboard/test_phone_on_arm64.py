"""The whole way of a person on an emulated arm64 phone: the bundle is built and set up, and a request runs there."""

import json

import pytest

from dashboard.cli import main
from dashboard.services.workspace import close_workspace
from device_bridge.bundle.build import build_runtime
from device_bridge.bundle.errors import NoPackageSourceError
from device_bridge.errors import VirtualPhoneError
from device_bridge.sessions import find_sessions
from device_bridge.virtual_phone.emulation import find_emulator

pytestmark = [pytest.mark.soak, pytest.mark.models, pytest.mark.timeout(1800)]


@pytest.fixture
def arm_phone(own_adb, tmp_path, data_folder, monkeypatch):
    """The only phone there is; the bundle for it lies where the program looks for it."""
    from virtual_phones import Phones

    emulator = find_emulator()
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user-static)")
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    try:
        build_runtime(data_folder / "phone-bundles")
    except NoPackageSourceError as error:
        pytest.skip(str(error))
    phones = Phones(own_adb.server, tmp_path / "phones")
    try:
        yield phones(emulator=emulator)
    except VirtualPhoneError as error:
        pytest.skip(str(error))
    finally:
        phones.close()


def run(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_request_on_an_arm64_phone_gives_the_tokens_of_this_computer(arm_phone, capsys):
    code, answer = run(capsys, "phone", "setup")
    assert code == 0, answer
    setting = ("--window", "clean_00", "--method", "as2d", "--budget", "7")
    code, there = run(capsys, "phone", "run", *setting)
    assert (code, there["status"]) == (0, "eos"), json.dumps(there)
    code, here = run(capsys, "run", *setting)
    assert (code, here["status"]) == (0, "eos")
    assert there["tokens"] == here["tokens"]
    assert (there["matches_target_only"], there["virtual"], here["virtual"]) == (True, True, False)
    close_workspace()
    assert [session for session in find_sessions(arm_phone.phone) if session.alive] == []
