"""The child process that turns a staged model into MNN files: ``python -m ... STAGED OUT BITS``.

The published exporter (llmexport) knows neither this architecture nor how to be extended from outside: its inner
modules are imported by their own names and taught it here, which is why this is a process of its own. MNN's converter
would install a telemetry package and report each conversion; that is prevented before it is imported.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name everybody reads

from as2d_core.models.training.network import CHUNK_FRAMES, CHUNK_POSITIONS, MEL_BINS, ROPE_BASE, AudioTower

MODEL_TYPE = "qwen3_asr"
AUDIO_TYPE = "qwen3_asr_audio_encoder"
ONNX_FRAMES = 3000
"""Length of the trace; the exported encoder takes any."""


class ExportedTower(nn.Module):
    """The tower as MNN calls it: frames [1, 128, any length] to [1, positions, hidden]."""

    def __init__(self, tower: AudioTower) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, mel: Tensor) -> Tensor:
        mel = mel.reshape(1, MEL_BINS, -1)
        frames = mel.shape[-1]
        chunks = (frames + CHUNK_FRAMES - 1) // CHUNK_FRAMES
        x = self.tower.positions(F.pad(mel, (0, chunks * CHUNK_FRAMES - frames)))
        rest = frames % CHUNK_FRAMES
        for _ in range(3):
            rest = (rest + 1) // 2
        return self.tower.attend(x[:, : frames // CHUNK_FRAMES * CHUNK_POSITIONS + rest])


def convert(staged: Path, out: Path, bits: int) -> None:
    """Write ``out``: decoder, tower and tokenizer for MNN, weights stored with ``bits`` (8 or 16)."""
    if bits not in {8, 16}:
        raise ValueError(f"Weights are stored with 8 or 16 bits, not with {bits}.")
    sys.modules["MNN.tools.utils.log"] = None  # type: ignore[assignment]  # importing it fails, and nothing is sent
    folder = importlib.util.find_spec("llmexport")
    if folder is None or folder.origin is None:
        raise ModuleNotFoundError("llmexport")
    sys.path.insert(0, str(Path(folder.origin).parent))
    _teach(staged)
    import llmexport as exporter  # the file of that name in the folder just added

    exporter.export(str(staged), export="mnn", quant_bit=bits, seperate_embed=bits == 16, dst_path=str(out))


def _teach(staged: Path) -> None:
    """Make the exporter understand the model in ``staged``."""
    from transformers import AutoConfig, PretrainedConfig
    from utils import audio, model, model_mapper  # type: ignore[import-not-found]  # llmexport's own
    from utils.torch_utils import onnx_export  # type: ignore[import-not-found]

    class StagedConfig(PretrainedConfig):
        model_type = MODEL_TYPE

    AutoConfig.register(MODEL_TYPE, StagedConfig)
    sizes = ("hidden_size", "head_dim", "num_attention_heads", "num_hidden_layers", "num_key_value_heads")
    places = {
        "lm": "lm_head",
        "embed": "model.embed_tokens",
        "blocks": "model.layers",
        "final_layernorm": "model.norm",
        "audio": "audio_tower",
    }
    learn = model_mapper.ModelMapper.__init__

    def learn_ours(self: Any) -> None:
        learn(self)
        attention = {**self.default_attention, "q_norm": "q_norm", "k_norm": "k_norm"}
        config = {name: name for name in (*sizes, "rope_theta", "rope_scaling", "max_position_embeddings")}
        self.regist(
            MODEL_TYPE,
            {"config": config, "decoder": self.default_decoder, "attention": attention, "model": places},
        )

    class Encoder(audio.Audio):
        def load(self) -> None:
            config = self.config
            self.audio_embeds = None
            self.tower = ExportedTower(self.audio).float().eval()
            self.llm_config.update(
                is_audio=True,
                audio_type=MODEL_TYPE,
                audio_start=config.audio_start_token_id,
                audio_end=config.audio_end_token_id,
                audio_pad=config.audio_token_id,
            )

        def embed(self, ids: Tensor, *_: Any) -> Tensor:
            return self.embed_(ids)

        def export(self, folder: str) -> str:
            file = f"{folder}/audio.onnx"
            onnx_export(
                self.tower,
                (torch.randn(1, MEL_BINS, ONNX_FRAMES),),
                file,
                input_names=["input_features"],
                output_names=["audio_embeds"],
                dynamic_axes={"input_features": {2: "size"}},
            )
            return file

    class Loader:
        from_pretrained = staticmethod(lambda _, **__: _staged_model(staged))

    model_mapper.ModelMapper.__init__ = learn_ours
    choose, encoder = model.LlmModel.get_model_class, audio.Audio.get_audio
    model.LlmModel.get_model_class = staticmethod(lambda kind: Loader if kind == MODEL_TYPE else choose(kind))
    audio.Audio.get_audio = staticmethod(lambda kind: Encoder if kind == AUDIO_TYPE else encoder(kind))


def _staged_model(staged: Path) -> nn.Module:
    from as2d_core.models.training.network import Shape, SpeechModel
    from as2d_core.models.training.weights import load_whole

    model = SpeechModel(Shape(**json.loads((staged / "shape.json").read_text(encoding="utf-8"))))
    model.load_state_dict(load_whole(staged / "weights.pt"))
    model.lm_head = nn.Linear(model.shape.hidden, model.shape.vocabulary, bias=False)
    model.lm_head.weight = model.model.embed_tokens.weight
    model.audio_tower.config = types.SimpleNamespace(model_type=AUDIO_TYPE)
    return model.float().eval()


def staged_config(sizes: dict[str, int], audio: dict[str, int]) -> dict[str, Any]:
    """What ``config.json`` of a staged model says. Positions have three parts, as in the published model."""
    half = sizes["head_dim"] // 2
    part = half * 5 // 16
    scaling = {"mrope_section": [half - 2 * part, part, part], "mrope_interleaved": True, "rope_type": "default"}
    return {
        "model_type": MODEL_TYPE,
        **sizes,
        **audio,
        "rope_theta": ROPE_BASE,
        "rope_scaling": {**scaling, "interleaved": True, "type": "default"},
        "max_position_embeddings": 65536,
        "tie_word_embeddings": True,
    }


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
