"""How far from the per-window oracle is a choice on a device, and how far is that from the best widths?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import ProfileError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.oracle_report import (
    Choice,
    OracleReport,
    Scenario,
    WithinRow,
    cost_sensitivity,
    fixed_choice,
    report_oracle,
    within_report,
)
from as2d_core.replay.windows import TrajectorySet
from as2d_core.replay.within import WithinOracle
from dashboard.services.budgets import ALL_WINDOWS, BudgetReport, compare_costs

Pair = tuple[str | None, int]
"""A drafter (``None`` = the first of the catalog) and a budget."""
RULE = "width rule"


@dataclass(frozen=True)
class OracleFindings:
    """Everything about one choice and the oracle, over the windows of one split."""

    budgets: BudgetReport
    """Every fixed pair on the same windows."""
    report: OracleReport
    choices: tuple[Choice, ...]
    """The one that is asked about first."""
    scenarios: tuple[Scenario, ...]
    scenario_problem: str | None
    """Why the scenarios of assumed costs are missing."""
    within: WithinOracle | None
    """``None`` = it was not asked for."""
    within_rows: tuple[WithinRow, ...]


def compare_with_oracle(
    profile: Profile,
    corpus: TrajectorySet,
    split: str = ALL_WINDOWS,
    drafters: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    choice: Pair | None = None,
    against: Sequence[Pair] = (),
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    *,
    with_within: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> OracleFindings:
    """Replay every pair and put one choice beside the oracle.

    Args:
        profile, corpus, split, drafters, budgets, threshold, search_window: as for ``budgets.compare_costs``.
        choice: ``None`` = the profile's deployed budget, else what development and validation windows
            select, else the fastest pair here.
        against: further pairs; the choice is always compared with the width rule, where development windows
            teach one, and with the fastest pair here.
        with_within: search the best sequence of widths within every window, too.
        say: is told what is going on.

    Raises:
        UnknownNameError, ProfileError, TrajectoryError, RequestError: a sentence about what is wrong.
    """
    say("Replaying every drafter and budget")
    found = compare_costs(profile, corpus, split, drafters, budgets, threshold, search_window)
    first = _choice(found, choice)
    choices = [first, *(fixed_choice(found.grid, d or found.grid.drafters[0], b, "given") for d, b in against)]
    if found.ruled is not None and found.rule_selection is not None:
        rule = found.rule_selection
        ruled = fixed_choice(found.ruled, rule.drafter, rule.budget, "learned on development windows")
        choices.append(
            Choice(
                f"{rule.drafter} {RULE} b<={rule.budget}",
                "learned on development windows, largest budget chosen on validation windows",
                ruled.time_ms,
                rule.drafter,
                rule.budget,
                ruled.extrapolated,
            )
        )
    best = found.table.best
    if best is not None:
        choices.append(fixed_choice(found.grid, best.drafter, best.budget, "fastest here, with hindsight"))
    kept: list[Choice] = []
    for item in choices:
        if item.name not in {other.name for other in kept}:
            kept.append(item)
    say("Resampling windows")
    report = report_oracle(found.grid, kept)
    scenarios: tuple[Scenario, ...] = ()
    problem = None
    if first.drafter is not None and first.budget is not None:
        say("Replaying under other assumptions about costs")
        try:
            scenarios = cost_sensitivity(corpus, profile, found.grid, first.drafter, first.budget)
        except ProfileError as error:
            problem = str(error)
    within, rows = None, ()
    if with_within:
        say("Searching the best sequence of widths, compiling the search where that was not done before")
        within, rows = within_report(
            corpus,
            profile,
            found.grid,
            progress=lambda done, of: say(f"Searching the best sequence of widths, {done} of {of} windows"),
        )
    return OracleFindings(found, report, tuple(kept), scenarios, problem, within, rows)


def _choice(found: BudgetReport, asked: Pair | None) -> Choice:
    grid = found.grid
    if asked is not None:
        return fixed_choice(grid, asked[0] or grid.drafters[0], asked[1], "given")
    deployed = found.profile.deployed_budget
    if deployed in grid.budgets:
        return fixed_choice(grid, grid.drafters[0], deployed, "deployed")
    if found.selection is not None:
        chosen = found.selection
        return fixed_choice(grid, chosen.drafter, chosen.budget, "selected on development and validation windows")
    best = found.table.best
    if best is None:
        raise ProfileError(
            f"No drafter and budget of {found.corpus.id!r} can run with the profile {found.profile.id!r}."
        )
    return fixed_choice(grid, best.drafter, best.budget, "fastest here, with hindsight")
