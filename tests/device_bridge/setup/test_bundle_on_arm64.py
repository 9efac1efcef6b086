"""The bundle is built from the registries, set up on a phone with an emulated arm64 processor, and run there."""

import json

import pytest
from live_runner import demo_request

from as2d_core.models.demo_catalog import DRAFTER, TARGET, demo_window
from as2d_core.protocol import request_to_json
from device_bridge.adb.transfer import push_file
from device_bridge.bundle.build import build_runtime
from device_bridge.bundle.errors import NoPackageSourceError
from device_bridge.errors import VirtualPhoneError
from device_bridge.setup.doctor import doctor
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.setup.setup import set_up
from device_bridge.setup.wanted import wanted_now
from device_bridge.virtual_phone.emulation import find_emulator

pytestmark = [pytest.mark.soak, pytest.mark.models]
WIDTHS = (2, 3, 4, 5, 8)
"""Finding them by a self-test takes minutes under emulation."""


@pytest.fixture(scope="module")
def arm_phone(own_adb, tmp_path_factory):
    """A phone that runs arm64 programs, with everything that the demo models need."""
    from virtual_phones import Phones

    emulator = find_emulator()
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user-static)")
    phones = Phones(own_adb.server, tmp_path_factory.mktemp("arm64"))
    try:
        phone = phones(emulator=emulator).phone
    except VirtualPhoneError as error:
        pytest.skip(str(error))
    cache = tmp_path_factory.mktemp("bundles")
    try:
        build_runtime(cache)
    except NoPackageSourceError as error:
        pytest.skip(str(error))
    yield phone, cache, set_up(phone, cache, [TARGET, DRAFTER])
    phones.close()


def run_there(phone, done, method, **fields):
    request = demo_request(f"arm-{method}", method, "clean_00", exact_widths=WIDTHS, **fields)
    body = request_to_json(request)
    audio = f"{PHONE_ROOT}/window.flac"
    push_file(phone, demo_window("clean_00").path, audio)
    body["audio"]["path"] = audio
    for role, model in zip(("target", "drafter"), done.models, strict=True):
        if body[role]:
            body[role]["path"] = model.folder
    out = phone.run(
        done.runner.argv, env=done.runner.env, cwd=done.runner.cwd, timeout_s=400, stdin=json.dumps(body).encode()
    )
    lines = [json.loads(line) for line in out.text.splitlines()]
    assert lines[0]["device"]["machine"] == "aarch64"
    assert lines[-1]["status"] == "eos", lines[-1]
    return [token for line in lines if line["kind"] == "round" for token in line["committed"]]


@pytest.mark.parametrize(("method", "fields"), [("target-only", {}), ("as2d", {"budget": 7})])
def test_tokens_on_arm64_are_those_of_this_computer(arm_phone, runner, exact_widths, method, fields):
    phone, _, done = arm_phone
    here = runner.run(demo_request(f"here-{method}", method, "clean_00", exact_widths, **fields))
    assert run_there(phone, done, method, **fields) == [t for r in here.rounds for t in r.committed]


def test_every_link_of_an_arm64_phone_gets_a_tick(arm_phone):
    phone, cache, _ = arm_phone
    assert [check for check in doctor(phone, wanted_now(cache, [TARGET, DRAFTER])) if not check.ok] == []


def test_building_again_gives_the_same_bundle(arm_phone, tmp_path):
    _, cache, _ = arm_phone
    assert build_runtime(tmp_path).id == wanted_now(cache, []).runtime.id


def test_the_bundle_is_small(arm_phone):
    runtime = wanted_now(arm_phone[1], []).runtime
    assert runtime.archive_bytes < 32_000_000
