"""A runner as a child process: lines in, lines out, and no orphan whatever happens.

Three threads keep the pipes moving, so that a runner that does not read, writes a lot, or fills its
stderr can block neither itself nor us.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

from as2d_core.protocol import MAX_LINE_BYTES
from as2d_core.runner.exit_reason import exit_reason
from device_bridge.errors import RunnerStartError

KEPT_STDERR_LINES = 40
EXIT_WAIT_S = 10.0
"""Longest time that a process which has closed its pipes, or was killed, is waited for."""


class RunnerProcess:
    """One child in a process group of its own, with whatever it starts itself."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        """Start it.

        Raises:
            RunnerStartError: the program cannot be started.
        """
        try:
            self._child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=os.name == "posix",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except (OSError, ValueError) as error:
            raise RunnerStartError(
                f"The runner cannot be started ({error}).", f"Check that {command[0]} can be run."
            ) from error
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._input: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._fault: str | None = None
        self._stderr: deque[str] = deque(maxlen=KEPT_STDERR_LINES)
        self._readers = [self._thread(self._read_lines), self._thread(self._read_stderr)]
        self._thread(self._write)
        self.heard = False
        """Whether a line has been handed out."""
        self.leaving = False
        """Whether it was told to go: it takes no more requests."""

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it runs and may be given requests."""
        return not self.leaving and self._child.poll() is None

    def send(self, text: str) -> None:
        """Queue one line for its stdin; never blocks."""
        self._input.put(text.encode() + b"\n")

    def next_line(self, timeout_s: float) -> bytes | None:
        """The next line of its stdout, ``None`` once there will be no more.

        The last line may lack its newline.

        Raises:
            queue.Empty: nothing came in time.
        """
        line = self._lines.get(timeout=timeout_s)
        if line is None:
            self._lines.put(None)  # the end stays the end
        else:
            self.heard = True
        return line

    def drop_lines(self) -> None:
        """Forget lines that nobody asked for."""
        with contextlib.suppress(queue.Empty):
            while self._lines.get_nowait() is not None:
                pass
            self._lines.put(None)

    def farewell(self) -> str:
        """Why it ended, as a clause, with the last thing it said on stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(EXIT_WAIT_S)
        self._readers[1].join(EXIT_WAIT_S)
        if self._fault is not None:
            return self._fault
        code = self._child.poll()
        reason = exit_reason(code)
        said = next((line for line in reversed(self._stderr) if line), "")
        # Somebody who was killed has said nothing about it: the last line is what MNN chatters all the time.
        if not said or code is None or (code < 0 and code != -signal.SIGABRT):
            return reason
        return f"{reason}; its last words: {said.rstrip('.')}"

    def terminate(self) -> None:
        """Ask it to stop what it does and to leave."""
        self.leaving = True
        with contextlib.suppress(OSError):
            self._child.terminate()

    def kill(self) -> None:
        """End it and everything it started, now."""
        self.leaving = True
        _kill_group(self._child.pid)
        with contextlib.suppress(OSError):
            self._child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(EXIT_WAIT_S)

    def leave(self, wait_s: float) -> None:
        """Close its stdin, which ends it; kill what has not gone after ``wait_s``."""
        self.leaving = True
        self._input.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(wait_s)
        self.kill()

    # -- the three threads --------------------------------------------------------------------------

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"as2d-runner-{self._child.pid}", daemon=True)
        thread.start()
        return thread

    def _read_lines(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe(self._child.stdout) as out:
            while line := out.readline(MAX_LINE_BYTES + 1):
                self._lines.put(line)
                if len(line) > MAX_LINE_BYTES:
                    self._fault = f"it was stopped for writing a line of more than {MAX_LINE_BYTES} bytes"
                    self.kill()
                    break
        self._lines.put(None)

    def _read_stderr(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe(self._child.stderr) as err:
            while line := err.readline(10_000):
                self._stderr.append(line.decode("utf-8", "replace").strip())

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe(self._child.stdin) as pipe:
            while (data := self._input.get()) is not None:
                pipe.write(data)
                pipe.flush()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise ValueError("the child was started without a pipe")
        return pipe


def _kill_group(pid: int) -> None:
    if sys.platform == "win32":
        import psutil

        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    process.kill()
        return
    # A group outlives its leader, so this reaches model processes whose coordinator is gone.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
