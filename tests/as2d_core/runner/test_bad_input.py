"""Every kind of bad input gets one sentence in the end line: what is wrong, where, what to do."""

import json
import random
import shutil

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import As2dError
from as2d_core.models.demo_catalog import DRAFTER, TARGET
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.request import AudioRef, ModelRef, Placement
from as2d_core.runner.check import check_request

pytestmark = pytest.mark.models


@pytest.fixture
def error_of(runner, ask):
    """The sentence with which a request fails."""

    def error(method="target-only", **fields):
        record = runner.run(ask(method, **fields))
        assert (record.problems, record.status, record.tokens) == ([], "failed", [])
        return record.end.error

    return error


def write_wav(path, samples, rate=16_000):
    soundfile.write(path, samples, rate, subtype="FLOAT")
    return AudioRef(str(path))


def noise(seconds, rate=16_000):
    return np.random.default_rng(1).normal(0, 0.1, int(seconds * rate)).astype(np.float32)


# -- audio -----------------------------------------------------------------------------------------


def test_audio_that_is_not_there(error_of, tmp_path):
    path = tmp_path / "gone.wav"
    assert error_of(audio=AudioRef(str(path))) == f"There is no audio file at {path}."


def test_an_empty_audio_file(error_of, tmp_path):
    path = tmp_path / "empty.wav"
    path.touch()
    assert error_of(audio=AudioRef(str(path))) == "empty.wav is empty (0 bytes); record or export it again."


def test_a_wav_file_without_samples(error_of, tmp_path):
    audio = write_wav(tmp_path / "silent.wav", noise(0))
    assert error_of(audio=audio) == "silent.wav holds no samples; record or export it again."


def test_ten_milliseconds_of_audio(error_of, tmp_path):
    audio = write_wav(tmp_path / "short.wav", noise(0.01))
    assert error_of(audio=audio) == "short.wav holds 10 ms of audio; at least 100 ms are needed."


def test_a_minute_of_audio(error_of, tmp_path):
    audio = write_wav(tmp_path / "long.wav", noise(60))
    assert error_of(audio=audio) == (
        "long.wav lasts 60.0 s; the models hear at most 30 s. "
        "Cut it, or choose a start and an end at most that far apart."
    )


def test_a_view_beyond_the_end(error_of, tmp_path):
    audio = write_wav(tmp_path / "two.wav", noise(2))
    view = AudioRef(audio.path, view_start_s=1.5, view_end_s=2.5)
    assert error_of(audio=view) == (
        "The view 1.5 to 2.5 s does not lie inside two.wav, which lasts 2.0 s; choose a start and an end within it."
    )


def test_samples_that_are_no_numbers(error_of, tmp_path):
    samples = noise(1)
    samples[500] = np.nan
    audio = write_wav(tmp_path / "damaged.wav", samples)
    expected = "damaged.wav holds samples that are not numbers (NaN or infinite); export it again."
    assert error_of(audio=audio) == expected


@pytest.mark.parametrize("name", ["text.wav", "text.flac", "text.mp3", "text.raw", "text"])
def test_text_by_the_name_of_audio(name, error_of, tmp_path):
    path = tmp_path / name
    path.write_text("This is no sound. " * 100, encoding="utf-8")
    error = error_of(audio=AudioRef(str(path)))
    assert error.startswith(f"{name} is no audio file that can be read (")
    assert error.endswith("); give WAV, FLAC, OGG or MP3.")


@pytest.mark.parametrize("path", ["a" * 5000, "a\0b", "", "/"])
def test_a_path_that_cannot_be(path, error_of):
    error = error_of(audio=AudioRef(path))
    assert error.startswith(("There is no audio file at", "A file of the request cannot be read:"))


# -- models ----------------------------------------------------------------------------------------


@pytest.fixture
def altered(tmp_path):
    """A copy of a bundled model with one file removed (``None``) or replaced."""

    def copy(folder, file, content):
        path = tmp_path / f"altered-{folder.name}"
        shutil.copytree(folder, path)
        if content is None:
            (path / file).unlink()
        else:
            (path / file).write_bytes(content)
        return ModelRef(str(path), exact_widths=(1, 2))

    return copy


def test_a_model_folder_that_is_not_there(error_of, tmp_path):
    assert error_of(target=ModelRef(str(tmp_path / "gone"))) == f"There is no model folder at {tmp_path / 'gone'}."


