"""What a model folder holds is told without MNN."""

import json
import os
import shutil

import pytest

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import DRAFTER, TARGET
from as2d_core.models.folder import check_pair, describe_model


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(DRAFTER, tmp_path / "copy")


@pytest.fixture
def with_details(copy):
    """Changes entries of llm_config.json; ``None`` removes one."""

    def change(**entries):
        file = copy / "llm_config.json"
        details = json.loads(file.read_text(encoding="utf-8")) | entries
        file.write_text(json.dumps({k: v for k, v in details.items() if v is not None}), encoding="utf-8")
        return copy

    return change


def test_the_bundled_models_are_a_pair():
    check_pair(describe_model(TARGET), describe_model(DRAFTER))


def test_a_description_says_what_the_files_say(copy):
    info = describe_model(copy)
    assert (info.name, info.model_type, info.audio_type, info.audio_pad) == ("copy", "qwen3_asr", "qwen3_asr", 517)
    assert info.size_bytes == sum(file.stat().st_size for file in copy.iterdir())


def test_a_copy_is_the_same_model(copy):
    assert describe_model(copy).sha256 == describe_model(DRAFTER).sha256


@pytest.mark.parametrize("file", sorted(file.name for file in DRAFTER.iterdir()))
def test_every_file_is_part_of_the_hash(file, copy):
    before = describe_model(copy).sha256
    content = bytearray((copy / file).read_bytes())
    if file.endswith(".json"):
        content += b"\n"
    else:
        content[-1] ^= 1
    (copy / file).write_bytes(content)
    assert describe_model(copy).sha256 != before


def test_a_changed_file_of_the_same_size_and_a_new_time_is_noticed(copy):
    before = describe_model(copy)
    file = copy / "llm.mnn.weight"
    content = bytearray(file.read_bytes())
    content[1000] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(1, 1))
    assert describe_model(copy).sha256 != before.sha256


def test_names_of_files_come_from_the_config(copy):
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(config | {"tokenizer_file": "words.mtok"}), encoding="utf-8")
    with pytest.raises(ModelError, match=r"copy lacks its tokenizer: words\.mtok is not in"):
        describe_model(copy)


@pytest.mark.parametrize("pad", [None, "517", -1, True, 1.5])
def test_a_model_needs_an_audio_position_token(pad, with_details):
    with pytest.raises(ModelError, match=r"copy/llm_config\.json names no audio_pad token; export the model again"):
        describe_model(with_details(audio_pad=pad))


def test_weights_that_end_before_their_embeddings_are_cut_off(copy):
    file = copy / "llm.mnn.weight"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ModelError, match=r"cut off \(4736643 bytes, at least 4736644 belong in it\)"):
        describe_model(copy)


@pytest.mark.parametrize("tied", [None, [], "many", [1, 2], [1, 2, "x"]])
def test_a_model_that_does_not_tell_its_length_is_taken(tied, with_details):
    assert describe_model(with_details(tie_embeddings=tied)).name == "copy"


@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "3"])
def test_a_config_that_is_no_object_is_refused(content, copy):
    (copy / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json is not a JSON object"):
        describe_model(copy)


def test_a_config_that_is_no_text_is_refused(copy):
    (copy / "llm_config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match=r"llm_config\.json cannot be read as JSON"):
        describe_model(copy)


@pytest.mark.parametrize("share", [0.999999, 0.5, 0.00001])
def test_audio_weights_that_end_before_what_the_encoder_reads_are_cut_off(share, copy):
    file = copy / "audio.mnn.weight"
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match=r"audio\.mnn\.weight is (cut off \(\d+ bytes, at least 4872640|empty|\()"):
        describe_model(copy)


@pytest.mark.parametrize(
    "name", ["../llm.mnn", "sub/llm.mnn", "", ".", "a" * 5000, "/etc/passwd", None, 7, ["llm.mnn"], "\ud800/x"]
)
def test_a_config_names_files_of_its_own_folder_only(name, copy):
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(config | {"llm_model": name}), encoding="utf-8")
    with pytest.raises(ModelError, match="names no file of the folder; write the plain name of a file"):
        describe_model(copy)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_a_config_that_is_nested_too_deep(text, copy):
    (copy / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read as JSON: it is nested too deep"):
        describe_model(copy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_config_that_is_a_pipe_is_not_waited_for(copy):
    (copy / "config.json").unlink()
    os.mkfifo(copy / "config.json")
    with pytest.raises(ModelError, match="no regular file"):
        describe_model(copy)


@pytest.mark.parametrize("name", ["hidden_size", "layer_nums"])
@pytest.mark.parametrize("value", ["<script>", -5, 0, 10**30, True, 1.5, {}])
def test_sizes_are_whole_numbers_that_can_be(name, value, with_details):
    with pytest.raises(ModelError, match=f"{name} is .* no whole number"):
        describe_model(with_details(**{name: value}))


@pytest.mark.parametrize("value", ["x" * 5000, "two\nlines"])
def test_a_type_is_a_word(value, with_details):
    with pytest.raises(ModelError, match="names no model_type that can be"):
        describe_model(with_details(model_type=value))


def test_a_folder_whose_name_is_too_long():
    with pytest.raises(ModelError, match="There is no model folder"):
        describe_model(DRAFTER / ("a" * 5000))
