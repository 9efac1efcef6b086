"""Who may write to a data folder? One process at a time: the one that holds its lock file.

The lock is the operating system's, so that a killed process never leaves it behind; the file's
text only says who holds it.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from datastore.errors import StoreBusyError, StoreLockedError
from datastore.files import translated_os

try:
    import fcntl
except ImportError:  # not on Windows, where DuckDB's own lock on the database has to do
    fcntl = None  # type: ignore[assignment]


TURN_S = 10.0
"""Far above the time that any change of a small file takes."""
_POLL_S = 0.02
_turns: dict[Path, threading.Lock] = {}


class FolderLock:
    """The lock of one data folder, held from construction to ``release``.

    Raises:
        StoreLockedError: another process holds it.
        StoreFolderError: the lock file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        with translated_os(path):
            self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            if fcntl is not None:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            pid = _holder(self._descriptor)
            self.release()
            raise StoreLockedError(path.parent, pid, command_line(pid)) from error
        except OSError:
            self.release()
            raise
        with suppress(OSError):  # a full disk may refuse the name; the lock holds all the same
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others have it. May be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def turn(path: Path, wait_s: float = TURN_S) -> Iterator[None]:
    """Change a small file of the data folder, beside the open store, while no other thread or process does.

    Raises:
        StoreBusyError: others did not finish within ``wait_s``.
        StoreFolderError: the lock file beside it cannot be made.
    """
    ends_at = time.monotonic() + wait_s
    busy = StoreBusyError(f"{path} was being changed by others for {wait_s:g} s; try again.")
    threads = _turns.setdefault(path, threading.Lock())
    if not threads.acquire(timeout=wait_s):
        raise busy
    try:
        while True:
            try:
                lock = FolderLock(path.with_name(path.name + ".lock"))
                break
            except StoreLockedError:
                if time.monotonic() > ends_at:
                    raise busy from None
                time.sleep(_POLL_S)
        try:
            yield
        finally:
            lock.release()
    finally:
        threads.release()


def command_line(pid: int | None) -> str | None:
    """Command line of a process in one line, where the system tells."""
    if pid is None:
        return None
    import psutil

    with suppress(psutil.Error):
        text = " ".join(" ".join(psutil.Process(pid).cmdline()).split())
        return (text if len(text) <= 200 else text[:199] + "…") or None
    return None


def _holder(descriptor: int) -> int | None:
    with suppress(OSError, ValueError):
        return int(os.read(descriptor, 32).decode("ascii"))
    return None
