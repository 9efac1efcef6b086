"""One real model with a hand-kept cache: rollback, widths and text, bit for bit."""

import json
import random
import shutil

import numpy as np
import pytest
from mnn_child import ChildModel

from as2d_core.audio import read_audio
from as2d_core.errors import EngineError, ModelError
from as2d_core.models.demo_catalog import DRAFTER, TARGET, demo_window
from as2d_core.models.folder import describe_model

pytestmark = pytest.mark.models

INSTRUCTION = "transcribe the speech."
STEPS = 24


@pytest.fixture(scope="module")
def samples():
    return read_audio(demo_window("far_field_05").path).samples


@pytest.fixture(scope="module")
def model(exact_widths):
    child = ChildModel(TARGET)
    child("warm_up", sorted({1, 2, *exact_widths}))
    yield child
    child.close()


@pytest.fixture
def prefilled(model, samples):
    """The model behind an audio prompt, nothing generated."""
    model("hear", samples)
    model("instruct", model("instruction_ids", INSTRUCTION))
    return model


@pytest.fixture
def decoded(prefilled, exact_widths):
    """The model, its first ``STEPS`` tokens, and the row of every one of them, decoded step by step."""
    step = exact_widths[0]
    eos = prefilled("eos")
    tokens = [prefilled("first")[0]]
    rows = []
    for n in range(STEPS):
        rows.append(prefilled("logits", [tokens[-1]] + [eos] * (step - 1))[0])
        prefilled("keep", n + 1)
        tokens.append(int(rows[-1].argmax()))
    return prefilled, tokens, rows


@pytest.mark.parametrize("seed", range(4))
def test_a_forward_after_a_rollback_is_bit_identical(seed, decoded, exact_widths):
    model, tokens, rows = decoded
    rng = random.Random(seed)
    for _ in range(6):
        kept = rng.randrange(1, STEPS)
        junk = [rng.randrange(3, 256) for _ in range(rng.choice(exact_widths))]
        model("keep", kept)
        model("logits", junk)
        model("keep", kept)
        for n in range(kept, STEPS):
            again = model("logits", [tokens[n]] + [model("eos")] * (exact_widths[0] - 1))[0]
            model("keep", n + 1)
            assert np.array_equal(again, rows[n]), (kept, n)


def test_every_row_of_every_exact_width_is_the_row_of_sequential_decoding(decoded, exact_widths):
    model, tokens, rows = decoded
    for offset in (19, 5, 1, 0):  # downwards: what lies before an offset was decoded step by step
        for width in exact_widths:
            model("keep", offset)
            for row, wanted in zip(model("logits", tokens[offset : offset + width]), rows[offset:], strict=False):
                assert np.array_equal(row, wanted), (width, offset)


def test_what_an_exact_width_leaves_in_the_cache_is_what_sequential_decoding_leaves(decoded, exact_widths):
    model, tokens, rows = decoded
    filler = [model("eos")] * (exact_widths[0] - 1)
    for width in exact_widths:
        model("keep", 0)
        model("logits", tokens[:width])
        assert np.array_equal(model("logits", [tokens[width], *filler])[0], rows[width]), width


def test_another_instruction_behind_the_same_audio_is_that_of_a_fresh_prompt(prefilled, samples):
    other = prefilled("instruction_ids", "translate into german.")
    prefilled("instruct", other)
    reused = prefilled("first"), prefilled("logits", [prefilled("first")[0]])
    prefilled("hear", samples)
    prefilled("instruct", other)
    assert reused[0] == prefilled("first")
    assert np.array_equal(reused[1], prefilled("logits", [prefilled("first")[0]]))


def test_what_was_generated_is_counted_without_the_prompt(prefilled):
    assert prefilled("generated") == 0
    prefilled("forward", [5, 6, 7])
    prefilled("keep", 2)
    assert prefilled("generated") == 2


