"""``python -m as2d_core.runner``: requests as lines of JSON on stdin (or in a file), events on stdout.

Each line of input is a request, or ``{"cancel": "RUN ID"}``. The models stay resident between the
requests of one input. Diagnostics go to stderr. Exit code 0 when every run ended by itself
(``eos`` or ``capped``), 1 otherwise, 2 for input that is no request.
"""

import argparse
import contextlib
import json
import os
import platform
import queue
import signal
import sys
import threading
from importlib.metadata import PackageNotFoundError, version
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from as2d_core import __version__
from as2d_core.errors import As2dError
from as2d_core.protocol import request_from_json
from as2d_core.reading import parse_json
from as2d_core.records import SCHEMA_VERSION
from as2d_core.request import METHODS, OPERATIONS, Request
from as2d_core.runner.coordinator import Coordinator
from as2d_core.runner.placement import step_back

MAX_REQUEST_CHARACTERS = 100_000


def main(arguments: list[str] | None = None) -> int:
    """Serve requests until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m as2d_core.runner", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="requests, one JSON object a line; default stdin")
    parser.add_argument("--describe", action="store_true", help="print what this runner is, and end")
    options = parser.parse_args(arguments)
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # whatever a library prints must not reach the protocol
    if options.describe:
        print(json.dumps(describe()), file=out)
        return 0
    if options.file is None:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        return _serve(sys.stdin, out)
    try:
        # A byte that is no UTF-8 spoils its own line, not the ones after it.
        with options.file.open(encoding="utf-8", errors="replace") as stream:
            return _serve(stream, out, whole_batch=True)
    except OSError as error:
        print(f"The request file cannot be read: {error}.", file=sys.stderr)
        return 2


def describe() -> dict[str, object]:
    """Versions, backends and features, for whoever deploys this runner. MNN is not loaded for it."""
    versions = {"as2d": __version__, "python": platform.python_version()}
    for name in ("MNN", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            versions[name.lower()] = version(name)
    return {
        "runner": "python",
        "versions": versions,
        "schema_version": SCHEMA_VERSION,
        "machine": platform.machine(),
        "backends": ["cpu"],
        "methods": list(METHODS),
        "features": [*OPERATIONS, "cancel", "telemetry"],
    }


def _serve(stream: TextIO, out: TextIO, *, whole_batch: bool = False) -> int:
    """Run what the stream asks for; a ``whole_batch`` ends with the first run that must be its last."""

    def write(text: str) -> None:
        out.write(text)
        out.flush()

    step_back()
    coordinator = Coordinator(write)
    requests: queue.Queue[Request | str | None] = queue.Queue()
    stopping = threading.Event()

    def read() -> None:
        try:
            for line in stream:
                if line.strip():
                    requests.put(_parse(line, coordinator))
        finally:
            requests.put(None)

    def stop(*_: object) -> None:
        stopping.set()
        coordinator.cancel()

    for name in ("SIGINT", "SIGTERM"):
        with contextlib.suppress(ValueError, AttributeError):
            signal.signal(getattr(signal, name), stop)
    threading.Thread(target=read, daemon=True).start()
    code = 0
    try:
        while not stopping.is_set():
            try:
                item = requests.get(timeout=0.5)
            except queue.Empty:
                continue
            if item is None:
                break
            if isinstance(item, str):
                if item:
                    print(item, file=sys.stderr)
                    code = 2
                continue
            if coordinator.run(item) not in ("eos", "capped"):
                code = code or 1
            if whole_batch and coordinator.batch_over is not None:
                print(f"The rest of the batch is not run. {coordinator.batch_over}", file=sys.stderr)
                break
    except BrokenPipeError:
        code = 1  # nobody listens any more
    except OSError as error:
        print(f"The events cannot be written: {error}.", file=sys.stderr)
        code = 1
    finally:
        coordinator.close()
    return code


def _parse(line: str, coordinator: Coordinator) -> Request | str:
    """A request, or a sentence about the line (empty for a control line that was carried out)."""
    if len(line) > MAX_REQUEST_CHARACTERS:
        return f"A request line has {len(line)} characters; at most {MAX_REQUEST_CHARACTERS} are taken."
    try:
        body = parse_json(line)
        if isinstance(body, dict) and set(body) == {"cancel"}:
            coordinator.cancel(str(body["cancel"]))
            return ""
        request = request_from_json(body)
    except ValueError as error:
        return f"A request line is not JSON: {error}."
    except As2dError as error:
        return f"A request is refused: {str(error).removeprefix('request: ')}."
    coordinator.expect(request.run_id)
    return request


if __name__ == "__main__":
    exit_code = main()
    sys.stderr.flush()
    # Never an ordinary exit: it would wait for the reader, which may wait for stdin for ever.
    os._exit(exit_code)
