"""``as2d models``: which models can be chosen, and do they run here?"""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dashboard.cli_output import Answer, command, command_group, number, table
from dashboard.services.folders import user_folders
from dashboard.services.models import (
    ModelEntry,
    add_model,
    check_model,
    choose_default_models,
    list_models,
    remove_model,
    resolve_model,
)
from dashboard.services.settings import read_settings


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "models",
        "models that can be chosen: list, add, check, default, remove",
        "as2d models add ~/models/asr-mnn",
        "Models that can be chosen as target or drafter: the bundled pair, and MNN model folders of your own.",
    )
    command(actions, "list", "list the models", "as2d models list").set_defaults(command=models_list)
    parser = command(actions, "add", "try a model folder and keep it in the list", "as2d models add ~/models/asr-mnn")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.set_defaults(command=models_add)
    parser = command(actions, "check", "try whether a model runs here", "as2d models check demo-target")
    parser.add_argument("model", metavar="MODEL", help="an id, or a folder")
    parser.set_defaults(command=models_check)
    parser = command(
        actions,
        "default",
        "show or choose which models are used when none is named",
        "as2d models default --drafter demo-light",
    )
    for role in ("target", "drafter"):
        parser.add_argument(f"--{role}", metavar="MODEL", help="an id, or a folder")
    parser.set_defaults(command=models_default)
    parser = command(actions, "remove", "take a model off the list; its files stay", "as2d models remove asr-mnn")
    parser.add_argument("model", metavar="MODEL", help="an id, or a folder")
    parser.set_defaults(command=models_remove)


def models_list(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """All of them."""
    entries = list_models(user_folders())
    rows = [[e.id, _state(e), None if e.info is None else e.info.size_bytes / 1e6, str(e.path)] for e in entries]
    return Answer({"models": entries}, table(["id", "state", "MB", "folder"], rows))


def models_add(options: argparse.Namespace) -> Answer:
    """Try it, keep it."""
    entry = add_model(user_folders(), options.folder)
    return Answer({"model": entry}, f"{entry.id}: {_state(entry)}")


def models_check(options: argparse.Namespace) -> Answer:
    """Try it in a child process."""
    folders = user_folders()
    probe = check_model(folders, resolve_model(folders, options.model))
    text = (
        f"{options.model} runs here: MNN {probe.mnn_version} on {probe.backend}, "
        f"loads in {number(probe.load_ms, 'ms', 1)}, {probe.vocabulary} tokens in its vocabulary"
    )
    return Answer({"probe": probe}, text)


def models_default(options: argparse.Namespace) -> Answer:
    """Choose, or just show; both must be models that run here."""
    folders = user_folders()
    chosen = {role: name for role in ("target", "drafter") if (name := getattr(options, role)) is not None}
    settings = choose_default_models(folders, **chosen) if chosen else read_settings(folders)
    return Answer(asdict(settings), f"target: {settings.target}\ndrafter: {settings.drafter}")


def models_remove(options: argparse.Namespace) -> Answer:
    """Forget it."""
    path = remove_model(user_folders(), options.model)
    return Answer({"removed": path}, f"No longer in the list; the files are still in {path}.")


def _state(entry: ModelEntry) -> str:
    if entry.problem is not None:
        return entry.problem
    if entry.bundled:
        return "bundled"
    return "runs here" if entry.probe is not None else "changed since it was tried; check it again"