def test_a_model_folder_of_an_unknown_person(error_of):
    error = error_of(target=ModelRef("~nobody-of-this-name/model"))
    assert error.startswith("There is no model folder at ~nobody-of-this-name/model: ")


def test_a_folder_that_holds_no_model(error_of, tmp_path):
    expected = f"{tmp_path.name} is no MNN model folder: config.json is missing."
    assert error_of(target=ModelRef(str(tmp_path))) == expected


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("llm.mnn", "language model"),
        ("llm.mnn.weight", "language model weights"),
        ("audio.mnn", "audio encoder"),
        ("audio.mnn.weight", "audio encoder weights"),
        ("tokenizer.mtok", "tokenizer"),
    ],
)
def test_a_model_that_lacks_a_file(file, what, error_of, altered):
    model = altered(TARGET, file, None)
    assert (
        error_of(target=model)
        == f"altered-target lacks its {what}: {file} is not in {model.path}; copy or export it again."
    )


def test_empty_weights(error_of, altered):
    assert error_of(target=altered(TARGET, "llm.mnn.weight", b"")) == (
        "altered-target: the language model weights (llm.mnn.weight) is empty; copy or export the model again."
    )


def test_weights_that_are_cut_off(error_of, altered):
    whole = (TARGET / "llm.mnn.weight").read_bytes()
    assert error_of(target=altered(TARGET, "llm.mnn.weight", whole[:-1000])) == (
        f"altered-target: llm.mnn.weight is cut off ({len(whole) - 1000} bytes, at least {len(whole)} belong in it); "
        "copy the model again."
    )


def test_a_text_model(error_of, altered):
    details = json.loads((TARGET / "llm_config.json").read_text(encoding="utf-8"))
    details |= {"is_audio": False, "model_type": "qwen3"}
    assert error_of(target=altered(TARGET, "llm_config.json", json.dumps(details).encode())) == (
        "altered-target is a qwen3 model without audio input; As²d needs an audio language model "
        "(is_audio in llm_config.json)."
    )


def test_an_audio_front_end_that_is_not_known(error_of, altered):
    details = json.loads((TARGET / "llm_config.json").read_text(encoding="utf-8"))
    details |= {"audio_type": "whisper"}
    error = error_of(target=altered(TARGET, "llm_config.json", json.dumps(details).encode()))
    assert error.startswith("altered-target has audio type 'whisper'; known here: ")


def test_a_config_that_is_no_json(error_of, altered):
    model = altered(TARGET, "config.json", b"{ not json")
    assert error_of(target=model).startswith(f"{model.path}/config.json cannot be read as JSON: ")


def test_a_drafter_with_another_tokenizer(error_of, altered):
    other = altered(DRAFTER, "tokenizer.mtok", (DRAFTER / "tokenizer.mtok").read_bytes() + b"\n")
    assert error_of("as2d", budget=3, drafter=other) == (
        "The drafter altered-drafter has another tokenizer than the target target; its candidates would mean other "
        "tokens. Choose a drafter of the same family."
    )


def test_a_method_that_needs_a_drafter_without_one(error_of):
    expected = "The method sd needs a drafter model; name one in the request."
    assert error_of("sd", width=4, drafter=None) == expected


def test_a_graph_of_random_bytes(error_of, altered):
    garbled = random.Random(1).randbytes((TARGET / "llm.mnn").stat().st_size)
    assert error_of(target=altered(TARGET, "llm.mnn", garbled)) == (
        "MNN could not load altered-target; the model files may be damaged or of a newer MNN; copy them again, "
        "or export them for MNN 3.6.1."
    )


def test_weights_of_random_bytes(error_of, altered):
    garbled = random.Random(1).randbytes((TARGET / "llm.mnn.weight").stat().st_size)
    error = error_of(target=altered(TARGET, "llm.mnn.weight", garbled))
    assert error.startswith(("The target process ended while it was ", "altered-target computes values that are no "))


def test_audio_weights_of_random_bytes(error_of, altered):
    garbled = random.Random(1).randbytes((TARGET / "audio.mnn.weight").stat().st_size)
    expected = (
        "altered-target computes values that are no numbers; its weights are damaged, or this precision is too low "
        "for it. Copy or export the model again."
    )
    assert error_of(target=altered(TARGET, "audio.mnn.weight", garbled)) == expected


def test_drafter_weights_of_random_bytes(error_of, altered):
    garbled = random.Random(1).randbytes((DRAFTER / "llm.mnn.weight").stat().st_size)
    error = error_of("as2d", budget=3, drafter=altered(DRAFTER, "llm.mnn.weight", garbled))
    assert error.startswith(("The drafter process ended during the run: ", "The drafter failed: "))


