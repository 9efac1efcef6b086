"""The native runner, cross-compiled for arm64, on an emulated phone: set up by the command, run over the bridge."""

import json
import sys
from pathlib import Path

import platformdirs
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "as2d_core/native"))

from operation_cases import make_operation
from scripted_cases import make_case
from test_device_clock import request_line

from as2d_core.native.builder import build_for_tests, find_tool
from as2d_core.native.targets import CROSS_COMPILER
from as2d_core.protocol import parse, request_from_json
from as2d_core.request import METHODS, OPERATIONS, AudioRef, ModelRef
from as2d_core.validation import check_record
from dashboard.cli import main
from dashboard.services.phone_runs import find_phone
from datastore.locations import Folders
from device_bridge.errors import VirtualPhoneError
from device_bridge.jobs import JobManager
from device_bridge.sessions import find_sessions
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.virtual_phone.emulation import find_emulator

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]
CASES = 60
DEADLINE_S = 900


@pytest.fixture(scope="module")
def program():
    """The runner as one static program for arm64 Linux."""
    if find_tool(CROSS_COMPILER) is None:
        pytest.skip(f"{CROSS_COMPILER} is not installed (Debian: g++-aarch64-linux-gnu)")
    if find_tool("cmake") is None:
        pytest.skip("cmake is not installed")
    return build_for_tests(Path(platformdirs.user_cache_dir("as2d")) / "native-tests", preset="linux-arm64")


@pytest.fixture
def device(program, own_adb, tmp_path, data_folder, monkeypatch, capsys):
    """An arm64 phone that was set up with it by the command."""
    from virtual_phones import Phones

    emulator = find_emulator()
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user-static)")
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    phones = Phones(own_adb.server, tmp_path / "phones")
    try:
        phone = phones(emulator=emulator)
        code = main(["phone", "setup", "--runner", str(program), "--json"])
        answer = json.loads(capsys.readouterr().out)
        assert (code, answer["setup"]["description"]["runner"]) == (0, "native"), answer
        found = find_phone(Folders(data_folder), phone.own_serial)
        yield found
        found.close()
        assert [session for session in find_sessions(phone.phone) if session.alive] == []
    except VirtualPhoneError as error:
        pytest.skip(str(error))
    finally:
        phones.close()


def there(request):
    """The request with files that are on the phone; the runner is told their names within its folder."""
    from dataclasses import replace

    def on_phone(ref):
        return None if ref is None else replace(ref, path=f"{PHONE_ROOT}/{ref.path}")

    return replace(
        request, target=on_phone(request.target), drafter=on_phone(request.drafter), audio=on_phone(request.audio)
    )


def run_all(device, tmp_path, requests):
    """Lines of each run, as they arrived here."""
    arrived = {}

    def take(path):
        arrived[path.stem] = path.read_text(encoding="utf-8").splitlines(keepends=True)

    manager = JobManager(tmp_path / "incoming", [device], take)
    try:
        job = manager.submit(device.id, [there(request) for request in requests])
        assert job.wait(DEADLINE_S)
    finally:
        manager.close()
    return [arrived[request.run_id] for request in requests]


def test_scripted_runs_over_the_bridge_have_the_lines_of_python(device, tmp_path):
    cases = [case for case in map(make_case, range(1, 2 * CASES)) if case.lines is not None and case.seed % 7][:CASES]
    for case, lines in zip(cases, run_all(device, tmp_path, [case.request for case in cases]), strict=True):
        assert check_record(parse(lines)) == []
        assert lines == list(case.lines), case.seed


def test_calibrations_and_collections_over_the_bridge_have_the_lines_of_python(device, tmp_path):
    cases = [make_operation(seed, name) for name in OPERATIONS for seed in range(10)]
    for case, lines in zip(cases, run_all(device, tmp_path, [case.request for case in cases]), strict=True):
        assert check_record(parse(lines)) == []
        assert lines == case.lines, case.request.run_id


def test_scripted_runs_on_the_clock_of_the_phone_give_the_reference_and_keep_all_rules(device, tmp_path):
    requests = [request_from_json(json.loads(request_line(method))) for method in METHODS]
    assert requests[0].target == ModelRef("t")
    assert requests[0].audio == AudioRef("a")
    for lines in run_all(device, tmp_path, requests):
        record = parse(lines)
        assert (record.status, record.tokens) == ("eos", [5, 6, 7, 8, 5, 6, 9, 2])
        assert record.problems == []
        assert check_record(record) == []
        assert record.header.device["machine"] == "aarch64"
