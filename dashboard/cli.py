"""What does ``as2d`` do? The same work as the pages, for terminals and scripts.

With ``--json``, standard output holds exactly one JSON document, also when something fails:
``{"error": "...", ...}``. Progress goes to standard error. Exit code 0 means complete, 1 failed,
2 that the command was not understood, 130 that it was interrupted.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from as2d_core import __version__
from as2d_core.errors import As2dError
from dashboard.cli_output import Answer, plain, visible
from dashboard.services.folders import user_folders
from dashboard.services.opened import OPENED

COMMANDS = {
    "run": "run one method on one recording",
    "sweep": "measure along a recording, or for a long time",
    "runs": "list runs",
    "show": "show one run",
    "report": "write a report as one HTML file, or with its runs as a bundle",
    "import": "take in runs of somebody else",
    "windows": "list the bundled recordings",
    "validate": "check a run",
    "budgets": "compare budgets by replay",
    "oracle": "compare a choice with the best choice for every window in hindsight",
    "replay": "replay every method, or hold replay against native runs",
    "select": "choose what to deploy, freeze the choice, then judge it",
    "headroom": "say what would make a device faster, and what would not",
    "calibrate": "measure what every operation costs on this computer",
    "collect": "collect trajectories of many windows, for replay",
    "devices": "this computer and the connected phones, with their facts and whether they are ready",
    "profile": "cost profiles: list, show, compare, import, export, delete",
    "published": "check the paper's figures, and compare its tables with replays",
    "store": "where runs are kept: path, verify, rebuild, bin",
    "models": "models that can be chosen: list, add, check, default, remove",
    "password": "set the dashboard's password",
    "phone": "a phone over adb: connect, setup, doctor, profile, run, sessions, virtual",
    "bundle": "the self-contained Python that runs on phones: build",
    "native": "the runner in C++: build, check",
}
"""What every command is for; only the module of the command that is asked for is loaded."""

MODULES = {"show": "runs", "import": "report", "native": "native_build"}
"""Commands whose module ``cli_NAME`` has another name: that of their sister, or of what is done first."""

FAILED, NOT_UNDERSTOOD, CRASHED, INTERRUPTED = 1, 2, 70, 130

EPILOG = """examples:
  as2d run --window long_00 --method as2d --budget 7
  as2d runs --method as2d
  as2d budgets --profile k70 --corpus demo
  as2d headroom --profile k70 --corpus demo
"""


class _UsageError(As2dError):
    """The arguments cannot be understood."""


class _FileError(As2dError):
    """A file or folder that an argument names cannot be used."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments as an error of ours, so that ``--json`` holds then too."""

    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message[0].upper()}{message[1:]}. See: {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
            answer = _carry_out(given, as_json)
        _print(answer, as_json)
    except BrokenPipeError:
        # Whoever read our output has left; nothing more can be said there, not even while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    return answer.code


def build_parser(given: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The whole command line, or what of it is needed to understand ``given``.

    That is the command that is named first, or the names of all of them where none is: for help, and for what is
    misspelt.
    """
    parser = _Parser(
        prog="as2d",
        description="Run, watch and compare asynchronous speculative decoding of audio language models.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"as2d {__version__}")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    name = next((word for word in given or () if word != "--json"), "")
    if given is None or name in COMMANDS:
        for module in dict.fromkeys(MODULES.get(name, name) for name in (COMMANDS if given is None else (name,))):
            import_module(f"dashboard.cli_{module}").register(commands)
    else:
        for name, summary in COMMANDS.items():
            commands.add_parser(name, help=summary)
    return parser


def _carry_out(given: Sequence[str], as_json: bool) -> Answer:
    try:
        options = _understood(given, as_json)
        if isinstance(options, Answer):
            return options
        answer: Answer = options.command(options)
    except _UsageError as error:
        return _failure(error, NOT_UNDERSTOOD)
    except As2dError as error:
        return _failure(error, FAILED)
    except KeyboardInterrupt:
        return Answer({"error": "Interrupted."}, "", INTERRUPTED)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _failure(_file_error(error), FAILED)
    except Exception as error:
        if not as_json:
            raise
        traceback.print_exc()
        return _failure(error, CRASHED)
    else:
        return answer
    finally:
        OPENED.close(user_folders().root)


def _understood(given: Sequence[str], as_json: bool) -> argparse.Namespace | Answer:
    """The arguments; or the help or version that they ask for, where that is to be a document, too."""
    parser = build_parser(given)
    if not as_json:
        return parser.parse_args(given)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            return parser.parse_args(given)
    except SystemExit:
        return Answer({"text": said.getvalue().rstrip()}, "")


def _file_error(error: OSError) -> As2dError:
    """What the system says about a file that somebody named: a full disk, a name that is too long, a folder."""
    if error.filename is None:
        return _FileError(f"The system refused something: {error.strerror or error}.")
    return _FileError(
        f"{ascii(str(error.filename))[1:-1]} cannot be read or written ({error.strerror or error}); "
        "check the name, the rights and the room on that disk."
    )


def _failure(error: Exception, code: int) -> Answer:
    kind = type(error).__name__.lstrip("_")
    return Answer({"error": str(error) or kind, "kind": kind}, "", code)


def _print(answer: Answer, as_json: bool) -> None:
    if as_json:
        print(json.dumps(plain(answer.document), allow_nan=False))
    else:
        if answer.text:
            print(visible(answer.text))
        if answer.code and answer.document.get("error", answer.text) != answer.text:
            sys.stdout.flush()
            print(f"as2d: {visible(str(answer.document['error']))}", file=sys.stderr)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
