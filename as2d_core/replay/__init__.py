"""Recorded tokens and a device's costs give the time of every method, drafter and budget (Appendix D.3, D.4.3).

What notebooks and scripts may rely on is importable from here; everything else may move::

    from as2d_core.replay import load_corpus, load_profile, oracle, replay_grid

    grid = replay_grid(load_corpus("demo"), load_profile("k70"))
    print(oracle(grid).tps)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from as2d_core.profiles.catalogue import load_profile
    from as2d_core.replay.grid import replay_grid
    from as2d_core.replay.hindsight import oracle
    from as2d_core.replay.kernel import replay_as2d, replay_standard_sd
    from as2d_core.replay.trajectories import load_corpus

__all__ = ["load_corpus", "load_profile", "oracle", "replay_as2d", "replay_grid", "replay_standard_sd"]

_WHERE = {
    "load_corpus": "as2d_core.replay.trajectories",
    "load_profile": "as2d_core.profiles.catalogue",
    "oracle": "as2d_core.replay.hindsight",
    "replay_as2d": "as2d_core.replay.kernel",
    "replay_grid": "as2d_core.replay.grid",
    "replay_standard_sd": "as2d_core.replay.kernel",
}


def __getattr__(name: str) -> Any:
    # Looked up when asked for: a runner needs schedules from this package, but neither Parquet nor a compiler.
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
