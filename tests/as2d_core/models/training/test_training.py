"""Training on tiny settings: what a model sees, that it learns, and that a killed run goes on as if nothing was."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tones import PLAN, make_tone_bank

from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import Bank, planned_utterances

if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers", "tokenizers", "safetensors")):
    pytest.skip("the training extra (torch) is not installed", allow_module_level=True)

import torch

from as2d_core.models.training.batches import NOT_ASKED, PADDING, Recipe, TrainingWindows
from as2d_core.models.training.features import log_mel, positions
from as2d_core.models.training.loss import Trainee, loss_of
from as2d_core.models.training.network import AudioTower, Shape, SpeechModel
from as2d_core.models.training.plans import ModelPlan
from as2d_core.models.training.tokens import AUDIO_PAD, Tokens, make_tokenizer
from as2d_core.models.training.train import Machine, average_weights, learning_rate, train
from as2d_core.models.training.weights import inherit, save_whole, start_from

RECIPE = Recipe(seconds_per_step=8.0, durations_s=(4.0,), duration_weights=(1.0,))
HERE = Machine(threads=1, bfloat16=False, save_every_s=1e9, workers=0)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A working folder with a bank of tones and a tokenizer."""
    folder = tmp_path_factory.mktemp("work")
    make_tone_bank(folder / "banks" / "training")
    make_tokenizer((utterance.sentence for utterance in planned_utterances(PLAN)), folder / "tokenizer")
    return folder


@pytest.fixture(scope="module")
def tokens(work):
    return Tokens(work / "tokenizer")


@pytest.fixture(scope="module")
def windows(work, tokens):
    return TrainingWindows(Bank(work / "banks" / "training"), tokens, RECIPE, seed=3)


@pytest.fixture(scope="module")
def shape(tokens):
    return Shape(tokens.vocabulary, 32, 2, 48, 2, 1, 16, 32, 1, 2)


@pytest.fixture
def plan(shape):
    return ModelPlan("target", shape, 1, 6, 3e-3, warm_up=2, recipe=RECIPE)


@pytest.fixture
def place(work, tmp_path):
    """An empty folder for models beside the shared bank and tokenizer."""
    for name in ("banks", "tokenizer"):
        (tmp_path / name).symlink_to(work / name)
    return tmp_path


def test_text_survives_the_tokenizer(tokens):
    text = "der schlüssel ist in der küche, wir brauchen käse."
    assert tokens.decode(tokens.encode(text)) == text
    assert tokens.blank == tokens.vocabulary - 1
    assert tokens.vocabulary % 16 == 0


def test_the_front_end_has_a_frame_every_10_ms():
    frames = log_mel(np.zeros(16000, np.float32))
    assert frames.shape == (128, 100)


@pytest.mark.parametrize(("frames", "expected"), [(0, 0), (1, 1), (8, 1), (9, 2), (99, 13), (100, 13), (2950, 384)])
def test_13_positions_a_second(frames, expected):
    assert positions(frames) == expected


def test_convolutions_do_not_see_where_a_chunk_ends(shape):
    """Within the window, chunked convolution is convolution over the whole window."""
    tower = AudioTower(shape).eval()
    mel = torch.randn(1, 128, 300)
    chunked = tower.positions(mel) - tower.chunk_position.repeat(3, 1)
    x = mel[:, None]
    for convolution in (tower.conv2d1, tower.conv2d2, tower.conv2d3):
        x = torch.nn.functional.gelu(convolution(x))
    whole = tower.conv_out(x.permute(0, 3, 1, 2).reshape(1, x.shape[-1], -1))
    assert torch.allclose(chunked[:, 1:13], whole[:, 1:13], atol=1e-5)  # 8 frames a position: the grids meet every 2 s
    assert torch.allclose(chunked[:, 26:38], whole[:, 25:37], atol=1e-5)


def test_a_batch_is_decided_by_seed_and_step(windows):
    first, again, other = windows[4], windows[4], windows[5]
    assert torch.equal(first.mel, again.mel)
    assert torch.equal(first.labels, again.labels)
    assert not (first.mel.shape == other.mel.shape and torch.equal(first.mel, other.mel))


