"""The real runner as a child process, driven line by line over its protocol."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from patience import PATIENCE_S

from as2d_core.models.demo_catalog import DRAFTER, TARGET, demo_window
from as2d_core.protocol import parse, request_to_json
from as2d_core.request import AudioRef, ModelRef, Request

ROOT = Path(__file__).parents[1]


def demo_request(run_id, method="target-only", window="clean_00", exact_widths=None, **fields) -> Request:
    """A request over the bundled models; ``fields`` go into the request, ``audio`` and ``target`` too."""
    item = demo_window(window)
    values = {
        "target": ModelRef(str(TARGET), exact_widths=exact_widths),
        "drafter": ModelRef(str(DRAFTER)),
        "audio": AudioRef(str(item.path), window_id=window),
        "task": item.task,
        "instruction": item.instruction,
        **fields,
    }
    return Request(run_id=run_id, method=method, **values)


class LiveRunner:
    """``python -m as2d_core.runner`` in a process group of its own."""

    def __init__(self, *arguments: str) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the child
        self._child = subprocess.Popen(
            [sys.executable, "-m", "as2d_core.runner", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._stream: list[str] = []

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def stderr(self) -> str:
        """Everything it has written to stderr so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")

    def send(self, request: Request | dict | bytes) -> None:
        """Write one line to its stdin: a request, any JSON object, or raw bytes."""
        if isinstance(request, Request):
            request = request_to_json(request)
        data = request if isinstance(request, bytes) else json.dumps(request).encode()
        self._child.stdin.write(data + b"\n")
        self._child.stdin.flush()

    def line(self, timeout_s: float = PATIENCE_S) -> str | None:
        """The next line of its stdout, newline included; ``None`` at its end."""
        data = self._lines.get(timeout=timeout_s)
        return None if data is None else data.decode()

    def lines(self, kind: str = "end", timeout_s: float = PATIENCE_S) -> list[str]:
        """Lines up to the next one of ``kind``, that one included. Every line must be an event."""
        out = []
        while True:
            line = self.line(timeout_s)
            assert line is not None, f"stdout ended before a line of kind {kind}: {self.stderr[-2000:]}"
            out.append(line)
            self._stream.append(line)
            if json.loads(line)["kind"] == kind:
                return out

    def record(self, timeout_s: float = PATIENCE_S):
        """The record of the run that ends next, lines that were read before included."""
        self.lines("end", timeout_s)
        stream, self._stream = self._stream, []
        return parse(stream)

    def run(self, request: Request | dict, timeout_s: float = PATIENCE_S):
        """Send a request and wait for its record."""
        self.send(request)
        return self.record(timeout_s)

    def processes(self) -> list[psutil.Process]:
        """Every living process of its group: a group outlives its leader."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                if os.getpgid(process.pid) == self.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def target_pid(self, deadline_s: float = PATIENCE_S) -> int:
        return self._child_of(self.pid, deadline_s)

    def drafter_pid(self, deadline_s: float = PATIENCE_S) -> int:
        return self._child_of(self.target_pid(deadline_s), deadline_s)

    def signal(self, number: int) -> None:
        self._child.send_signal(number)

    def close_stdin(self) -> None:
        self._child.stdin.close()

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        """Wait for its end; returns the exit code."""
        return self._child.wait(timeout_s)

    def rest(self, timeout_s: float = PATIENCE_S) -> list[str]:
        """All lines up to the end of its stdout."""
        out = []
        while (line := self.line(timeout_s)) is not None:
            out.append(line)
        return out

    def close(self) -> None:
        """End it and everything it started."""
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(30)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        self._child.stdout.close()
        self._stderr.close()

    @staticmethod
    def _child_of(pid: int, deadline_s: float) -> int:
        until = time.monotonic() + deadline_s
        while True:
            for child in psutil.Process(pid).children():
                with contextlib.suppress(psutil.Error):
                    # Beside the model process there is the resource tracker of multiprocessing.
                    if "spawn_main" in " ".join(child.cmdline()):
                        return child.pid
            assert time.monotonic() < until, f"process {pid} started no model process within {deadline_s:g} s"
            time.sleep(0.005)

    def _read(self) -> None:
        for line in self._child.stdout:
            self._lines.put(line)
        self._lines.put(None)
