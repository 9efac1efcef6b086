"""Everything that a phone needs is placed once, tried there, examined link by link, and removed again."""

import shutil
import sys
from pathlib import Path

import pytest
from patience import wait_for

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import DRAFTER, TARGET
from as2d_core.models.folder import describe_model
from as2d_core.runner.kept_widths import SELF_TESTS_VARIABLE
from device_bridge.adb import AdbPhone, AdbServer
from device_bridge.bundle.build import pack_core
from device_bridge.errors import NoSpaceError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.checks import Remedy, State
from device_bridge.setup.cleaning import InUseError, clean
from device_bridge.setup.deploy import place_core, place_model
from device_bridge.setup.doctor import doctor
from device_bridge.setup.layout import CORES, PHONE_ROOT, RUNNERS, RUNTIMES, SELF_TESTS, self_tests_folder
from device_bridge.setup.memory import memory_need, weight_bits
from device_bridge.setup.native import set_up_native
from device_bridge.setup.readiness import check_readiness
from device_bridge.setup.setup import set_up
from device_bridge.setup.trial import (
    ModelTrialError,
    RunnerTrialError,
    describe_runner,
    native_runner,
    probe_on_phone,
    python_runner,
)
from device_bridge.setup.wanted import check_fits, wanted_now

MODELS = [DRAFTER]


@pytest.fixture(scope="module")
def ready(own_adb, tmp_path_factory, cache):
    """A phone that has been set up, for tests that leave it so."""
    from virtual_phones import Phones

    phones = Phones(own_adb.server, tmp_path_factory.mktemp("ready"))
    phone = phones(visible=[Path(sys.prefix), Path(sys.base_prefix)]).phone
    done = set_up(phone, cache, MODELS)
    yield phone, done
    phones.close()


def states(checks):
    return {check.key: check.state for check in checks}


def put_script(phone, text, name="runner"):
    """A program on the phone that does what ``text`` says."""
    phone.run(["mkdir", "-p", f"{PHONE_ROOT}/bin"])
    phone.script('cat > "$1" && chmod 755 "$1"', f"{PHONE_ROOT}/bin/{name}", stdin=f"#!/bin/sh\n{text}\n".encode())
    return f"{PHONE_ROOT}/bin/{name}"


# -- setting up ------------------------------------------------------------------------------------


def test_a_phone_that_was_set_up_is_ready(ready, cache):
    assert check_readiness(ready[0], wanted_now(cache, MODELS)).ready


def test_models_are_tried_on_the_phone_and_are_what_was_sent(ready):
    (model,) = ready[1].models
    assert (model.probe.sha256, model.probe.backend) == (describe_model(DRAFTER).sha256, "cpu")


def test_the_runner_on_the_phone_describes_itself(ready):
    said = ready[1].description
    assert (said.runner, said.backends, said.schema_version) == ("python", ("cpu",), 1)
    assert {"target-only", "as2d"} <= set(said.methods)


def test_setting_up_again_sends_nothing(ready, cache):
    assert set_up(ready[0], cache, MODELS, probe=False).sent_bytes == 0


def test_another_version_of_the_core_is_placed_beside_the_old_one(ready, own_cache, tmp_path):
    phone, _ = ready
    before = set(phone.run(["ls", CORES]).text.split())
    source = tmp_path / "as2d_core"
    source.mkdir()
    (source / "__init__.py").write_text("")
    core = pack_core(own_cache, source)
    place_core(phone, core)
    assert set(phone.run(["ls", CORES]).text.split()) == before | {core.id}


def test_a_full_phone_is_said_before_anything_is_sent(start_phone, cache):
    phone = start_phone(storage_mb=16)
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    phone.fault("disk-full", free_bytes=1 << 19)
    with pytest.raises(NoSpaceError, match=r"MB are needed on the phone"):
        set_up(phone.phone, cache, MODELS)


