"""A few bundled windows and a narrow profile as files, for commands that take paths."""

from dataclasses import replace

from as2d_core.profiles import load_profile, write_profile
from as2d_core.replay import load_corpus
from as2d_core.replay.trajectories import write_corpus


def narrow_profile(folder, widths=3, **changes):
    """The K70 with the costs of its first widths only, and no deployed budget."""
    whole = load_profile("k70")
    values = {
        "id": "narrow",
        "name": "Narrow",
        "verify_idle_ms": {k: ms for k, ms in whole.verify_idle_ms.items() if k <= widths},
        "verify_concurrent_ms": {k: ms for k, ms in whole.verify_concurrent_ms.items() if k <= widths},
        "extrapolated_idle": tuple(k for k in whole.extrapolated_idle if k <= widths),
        "extrapolated_concurrent": tuple(k for k in whole.extrapolated_concurrent if k <= widths),
        "deployed_budget": None,
        "search_max_budget": None,
        "provenance": {},
    }
    path = folder / "narrow.json"
    write_profile(replace(whole, **{**values, **changes}), path)
    return path


def few_windows(folder, splits=("test",)):
    """As many bundled windows as there are splits, in those."""
    whole = load_corpus("demo")
    windows = tuple(replace(w, split=s) for w, s in zip(whole.windows, splits, strict=False))
    path = folder / "few.parquet"
    write_corpus(replace(whole, id="few", windows=windows), path)
    return path
