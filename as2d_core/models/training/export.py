"""A trained model becomes a folder that MNN runs: averaged weights, 8 or 16 bits stored, computed in float32."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from torch import Tensor

from as2d_core.errors import TrainingError
from as2d_core.models.folder import ModelInfo, describe_model
from as2d_core.models.training.mnn_conversion import staged_config
from as2d_core.models.training.network import Shape, SpeechModel
from as2d_core.models.training.tokens import AUDIO_END, AUDIO_PAD, AUDIO_START, Tokens
from as2d_core.models.training.weights import save_whole

DEADLINE_S = 1800.0
KEPT = ("audio.mnn", "audio.mnn.weight", "llm.mnn", "llm.mnn.weight", "llm_config.json", "tokenizer.mtok")


def export_model(weights: dict[str, Tensor], shape: Shape, tokenizer: Path, out: Path, bits: int = 8) -> ModelInfo:
    """Convert in a child process and put the finished folder in the place of ``out``.

    Raises:
        TrainingError: the weights are not of this shape, or the conversion failed (with what it said last).
        ModelError: what came out is no usable model folder.
    """
    try:
        SpeechModel(shape).load_state_dict(weights)
    except RuntimeError as error:
        raise TrainingError(f"The weights for {out.name} are of another shape than its plan ({error}).") from error
    with tempfile.TemporaryDirectory() as scratch:
        staged, made = Path(scratch) / "staged", Path(scratch) / out.name
        _stage(weights, shape, tokenizer, staged)
        _convert(staged, made, bits, Path(scratch))
        for file in sorted(made.iterdir()):
            if file.name not in KEPT and not file.name.startswith("embeddings_"):
                shutil.rmtree(file) if file.is_dir() else file.unlink()
        (made / "config.json").write_text(json.dumps(_run_config(), indent=1), encoding="utf-8")
        describe_model(made)
        part = out.with_name(f"{out.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, part)
        shutil.rmtree(out, ignore_errors=True)
        part.replace(out)
    return describe_model(out)


def _stage(weights: dict[str, Tensor], shape: Shape, tokenizer: Path, staged: Path) -> None:
    shutil.copytree(tokenizer, staged)
    tokens = Tokens(tokenizer)
    sizes = {
        "hidden_size": shape.hidden,
        "head_dim": shape.head_size,
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "num_key_value_heads": shape.key_heads,
    }
    audio = {
        f"audio_{name}token_id": tokens.encode(text)[0]
        for name, text in (("start_", AUDIO_START), ("end_", AUDIO_END), ("", AUDIO_PAD))
    }
    (staged / "config.json").write_text(json.dumps(staged_config(sizes, audio)), encoding="utf-8")
    (staged / "shape.json").write_text(
        json.dumps({name: getattr(shape, name) for name in shape.__slots__}), encoding="utf-8"
    )
    save_whole(weights, staged / "weights.pt")


def _convert(staged: Path, made: Path, bits: int, scratch: Path) -> None:
    command = [sys.executable, "-m", "as2d_core.models.training.mnn_conversion", str(staged), str(made), str(bits)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in sys.path if p)}
    try:  # in the scratch folder, because the converter writes a log where it is started
        done = subprocess.run(
            command, cwd=scratch, env=environment, capture_output=True, check=False, timeout=DEADLINE_S
        )
    except subprocess.TimeoutExpired:
        raise TrainingError(f"The conversion to MNN did not end within {DEADLINE_S:g} s.") from None
    if done.returncode or not (made / "llm.mnn").exists():
        raise TrainingError(f"The conversion to MNN failed: {_last_words(done.stderr)}")


def _last_words(output: bytes) -> str:
    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(line.strip()[:200] for line in lines[-3:]) or "it said nothing."


def _run_config() -> dict[str, object]:
    """How MNN is to run the model: exact (float32 arithmetic), greedy, all rows of logits."""
    computing: dict[str, object] = {"backend_type": "cpu", "thread_num": 1, "precision": "high", "memory": "high"}
    return {
        "llm_model": "llm.mnn",
        "llm_weight": "llm.mnn.weight",
        "tokenizer_file": "tokenizer.mtok",
        **computing,
        "all_logits": True,
        "reuse_kv": True,
        "sampler_type": "greedy",
        "async": False,
        "mllm": computing,
    }
