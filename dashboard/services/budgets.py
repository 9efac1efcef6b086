"""Which budget is best on a device? Every window replayed with every drafter and budget, and the frozen choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import SelectionError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.reading import is_file
from as2d_core.replay.acceptance import learn_width_rules
from as2d_core.replay.budgets import BudgetRow, BudgetTable, compare_budgets
from as2d_core.replay.grid import DEFAULT_THRESHOLD, Grid, replay_grid
from as2d_core.replay.pooling import gap_percent
from as2d_core.replay.trajectories import TrajectorySet, corpus_ids, load_corpus
from as2d_core.replay.windows import SPLITS
from as2d_core.selection import Selection, select_budget
from dashboard.services.profiles import load_profile
from datastore.locations import Folders

ALL_WINDOWS = "all"
CHOICE_WINDOWS = "choice"
"""Development and validation windows: what a choice is made on."""
SHOWN = (CHOICE_WINDOWS, *SPLITS, ALL_WINDOWS)
"""Which windows figures can be over."""
_CHOICE_SPLITS = ("development", "validation")


@dataclass(frozen=True)
class BudgetReport:
    """A comparison of budgets; every figure is over the windows of ``split``."""

    profile: Profile
    corpus: TrajectorySet
    split: str
    """One of ``SHOWN``."""
    grid: Grid
    table: BudgetTable
    selection: Selection | None
    """Made on development and validation windows only, whatever ``split`` is."""
    selection_problem: str | None
    """Why there is no selection; also ``None`` when none was asked for."""
    selected: BudgetRow | None
    """The chosen pair on the windows of ``split``."""
    rule_selection: Selection | None = None
    """The width rule and largest budget that were chosen in the same way; ``None`` where none can be learned."""
    ruled: Grid | None = None
    """The windows of ``split`` replayed with width rules; ``None`` where there is no ``rule_selection``."""

    @property
    def deployed(self) -> Selection | None:
        """What a request would run: the width rule where it was faster on validation windows (``Deployment``)."""
        fixed, ruled = self.selection, self.rule_selection
        if fixed is None or ruled is None:
            return fixed
        return ruled if ruled.validation_tps > fixed.validation_tps else fixed

    @property
    def rule_selected(self) -> BudgetRow | None:
        """The chosen width rule on the windows of ``split``."""
        return self.table.rule_rows[0] if self.table.rule_rows else None

    @property
    def gap_percent(self) -> float | None:
        """Shortfall of the chosen pair against the oracle, on the windows of ``split``."""
        return None if self.selected is None else gap_percent(self.selected.tps, self.table.oracle_tps)


def list_corpora(folders: Folders) -> list[str]:
    """Ids of the packaged trajectory sets, then of the user's."""
    packaged = corpus_ids()
    own = sorted(path.stem for path in folders.corpora.glob("*.parquet"))
    return packaged + [name for name in own if name not in packaged]


def windows_first_shown(corpus: TrajectorySet) -> str:
    """The windows that a choice is made on, where a set has them; else all of them."""
    splits = {window.split for window in corpus.windows}
    return CHOICE_WINDOWS if splits.issuperset(_CHOICE_SPLITS) else ALL_WINDOWS


def splits_of(shown: str) -> tuple[str, ...]:
    """The splits behind one of ``SHOWN``."""
    return {CHOICE_WINDOWS: _CHOICE_SPLITS, ALL_WINDOWS: SPLITS}.get(shown, (shown,))


def open_corpus(folders: Folders, name: str) -> TrajectorySet:
    """A trajectory set by its id, or by the path of its file.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
        TrajectoryError: the file holds a malformed set.
    """
    own = folders.corpora / f"{name}.parquet"
    if name in corpus_ids():
        return _read(name, 0)
    if Path(name).name == name and is_file(own):
        return _read(str(own), own.stat().st_mtime_ns)
    path = Path(name)
    if is_file(path) or path.suffix == ".parquet":
        return _read(str(path), path.stat().st_mtime_ns if is_file(path) else 0)
    raise unknown_name("trajectory set", name, list_corpora(folders))


def compare(
    folders: Folders,
    profile_id: str,
    corpus_id: str,
    split: str = ALL_WINDOWS,
    drafters: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
) -> BudgetReport:
    """Replay a corpus with a profile's costs and choose a budget.

    Raises:
        UnknownNameError, ProfileError, TrajectoryError, RequestError: a sentence about what is wrong.
    """
    return compare_costs(load_profile(folders, profile_id), open_corpus(folders, corpus_id), split, drafters, budgets)


def compare_costs(
    profile: Profile,
    corpus: TrajectorySet,
    split: str = ALL_WINDOWS,
    drafters: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    *,
    choose: bool = True,
) -> BudgetReport:
    """The same for a profile and a corpus that are there already.

    Args:
        choose: choose a budget and a width rule, too; without, only the windows that are shown are replayed.

    Raises:
        UnknownNameError, ProfileError, TrajectoryError, RequestError: a sentence about what is wrong.
    """
    if split not in SHOWN:
        raise unknown_name("split", split, [*SHOWN])

    def shown(whole: Grid) -> Grid:
        if split == ALL_WINDOWS:
            return whole
        return whole.of_split(*(_CHOICE_SPLITS if split == CHOICE_WINDOWS else (split,)))

    if not choose:
        grid = shown(replay_grid(corpus, profile, budgets, drafters, threshold, search_window))
        return BudgetReport(profile, corpus, split, grid, compare_budgets(grid), None, None, None)
    grid = replay_grid(corpus, profile, budgets, drafters, threshold, search_window)
    selection, problem = _select(grid)
    ruled = _ruled(corpus, profile, grid)
    rule_selection = None if ruled is None else _select(ruled)[0]

    judged = None
    if ruled is None or rule_selection is None:
        table = compare_budgets(shown(grid))
    else:
        judged = shown(ruled)
        pairs = [(rule_selection.drafter, rule_selection.budget)]
        table = compare_budgets(shown(grid), ruled=judged, rule_pairs=pairs)
    selected = None
    if selection is not None:
        wanted = (selection.drafter, selection.budget)
        selected = next(row for row in table.rows if (row.drafter, row.budget) == wanted)
    return BudgetReport(
        profile, corpus, split, shown(grid), table, selection, problem, selected, rule_selection, judged
    )


def _ruled(corpus: TrajectorySet, profile: Profile, grid: Grid) -> Grid | None:
    """The same windows with width rules that development windows taught; ``None`` without such windows."""
    try:
        rules, _ = learn_width_rules(corpus, profile, grid.drafters, grid.threshold, grid.search_window)
    except SelectionError:
        return None
    covered = [b for b in grid.budgets if all(b <= rule.max_budget for rule in rules.values())]
    if not covered:
        return None
    return replay_grid(corpus, profile, covered, grid.drafters, grid.threshold, grid.search_window, width_rules=rules)


def _select(grid: Grid) -> tuple[Selection | None, str | None]:
    present = [name for name in _CHOICE_SPLITS if name in grid.splits]
    if not present:
        return (
            None,
            f"The set {grid.corpus!r} has no development and validation windows to choose on, so nothing is selected.",
        )
    try:
        return select_budget(grid.of_split(*present)), None
    except SelectionError as error:
        return None, str(error)


@lru_cache(maxsize=8)
def _read(name: str, changed_ns: int) -> TrajectorySet:  # noqa: ARG001 - a changed file is another entry
    return load_corpus(name)