def test_a_model_that_is_cut_off_is_refused_before_anything_is_sent(phone_here, cache, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(DRAFTER, broken)
    (broken / "llm.mnn.weight").write_bytes((broken / "llm.mnn.weight").read_bytes()[:1000])
    with pytest.raises(ModelError, match="cut off"):
        set_up(phone_here.phone, cache, [broken])
    assert phone_here.phone.run(["ls", "/data/local/tmp"]).text == ""


def test_a_model_that_is_there_is_not_sent_again_and_one_that_was_damaged_is(ready):
    phone, done = ready
    info = describe_model(DRAFTER)
    assert place_model(phone, info).skipped
    phone.script('echo x >> "$1/llm.mnn"', done.models[0].folder)
    assert not place_model(phone, info).skipped
    assert place_model(phone, info).skipped


# -- readiness -------------------------------------------------------------------------------------


def test_an_empty_phone_lacks_everything_and_one_button_helps(shared_phone, cache):
    missing = check_readiness(shared_phone.phone, wanted_now(cache, MODELS)).missing
    assert [(check.key, check.remedy) for check in missing] == [
        (key, Remedy.SET_UP) for key in ("runtime", "core", "model")
    ]


def test_a_bundle_that_was_not_built_yet_is_said(shared_phone, tmp_path):
    missing = check_readiness(shared_phone.phone, wanted_now(tmp_path, [])).missing
    assert "has been built on this computer yet" in missing[0].found


def test_a_phone_that_does_not_trust_this_computer_says_what_to_tap(start_phone, cache):
    phone = start_phone()
    phone.fault("unauthorized")
    phone.fault("adbd-restart")

    def refused():
        readiness = check_readiness(phone.phone, wanted_now(cache, []))
        wrong = any(check.key == "authorisation" and check.state is State.WRONG for check in readiness.checks)
        return readiness if wrong else None

    readiness = wait_for(refused)
    (check,) = readiness.missing
    assert check.fix
    assert states(readiness.checks)["runtime"] is State.NOT_TRIED


def test_a_server_that_is_down_is_the_first_thing_that_is_wrong(cache):
    readiness = check_readiness(AdbPhone(AdbServer("127.0.0.1", 1), "X"), wanted_now(cache, []))
    assert [check.key for check in readiness.missing] == ["server"]
    assert readiness.missing[0].remedy is Remedy.START_SERVER


def test_a_phone_that_is_not_there_is_said(own_adb, cache):
    readiness = check_readiness(AdbPhone(own_adb.server, "nobody"), wanted_now(cache, []))
    assert [check.key for check in readiness.missing] == ["phone"]


# -- doctor ----------------------------------------------------------------------------------------


def test_every_link_of_a_ready_phone_gets_a_tick(ready, cache):
    checks = list(doctor(ready[0], wanted_now(cache, MODELS)))
    assert [check for check in checks if not check.ok] == []
    assert [c.key for c in checks][-6:] == ["execution", "files", "loader", "mnn", "runner", "probe"]


def test_a_damaged_file_is_named_and_what_needs_it_is_not_tried(start_phone, cache):
    phone = start_phone(visible=[Path(sys.prefix), Path(sys.base_prefix)]).phone
    done = set_up(phone, cache, [])
    runtime = done.runner.argv[0].removesuffix("/bin/python")
    phone.script('echo x >> "$1/lib/plain.txt"', runtime)
    checks = list(doctor(phone, wanted_now(cache, [])))
    files = next(check for check in checks if check.key == "files")
    assert "lib/plain.txt" in files.found
    assert states(checks)["mnn"] is State.NOT_TRIED


def test_a_phone_that_forbids_execution_or_writing_is_told_from_one_that_is_not_set_up(start_phone, cache):
    phone = start_phone()
    if phone.isolation != "namespaces":
        pytest.skip(f"this host has no namespaces for users: {phone.reason}")
    phone.fault("noexec")
    found = {check.key: check for check in doctor(phone.phone, wanted_now(cache, []))}
    assert found["execution"].state is State.WRONG
    assert "does not let anything be executed" in found["execution"].found
    phone.fault("remount")
    phone.fault("read-only")
    found = {check.key: check for check in doctor(phone.phone, wanted_now(cache, []))}
    assert "the phone's storage has become read-only" in found["execution"].found
    assert found["execution"].fix.startswith("Restart the phone")


# -- what runs there -------------------------------------------------------------------------------


def describe(phone, text):
    return describe_runner(phone, RunnerCommand((put_script(phone, text),)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kill -SEGV $$", "it crashed"),
        ("kill -ILL $$", "instruction that this processor lacks"),
        ("echo 'no such library' >&2; exit 3", "no such library"),
        ("echo '[1, 2]'", "something else than its versions"),
        ("echo garbage", "something else than its versions"),
        ("true", "something else than its versions"),
    ],
)
def test_a_runner_that_gives_no_description_is_a_sentence(ready, text, sentence):
    with pytest.raises(RunnerTrialError, match=sentence):
        describe(ready[0], text)


def test_every_runner_keeps_what_it_found_about_widths_in_a_folder_of_its_own():
    runners = [python_runner(f"{RUNTIMES}/0123", f"{CORES}/4567"), native_runner(f"{RUNNERS}/89ab/runner")]
    folders = [runner.env[SELF_TESTS_VARIABLE] for runner in runners]
    assert folders == [f"{PHONE_ROOT}/self-tests/0123", f"{PHONE_ROOT}/self-tests/89ab"]


def test_a_native_runner_shakes_hands_by_the_same_words(ready):
    said = describe(
        ready[0],
        """echo noise; echo '{"runner": "native", "versions": {"mnn": "3.6.1"}, "backends": ["cpu", "opencl"],"""
        """ "methods": ["as2d"], "features": []}'""",
    )
    assert (said.runner, said.backends, said.schema_version) == ("native", ("cpu", "opencl"), None)


def test_a_program_for_another_processor_is_not_sent(ready, cache, tmp_path):
    program = tmp_path / "runner"
    program.write_bytes(Path(sys.executable).resolve().read_bytes()[:4096])
    if program.read_bytes()[18:20] == b"\xb7\x00":
        pytest.skip("this computer is arm64 itself")
    with pytest.raises(RunnerTrialError, match="no program for arm64"):
        set_up_native(ready[0], program, wanted_now(cache, []))


PROBE = (
    '{"name": "m", "sha256": "x", "mnn_version": "3.6.1", "backend": "cpu", "vocabulary": 5, "load_ms": 1.0,'
    ' "prefill_ms": 1.0, "forward_ms": 1.0}'
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kill -SEGV $$", "my model does not run on the phone: it crashed"),
        ("kill -KILL $$", "memory ran out"),
        ("""echo '{"error": "my model is damaged."}'; exit 1""", "my model is damaged"),
        ("echo garbage", "my model does not run on the phone"),
        (f"echo '{PROBE}'", "was to run on opencl and ran on cpu without a word"),
    ],
)
def test_a_model_that_crashes_or_falls_back_is_a_sentence(ready, text, sentence):
    put_script(ready[0], text, "python")
    with pytest.raises(ModelTrialError, match=sentence):
        probe_on_phone(ready[0], PHONE_ROOT, "core", "/nowhere/model", "my model", backend="opencl")


