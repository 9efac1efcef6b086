"""How long does every method take on a recorded corpus with a device's costs? Rows, and a ledger of every window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from as2d_core.errors import SelectionError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay.acceptance import learn_width_rules
from as2d_core.replay.every_method import plan_methods, replay_methods
from as2d_core.replay.grid import Grid, replay_grid
from as2d_core.replay.hindsight import Oracle, oracle
from as2d_core.replay.method_rows import MethodRow, aligned_with, compare_methods
from as2d_core.replay.method_times import MethodTimes
from as2d_core.replay.windows import SPLITS, TrajectorySet
from as2d_core.width_rule import WidthRule
from dashboard.services.budgets import ALL_WINDOWS, open_corpus
from dashboard.services.profiles import load_profile
from datastore.locations import Folders


@dataclass(frozen=True)
class MethodReport:
    """Every method on the windows of ``split``."""

    profile: Profile
    corpus: TrajectorySet
    split: str
    grid: Grid
    """As²d under all budgets that were searched: what the oracle chooses from."""
    best: Oracle
    rows: tuple[MethodRow, ...]
    times: tuple[MethodTimes, ...]
    """On the windows of ``grid``."""


def replay_corpus(
    folders: Folders,
    profile_id: str,
    corpus_id: str,
    split: str = ALL_WINDOWS,
    methods: Sequence[str] | None = None,
    drafters: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    widths: Sequence[int] | None = None,
    caps: Sequence[int] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> MethodReport:
    """Replay methods on a corpus with a profile's costs; ``None`` = all that there are, see ``plan_methods``.

    Width rules are learned on the development windows of the corpus, whatever ``split`` is.

    Raises:
        UnknownNameError, ProfileError, TrajectoryError, RequestError: a sentence about what is wrong.
    """
    if split not in (ALL_WINDOWS, *SPLITS):
        raise unknown_name("split", split, [ALL_WINDOWS, *SPLITS])
    profile, corpus = load_profile(folders, profile_id), open_corpus(folders, corpus_id)
    cases = plan_methods(corpus, profile, methods, drafters, budgets, widths, caps)
    report("Replaying the oracle's budgets.")
    whole = replay_grid(corpus, profile, drafters=_priced(corpus, profile))
    grid = whole if split == ALL_WINDOWS else whole.of_split(split)
    ruled = {case.drafter for case in cases if case.method == "width-rule" and case.drafter in whole.drafters}
    rules = {name: rule for name in ruled if name for rule in _rule(corpus, profile, name)}
    times = replay_methods(corpus, profile, cases, width_rules=rules, report=report)
    aligned = tuple(aligned_with(item, grid.windows) for item in times)
    report("Pooling the rows.")
    return MethodReport(profile, corpus, split, grid, oracle(grid), compare_methods(grid, aligned), aligned)


def _priced(corpus: TrajectorySet, profile: Profile) -> list[str] | None:
    """Drafters whose publications the profile can time; ``None`` = all, also when there would be none."""
    chunked = {d.name for w in corpus.windows for d in w.drafters if d.chunk_ends is not None}
    names = [name for name in corpus.drafters if name not in chunked or name in profile.chunk_sources]
    return names or None


def _rule(corpus: TrajectorySet, profile: Profile, drafter: str) -> list[WidthRule]:
    try:
        return [learn_width_rules(corpus, profile, [drafter])[0][drafter]]
    except SelectionError:
        return []