def test_each_branch_holds_a_prompt_and_its_answer(windows, tokens):
    batch = windows[0]
    for row in range(len(batch.ids)):
        for branch in range(1, int(batch.branch[row].max()) + 1):
            here = (batch.branch[row] == branch) & (batch.labels[row] != NOT_ASKED)
            labels = batch.labels[row][here].tolist()
            assert labels[-1] == tokens.end
            assert batch.ids[row][here].tolist()[1:] == labels[:-1]
            assert tokens.decode(labels[:-1]).endswith(".")
        assert (batch.labels[row][batch.branch[row] == PADDING] == NOT_ASKED).all()


def test_audio_positions_are_as_many_as_the_tower_gives(windows, tokens):
    batch = windows[1]
    assert torch.equal(batch.is_audio.sum(1), batch.present.sum(1))
    assert (batch.ids[batch.is_audio] == tokens.encode(AUDIO_PAD)[0]).all()


def test_a_branch_is_answered_as_if_it_were_asked_alone(windows, shape):
    """Sharing the prefix among branches changes nothing that a branch sees."""
    torch.manual_seed(1)
    trainee, batch = Trainee(SpeechModel(shape)).eval(), windows[2]
    row, last = 0, int(batch.branch[0].max())
    assert last > 1
    kept = (batch.branch[row] == 0) | (batch.branch[row] == last)
    alone = replace(
        batch,
        mel=batch.mel[row : row + 1],
        present=batch.present[row : row + 1],
        **{
            name: getattr(batch, name)[row : row + 1, kept]
            for name in ("ids", "is_audio", "positions", "branch", "labels")
        },
    )
    with torch.no_grad():
        together = trainee(replace(batch, labels=batch.labels.where(batch.branch == last, NOT_ASKED)), torch.float32)
        answers = trainee(alone, torch.float32)
    count = len(answers.labels)
    assert torch.allclose(together.logits[:count], answers.logits, atol=1e-4)


def test_what_lies_behind_a_window_changes_nothing(windows, shape):
    tower = AudioTower(shape).eval()
    mel = torch.zeros(1, 128, 200)
    mel[..., :160] = torch.randn(128, 160)
    present = torch.zeros(1, 26, dtype=torch.bool)
    present[:, : positions(160)] = True
    longer, wide = torch.zeros(1, 128, 400), torch.zeros(1, 52, dtype=torch.bool)
    longer[..., :200], wide[:, :26] = mel, present
    with torch.no_grad():
        short, long = tower(mel, present), tower(longer, wide)
    assert torch.allclose(short[present], long[wide], atol=1e-5)


def test_a_model_learns(place, plan, tokens, windows):
    plan = replace(plan, steps=60, learning_rate=1e-2)
    batch = windows[1000]
    torch.manual_seed(plan.seed)
    fresh = loss_of(Trainee(SpeechModel(plan.shape))(batch, torch.float32), batch, tokens.blank)
    assert train(plan, place, HERE)
    learned = SpeechModel(plan.shape)
    learned.load_state_dict(average_weights(place, "target"))
    loss = loss_of(Trainee(learned)(batch, torch.float32), batch, tokens.blank)
    assert loss.answers < 0.75 * fresh.answers


def test_a_stopped_run_goes_on_to_the_same_weights(place, plan, tmp_path):
    assert train(plan, place, HERE)
    whole = average_weights(place, "target")
    (place / "target").rename(place / "whole")
    (place / "target").mkdir()
    (place / "target" / "stop").touch()
    assert not train(plan, place, HERE)  # one step, then the stop file is seen
    assert not (place / "target" / "stop").exists()
    assert train(plan, place, HERE)
    for name, weights in average_weights(place, "target").items():
        assert torch.equal(weights, whole[name]), name


RUN = """
import json, sys
from dataclasses import replace
from pathlib import Path
from as2d_core.models.training.batches import Recipe
from as2d_core.models.training.network import Shape
from as2d_core.models.training.plans import ModelPlan
from as2d_core.models.training.train import Machine, train
shape, work = Shape(*json.loads(sys.argv[1])), Path(sys.argv[2])
recipe = Recipe(seconds_per_step=8.0, durations_s=(4.0,), duration_weights=(1.0,))
plan = ModelPlan("target", shape, 1, 10**6, 3e-3, warm_up=2, recipe=recipe)
train(plan, work, Machine(threads=1, bfloat16=False, save_every_s=0.0, workers=1))
"""


