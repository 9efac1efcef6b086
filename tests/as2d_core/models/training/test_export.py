"""What is exported computes what was trained."""

import importlib.util
import subprocess
import sys
from dataclasses import replace

import pytest
from tones import PLAN

if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers", "tokenizers", "llmexport")):
    pytest.skip("the training extra (torch, llmexport) is not installed", allow_module_level=True)

import torch

from as2d_core.errors import TrainingError
from as2d_core.models.probe import probe_model
from as2d_core.models.training.bank import planned_utterances
from as2d_core.models.training.batches import collate
from as2d_core.models.training.batches import example as make_example
from as2d_core.models.training.export import export_model
from as2d_core.models.training.features import positions
from as2d_core.models.training.loss import Trainee
from as2d_core.models.training.mnn_conversion import ExportedTower
from as2d_core.models.training.network import AudioTower, Shape, SpeechModel
from as2d_core.models.training.tokens import Tokens, make_tokenizer
from as2d_core.models.training.windows import TRANSCRIBE, Query

DECODE = """
import sys
import numpy as np
from pathlib import Path
from as2d_core.engines.mnn import MnnModel, Settings
from as2d_core.models.folder import describe_model
model = MnnModel(describe_model(Path(sys.argv[1])), Settings())
model.hear(np.load(sys.argv[2]))
model.instruct(model.instruction_ids(sys.argv[3]))
model.forward([model.first[0]])
model.keep(0)
np.save(sys.argv[4], model.logits([int(token) for token in sys.argv[5].split(",")]))
import os
os._exit(0)
"""


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    make_tokenizer((utterance.sentence for utterance in planned_utterances(PLAN)), folder)
    return folder


@pytest.mark.parametrize("frames", [1, 99, 100, 101, 250])
def test_the_exported_tower_gives_what_training_sees(frames):
    tower = AudioTower(Shape(64, 32, 1, 48, 2, 1, 16, 32, 1, 2)).eval()
    mel = torch.randn(1, 128, frames)
    padded = torch.nn.functional.pad(mel, (0, -frames % 100))
    present = (torch.arange(padded.shape[-1] // 100 * 13) < positions(frames))[None]
    with torch.no_grad():
        exported, trained = ExportedTower(tower)(mel), tower(padded, present)
    assert exported.shape[1] == positions(frames)
    assert torch.allclose(exported[0], trained[present], atol=1e-5)


@pytest.mark.models
@pytest.mark.timeout(600)
def test_mnn_computes_what_torch_does(tokenizer, tmp_path):
    """Weights stored with 16 bits, drawn so that 16 bits hold them: the same logits but for rounding."""
    import numpy as np

    tokens = Tokens(tokenizer)
    shape = Shape(tokens.vocabulary, 64, 2, 128, 2, 1, 32, 64, 1, 2)
    torch.manual_seed(1)
    model = SpeechModel(shape).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(weights.half().float() if weights.dim() > 1 else weights)
        model.model.embed_tokens.weight.copy_(model.model.embed_tokens.weight.bfloat16().float())
        model.audio_tower.proj2.weight.mul_(4)  # a power of two; hearing matters more than in a fresh model
    folder = tmp_path / "tiny"
    export_model(model.state_dict(), shape, tokenizer, folder, bits=16)
    assert probe_model(folder).vocabulary == shape.vocabulary
    assert sorted(file.name for file in folder.iterdir()) == [
        "audio.mnn",
        "audio.mnn.weight",
        "config.json",
        "embeddings_bf16.bin",
        "llm.mnn",
        "llm.mnn.weight",
        "llm_config.json",
        "tokenizer.mtok",
    ]
    samples = (0.1 * np.random.default_rng(1).standard_normal(37_000)).astype(np.float32)  # three chunks
    answer = "the red lamp is in the kitchen."
    said = tokens.encode(answer)
    np.save(tmp_path / "samples.npy", samples)
    sequence = ",".join(map(str, said))
    command = [
        sys.executable,
        "-c",
        DECODE,
        folder,
        tmp_path / "samples.npy",
        TRANSCRIBE,
        tmp_path / "rows.npy",
        sequence,
    ]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    batch = collate([make_example(samples, [Query("transcribe", TRANSCRIBE, answer)])], tokens)
    with torch.no_grad():
        expected = Trainee(model)(batch, torch.float32).logits[1:].numpy()
    rows = np.load(tmp_path / "rows.npy")[: len(expected)]
    heard = np.isfinite(rows)
    assert np.abs(rows - expected)[heard].max() < 0.03 * expected.std()


def test_weights_of_another_shape_are_not_exported(tokenizer, tmp_path):
    shape = Shape(Tokens(tokenizer).vocabulary, 64, 1, 64, 2, 1, 32, 32, 1, 2)
    weights = SpeechModel(replace(shape, hidden=32)).state_dict()
    with pytest.raises(TrainingError, match="another shape"):
        export_model(weights, shape, tokenizer, tmp_path / "wrong")


def test_a_failed_conversion_says_why_and_leaves_what_was_there(tokenizer, tmp_path):
    shape = Shape(Tokens(tokenizer).vocabulary, 64, 1, 64, 2, 1, 32, 32, 1, 2)
    there = tmp_path / "model"
    there.mkdir()
    (there / "config.json").write_text("{}")
    with pytest.raises(TrainingError, match=r"conversion to MNN failed: .*7"):
        export_model(SpeechModel(shape).state_dict(), shape, tokenizer, there, bits=7)
    assert (there / "config.json").read_text() == "{}"
