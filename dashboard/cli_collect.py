"""``as2d collect``: record what the models say on many windows, for replay."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.models.demo_catalog import demo_window
from dashboard.cli_output import Answer, Progress, command, wait
from dashboard.services.collection import bundled_windows, finish_collection, folder_windows, start_collection
from dashboard.services.requests import DEFAULT_INSTRUCTION
from dashboard.services.workspace import open_workspace
from device_bridge.local import THIS_COMPUTER

INTERRUPTED = 130


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "collect",
        "collect trajectories of many windows, for replay",
        "as2d collect --corpus mine --folder recordings/",
        "Record the target's output, the free-running drafter and the drafter on the true prefix for every window. "
        "A collection that was interrupted goes on where it stopped when the command is given again.",
    )
    parser.add_argument("--corpus", metavar="ID", required=True, help="name of the trajectory set")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--folder", metavar="DIR", type=Path, help="every WAV, FLAC, OGG and MP3 file below a folder")
    what.add_argument("--windows", metavar="ID", nargs="+", help="some bundled windows")
    what.add_argument("--task", metavar="NAME", default="transcribe", help="all bundled windows of a task (default)")
    parser.add_argument("--instruction", metavar="TEXT", default=DEFAULT_INSTRUCTION, help="with --folder")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    parser.add_argument("--max-tokens", metavar="N", type=int, default=320, help="output cap (default: 320)")
    parser.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"default: {THIS_COMPUTER}")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(command=collect)


def collect(options: argparse.Namespace) -> Answer:
    """Collect what is missing and write the set."""
    if options.folder is not None:
        windows = folder_windows(options.folder, options.instruction)
    elif options.windows:
        windows = tuple(demo_window(name) for name in options.windows)
    else:
        windows = bundled_windows(options.task)
    workspace = open_workspace()
    collection = start_collection(
        workspace,
        options.corpus,
        windows,
        options.device,
        options.target,
        options.drafter,
        options.max_tokens,
    )
    progress = Progress(options.quiet)
    interrupted = False
    if collection.job is not None:
        interrupted = wait(collection.job, progress)
    left_out: list[str] = []
    if interrupted:
        done = len(collection.found) + (collection.job.progress.done if collection.job else 0)
        said = f"Interrupted with {done} of {len(windows)} windows collected; give the command again to go on."
        return Answer({"error": said, "corpus": options.corpus}, said, INTERRUPTED)
    corpus, path = finish_collection(workspace, collection, left_out.append)
    document: dict[str, Any] = {
        "corpus": corpus.id,
        "file": str(path),
        "windows": len(corpus.windows),
        "collected_before": len(collection.found),
        "target_tokens": corpus.tokens,
        "left_out": left_out,
    }
    text = "\n".join(
        [
            *left_out,
            f"{len(corpus.windows)} of {len(windows)} windows ({len(collection.found)} of them collected before), "
            f"{corpus.tokens} target tokens [measured]: {path}",
        ]
    )
    if left_out:
        document["error"] = f"{len(left_out)} of {len(windows)} windows are left out."
    return Answer(document, text, 1 if left_out else 0)