def test_a_killed_run_leaves_a_state_to_go_on_from(place, plan):
    sizes = json.dumps([getattr(plan.shape, name) for name in plan.shape.__slots__])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    child = subprocess.Popen([sys.executable, "-c", RUN, sizes, str(place)], env=environment, start_new_session=True)
    try:
        state = place / "target" / "state.pt"
        deadline = time.monotonic() + 120
        while not state.exists():
            assert child.poll() is None, "the run ended by itself"
            assert time.monotonic() < deadline, "no state within two minutes"
            time.sleep(0.05)
        time.sleep(0.5)  # killed somewhere in a step
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    done = torch.load(state, weights_only=True)["step"]
    assert done >= 1
    assert train(replace(plan, steps=done + 2), place, HERE)
    assert torch.load(state, weights_only=True)["step"] == done + 2


def test_a_drafter_starts_as_some_layers_of_its_parent_and_learns_from_it(place, plan, shape, monkeypatch):
    from as2d_core.models.training import plans

    monkeypatch.setitem(plans.MODELS, "target", plan)
    train(replace(plan, steps=2), place, HERE)
    parent = average_weights(place, "target")
    shallow = replace(
        plan,
        name="paper",
        shape=replace(shape, layers=1),
        steps=1,
        parent="target",
        parent_layers=(1,),
        teacher="target",
    )
    model = SpeechModel(shallow.shape)
    inherit(model, parent, (1,))
    assert torch.equal(model.model.layers[0].mlp.up_proj.weight, parent["model.layers.1.mlp.up_proj.weight"])
    assert train(shallow, place, HERE)
    assert "taught" in json.loads((place / "paper" / "log.jsonl").read_text().splitlines()[-1])


def test_the_rate_goes_up_stays_and_comes_down(plan):
    plan = replace(plan, steps=1000, warm_up=100, learning_rate=1.0)
    rates = [learning_rate(plan, step) for step in (0, 99, 500, 900, 999)]
    assert rates == pytest.approx([0.01, 1.0, 1.0, 0.5, 0.005])


def test_a_short_training_does_not_spend_itself_on_warming_up(plan):
    plan = replace(plan, steps=300, warm_up=500, learning_rate=1.0)
    assert learning_rate(plan, 29) == 1.0


def test_published_names_are_understood(tmp_path, shape):
    from safetensors.torch import save_file

    source, goal = SpeechModel(shape), SpeechModel(shape)
    weights = {f"thinker.{name}": value for name, value in source.state_dict().items() if "distance_bias" not in name}
    save_file(weights, str(tmp_path / "model.safetensors"))
    missing = start_from(goal, tmp_path / "model.safetensors")
    assert missing == ["audio_tower.layers.0.self_attn.distance_bias"]
    assert torch.equal(goal.model.embed_tokens.weight, source.model.embed_tokens.weight)


def test_weights_of_another_shape_are_refused(tmp_path, shape):
    from safetensors.torch import save_file

    save_file(dict(SpeechModel(shape).state_dict()), str(tmp_path / "model.safetensors"))
    with pytest.raises(TrainingError, match="another shape"):
        start_from(SpeechModel(replace(shape, hidden=64)), tmp_path / "model.safetensors")


@pytest.mark.parametrize("content", [b"", b"junk\n", bytes(100)])
def test_first_weights_that_are_no_safetensors_file_are_refused(content, tmp_path, shape):
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(TrainingError, match="is no safetensors file"):
        start_from(SpeechModel(shape), tmp_path / "model.safetensors")


def test_a_damaged_state_says_what_to_do(place, plan):
    (place / "target").mkdir()
    (place / "target" / "state.pt").write_bytes(b"not a state")
    with pytest.raises(TrainingError, match="remove it to start again"):
        train(plan, place, HERE)


def test_saving_never_leaves_half_a_file(tmp_path, monkeypatch):
    file = tmp_path / "state.pt"
    save_whole({"step": 1}, file)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_whole({"step": 2}, file)
    assert torch.load(file, weights_only=True) == {"step": 1}


def test_a_tokenizer_for_another_plan_is_refused(place, plan, shape):
    with pytest.raises(TrainingError, match="rows of embeddings"):
        train(replace(plan, shape=replace(shape, vocabulary=16)), place, HERE)