# -- memory ----------------------------------------------------------------------------------------


def test_unpacked_weights_need_as_much_more_as_their_bits_say():
    info = describe_model(TARGET)
    assert weight_bits(info) == 8
    high, low = memory_need([info]), memory_need([info], memory="low")
    assert low.weights == info.size_bytes
    assert high.weights - low.weights == 3 * (TARGET / "llm.mnn.weight").stat().st_size


def test_two_models_need_the_sum_of_their_weights_and_caches():
    target, drafter = describe_model(TARGET), describe_model(DRAFTER)
    both, one, other = memory_need([target, drafter]), memory_need([target]), memory_need([drafter])
    assert (both.weights, both.cache) == (one.weights + other.weights, one.cache + other.cache)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tie_embeddings": NaN}'])
def test_settings_of_a_model_that_were_damaged_since_are_a_sentence(tmp_path, text):
    folder = tmp_path / "target"
    shutil.copytree(TARGET, folder)
    info = describe_model(folder)
    (folder / "llm_config.json").write_text(text)
    with pytest.raises(ModelError, match=r"llm_config\.json"):
        memory_need([info])


def test_models_that_do_not_fit_are_refused_with_both_figures(cache):
    wanted = wanted_now(cache, [TARGET, DRAFTER])
    with pytest.raises(ModelError, match=r"target and drafter need about 0\.\d GB .* has 0\.1 GB available"):
        check_fits(wanted, 100_000_000, "Redmi")


def test_nothing_is_refused_where_the_memory_is_unknown(cache):
    check_fits(wanted_now(cache, [TARGET]), None, "Redmi")


# -- cleaning --------------------------------------------------------------------------------------


def test_cleaning_removes_what_is_not_wanted_and_nothing_else(ready, cache):
    phone, _ = ready
    wanted = wanted_now(cache, MODELS)
    keep = [wanted.runtime_folder, wanted.core_folder, *wanted.model_folders]
    clean(phone, keep)
    found = self_tests_folder(wanted.runtime_folder)
    phone.script('mkdir -p "$1/old" "$1/a b" "$2" "$3/old" && echo x > "$1/old/file"', RUNTIMES, found, SELF_TESTS)
    assert set(clean(phone, keep).folders) == {f"{RUNTIMES}/old", f"{RUNTIMES}/a b", f"{SELF_TESTS}/old"}
    assert phone.run(["ls", SELF_TESTS]).text.split() == [found.rpartition("/")[2]]
    assert check_readiness(phone, wanted).ready


def test_cleaning_everything_leaves_nothing_of_ours_and_what_others_have(start_phone):
    phone = start_phone().phone
    phone.script('mkdir -p "$1/jobs" && echo x > "$1/jobs/log" && echo mine > "$1/../other"', PHONE_ROOT)
    assert clean(phone, everything=True).freed_bytes > 0
    assert phone.run(["ls", "/data/local/tmp"]).text.split() == ["other"]


def test_cleaning_an_empty_phone_is_no_error(start_phone):
    assert clean(start_phone().phone, everything=True).folders == ()


def test_nothing_is_removed_while_something_of_ours_runs(start_phone):
    phone = start_phone().phone
    begun = "/data/local/tmp/begun"
    program = put_script(phone, f"echo > {begun}; sleep 600; true")
    phone.script('"$1" < /dev/null > /dev/null 2>&1 &', program)
    wait_for(lambda: phone.run(["ls", begun], check=False).code == 0)
    with pytest.raises(InUseError, match="nothing was removed"):
        clean(phone, everything=True)
    assert phone.run(["ls", PHONE_ROOT]).text.strip() == "bin"
