"""``python -m as2d_core.models.training STEP``: one step of making the demo models, or all of them.

Every step does only what is not done yet in the working folder, so the same command goes on after any interruption.
"""

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from as2d_core.errors import As2dError, TrainingError

NEEDED = ("torch", "tokenizers", "transformers", "safetensors", "llmexport")


def main(arguments: list[str]) -> int:
    """Run one step; 0 = done, 1 = an error said in one sentence, 3 = stopped before the end, to be continued."""
    options = _parser().parse_args(arguments)
    try:
        _check_options(options)
        _check_installed()
        from as2d_core.models.training import steps

        finished = steps.run(options)
    except As2dError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if finished else 3


def _parser() -> argparse.ArgumentParser:
    from as2d_core.models.training.names import MODEL_NAMES, STEP_NAMES

    parser = argparse.ArgumentParser(prog="python -m as2d_core.models.training", description=__doc__)
    parser.add_argument("step", choices=STEP_NAMES)
    parser.add_argument("model", nargs="?", choices=MODEL_NAMES, help="for train and export: which model")
    parser.add_argument("--work", type=Path, default=Path("artifacts/demo-models"), help="working folder")
    parser.add_argument("--start", type=Path, help="safetensors file with first weights (train)")
    parser.add_argument("--steps", type=int, help="train this many steps instead of the plan's")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch, and of espeak-ng for the banks")
    parser.add_argument("--float32", action="store_true", help="no bfloat16 (processors without it are faster so)")
    parser.add_argument("--split", choices=("development", "validation", "sealed"), default="validation")
    parser.add_argument(
        "--bits", type=int, choices=(8, 16), default=8, help="stored bits of a weight (export, evaluate)"
    )
    parser.add_argument("--windows", type=int, default=20, help="windows of each group (evaluate, recordings)")
    parser.add_argument(
        "--out", type=Path, help="another folder than recordings/SPLIT, or than what this installation ships"
    )
    parser.add_argument(
        "--trajectories", metavar="ID=FILE", nargs="+", default=[], help="ship these collected sets (ship)"
    )
    return parser


def _check_options(options: argparse.Namespace) -> None:
    """Refuse at once what a step would stumble over after minutes, or take for its default."""
    for name in ("steps", "threads", "windows"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise TrainingError(f"--{name} is {value}; give a whole number of at least 1.")
    for item in options.trajectories:
        name, _, file = item.partition("=")
        if not (name and file):
            raise TrainingError(f"--trajectories has {item!r}; give ID=FILE, such as demo=collected.parquet.")
    if options.start is not None and not options.start.is_file():
        raise TrainingError(f"There are no first weights at {options.start}; give a safetensors file.")


def _check_installed() -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise TrainingError(f"Training needs {', '.join(missing)}; install it with: pip install '.[training]'")


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a live logits Var of MNN can crash an ordinary exit
