"""Machine code for the round loops: compiled once per machine, kept in a cache that cannot go stale."""

import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from as2d_core import alignment, width_rule
from as2d_core.replay import loops, schedule

_INLINED = (alignment.align_step, alignment.chain_length, width_rule.ruled_length)
"""Copied into the loop before the compiler sees it: a fifth less time per round."""
_CALLED = (schedule.drain_end, loops.as2d_loop, loops.standard_sd_loop)
_LOCK = threading.Lock()


@cache
def compiled(function: Callable[..., Any], helpers: tuple[Callable[..., Any], ...] = ()) -> Callable[..., Any]:
    """The compiled form of a round loop; it takes arrays where the plain one takes any sequence.

    ``helpers`` are functions it calls that no other loop does.

    Machine code is kept where numba keeps it (``NUMBA_CACHE_DIR``, else beside this file, else in
    the user's cache). Where nothing can be written, it is compiled again in every process.
    """
    import numba

    with _LOCK:
        for called in (*_INLINED, *_CALLED, *helpers, function):
            _register(called)
    key = _fingerprint((*helpers, function))

    def entry(*arguments):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202
        # Numba looks for changes in this file only. It also compares what the function closes over,
        # and so the sources of everything it calls are part of the cache's key.
        _ = key
        return function(*arguments)

    entry.__name__ = function.__name__
    entry.__qualname__ = f"compiled.{function.__name__}"
    try:
        current = numba.njit(entry, cache=True)
    except RuntimeError:  # no place for a cache
        return numba.njit(entry)  # type: ignore[no-any-return]

    def call(*arguments: Any) -> Any:
        nonlocal current
        try:
            return current(*arguments)
        except OSError:  # the cache's disk is full or has gone
            current = numba.njit(entry)
            return current(*arguments)

    return call


@cache
def _register(function: Callable[..., Any]) -> None:
    """Let compiled code call a plain function, once."""
    from numba.extending import register_jitable

    register_jitable(inline="always" if function in _INLINED else "never")(function)


def _fingerprint(own: Sequence[Callable[..., Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted({function.__module__ for function in own}):
        digest.update(Path(str(sys.modules[name].__file__)).read_bytes())
    for module in (alignment, width_rule, schedule, loops):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()
