"""The native runner sees in a model folder what the Python runner sees, and refuses what that refuses."""

import json
import os
import shutil

import pytest

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import DRAFTER, LIGHT, TARGET
from as2d_core.models.folder import describe_model
from as2d_core.protocol import request_to_json
from as2d_core.request import AudioRef, ModelRef, Request


def told(runner, *folders):
    """What the native runner says of each folder."""
    lines = [json.dumps(request_to_json(Request("r", "m", ModelRef(str(f)), AudioRef("a")))) for f in folders]
    return [json.loads(line) for line in runner.run(lines, "--models").splitlines()]


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(LIGHT, tmp_path / "copy")


@pytest.mark.parametrize("folder", [TARGET, DRAFTER, LIGHT])
def test_a_model_is_described_as_in_python(folder, native_runner):
    info = describe_model(folder)
    (answer,) = told(native_runner, f"{folder}/")
    assert answer["target"] == {
        "name": info.name,
        "sha256": info.sha256,
        "tokenizer_sha256": info.tokenizer_sha256,
        "audio_pad": info.audio_pad,
    }


def change_details(copy, **entries):
    file = copy / "llm_config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | entries), encoding="utf-8")


def cut(copy, name, share=0.9):
    file = copy / name
    os.truncate(file, int(file.stat().st_size * share))


def no_pipe(copy):
    (copy / "config.json").unlink()
    os.mkfifo(copy / "config.json")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda copy: cut(copy, "llm.mnn.weight"), "copy: llm.mnn.weight is cut off ("),
        (lambda copy: cut(copy, "audio.mnn.weight"), "copy: audio.mnn.weight is cut off ("),
        (lambda copy: cut(copy, "llm.mnn", 0.0), "copy: the language model (llm.mnn) is empty"),
        (lambda copy: (copy / "audio.mnn").unlink(), "copy lacks its audio encoder: audio.mnn is not in "),
        (lambda copy: change_details(copy, audio_pad=-1), "copy/llm_config.json names no audio_pad token"),
        (lambda copy: change_details(copy, audio_type="x"), "copy has audio type 'x'; known here: "),
        (lambda copy: change_details(copy, tie_embeddings=[0, 2**40, 5, 8, 0]), "copy: llm.mnn.weight is cut off ("),
        (no_pipe, "copy is no MNN model folder: config.json is missing"),
        (shutil.rmtree, "There is no model folder at "),
    ],
)
def test_a_folder_that_python_refuses_is_refused_with_its_sentence(damage, said, copy, native_runner):
    damage(copy)
    (answer,) = told(native_runner, copy)
    assert answer["error"].startswith(said)
    with pytest.raises(ModelError, match="copy"):
        describe_model(copy)


def test_a_model_whose_graph_cannot_be_followed_is_left_to_the_engine(copy, native_runner):
    graph = copy / "llm.mnn"
    content = bytearray(graph.read_bytes())
    content[0:4] = b"\xff\xff\xff\xff"
    graph.write_bytes(content)
    (answer,) = told(native_runner, copy)
    assert answer["target"]["sha256"] == describe_model(copy).sha256


def test_a_file_that_changes_between_two_requests_is_noticed(copy, native_runner):
    with native_runner.start("--models") as process:
        line = json.dumps(request_to_json(Request("r", "m", ModelRef(str(copy)), AudioRef("a")))).encode() + b"\n"
        process.stdin.write(line)
        process.stdin.flush()
        before = json.loads(process.stdout.readline())
        file = copy / "llm_config.json"
        file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        process.stdin.write(line)
        process.stdin.close()
        after = json.loads(process.stdout.readline())
    assert before["target"]["sha256"] != after["target"]["sha256"] == describe_model(copy).sha256
