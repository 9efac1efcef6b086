"""The command line says in one sentence what is missing."""

import importlib.util
import subprocess
import sys

import pytest

from as2d_core.models.training import __main__ as command_line
from as2d_core.models.training.names import MODEL_NAMES

HAS_TRAINING = all(importlib.util.find_spec(name) for name in command_line.NEEDED)


def test_without_the_extra_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "NEEDED", ("torch_that_is_not_there",))
    assert command_line.main(["banks"]) == 1
    assert "pip install '.[training]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "target", "--steps", "0"], "--steps is 0; give a whole number of at least 1."),
        (["recordings", "--windows", "-1"], "--windows is -1"),
        (["banks", "--threads", "0"], "--threads is 0"),
        (["ship", "--trajectories", "demo"], "--trajectories has 'demo'; give ID=FILE"),
        (["ship", "--trajectories", "=x.parquet"], "give ID=FILE"),
        (["train", "target", "--start", "nowhere.safetensors"], "There are no first weights at nowhere.safetensors"),
    ],
)
def test_what_no_step_can_do_is_refused_before_any_work(tmp_path, capsys, arguments, sentence):
    assert command_line.main([*arguments, "--work", str(tmp_path)]) == 1
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not HAS_TRAINING, reason="the training extra (torch) is not installed")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train"], "Say which model to train: target, paper, light."),
        (["train", "target"], "make the tokenizer first"),
        (["export", "light"], "There is no trained light"),
    ],
)
def test_a_step_that_came_too_early_says_so(tmp_path, capsys, arguments, sentence):
    assert command_line.main([*arguments, "--work", str(tmp_path)]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.skipif(not HAS_TRAINING, reason="the training extra (torch) is not installed")
def test_a_model_that_was_not_exported_cannot_be_evaluated(tmp_path):
    """In a process of its own, because standard output is taken from MNN's prints there."""
    command = [sys.executable, "-m", "as2d_core.models.training", "evaluate", "paper", "--work", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 1
    assert "There is no model folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not HAS_TRAINING, reason="the training extra (torch) is not installed")
def test_the_names_on_the_command_line_are_the_plans():
    from as2d_core.models.training.plans import MODELS

    assert tuple(MODELS) == MODEL_NAMES
