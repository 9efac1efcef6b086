"""A request finds its models and its audio on the phone, whatever their names are here."""

import json
import shutil
import threading

import pytest
from live_runner import demo_request

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import demo_window
from as2d_core.protocol import request_to_json
from as2d_core.request import AudioRef, ModelRef
from device_bridge.errors import TransferError
from device_bridge.setup.layout import AUDIO, MODELS
from device_bridge.setup.provision import Provision

GO_ON = threading.Event()


@pytest.fixture
def provision(phone_here, cache):
    return Provision(phone_here.phone, cache)


def test_a_prepared_request_runs_on_the_phone_with_the_same_tokens(provision, phone_here, runner, exact_widths):
    request = demo_request("there", "as2d", "clean_00", exact_widths, budget=3)
    command = provision.runner()
    prepared = provision.prepare(request, GO_ON)
    line = json.dumps(request_to_json(prepared)).encode()
    out = phone_here.phone.run(command.argv, env=command.env, cwd=command.cwd, timeout_s=60, stdin=line)
    said = [json.loads(text) for text in out.text.splitlines()]
    here = runner.run(demo_request("here", "as2d", "clean_00", exact_widths, budget=3))
    assert said[-1]["status"] == "eos"
    assert said[0]["request"]["target"]["path"].startswith(MODELS)
    assert [t for event in said if event["kind"] == "round" for t in event["committed"]] == [
        t for event in here.rounds for t in event.committed
    ]


@pytest.mark.parametrize("name", ["a$(id).flac", "two words.flac", 'it\'s "it".flac', "-rf.flac", "ünï\nç.flac"])
def test_a_hostile_name_of_audio_stays_here(provision, phone_here, tmp_path, name):
    shutil.copy(demo_window("clean_00").path, tmp_path / name)
    request = demo_request("x", audio=AudioRef(str(tmp_path / name)))
    prepared = provision.prepare(request, GO_ON)
    assert prepared.audio.path.startswith(f"{AUDIO}/")
    assert phone_here.phone.run(["ls", AUDIO]).text.split() == [prepared.audio.path.rpartition("/")[2]]


def test_what_lies_on_the_phone_already_is_taken_as_it_is_named(provision):
    request = demo_request("x", audio=AudioRef("/sdcard/Recordings/one.wav"), target=ModelRef("/sdcard/models/asr"))
    prepared = provision.prepare(request, GO_ON)
    assert (prepared.audio.path, prepared.target.path) == ("/sdcard/Recordings/one.wav", "/sdcard/models/asr")


def test_audio_that_is_nowhere_is_a_sentence(provision, tmp_path):
    with pytest.raises(TransferError, match="cannot be read"):
        provision.prepare(demo_request("x", audio=AudioRef(str(tmp_path / "none.wav"))), GO_ON)


def test_a_model_that_is_nowhere_is_a_sentence(provision, tmp_path):
    with pytest.raises(ModelError, match="There is no model folder"):
        provision.prepare(demo_request("x", target=ModelRef(str(tmp_path / "none"))), GO_ON)
