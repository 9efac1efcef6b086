"""The steps of making the demo models, each on the working folder."""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from as2d_core.errors import TrainingError
from as2d_core.models.training.bank import make_bank, planned_utterances
from as2d_core.models.training.names import SPLIT_SEEDS
from as2d_core.models.training.plans import MODELS, TRAINING_BANK, ModelPlan, evaluation_banks
from as2d_core.models.training.progress import Progress
from as2d_core.replay import trajectories

if TYPE_CHECKING:  # decoding needs MNN, which the steps before it do without
    from as2d_core.models.training.evaluate import Item


def run(options: argparse.Namespace) -> bool:
    """Do what the command line asks; false when a training was stopped before its end."""
    if options.step == "all":
        return _everything(options)
    steps = {
        "banks": _banks,
        "tokenizer": _tokenizer,
        "train": _train,
        "export": _export,
        "evaluate": _evaluate,
        "recordings": _recordings,
        "ship": _ship,
    }
    return steps[options.step](options)


def _everything(options: argparse.Namespace) -> bool:
    """Banks, tokenizer, then each model from training to its table."""
    _banks(options)
    _tokenizer(options)
    for name in MODELS:
        options.model = name
        if not _train(options):
            return False
        for bits in (8, 16):
            options.bits = bits
            _export(options)
        options.bits = 8
        _evaluate(options)
    return True


def _banks(options: argparse.Namespace) -> bool:
    progress = Progress()
    make_bank(TRAINING_BANK, options.work / "banks" / "training", options.threads, progress)
    for split, seed in SPLIT_SEEDS.items():
        _evaluation_banks(options, split, seed, progress)
    return True


def _evaluation_banks(options: argparse.Namespace, split: str, seed: int, progress: Progress) -> None:
    for plan in evaluation_banks(split, seed):
        make_bank(plan, options.work / "banks" / split / plan.name, options.threads, progress)


def _split_items(options: argparse.Namespace) -> "list[Item]":
    """Windows of the split that is asked for; its banks are made when they are not there."""
    from as2d_core.models.training.evaluate import evaluation_items
    from as2d_core.models.training.recordings import split_seed

    seed = split_seed(options.work, options.split)
    _evaluation_banks(options, options.split, seed, Progress())
    return list(evaluation_items(options.work / "banks" / options.split, seed, options.windows))


def _tokenizer(options: argparse.Namespace) -> bool:
    from as2d_core.models.training.tokens import make_tokenizer

    folder = options.work / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        make_tokenizer((utterance.sentence for utterance in planned_utterances(TRAINING_BANK)), folder)
    return True


def _train(options: argparse.Namespace) -> bool:
    from as2d_core.models.training.train import Machine, train

    plan = _plan(options)
    if options.steps:
        plan = replace(plan, steps=options.steps)
    machine = Machine(options.threads, not options.float32)
    return train(plan, options.work, machine, start=options.start)


def _export(options: argparse.Namespace) -> bool:
    from as2d_core.models.training.export import export_model
    from as2d_core.models.training.train import average_weights

    plan = _plan(options)
    weights = average_weights(options.work, plan.name)
    folder = _exported(options.work, plan.name, options.bits)
    info = export_model(weights, plan.shape, options.work / "tokenizer", folder, options.bits)
    print(f"{folder}: {info.size_bytes / 1e6:.1f} MB, sha256 {info.sha256}")
    return True


def _evaluate(options: argparse.Namespace) -> bool:
    """Decode a split; where the other export is there too, count the answers in which the two differ."""
    from as2d_core.engines.mnn import claim_stdout
    from as2d_core.models.training import evaluate

    out = claim_stdout()  # MNN prints where the table belongs
    plan = _plan(options)
    model = evaluate.load(_exported(options.work, plan.name, options.bits))
    other_folder = _exported(options.work, plan.name, 24 - options.bits)
    other = evaluate.load(other_folder) if other_folder.is_dir() else None
    scores: dict[str, evaluate.Score] = {}
    differing, items, progress = [], [], Progress()
    wanted = _split_items(options)
    for number, item in enumerate(wanted, 1):
        decoded = evaluate.decode(model, item)
        evaluate.add(scores, item, decoded)
        said = {"group": item.group, "right": item.query.answer, "said": decoded.text}
        items.append(said)
        if other is not None and evaluate.decode(other, item).tokens != decoded.tokens:
            differing.append(said)
        progress.show(number, len(wanted), f"evaluate {plan.name}")
    print(evaluate.table(scores), file=out)
    if other is not None:
        print(f"{other_folder.name}: other tokens on {len(differing)} of {len(items)} items.", file=out)
    report = {
        "model": plan.name,
        "split": options.split,
        "sha256": model.info.sha256,
        "scores": {name: asdict(score) for name, score in scores.items()},
        "differing_between_exports": None if other is None else differing,
        "items": items,
    }
    file = options.work / plan.name / f"evaluation-{options.split}.json"
    file.write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    return True


def _recordings(options: argparse.Namespace) -> bool:
    """The windows of a split as files, with an index that ``as2d collect`` reads."""
    from as2d_core.models.training.recordings import write_recordings

    folder = options.out or options.work / "recordings" / options.split
    items = _split_items(options)
    size = write_recordings(items, folder, options.split)
    print(f"{folder}: {options.windows} windows of each group, {len(items)} items, {size / 1e6:.1f} MB")
    return True


def _ship(options: argparse.Namespace) -> bool:
    """Exports, sealed recordings and collected trajectories replace what this installation ships."""
    from as2d_core.models.demo_catalog import FOLDER
    from as2d_core.models.training.recordings import SEALED
    from as2d_core.models.training.shipping import ship_models, ship_recordings, ship_trajectories

    demo, data = options.out or FOLDER, (options.out or Path(trajectories.__file__).parent / "data")
    sets = dict(item.split("=", 1) for item in options.trajectories)
    if sets:
        ship_trajectories({name: Path(path) for name, path in sets.items()}, data)
        print(f"{data}: {', '.join(sets)}")
        return True
    models = ship_models(options.work / "exports", demo)
    sounds = ship_recordings(options.work / "recordings" / SEALED, demo)
    print(f"{demo}: models {models / 1e6:.1f} MB, recordings {sounds / 1e6:.1f} MB")
    return True


def _plan(options: argparse.Namespace) -> ModelPlan:
    if options.model is None:
        raise TrainingError(f"Say which model to {options.step}: {', '.join(MODELS)}.")
    return MODELS[options.model]


def _exported(work: Path, name: str, bits: int) -> Path:
    return work / "exports" / (name if bits == 8 else f"{name}-fp16")
