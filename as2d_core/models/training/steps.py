"""The steps of making the demo models, each on the working folder."""

import argparse
from dataclasses import replace

from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import make_bank, planned_utterances
from as2d_core.models.training.plans import MODELS, SPLIT_SEEDS, TRAINING_BANK, evaluation_banks
from as2d_core.models.training.progress import Progress
from as2d_core.models.training.tokens import make_tokenizer
from as2d_core.models.training.train import Machine, train


def run(options: argparse.Namespace) -> bool:
    """Do what the command line asks; false when a training was stopped before its end."""
    steps = {"banks": _banks, "tokenizer": _tokenizer, "train": _train}
    return steps[options.step](options)


def _banks(options: argparse.Namespace) -> bool:
    progress = Progress()
    make_bank(TRAINING_BANK, options.work / "banks" / "training", options.threads, progress)
    for split in ("development", "validation"):
        for plan in evaluation_banks(split, SPLIT_SEEDS[split]):
            make_bank(plan, options.work / "banks" / split / plan.name, options.threads, progress)
    return True


def _tokenizer(options: argparse.Namespace) -> bool:
    folder = options.work / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        make_tokenizer((utterance.sentence for utterance in planned_utterances(TRAINING_BANK)), folder)
    return True


def _train(options: argparse.Namespace) -> bool:
    if options.model is None:
        raise TrainingError(f"Say which model to train: {', '.join(MODELS)}.")
    plan = MODELS[options.model]
    if options.steps:
        plan = replace(plan, steps=options.steps)
    machine = Machine(options.threads, not options.float32)
    return train(plan, options.work, machine, start=options.start)
