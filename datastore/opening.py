"""How is a store opened and closed? One database for each folder of this process, however many handles there are."""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from datastore.engine import Engine
from datastore.errors import StoreBusyError
from datastore.locations import Folders, data_folder
from datastore.recovery import reconcile
from datastore.store import Store

OPEN_S = 120.0

_engines: dict[Path, Engine] = {}
_opening = threading.Lock()


def open_store(folder: Path | str | None = None, timeout_s: float = OPEN_S) -> Store:
    """Open the store of ``folder`` (default: ``locations.data_folder()``), made when it is not there.

    The first handle of a process opens the file, checks it and takes in run logs that are not in
    it yet (what a crash left, what was copied there); later ones share it. ``notices`` says in
    sentences what was found.

    Raises:
        StoreLockedError: another process holds it.
        StoreDamagedError: the file is damaged and was set aside, or is gone while its logs are there.
        SchemaTooNewError: a newer program has written it.
        StoreFolderError, DiskFullError: the folder cannot be used.
        StoreBusyError: another thread is opening it and takes longer than ``timeout_s``.
    """
    folders = Folders(Path(data_folder() if folder is None else folder).absolute())
    key = Path(os.path.realpath(folders.root))
    with _hold(timeout_s):
        engine = _engines.get(key)
        if engine is None:
            engine = Engine(folders)
            try:
                engine.start()
                findings = reconcile(Store(engine, lambda: None))
                engine.notices += [*findings.done, *findings.left]
            except BaseException:
                engine.close()
                raise
            _engines[key] = engine
        engine.users += 1
        return Store(engine, partial(_give_back, engine))


def _give_back(engine: Engine) -> None:
    with _hold(OPEN_S):
        engine.users -= 1
        if engine.users > 0:
            return
        for key in [k for k, known in _engines.items() if known is engine]:
            del _engines[key]
        engine.close()


@contextmanager
def _hold(timeout_s: float) -> Iterator[None]:
    """One thread at a time opens or closes stores."""
    lock = _opening
    if not lock.acquire(timeout=timeout_s):
        raise StoreBusyError(f"Another thread has been opening or closing a store for {timeout_s:g} s; try again.")
    try:
        yield
    finally:
        lock.release()


def is_open_here(folder: Path) -> bool:
    """Whether this process has the store of ``folder`` open."""
    return Path(os.path.realpath(folder)) in _engines


def _close_all() -> None:
    """At exit: finish the write-ahead log of stores nobody closed."""
    for engine in list(_engines.values()):
        engine.close()


def _forget_after_fork() -> None:
    """A forked child must not touch its parent's file: the engines are kept out of reach, never destroyed."""
    global _engines, _opening
    _parents.append(_engines)
    _engines, _opening = {}, threading.Lock()


atexit.register(_close_all)
_parents: list[dict[Path, Engine]] = []
with suppress(AttributeError):  # not on Windows
    os.register_at_fork(after_in_child=_forget_after_fork)