def test_more_than_the_cache_holds_cannot_be_kept(prefilled):
    prefilled("forward", [5])
    with pytest.raises(EngineError, match="Cannot keep 2 output tokens: only 1 are in the cache"):
        prefilled("keep", 2)


def test_an_instruction_needs_audio_before_it(model):
    model("clear")
    with pytest.raises(EngineError, match="hear the audio first"):
        model("instruct", [5, 6])


def test_nothing_is_first_before_a_prefill(model):
    model("clear")
    with pytest.raises(EngineError, match="Nothing has been prefilled"):
        model("first")


def test_a_confidence_is_the_softmax_probability_of_the_greedy_token(prefilled):
    rows = prefilled("forward", [40, 41, 42])
    prefilled("keep", 0)
    logits = prefilled("logits", [40, 41, 42]).astype(np.float64)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    assert rows.greedy == tuple(shares.argmax(axis=1))
    assert rows.confidences == pytest.approx(shares.max(axis=1), rel=1e-5)


def test_an_audio_position_is_never_proposed(prefilled):
    rows = prefilled("logits", [40, 41, 42])
    assert np.isneginf(rows[:, describe_model(TARGET).audio_pad]).all()


def test_greedy_tokens_are_those_of_forward(prefilled):
    rows = prefilled("forward", [40, 41, 42])
    prefilled("keep", 0)
    assert tuple(prefilled("greedy", [40, 41, 42])[0]) == rows.greedy


@pytest.mark.parametrize("text", ["walk to the station.", "Größe", "日本語 → ok", "\U0001f600"])
def test_the_bytes_of_tokens_join_to_their_text(text, model):
    pieces = [model("piece", token) for token in model("_encode_text", text)]
    assert b"".join(pieces).decode() == text


def test_a_token_may_hold_part_of_a_character(model):
    pieces = [model("piece", token) for token in model("_encode_text", "\U0001f600")]
    with pytest.raises(UnicodeDecodeError):
        pieces[0].decode()


def test_times_of_a_call_lie_in_order(prefilled, samples):
    encode, prefill = prefilled("hear", samples)
    assert encode.start_ns < encode.end_ns <= prefill.start_ns < prefill.end_ns


@pytest.mark.parametrize("backend", ["opencl", "vulkan", "cuda", "metal"])
def test_a_backend_that_would_silently_become_the_cpu_is_refused(backend):
    with pytest.raises(ModelError, match=f"{backend!r} would silently become the CPU"):
        ChildModel(DRAFTER, backend=backend)


def test_the_self_test_says_what_it_tested(self_test):
    assert self_test.model_sha256 == describe_model(TARGET).sha256
    assert self_test.rows > 0
    assert self_test.extra["step"] == self_test.exact_widths[0]
    assert self_test.grade == ("bit-equal" if len(self_test.exact_widths) > 1 else "plain only")


@pytest.mark.parametrize(
    "settings",
    [
        {"attention_mode": 99},
        {"quant_qkv": 1},
        {"speculative_type": "mtp"},
        {"use_mmap": True, "kvcache_mmap": True, "tmp_path": "elsewhere"},
        {"precision": "low", "memory": "low", "thread_num": 10**9, "backend_type": "opencl"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_config_neither_changes_what_is_computed_nor_writes_a_file(settings, samples, tmp_path):
    folder, elsewhere = shutil.copytree(DRAFTER, tmp_path / "copy"), tmp_path / "elsewhere"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    odd = {**settings, "tmp_path": str(elsewhere)} if "tmp_path" in settings else settings
    (folder / "config.json").write_text(json.dumps(config | odd), encoding="utf-8")
    files = {path.name for path in folder.iterdir()}
    said = []
    for model in (ChildModel(DRAFTER), ChildModel(folder)):
        model("hear", samples)
        model("instruct", model("instruction_ids", INSTRUCTION))
        said.append(model("logits", [model("first")[0]]))
        model.close()
    assert np.array_equal(*said)
    assert {path.name for path in folder.iterdir()} == files
    assert not elsewhere.exists()
