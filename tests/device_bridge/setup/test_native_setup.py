"""A phone uses the runner that it was set up with last, and everything that looks at it says so."""

import json

import pytest
from fake_native_trees import android_note, elf

from device_bridge.sessions import RunnerCommand
from device_bridge.setup import native
from device_bridge.setup.chosen import NativeRunner, choose_native, choose_python, chosen_of, chosen_runner
from device_bridge.setup.cleaning import clean
from device_bridge.setup.doctor import doctor
from device_bridge.setup.layout import RUNNERS
from device_bridge.setup.native import set_up_native
from device_bridge.setup.provision import Provision
from device_bridge.setup.readiness import check_readiness
from device_bridge.setup.trial import ModelTrialError, RunnerTrialError, try_native_model
from device_bridge.setup.wanted import wanted_now

ANSWER = {"runner": "native", "versions": {"as2d": "0.1.0", "mnn": "3.6.1"}, "backends": ["cpu"], "methods": ["as2d"]}
NATIVE = NativeRunner("ab" * 32, "as2d-runner", {"mnn": "3.6.1"}, ("cpu", "opencl"))
LINE = json.dumps(
    {"sha256": NATIVE.sha256, "name": NATIVE.name, "versions": NATIVE.versions, "backends": ["cpu", "opencl"]}
)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A script that answers like a native runner; a phone of this computer can run it."""
    monkeypatch.setattr(native, "is_arm64", lambda _: True)
    monkeypatch.setattr(native, "_check_level", lambda *_: None)

    def write(**answer):
        path = tmp_path / "as2d-runner"
        path.write_text(f"#!/bin/sh\necho '{json.dumps({**ANSWER, **answer})}'\n")
        return path

    return write


@pytest.fixture
def phone(shared_phone):
    yield shared_phone.phone
    shared_phone.phone.run(["rm", "-rf", RUNNERS])


def test_a_phone_uses_a_native_runner_from_its_set_up_on_until_python_is_chosen(phone, cache, program):
    wanted = wanted_now(cache, [])
    assert chosen_runner(phone) is None
    done = set_up_native(phone, program(), wanted)
    assert set_up_native(phone, program(), wanted).sent_bytes == 0
    assert set_up_native(phone, None, wanted).runner == done.runner
    found = chosen_runner(phone)
    assert [found.program] == list(done.runner.argv)
    assert Provision(phone, cache).runner() == done.runner
    readiness = check_readiness(phone, wanted)
    assert readiness.ready
    assert next(check.found for check in readiness.checks if check.key == "native").startswith(
        "The phone uses as2d-runner (MNN 3.6.1, cpu"
    )
    clean(phone, [found.folder])
    assert [check.key for check in doctor(phone, wanted) if not check.ok] == []
    phone.script('echo "# damaged" >> "$1"', found.program)
    assert [check.key for check in doctor(phone, wanted) if not check.ok] == ["files", "runner"]
    choose_python(phone)
    assert chosen_runner(phone) is None
    assert {"runtime", "core"} <= {check.key for check in check_readiness(phone, wanted).missing}


def test_a_runner_without_mnn_is_placed_and_said_to_run_no_models(phone, cache, program):
    wanted = wanted_now(cache, [])
    assert set_up_native(phone, program(backends=[], versions={"as2d": "0.1.0"}), wanted).models == ()
    (check,) = check_readiness(phone, wanted).missing
    assert "scripted requests only" in check.found


def model_trial(phone, script):
    """What a runner that does as the script says makes of a model."""
    return try_native_model(phone, RunnerCommand(["sh", "-c", script, "--"]), "/there/0123", "small", 60.0)


def test_a_native_runner_tries_a_model_before_a_request_does(phone):
    script = """
[ "$1" = --try-widths ] && read -r task && case "$task" in *'"path": "/there/0123"'*'"widest": 4'*) ;; *) exit 9;; esac
for width in 1 2 3 4 0; do printf '{"width":%d}\n' $width; done; echo '{"widest":4}'
"""
    assert model_trial(phone, script) == 4


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("""echo '{"error":"There is no model folder at 0123."}'; exit 1""", "There is no model folder at small."),
        ("""echo '{"width":3}'; kill -SEGV $$""", "small does not run on the phone at a forward of 3 rows: it crashed"),
        ("echo usage >&2; exit 2", r"does not run on the phone: .*usage"),
        ("echo '[]'", "does not run on the phone"),
    ],
)
def test_a_model_that_a_native_runner_cannot_run_is_a_sentence(phone, script, said):
    with pytest.raises(ModelTrialError, match=said):
        model_trial(phone, script)


def test_a_program_that_is_another_runner_or_none_is_not_chosen(phone, cache, program):
    wanted = wanted_now(cache, [])
    with pytest.raises(RunnerTrialError, match="not a native one"):
        set_up_native(phone, program(runner="python"), wanted)
    with pytest.raises(RunnerTrialError, match="No native runner is on this phone"):
        set_up_native(phone, None, wanted)
    assert chosen_runner(phone) is None


def test_a_program_for_newer_phones_is_not_sent(phone, cache, tmp_path):
    path = tmp_path / "runner"
    path.write_bytes(elf(notes=android_note(99)))
    with pytest.raises(RunnerTrialError, match=r"API level 99 or higher, and the phone has 36\. .*--api 36"):
        set_up_native(phone, path, wanted_now(cache, []))


@pytest.mark.parametrize("line", ["", "{}", "[1]", "not JSON", LINE.replace("name", "nam")])
def test_a_choice_that_cannot_be_read_is_none(line):
    assert chosen_of([line, NATIVE.program]) is None


def test_a_choice_whose_program_is_gone_is_none():
    assert chosen_of([LINE, NATIVE.program]) == NATIVE
    assert chosen_of([LINE, f"{RUNNERS}/*/runner"]) is None
    assert chosen_of([LINE]) is None


def test_a_choice_comes_back_as_it_was_written(phone):
    choose_native(phone, NATIVE)
    phone.script('mkdir -p "$1" && touch "$1/runner"', NATIVE.folder)
    assert chosen_runner(phone) == NATIVE