# -- numbers and names -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "fields", "sentence"),
    [
        (
            "as2d",
            {"budget": 0},
            "The proposal budget is 0; choose 1 to 63 (a budget of 0 never proposes, which is what ",
        ),
        ("as2d", {"budget": 99}, "The proposal budget is 99; choose 1 to 63 "),
        ("as2d", {}, "The request names no proposal budget; give a whole number of at least 1."),
        ("sd", {"width": 1}, "The width K is 1; choose 2 to 63 (K - 1 tokens are drafted for each verification)."),
        ("specasr", {"draft_cap": 0}, "The draft cap is 0; choose 1 to 63 (SpecASR must draft something)."),
        ("collect", {"draft_cap": 64}, "The draft cap is 64; choose 0 to 63 (0 leaves the drafter's branches out)."),
        ("as2d", {"budget": 3, "threshold": 2.0}, "The confidence threshold is 2; it is a probability, 0 to 1."),
        ("as2d", {"budget": 3, "drafter_pace_ms": -1.0}, "The drafter pace is -1 ms a token; choose 0 to 1000."),
        ("as2d", {"budget": 3, "batch_tokens": 0}, "The publication batch is 0 tokens; choose 1 to 256."),
        ("target-only", {"max_tokens": 1}, "The output cap is 1 tokens; choose 2 to 4096."),
        ("target-only", {"instruction": " "}, "The instruction is empty; say what to do with the audio, for example "),
        ("target-only", {"instruction": "x" * 2001}, "The instruction has 2001 characters; at most 2000 are taken."),
        (
            "target-only",
            {"instruction": "<|im_end|>"},
            "The instruction holds '<|', which the models take for a command",
        ),
        (
            "target-only",
            {"instruction": "<audio>x"},
            "The instruction holds '<audio', which the models take for a comm",
        ),
        (
            "target-only",
            {"instruction": "a\0b"},
            "The instruction holds '\\x00', which the models take for a command; ",
        ),
        ("target-only", {"precision": "best"}, "The precision is 'best'; choose high, normal, low."),
        ("target-only", {"memory": "all"}, "The memory is 'all'; choose high, normal, low."),
        ("target-only", {"exact_widths": (0, 2)}, "The exact width 0 cannot be; widths are 1 to 64."),
        (
            "target-only",
            {"placement": Placement(target_threads=0)},
            "A model runs on 1 to 64 threads; change target_th",
        ),
        (
            "target-only",
            {"placement": Placement(backend="opencl")},
            "This MNN build runs on the CPU only; 'opencl' wou",
        ),
        ("ass2d", {}, "There is no method named 'ass2d'. Did you mean 'as2d'?"),
        ("target", {}, "There is no method named 'target'. Did you mean 'target-only'?"),
        ("", {}, "There is no method named ''. Known: as2d, calibrate, collect, sd, specasr, target-only."),
    ],
)
def test_a_request_that_cannot_be_run(method, fields, sentence, error_of):
    assert error_of(method, **fields).startswith(sentence)


def test_a_verification_that_is_wider_than_any_exact_one(error_of):
    error = error_of("as2d", budget=9, exact_widths=(2, 3, 4))
    assert error == (
        "A verification of width 10 is not exact on this processor; the widest exact width is 4, "
        "so the largest budget is 3."
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([10**400, -(10**400)])
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_whatever_a_request_holds_it_is_checked_or_refused(ask, data):
    body = request_to_json(ask("as2d", budget=3))
    place = data.draw(st.sampled_from([body, body["target"], body["audio"], body["drafter"], body["placement"]]))
    place[data.draw(st.sampled_from([*place, "surprise"]))] = data.draw(JSON)
    said = None
    try:
        job = check_request(request_from_json(body))
    except (As2dError, OSError) as error:
        said = str(error)
    if said is not None:
        assert said.strip()
        assert "\n" not in said
        return
    kept = json.dumps(request_to_json(job.request), allow_nan=False)
    assert request_from_json(json.loads(kept)) == job.request
    assert (job.request.method, job.request.run_id) == (body["method"], body["run_id"])


def test_a_task_profile_that_the_runner_does_not_work_under(error_of):
    assert "does not work under it" in error_of(placement=Placement(task_profile="CPUSET_SP_TOP_APP"))
