"""``as2d collect``: record what the models say on many windows, for replay; take sets in, and give them out."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.errors import RequestError
from as2d_core.models.demo_catalog import demo_window
from as2d_core.replay.windows import SPLITS, TrajectorySet
from dashboard.cli_output import Answer, Progress, add_csv, command, rows_as_text
from dashboard.cli_work import opened, wait
from dashboard.services.budgets import open_corpus
from dashboard.services.collection import bundled_windows, finish_collection, folders_windows, start_collection
from dashboard.services.corpora import export_set, import_set
from dashboard.services.folders import user_folders
from dashboard.services.requests import DEFAULT_INSTRUCTION
from device_bridge.local import THIS_COMPUTER

INTERRUPTED = 130
EXAMPLES = """as2d collect --corpus mine --folder recordings/
  as2d collect --corpus mine --export mine-for-others/
  as2d collect --import mine-for-others/ --corpus theirs"""


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "collect",
        "collect trajectories of many windows, for replay",
        EXAMPLES,
        "Record the target's output, the free-running drafter and the drafter on and off the true prefix for every "
        "window. A collection that was interrupted goes on where it stopped when the command is given again. "
        "--export writes a set as a Parquet file with a manifest; --import checks one and keeps it: every fault is "
        "named with its window and position.",
    )
    parser.add_argument("--corpus", metavar="ID", help="name of the trajectory set")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--folder",
        metavar="DIR",
        type=Path,
        nargs="+",
        help="what its index.json lists, else every WAV, FLAC, OGG and MP3 file below it",
    )
    what.add_argument("--windows", metavar="ID", nargs="+", help="some bundled windows")
    what.add_argument("--import", dest="import_from", metavar="PATH", type=Path, help="a folder, or a Parquet file")
    what.add_argument("--export", metavar="DIR", type=Path, help="write the set --corpus and its manifest")
    parser.add_argument(
        "--task",
        metavar="NAME",
        nargs="+",
        help="only these tasks of the bundled windows (default: transcribe) or of an index.json (default: all)",
    )
    parser.add_argument("--replace", action="store_true", help="with --import or --export: replace what is there")
    parser.add_argument("--instruction", metavar="TEXT", default=DEFAULT_INSTRUCTION, help="with --folder")
    parser.add_argument("--target", metavar="DIR", help="target model: a folder, or an id of `as2d models list`")
    parser.add_argument("--drafter", metavar="DIR", help="drafter model")
    parser.add_argument("--max-tokens", metavar="N", type=int, default=320, help="output cap (default: 320)")
    parser.add_argument("--device", metavar="ID", default=THIS_COMPUTER, help=f"default: {THIS_COMPUTER}")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_csv(parser)
    parser.set_defaults(command=collect)


def collect(options: argparse.Namespace) -> Answer:
    """Collect what is missing and write the set; or take one in, or give one out."""
    if options.import_from is not None:
        corpus, path = import_set(user_folders(), options.import_from, options.corpus, replace_kept=options.replace)
        return _kept(options, corpus, path, {}, f"Kept: {corpus.id}")
    if not options.corpus:
        raise RequestError("A trajectory set needs a name; give --corpus.")
    if options.export is not None:
        return _exported(options)
    if options.folder is not None:
        windows = folders_windows(options.folder, options.instruction, options.task)
    elif options.windows:
        windows = tuple(demo_window(name) for name in options.windows)
    else:
        windows = bundled_windows(options.task or ("transcribe",))
    workspace = opened()
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
    more: dict[str, Any] = {"collected_before": len(collection.found), "left_out": left_out}
    if left_out:
        more["error"] = f"{len(left_out)} of {len(windows)} windows are left out."
    said = f"{len(corpus.windows)} of {len(windows)} windows ({len(collection.found)} of them collected before)"
    return _kept(options, corpus, path, more, "\n".join([*left_out, said]))


def _exported(options: argparse.Namespace) -> Answer:
    corpus = open_corpus(user_folders(), options.corpus)
    manifest = export_set(user_folders(), options.corpus, options.export, replace_files=options.replace)
    path = options.export / manifest["file"]
    return _kept(options, corpus, path, {"manifest": manifest}, f"Written: {corpus.id}")


def _kept(options: argparse.Namespace, corpus: TrajectorySet, path: Path, more: dict[str, Any], said: str) -> Answer:
    document = {
        "corpus": corpus.id,
        "label": corpus.label,
        "file": str(path),
        "windows": len(corpus.windows),
        "target_tokens": corpus.tokens,
        "splits": {name: sum(w.split == name for w in corpus.windows) for name in SPLITS},
        "drafters": corpus.drafters,
        **more,
    }
    text = f"{said}, {len(corpus.windows)} windows, {corpus.tokens} target tokens [{corpus.label}]: {path}"
    headings = ["window", "group", "language", "task", "split", "seconds", "target tokens", "drafter", "candidates"]
    rows = [
        [
            w.window_id,
            w.group,
            w.language,
            w.task,
            w.split,
            w.duration_s,
            len(w.target_tokens),
            d.name,
            len(d.candidates),
        ]
        for w in corpus.windows
        for d in w.drafters
    ]
    return Answer(document, rows_as_text(options, text, headings, rows), 1 if "error" in document else 0)
